import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { ZodType } from "zod";
import { type RunConfig, resolvePath } from "../config/config.js";
import { DEFAULT_SAMPLER } from "../config/schema.js";
import { UserError } from "../core/errors.js";
import type { Action, Observation } from "../core/interaction.js";
import type { Logger } from "../core/log.js";
import { samplerKinds, samplerOf } from "../diffusion/kinds.js";
import type { RoundModel, Sampler, SamplerOptions } from "../diffusion/sampler.js";
import type { SampledModel } from "../diffusion/tokens.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Environment, EnvironmentTask } from "../env/environment.js";
import { loraSites } from "../nn/bind.js";
import type { ModelConfig } from "../nn/config.js";
import { isImported } from "../nn/imported.js";
import { isModelInput } from "../nn/inputs.js";
import type { LoraOptions, LoraSite } from "../nn/lora.js";
import { graphWithPast, loadModel, type Model, usingGraph } from "../nn/model.js";
import { packedGradientCheck } from "../onnx/nf4-check.js";
import { precisionOf } from "../onnx/passes/half-trunk.js";
import { Runtime } from "../onnx/session.js";
import type { Objective } from "../rl/objective.js";
import { Engine, type EngineOptions } from "./engine.js";
import { gradientCheck } from "./gradient-check.js";
import { assertBatchesFit, machineMemory } from "./least-memory.js";
import { assertScored } from "./scoring-check.js";

/** How responses are generated. */
export interface Decoding {
  readonly sampler: Sampler;
  readonly options: SamplerOptions;
  /** The network as the sampler asks it. */
  readonly rounds: RoundModel<unknown>;
}

/** The policy of a run: model, adapter and sampler on a runtime. */
export interface Policy extends Decoding {
  readonly engine: Engine;
  readonly model: Model;
  readonly runtime: Runtime;
  /** How evaluations generate: `evaluation.sampler`, or as the policy does. */
  readonly evaluation: Decoding;
  readonly lora: LoraOptions;
  readonly sites: readonly LoraSite[];
  /** What its user should know. */
  readonly notes: readonly string[];
  /** What a rollout begins from: token ids of the prompt. */
  startOf(observation: Observation): unknown;
  /** What the environment is answered: the text that a trajectory spells, without EOS. */
  actionOf(trajectory: Trajectory): Action;
  /** Where in the action's text each token of the response begins; absent: it writes no text. */
  offsetsOf?: ((trajectory: Trajectory) => readonly number[]) | undefined;
  close(): Promise<void>;
}

/**
 * Opens model, runtime and sampler of a config.
 * @param training what to train, or undefined for evaluation only.
 */
