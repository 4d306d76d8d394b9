import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { ZodType } from "zod";
import { type RunConfig, resolvePath } from "../config/config.js";
import { DEFAULT_SAMPLER } from "../config/schema.js";
import { fail, misuse, UserError } from "../core/errors.js";
import type { Action, Observation } from "../core/interaction.js";
import type { SupervisedExample } from "../diffusion/examples.js";
import type { RoundModel, Sampler, SamplerOptions } from "../diffusion/sampler.js";
import { samplerKinds, samplerOf } from "../diffusion/sampler-kinds.js";
import { Canvas, isRoom } from "../diffusion/template.js";
import { roundTexts } from "../diffusion/text-policy.js";
import type { SampledModel } from "../diffusion/tokens.js";
import type { TokenTrajectory, Trajectory } from "../diffusion/trajectory.js";
import type { Environment, EnvironmentTask } from "../env/environment.js";
import { loraSites } from "../nn/bind.js";
import { eosIds, type ModelConfig } from "../nn/config.js";
import { isImported } from "../nn/imported.js";
import { isModelInput } from "../nn/inputs.js";
import type { LoraOptions, LoraSite } from "../nn/lora.js";
import { graphWithKeys, loadModel, type Model, usingGraph } from "../nn/model.js";
import { precisionOf } from "../onnx/precision.js";
import { gradientChecks } from "../onnx/provider.js";
import { Runtime } from "../onnx/session.js";
import { Engine, type EngineOptions } from "./engine.js";
import { checkGraph, checkLength } from "./graph-check.js";
import { type ConvertRollouts, int8Rollouts } from "./int8.js";
import { assertBatchesFit, machineMemory } from "./memory.js";
import { assertScored, type ScoredObjective } from "./scoring-check.js";

/** A way to generate responses. */
export interface Decoding {
  readonly sampler: Sampler;
  readonly options: SamplerOptions;
  /** The network that the sampler calls. */
  readonly rounds: RoundModel<unknown>;
}

/** The policy of a run: model, adapter and sampler on a runtime. */
export interface Policy extends Decoding {
  /** {@link SamplerOptions.explore} of a training's rollouts. */
  readonly explore: number;
  readonly engine: Engine;
  readonly model: Model;
  readonly runtime: Runtime;
  /** The decoding of evaluations: `evaluation.sampler`, or the policy's own. */
  readonly evaluation: Decoding;
  readonly lora: LoraOptions;
  readonly sites: readonly LoraSite[];
  /** Tells whether rollouts are computed in the precision of scoring. */
  readonly isExact: boolean;
  /** Notes for the user. */
  readonly notes: readonly string[];
  /** Returns a rollout's start: token ids of the prompt, and of the template where `plan` uses one. */
  startOf(observation: Observation): unknown;
  /** Makes an example from a demonstration. @throws UserError where it does not fit. */
  exampleOf(demonstration: { readonly observation: Observation; readonly action: Action }): SupervisedExample;
  /** Returns the answer to the environment: the text of a trajectory, without EOS. */
  actionOf(trajectory: Trajectory): Action;
  /** Returns the offset of each token of the response in the action's text; absent: it writes no text. */
  offsetsOf?: ((trajectory: Trajectory) => readonly number[]) | undefined;
  close(): Promise<void>;
}

/**
 * Opens model, runtime and sampler of a config.
 * @param training the objective and optimizer, or undefined for evaluation only.
 */
