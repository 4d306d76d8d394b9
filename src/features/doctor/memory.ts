/**
 * Estimates a run's memory before it starts: graphs are built at the run's own shapes, and the peak memory of their
 * live values is computed; trajectories for those shapes are drawn from noise, so that no round is computed.
 */

import { pastInputs } from "../../attention/keys.js";
import { ALL_LAYERS } from "../../autodiff/recompute.js";
import type { RunConfig } from "../../config/config.js";
import { optimizerOptions } from "../../config/optimizer.js";
import { closing } from "../../core/closing.js";
import { fail } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { Batch } from "../../diffusion/layout/batch.js";
import type { CacheUse, Sampler } from "../../diffusion/sampler.js";
import type { SampledModel } from "../../diffusion/tokens.js";
import {
  headGraph,
  hiddenGraph,
  rolloutGraph,
  scoreGraph,
  shapeOf,
  type TrainedModel,
  trainingGraph,
} from "../../engine/graphs.js";
import { ADAPTER_COPIES, machineMemory, PROGRAM, sessionBytes } from "../../engine/memory.js";
import { openPolicy, type Policy, sampledModel } from "../../engine/policy.js";
import { environmentKinds } from "../../env/open.js";
import { graphWithKeys, type Model } from "../../nn/model.js";
import { Emitter } from "../../onnx/emit.js";
import { encodeModel } from "../../onnx/format/proto.js";
import type { RawModel } from "../../onnx/format/raw-model.js";
import { GraphBuilder } from "../../onnx/graph.js";
import type { Runtime } from "../../onnx/session.js";
import { sizeOf } from "../../onnx/shapes.js";
import { f32 } from "../../onnx/tensors.js";
import { BYTES, type Graph } from "../../onnx/types.js";
import type { Objective } from "../../rl/objective.js";
import { objectiveOf } from "../../rl/objective-kinds.js";
import { batchSize, type SftOptions } from "../../rl/objectives/sft.js";
import { prepareBatches } from "../../train/update.js";

/** Copies of the gradient for gradient_noise_every: of the first half, and of both halves. */
const HALVES = 2;
/** Copies of a rollout's keys and values: inputs of a forward pass, its outputs, and those in transfer. */
const PAST_COPIES = 3;

interface MemoryPart {
  readonly name: string;
  readonly bytes: number;
}

export interface MemoryEstimate {
  readonly parts: readonly MemoryPart[];
  /** Sum of all parts: sessions keep their memory, so nothing is shared over time, unless a budget releases them. */
  readonly total: number;
  /** Returns the bytes of the training session with the opposite setting of gradient checkpointing. */
  otherTraining(): number;
}

interface Planned {
  readonly config: RunConfig;
  readonly objective: Objective;
  readonly policy: Policy;
}

/** Estimates the memory of `refusion-train COMMAND` with this config. @throws UserError as opening the model does. */
export async function estimateRun(config: RunConfig, command: string): Promise<MemoryEstimate> {
  const objective = await objectiveOf(command);
  const full = "trainable" in config.objective && config.objective.trainable === "full";
  // sessions are estimated, none is loaded: any provider builds the same graphs
  const runtime = { ...config.runtime, provider: "cpu", rollout_precision: "float32", memory_gib: null } as const;
  const training = { objective, options: config.objective, optimizer: optimizerOptions(config) };
  await using policy = closing(await openPolicy({ ...config, runtime }, training, full));
  const { engine, model, lora } = policy;
  const planned: Planned = { config, objective, policy };
  const { graph } = model;
  const trained: TrainedModel = { graph, lora: full ? undefined : lora, about: sampledModel(model.config) };
  const weights = weightBytes(model);
  const adapter = 4 * sum(engine.parameters.map(({ shape }) => sizeOf(shape)));
  const batch = await largestBatch(planned);
  const shape = shapeOf(graph, batch);
  const parameters = engine.groups.slice(1).flatMap((group) => group.parameters);
  const learned = { objective, options: config.objective, parameters, critic: engine.critic };
  const trainingWith = (checkpoint: boolean): Graph => {
    const recomputed = checkpoint ? { layers: ALL_LAYERS } : {};
    return trainingGraph({ ...trained, recomputed }, shape, batch.head, learned, new Map());
  };
  const checkpoint = config.training.gradient_checkpointing;
  const scored = objective.learnsFrom === "rollouts";
  const parts: MemoryPart[] = [
    { name: "program and runtime", bytes: PROGRAM },
    { name: "weights' file", bytes: weights },
    { name: full ? "trained weights and optimizer" : "adapter and optimizer", bytes: adapter * ADAPTER_COPIES },
    ...(await rolloutParts(planned, trained)),
    ...(scored ? [{ name: "scoring", bytes: bytesOf(scoreGraph(trained, shape, batch.head)) }] : []),
    {
      name: `training, ${Object.values(shape.dims ?? {}).join(" x ")}, ${shape.terms} terms${checkpoint ? ", with checkpointing" : ""}`,
      bytes: bytesOf(trainingWith(checkpoint)),
    },
    ...(config.training.gradient_noise_every > 0
      ? [{ name: "gradients of the halves that gradient_noise_every compares", bytes: adapter * HALVES }]
      : []),
    { name: "inputs", bytes: 3 * inputBytes(batch) },
    ...((await environmentKinds(config.environment.kind)).get(config.environment.kind)?.memory?.(config) ?? []),
  ];
  const { memory_gib } = config.runtime;
  if (memory_gib !== null) {
    // the least memory: only the training graph with the most recomputation is loaded
    const least = PROGRAM + adapter * ADAPTER_COPIES + bytesOf(trainingWith(true)) + 3 * inputBytes(batch);
    const released = totalOf(parts) - Math.max(memory_gib * 2 ** 30, least);
    if (released > 0) parts.push({ name: "released within runtime.memory_gib", bytes: -released });
  }
  return { parts, total: totalOf(parts), otherTraining: () => bytesOf(trainingWith(!checkpoint)) };
}