export async function openPolicy(
  config: RunConfig,
  training: EngineOptions["training"],
  full = false,
  log?: Logger,
): Promise<Policy> {
  const model = await loadModel(resolvePath(config.model, "model"));
  if (full && isImported(model.graph)) {
    throw new UserError(`${model.dir} is an imported graph: only adapters of it can be trained.`, {
      hint: "Set objective.trainable=lora.",
      exitCode: 2,
    });
  }
  const decodingOf = async (section: RunConfig["sampler"]): Promise<Pick<Decoding, "sampler" | "options">> => {
    const sampler = await samplerOf(section.kind);
    checkInputs(model, sampler, section.kind);
    return { sampler, options: sampler.options(section, sampledModel(model.config)) };
  };
  const { sampler, options: sampling } = await decodingOf(config.sampler);
  const recordDrafts = training?.objective.needs(training.options).drafts === true;
  const options = recordDrafts ? { ...sampling, recordDrafts } : sampling;
  const other = config.evaluation.sampler;
  const evaluation = other === null ? undefined : await decodingOf(other);
  const evaluated = other ?? config.sampler;
  checkTemperature(config.evaluation.temperature, await samplerOf(evaluated.kind), evaluated.kind);
  const batches = { sampler, options, evaluation: evaluation ?? { sampler, options }, objective: training?.objective };
  assertBatchesFit(config, { ...batches, vocabulary: model.config.vocab_size }, machineMemory());
  if (training !== undefined) assertScored(training.objective, sampler, options);
  const asksForCache = [{ sampler, options }, ...(evaluation === undefined ? [] : [evaluation])].some(
    (decoding) => decoding.sampler.caches?.(decoding.options) === true,
  );
  const notes =
    asksForCache && (await graphWithPast(model)) === undefined
      ? [
          `kv_cache has no effect: the graph of ${model.dir} takes no keys and values, as those of bidirectional models and imported ones do not. Every forward reads whole sequences.`,
        ]
      : [];
  const about = sampledModel(model.config);
  const lora = loraOptions(config, model);
  const sites = full ? [] : usingGraph(model, () => loraSites(model.graph, lora));
  const { memory_gib } = config.runtime;
  const memory = memory_gib === null ? {} : { memory: memory_gib * 2 ** 30 };
  const runtime = await Runtime.open({
    ...(memory.memory === undefined ? {} : { deviceMemory: memory.memory }),
    provider: config.runtime.provider,
    binding: config.runtime.binding,
    precision: precisionOf(config.runtime.precision, model.graph),
    ...(config.runtime.threads > 0 ? { threads: Math.min(config.runtime.threads, availableParallelism()) } : {}),
    ...(training === undefined ? {} : { checks: [gradientCheck(), packedGradientCheck()] }),
    ...(log === undefined ? {} : { log }),
  });
  const engine = new Engine(runtime, model, {
    sampler,
    about,
    lora: full ? undefined : lora,
    checkpoint: config.training.gradient_checkpointing,
    ...memory,
    ...(training === undefined ? {} : { training }),
  });
  const { tokenizer } = model;
  const { offsets } = sampler.policy;
  return {
    engine,
    model,
    runtime,
    sampler,
    options,
    rounds: engine,
    evaluation:
      evaluation === undefined || other === null
        ? { sampler, options, rounds: engine }
        : { ...evaluation, rounds: engine.roundsOf(other.kind, evaluation.sampler) },
    lora,
    sites,
    notes,
    startOf: (observation) => sampler.policy.begin(observation, tokenizer, about),
    actionOf: (trajectory) => sampler.policy.action(trajectory, tokenizer, about),
    offsetsOf: offsets && ((trajectory) => offsets(trajectory, tokenizer, about)),
    close: () => runtime.close(),
  };
}

/** A config's adapter on a model. @throws UserError where the mask is to be trained and the model has none. */
export function loraOptions(
  { lora }: Pick<RunConfig, "lora">,
  { config, graph }: Pick<Model, "config" | "graph">,
): LoraOptions {
  const { train_mask, ...options } = lora;
  if (!train_mask) return options;
  const tokens = [config.mask_token_id];
  const sites = loraSites(graph, { ...options, tokens });
  if (config.mask_token_id < config.vocab_size && sites.filter((site) => site.tokens !== undefined).length === 1)
    return { ...options, tokens };
  throw new UserError("lora.train_mask: the model has no mask token in a table of embeddings.", {
    hint: "Set lora.train_mask=false.",
    exitCode: 2,
  });
}

/** What samplers know of a model. */
export function sampledModel(config: ModelConfig): SampledModel {
  const tokens = { mask: config.mask_token_id, pad: config.pad_token_id, eos: config.eos_token_id };
  const network = config.reads_tokens === false ? { network: config } : {};
  return { tokens, vocabulary: config.vocab_size, attention: config.attention, ...network };
}

/** @throws UserError where the model's graph takes an input that the sampler does not give. */
export function checkInputs(model: Model, sampler: Sampler, kind: string): void {
  const missing = missingInputs(model, sampler);
  if (missing.length === 0) return;
  throw new UserError(
    `The graph of ${model.dir} takes ${missing.join(" and ")}, which sampler.kind=${kind} does not give.`,
    {
      hint: "Use the sampler of the model's family: jump where the graph takes a time, unmask for masked models, flow for a velocity of actions.",
      exitCode: 2,
    },
  );
}