export async function openPolicy(
  config: RunConfig,
  training: EngineOptions["training"],
  full = false,
): Promise<Policy> {
  const model = await loadModel(resolvePath(config.model, "model"));
  if (full && isImported(model.graph))
    misuse(`${model.dir} is an imported graph: only adapters of it can be trained.`, {
      hint: "Set objective.trainable=lora.",
    });
  // none but a training's rollouts explore
  const decodingOf = async (section: RunConfig["sampler"]) => {
    const sampler = await samplerOf(section.kind);
    checkInputs(model, sampler, section.kind);
    const { explore = 0, ...options } = sampler.options(section, sampledModel(model.config));
    return { sampler, options, explore };
  };
  const { sampler, options: sampling, explore } = await decodingOf(config.sampler);
  const other = config.evaluation.sampler;
  const evaluation = other === null ? undefined : await decodingOf(other);
  for (const { promptLength, responseLength } of [sampling, ...(evaluation === undefined ? [] : [evaluation.options])])
    checkLength(model, promptLength + responseLength, "prompt_length + response_length of the sampler");
  const recordDrafts = training?.objective.needs(training.options).drafts === true;
  const options = recordDrafts ? { ...sampling, recordDrafts } : sampling;
  const evaluated = other ?? config.sampler;
  checkTemperature(config.evaluation.temperature, await samplerOf(evaluated.kind), evaluated.kind);
  const batches = { sampler, options, evaluation: evaluation ?? { sampler, options }, objective: training?.objective };
  assertBatchesFit(config, { ...batches, vocabulary: model.config.vocab_size }, machineMemory());
  if (training !== undefined)
    assertScored(training.objective, sampler, options, training.objective.needs(training.options));
  const notes = await notesOn(model, [{ sampler, options }, ...(evaluation === undefined ? [] : [evaluation])]);
  const about = sampledModel(model.config);
  const lora = loraOptions(config, model);
  const sites = full ? [] : usingGraph(model, () => loraSites(model.graph, lora));
  const { memory_gib } = config.runtime;
  const memory = memory_gib === null ? undefined : memory_gib * 2 ** 30;
  const { runtime, rollout } = await openRuntime(config, model, memory, training !== undefined);
  const engine = new Engine(runtime, model, {
    rollout,
    sampler,
    about,
    lora: full ? undefined : lora,
    checkpoint: config.training.gradient_checkpointing,
    ...(memory === undefined ? {} : { memory }),
    ...(training === undefined ? {} : { training }),
  });
  const { tokenizer } = model;
  const { offsets } = sampler.policy;
  const seen = ({ template, ...observation }: Observation): Observation => {
    if (template === undefined || config.plan === "free") return observation;
    if (model.graph.inputs.some(({ name }) => name === "position_ids")) return { ...observation, template };
    misuse(`The graph of ${model.dir} takes no position_ids, and blanks have places of their own.`, {
      hint: "Set plan=free.",
    });
  };
  return {
    engine,
    model,
    runtime,
    sampler,
    options,
    explore,
    rounds: engine,
    evaluation:
      evaluation === undefined || other === null
        ? { sampler, options, rounds: engine }
        : {
            sampler: evaluation.sampler,
            options: evaluation.options,
            rounds: engine.roundsOf(other.kind, evaluation.sampler),
          },
    lora,
    sites,
    isExact: rollout === undefined,
    notes,
    startOf: (observation) => sampler.policy.begin(seen(observation), tokenizer, about),
    exampleOf: ({ observation, action }) =>
      sampler.policy.example({ observation: seen(observation), action }, tokenizer, options),
    actionOf: (trajectory) => sampler.policy.action(trajectory, tokenizer, about),
    offsetsOf: offsets && ((trajectory) => offsets(trajectory, tokenizer, about)),
    close: () => runtime.close(),
  };
}

/** Names the settings that have no effect on a model. */
async function notesOn(model: Model, decodings: readonly Pick<Decoding, "sampler" | "options">[]): Promise<string[]> {
  const asksForCache = decodings.some(({ sampler, options }) => sampler.caches?.(options) === true);
  if (!asksForCache || (await graphWithKeys(model, "past")) !== undefined) return [];
  return [
    `kv_cache has no effect: the graph of ${model.dir} takes no keys and values, as those of bidirectional models and imported ones do not. Every forward reads whole sequences.`,
  ];
}