const weightBytes = ({ graph }: Model): number =>
  sum([...graph.initializers.values()].map(({ value: { dtype, shape } }) => BYTES[dtype] * sizeOf(shape)));

/** Estimates a session on the CPU, which keeps the weights in layouts of its own. */
const bytesOf = (graph: Graph): number => sessionBytes(graph, true);

/** Lists the sessions that generate, and the keys and values that they keep. */
async function rolloutParts(
  { config, objective, policy: { model, sampler, options } }: Planned,
  trained: TrainedModel,
): Promise<MemoryPart[]> {
  const sizes = sampler.shapes(options);
  const session = (together: number): number => {
    const dims = sizes.dims(together);
    if (sizes.rows === undefined) return bytesOf(rolloutGraph(trained, { dims, rows: undefined }, sampler.roundHead));
    const rows = together * sizes.rows;
    const head = headGraph(trained, dims, sampler.roundHead);
    return bytesOf(hiddenGraph(trained, dims)) + sessionBytes(head, true, { R: rows, Q: rows });
  };
  const scored = objective.learnsFrom === "rollouts";
  const batches = new Set([...(scored ? [config.training.rollout_batch] : []), config.evaluation.batch]);
  const kept = keepsPast(config, sampler.caches?.(options)) ? await keptBytes(model) : 0;
  // a session with a cache accepts batches of any size
  const rollouts = kept > 0 ? [Math.max(...batches)] : [...batches];
  const bytes = sum(rollouts.map(session));
  const past = PAST_COPIES * kept * Math.max(...rollouts) * (sizes.dims(1).N ?? 0);
  return [
    { name: `rollout, ${rollouts.join(" and ")} at once`, bytes },
    ...(kept > 0 ? [{ name: `keys and values of ${rollouts.join()} rollouts`, bytes: past }] : []),
  ];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((n, x) => n + x, 0);
const totalOf = (parts: readonly MemoryPart[]): number => sum(parts.map(({ bytes }) => bytes));

const inputBytes = ({ inputs, headInputs }: Batch): number =>
  sum([...Object.values(inputs), ...Object.values(headInputs)].map(({ data }) => data.byteLength));

/** Tells whether rollouts cache keys and values; with `auto` a GPU may still be found, which does not. */
const keepsPast = ({ runtime }: RunConfig, use: CacheUse | undefined): boolean =>
  use === true || (use === "auto" && (runtime.provider === "cpu" || runtime.provider === "auto"));

/** Bytes of one token's keys and values in float32: 2 * 4 * layers * KV heads * head size; 0 without a cache. */
async function keptBytes(model: Model): Promise<number> {
  const inputs = (await graphWithKeys(model, "past"))?.inputs ?? [];
  return sum(pastInputs(inputs).map(({ heads, width }) => 4 * heads * width));
}

/** Makes a model with a small vocabulary, which does not affect the shapes. */
function noiseModel(model: Model): SampledModel {
  const { network } = sampledModel(model.config);
  const text = { tokens: { mask: 1, pad: 2, eos: 3 }, vocabulary: 8, attention: model.config.attention };
  return network === undefined ? text : { ...text, network };
}

/** Lays out the run's largest micro-batch: prompts and responses of the maximum length. */
async function largestBatch({ config, objective, policy: { model, sampler, runtime } }: Planned): Promise<Batch> {
  const sampled = noiseModel(model);
  const options = sampler.options(config.sampler, sampled);
  const rng = Rng.named(config.seed, "memory");
  const prompt = Array<number>(options.promptLength).fill(0);
  if (objective.learnsFrom === "supervision") {
    const { ar_weight } = config.objective as Record<string, number>;
    const packLength = config.objective.pack_length as number | null;
    const most = packLength === null ? Number.POSITIVE_INFINITY : Math.floor(packLength / 3);
    // one position of a text is for EOS
    const longest = options.responseLength - (sampled.network === undefined ? 1 : 0);
    const response = Array<number>(Math.min(longest, most)).fill(0);
    const example = { prompt: prompt.slice(0, most), response };
    if (sampler.supervisedTerms === undefined) throw new Error("refused before: the sampler has no supervised loss");
    const size = batchSize(config.objective as unknown as SftOptions, config.training);
    const [batch] = sampler.supervisedTerms(Array(size).fill(example), options, {
      batch: config.training.micro_batch,
      ...(packLength === null ? {} : { packLength }),
      arWeight: ar_weight ?? null,
      eosFillWeight: 0,
      rng,
    });
    if (batch === undefined) throw new Error("no batch was laid out");
    return batch;
  }
  const network = noise(runtime, sampler, sampled, model.graph);
  const [trajectory] = await sampler.rollout(network, [prompt], options, [rng]);
  if (trajectory === undefined) throw new Error("no trajectory was drawn");
  const size = config.training.micro_batch;
  const stream = (name: string): Rng => Rng.named(config.seed, `memory/${name}`);
  const samples = Array.from({ length: size }, () => ({ trajectory, credit: 1, stream }));
  const engine = {
    score: async (batch: Batch) => ({
      logProbs: new Float32Array(batch.coefficient.length),
      logProb: new Float32Array(batch.segments),
    }),
  };
  const [prepared] = await prepareBatches(
    { policy: { engine, sampler, options }, objective, options: config.objective, size },
    [samples],
  );
  if (prepared === undefined) throw new Error("no micro-batch was laid out");
  return prepared.batch;
}

type Noise = Parameters<Sampler["rollout"]>[0];

/** Makes a network with random outputs that never ends a response. */
function noise(runtime: Runtime, { roundHead }: Sampler, sampled: SampledModel, { outputs: [own] }: RawModel): Noise {
  const { tokens, vocabulary, network } = sampled;
  const rng = Rng.named(0, "noise");
  return {
    async forwardRound({ inputs, headInputs }) {
      // the head's input: logits of the rows, or a token-free network's output for one rollout
      const [output, shape] =
        network === undefined || own === undefined
          ? ["logits", [inputs.rows?.shape[0] ?? 1, vocabulary]]
          : [own.name, own.shape.map((d) => (typeof d === "number" ? d : 1))];
      if (!runtime.has("noise")) {
        const g = new GraphBuilder("noise");
        const logits = g.input(output, "float32", network === undefined ? ["R", vocabulary] : shape);
        const given = Object.entries(roundHead.inputs).map(([name, of]) => [name, g.input(name, of.dtype, of.shape)]);
        roundHead.emit(new Emitter(g), { [output]: logits }, Object.fromEntries(given), sampled);
        await runtime.load("noise", { bytes: encodeModel(g.build()) });
      }
      const logits = Float32Array.from({ length: sizeOf(shape) }, (_, i) =>
        i % vocabulary === tokens.eos ? -30 : rng.normal(),
      );
      const feeds = { [output]: f32(shape, logits), ...headInputs };
      return roundHead.read(await runtime.run("noise", { feeds }));
    },
  };
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`;

/** Formats one line per part, and the sum next to the machine's memory. */
export function formatMemory(estimate: MemoryEstimate, machine: number = machineMemory()): string {
  const width = Math.max(...estimate.parts.map((p) => p.name.length));
  const lines = estimate.parts.map((p) => `${p.name.padEnd(width)}  ${gib(p.bytes).padStart(10)}`);
  return [...lines, `${"in all, about".padEnd(width)}  ${gib(estimate.total).padStart(10)} of ${gib(machine)}`].join(
    "\n",
  );
}

/** Suggests changes of a config that does not fit, the largest saving first. */
function memoryAdvice(config: RunConfig, estimate: MemoryEstimate): string {
  const training = estimate.parts.find((p) => p.name.startsWith("training"))?.bytes ?? 0;
  const advice: string[] = [];
  if (config.runtime.memory_gib === null)
    advice.push("runtime.memory_gib (graphs that were not used lately are released)");
  const saved = config.training.gradient_checkpointing ? 0 : training - estimate.otherTraining();
  if (saved > 0.2 * training) advice.push(`training.gradient_checkpointing=true (saves ${gib(saved)})`);
  if (config.training.micro_batch > 1) advice.push("a smaller training.micro_batch");
  advice.push("a smaller training.rollout_batch and evaluation.batch", "fewer browser.contexts");
  return `Try ${advice.join(", ")}.`;
}

/**
 * Compares an estimate with the machine's memory.
 * @throws UserError if the run does not fit.
 */
export function assertFits(config: RunConfig, estimate: MemoryEstimate, machine: number = machineMemory()): void {
  if (estimate.total <= machine) return;
  fail(
    `This run needs about ${gib(estimate.total)} of memory; the machine has ${gib(machine)}:\n${formatMemory(estimate, machine)}`,
    { hint: memoryAdvice(config, estimate) },
  );
}

/** Estimates the memory of a run for its dry run. @throws UserError if it does not fit. */
export async function estimate(config: RunConfig, command: string): Promise<string> {
  const needed = await estimateRun(config, command);
  assertFits(config, needed);
  return formatMemory(needed);
}