/** @throws UserError where evaluations ask for a temperature that their sampler does not take. */
function checkTemperature(temperature: number | null, sampler: Sampler, kind: string): void {
  const own = sampler.schema.shape.temperature as ZodType | undefined;
  if (temperature === null || own === undefined || own.safeParse(temperature).success) return;
  throw new UserError(`evaluation.temperature=${temperature}: the sampler ${kind} does not take it.`, {
    hint: "Set it to a small number, as 0.1, or to null for the sampler's own.",
    exitCode: 2,
  });
}

function missingInputs(model: Model, sampler: Sampler): string[] {
  const names = model.graph.inputs.map((input) => input.name);
  return names.filter((name) => !isModelInput(name) && !sampler.conditions.includes(name));
}

/** The kind of sampler for training a model: it gives the graph what it takes, and its rollouts can be scored. */
export async function samplerFor(model: Model, objective: Pick<Objective, "name" | "scoring">): Promise<string> {
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
      // without options it is a sampler of another kind of model
      if (options !== undefined) refusals.push(error);
      return false;
    }
  };
  // the one that gives least besides: a graph without a time is no flow; of equals, the one that configs begin with
  const other = (name: string): number => (name === DEFAULT_SAMPLER ? 0 : 1);
  const [kind] = [...samplers]
    .filter(([, sampler]) => fits(sampler))
    .sort(([a, { conditions: x }], [b, { conditions: y }]) => x.length - y.length || other(a) - other(b))
    .map(([name]) => name);
  if (kind !== undefined) return kind;
  if (refusals[0] !== undefined) throw refusals[0];
  const inputs = model.graph.inputs.map((input) => input.name).join(", ");
  throw new UserError(`No sampler fits the graph of ${model.dir}, which takes ${inputs}.`, {
    hint: "docs/model.md says what a graph may take",
  });
}

/** The tokenizer.json of a model, as it stands; undefined where it has none. */
export function tokenizerText(model: Model): string | undefined {
  if (model.tokenizer === undefined) return undefined;
  return readFileSync(join(model.dir, "tokenizer.json"), "utf8");
}

/**
 * Whether what the environment shows at first fits the sampler, as far as that is known without playing.
 * @throws UserError naming the longest prompts where some do not: nothing is truncated in silence.
 */
export function checkPromptsFit(
  environment: Pick<Environment, "firstObservation">,
  tasks: readonly EnvironmentTask[],
  policy: Policy,
): void {
  const { length } = policy.sampler.policy;
  if (length === undefined || environment.firstObservation === undefined) return;
  const limit = Math.min(policy.options.promptLength, policy.evaluation.options.promptLength);
  const long = tasks.flatMap((task) => {
    const observation = environment.firstObservation?.(task);
    const size = observation === undefined ? 0 : length(policy.startOf(observation));
    return size > limit ? [{ id: task.id, length: size }] : [];
  });
  if (long.length === 0) return;
  const longest = long.reduce((a, b) => (b.length > a.length ? b : a));
  throw new UserError(
    `${long.length} of ${tasks.length} prompts are longer than sampler.prompt_length = ${limit} tokens (the longest, ${longest.id}, has ${longest.length}).`,
    {
      hint: `Set sampler.prompt_length=${longest.length}, or use a shorter prompt.style.`,
      exitCode: 2,
    },
  );
}

/** @throws UserError where a policy cannot read what the environment shows, or cannot answer what it takes. */
export function checkSpaces(
  { spaces, name }: Pick<Environment, "spaces" | "name">,
  { sampler, options }: Pick<Decoding, "sampler" | "options">,
): void {
  const { refuses } = sampler.policy;
  if (spaces === undefined && refuses === undefined) return;
  if (spaces === undefined || refuses === undefined)
    throw new UserError(
      spaces === undefined
        ? `The environment ${name} shows texts, and this policy reads states.`
        : `The environment ${name} shows states and takes vectors of actions, and this policy reads and writes texts.`,
      {
        hint: "use environment.kind=control with sampler.kind=flow and a model of architecture velocity, or an environment of texts with a model of text",
        exitCode: 2,
      },
    );
  const refusal = refuses(spaces, options.model);
  if (refusal !== undefined) throw new UserError(refusal.reason, { hint: refusal.hint, exitCode: 2 });
}