/** Opens a runtime for the model's graph, checks it against config.json, and finds the rollout precision. */
async function openRuntime(
  { runtime: { provider, binding, precision, rollout_precision, threads } }: RunConfig,
  model: Model,
  memory: number | undefined,
  trains: boolean,
): Promise<{ readonly runtime: Runtime; readonly rollout: ConvertRollouts | undefined }> {
  const runtime = await Runtime.open({
    ...(memory === undefined ? {} : { deviceMemory: memory }),
    provider,
    binding,
    precision: precisionOf(precision, model.graph),
    ...(threads > 0 ? { threads: Math.min(threads, availableParallelism()) } : {}),
    ...(trains ? { checks: await gradientChecks() } : {}),
  });
  try {
    await checkGraph(runtime, model);
    return { runtime, rollout: await int8Rollouts(rollout_precision, runtime, trains) };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** Range of an adapter's scale: outside of it the adapter has no effect and no gradient, or all is infinite. */
const LORA_SCALES = { least: 1e-6, most: 1e6 };

/** Returns a config's adapter options. @throws UserError where the mask is to be trained and the model has none. */
export function loraOptions(
  { lora }: Pick<RunConfig, "lora">,
  { config, graph, names }: Pick<Model, "config" | "graph" | "names">,
): LoraOptions {
  const { train_mask, targets, ...scaled } = lora;
  const options = { ...scaled, targets: targets ?? names.loraTargets };
  const scale = lora.alpha / lora.rank;
  if (!(scale >= LORA_SCALES.least && scale <= LORA_SCALES.most))
    misuse(`lora.alpha / lora.rank is ${scale}: the adapter's part would be lost in float32.`, {
      hint: `Set lora.alpha between ${LORA_SCALES.least} and ${LORA_SCALES.most} times lora.rank; twice it is usual.`,
    });
  if (!train_mask) return options;
  const tokens = [config.mask_token_id];
  const sites = loraSites(graph, { ...options, tokens });
  if (config.mask_token_id < config.vocab_size && sites.filter((site) => site.tokens !== undefined).length === 1)
    return { ...options, tokens };
  misuse("lora.train_mask: the model has no mask token in a table of embeddings.", {
    hint: "Set lora.train_mask=false.",
  });
}

/** Returns the facts of a model for samplers. */
export function sampledModel(config: ModelConfig): SampledModel {
  const [eos, ...furtherEos] = eosIds(config);
  const tokens = {
    mask: config.mask_token_id,
    pad: config.pad_token_id,
    eos,
    ...(furtherEos.length > 0 && { furtherEos }),
  };
  const network = config.reads_tokens === false ? { network: config } : {};
  const { vocab_size: vocabulary, attention, attention_block: block } = config;
  const shifted = config.shifted_logits === true && { shifted: true as const };
  return { tokens, vocabulary, attention, block, ...shifted, ...network };
}

/**
 * Checks the inputs of the model's graph against the sampler's.
 * @throws UserError where the graph takes an input that the sampler does not give.
 */
export function checkInputs(model: Model, sampler: Sampler, kind: string): void {
  const missing = missingInputs(model, sampler);
  if (missing.length === 0) return;
  misuse(`The graph of ${model.dir} takes ${missing.join(" and ")}, which sampler.kind=${kind} does not give.`, {
    hint: "Use the sampler of the model's family: jump where the graph takes a time, unmask for masked models, flow for a velocity of actions.",
  });
}

/** @throws UserError where the evaluation's temperature is not allowed for its sampler. */
function checkTemperature(temperature: number | null, sampler: Sampler, kind: string): void {
  const option = sampler.schema.shape.temperature as ZodType | undefined;
  if (temperature === null || option === undefined || option.safeParse(temperature).success) return;
  misuse(`evaluation.temperature=${temperature}: the sampler ${kind} does not take it.`, {
    hint: "Set it to a small number, as 0.1, or to null for the sampler's own.",
  });
}

function missingInputs(model: Model, sampler: Sampler): string[] {
  const names = model.graph.inputs.map((input) => input.name);
  return names.filter((name) => !isModelInput(name) && !sampler.conditions.includes(name));
}

/** Chooses the sampler for training a model: it gives the graph its inputs, and its rollouts can be scored. */
export async function samplerFor(model: Model, objective: ScoredObjective): Promise<string> {
  const samplers = await samplerKinds();
  const about = sampledModel(model.config);
  const refusals: UserError[] = [];
  const fits = (sampler: Sampler): boolean => {
    if (missingInputs(model, sampler).length > 0) return false;
    let options: SamplerOptions | undefined;
    try {
      options = sampler.options(sampler.schema.parse({}), about);
      assertScored(objective, sampler, options);
      return true;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // options that cannot be resolved mean a sampler for another kind of model
      if (options !== undefined) refusals.push(error);
      return false;
    }
  };
  // samplers with fewer further inputs come first, as a graph without a time is no flow; among equals, the default one
  const other = (name: string): number => (name === DEFAULT_SAMPLER ? 0 : 1);
  const [kind] = [...samplers]
    .filter(([, sampler]) => fits(sampler))
    .sort(([a, { conditions: x }], [b, { conditions: y }]) => x.length - y.length || other(a) - other(b))
    .map(([name]) => name);
  if (kind !== undefined) return kind;
  if (refusals[0] !== undefined) throw refusals[0];
  const inputs = model.graph.inputs.map((input) => input.name).join(", ");
  fail(`No sampler fits the graph of ${model.dir}, which takes ${inputs}.`, {
    hint: "docs/model.md says what a graph may take",
  });
}

/** Returns the text of an answer after each round of the evaluation's sampler; empty where it records no rounds. */
export function roundsOf({ evaluation: { sampler, options }, model }: Policy, trajectory: Trajectory): string[] {
  const reveals = sampler.reveals?.(trajectory);
  if (reveals === undefined || model.tokenizer === undefined) return [];
  return roundTexts(trajectory as TokenTrajectory, reveals, model.tokenizer, options.model.tokens.eos);
}

/** Returns ln p of each blank's value with its end, by the blank's name, where the evaluation's sampler records it. */
export function certaintyOf(
  { evaluation: { sampler, options } }: Policy,
  trajectory: Trajectory,
): { readonly logProbs?: Readonly<Record<string, number>> } {
  const { template, response } = trajectory as Partial<TokenTrajectory>;
  const reveals = template === undefined ? undefined : sampler.reveals?.(trajectory);
  if (template === undefined || response === undefined || reveals === undefined) return {};
  const canvas = Canvas.of(template);
  const cells = canvas.cellsOf(response, options.model.tokens.eos);
  const sums = canvas.blanks.map(() => 0);
  for (const [i, { logProb }] of reveals.sort((a, b) => a.position - b.position).entries()) {
    if (logProb === undefined) return {};
    const blank = canvas.blankOf(cells[i] as number);
    sums[blank] = (sums[blank] as number) + logProb;
  }
  return { logProbs: Object.fromEntries(template.filter(isRoom).map(({ name }, i) => [name, sums[i] as number])) };
}

/** Reads the tokenizer.json of a model unchanged; undefined where it has none. */
export function tokenizerText(model: Model): string | undefined {
  if (model.tokenizer === undefined) return undefined;
  return readFileSync(join(model.dir, "tokenizer.json"), "utf8");
}

/**
 * Checks that first observations fit the sampler, as far as they are known without playing.
 * @throws UserError naming the longest prompts and templates where some do not fit: none is truncated silently.
 */
export function checkPromptsFit(
  environment: Pick<Environment, "firstObservation">,
  tasks: readonly EnvironmentTask[],
  policy: Policy,
): void {
  if (environment.firstObservation === undefined) return;
  const starts = tasks.flatMap((task) => {
    const observation = environment.firstObservation?.(task);
    return observation === undefined ? [] : [{ id: task.id, start: policy.startOf(observation) }];
  });
  const { length, canvas } = policy.sampler.policy;
  const evaluated = policy.evaluation;
  const least = (key: "promptLength" | "responseLength"): number =>
    Math.min(policy.options[key], evaluated.options[key]);
  for (const [what, key, limit, sizeOf, other] of [
    ["prompts", "prompt_length", least("promptLength"), length, "use a shorter prompt.style"],
    [
      "templates",
      "response_length",
      least("responseLength"),
      (start: unknown) =>
        Math.max(
          canvas?.(start, policy.options) ?? 0,
          evaluated.sampler.policy.canvas?.(start, evaluated.options) ?? 0,
        ),
      "lower sampler.room, or set plan=free",
    ],
  ] as const) {
    const sizes = starts.map(({ id, start }) => ({ id, size: sizeOf?.(start) ?? 0 }));
    const long = sizes.filter(({ size }) => size > limit);
    if (long.length === 0) continue;
    const longest = long.reduce((a, b) => (b.size > a.size ? b : a));
    misuse(
      `${long.length} of ${tasks.length} ${what} are longer than sampler.${key} = ${limit} tokens (the longest, ${longest.id}, has ${longest.size}).`,
      { hint: `Set sampler.${key}=${longest.size}, or ${other}.` },
    );
  }
}

/**
 * Checks the policy against the environment.
 * @throws UserError where a policy cannot read the environment's observations, or cannot give its actions.
 */
export function checkSpaces(
  { spaces, name }: Pick<Environment, "spaces" | "name">,
  { sampler, options }: Pick<Decoding, "sampler" | "options">,
): void {
  const { refuses } = sampler.policy;
  if (spaces === undefined && refuses === undefined) return;
  if (spaces === undefined || refuses === undefined)
    misuse(
      spaces === undefined
        ? `The environment ${name} shows texts, and this policy reads states.`
        : `The environment ${name} shows states and takes vectors of actions, and this policy reads and writes texts.`,
      {
        hint: "use environment.kind=control with sampler.kind=flow and a model of architecture velocity, or an environment of texts with a model of text",
      },
    );
  const refusal = refuses(spaces, options.model);
  if (refusal !== undefined) misuse(refusal.reason, { hint: refusal.hint });
}
