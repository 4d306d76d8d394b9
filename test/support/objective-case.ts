import { backward } from "../../src/autodiff/backward.js";
import { Rng } from "../../src/core/rng.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import type { RoundModel } from "../../src/diffusion/sampler.js";
import type { RowStatistics } from "../../src/diffusion/samplers/unmask/round.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import { segmentSums } from "../../src/engine/graphs.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Runtime } from "../../src/onnx/session.js";
import { vector } from "../../src/onnx/tensors.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import type { GroupEpisode } from "../../src/rl/credit.js";
import type { Objective } from "../../src/rl/objective.js";
import type { Sample } from "../../src/train/rollouts/groups.js";
import { prepareBatches, type ScoredBatch } from "../../src/train/update.js";
import { FakeNetwork, prompts, SMALL, streams } from "../diffusion/samplers/unmask/fake-model.js";
import { runGraph } from "./run-graph.js";
import { floatsOf } from "./tensors.js";

/** A whole step of any objective on eight rollouts of a fake network: no model, its values are functions of the row. */

const OPTIONS = { ...SMALL, slotSize: 2, responseLength: 8, rounds: 4 };
const EPISODES = 4;
const TURNS = 2;
/** D */
const WIDTH = 4;
/** Log-probabilities [nats] of row r under each policy; a value of states for `critic`. */
const SCORES = {
  current: (r: number): number => -0.6 - 0.3 * Math.sin(r),
  policy: (r: number): number => -0.6 - 0.3 * Math.sin(1.3 * r),
  reference: (r: number): number => -0.7 - 0.4 * Math.cos(r),
  critic: (r: number): number => 0.2 * Math.cos(2 * r),
};
type Scores = keyof typeof SCORES;

let recorded: Promise<UnmaskTrajectory[]> | undefined;
function rollouts(): Promise<UnmaskTrajectory[]> {
  const network: RoundModel<RowStatistics> = new FakeNetwork(7);
  const count = EPISODES * TURNS;
  recorded ??= sampler.rollout(network, prompts(count, 3, 2), OPTIONS, streams(count, 5), count);
  return recorded;
}

/** Lists a group whose episodes differ in all that credit may read: rewards of episodes, turns, parts and drafts. */
function groupOf(trajectories: readonly UnmaskTrajectory[]): GroupEpisode[] {
  return Array.from({ length: EPISODES }, (_, i) => ({
    reward: i / (EPISODES - 1),
    turns: Array.from({ length: TURNS }, (_, t) => {
      const { response, rounds } = trajectories[i * TURNS + t] as UnmaskTrajectory;
      return {
        reward: ((i + 2 * t) % 3) / 4,
        steps: rounds.length,
        tokens: response.length,
        parts: [{ name: "a", reward: ((i + t) % 2) / 2, tokens: [0] }],
        drafts: rounds.map((_, k) => Math.abs(Math.sin(i + 3 * k + t))),
      };
    }),
  }));
}

function scores(batch: Batch, of: (r: number) => number): Float32Array {
  const sums = new Float32Array(batch.segments);
  batch.coefficient.forEach((c, r) => {
    const s = Number(batch.segment[r]);
    sums[s] = (sums[s] as number) + c * of(r);
  });
  return sums;
}

/** Gives the group credit and lays it out as a step does. */
async function prepared<O>(objective: Objective<O>, options: O): Promise<ScoredBatch[]> {
  const trajectories = await rollouts();
  const credit = objective.credit(groupOf(trajectories), options);
  const samples = credit.flatMap((turns, i) =>
    (turns ?? []).map((of, t): Sample => {
      const n = i * TURNS + t;
      const trajectory = trajectories[n] as UnmaskTrajectory;
      return { trajectory, credit: of, stream: (name) => Rng.named(1, `${name}/${n}`) };
    }),
  );
  const critic = objective.critic?.(options, { hiddenSize: WIDTH });
  const score = async (batch: Batch, key: string) => {
    const of: Scores = critic !== undefined && batch.head === (critic.head as unknown) ? "critic" : (key as Scores);
    return { logProbs: new Float32Array(), logProb: scores(batch, SCORES[of]) };
  };
  const engine = { score, ...(critic && { critic }) };
  return prepareBatches({ policy: { engine, sampler, options: OPTIONS }, objective, options, size: 4 }, [samples]);
}

/** Computes loss, metrics and gradients of a step, summed over micro-batches, off policy. */
export async function stepOf<O>(runtime: Runtime, objective: Objective<O>, options: O) {
  const results: Record<string, readonly number[]>[] = [];
  for (const micro of await prepared(objective, options)) {
    const { graph, feeds } = graphOf(objective, options, micro);
    const out = await runGraph(runtime, graph, feeds);
    results.push(Object.fromEntries(Object.entries(out).map(([name, { data }]) => [name, Array.from(data, Number)])));
  }
  return results;
}

function graphOf<O>(objective: Objective<O>, options: O, { batch, values }: ScoredBatch) {
  const g = new GraphBuilder("step");
  const e = new Emitter(g);
  const feeds: Record<string, Tensor> = {};
  const input = (name: string, tensor: Tensor): Value => {
    feeds[name] = tensor;
    return g.input(name, tensor.dtype, tensor.shape);
  };
  const terms = batch.coefficient.length;
  const logProbs = input("logProbs", vector(Float32Array.from({ length: terms }, (_, r) => SCORES.current(r))));
  const coefficient = input("coefficient", vector(batch.coefficient));
  const segment = input("segment", vector(batch.segment));
  const sums = (of: Value): Value => segmentSums(e, e.mul(of, coefficient), segment, batch.segments);
  const rng = Rng.named(3, "hidden");
  const normal = (shape: readonly number[]): Tensor => floatsOf(shape, () => rng.normal());
  const { shape: ids } = batch.inputs.input_ids as Tensor;
  const [sequences, length] = ids as [number, number];
  const hidden = input("hidden", normal([sequences * length, WIDTH]));
  const groups = objective.parameters?.(options, { hiddenSize: WIDTH }) ?? [];
  const own = groups.flatMap(({ parameters }) => parameters.map(({ name, shape }) => input(name, normal(shape))));
  const { extra = {}, ...compared } = values;
  const given = Object.entries(compared).map(([name, data]) => [name, input(name, vector(data as Float32Array))]);
  const losses = {
    ...{ e, logProbs, coefficient, logProb: sums(logProbs), hidden, units: input("units", vector(batch.units)) },
    ...(Object.fromEntries(given) as Record<"old" | "reference" | "advantage" | "weight", Value>),
    // a stand-in with a known gradient
    entropy: () => e.mul(sums(logProbs), -2),
    extra: Object.fromEntries(Object.entries(extra).map(([name, tensor]) => [name, input(name, tensor)])),
    parameters: Object.fromEntries(own.map((value) => [value.name, value])),
  };
  const { loss, metrics } = objective.loss(losses, options);
  const trained = [logProbs, hidden, ...own];
  const gradients = backward(g, loss, trained);
  for (const [name, { value }] of Object.entries({ ...metrics, loss: { value: loss } })) g.output(name, value);
  trained.forEach(({ name }, i) => void g.output(`gradient of ${name}`, gradients[i] as Value));
  const graph = g.build();
  const read = new Set(graph.nodes.flatMap(({ inputs }) => inputs.map((v) => v?.name)));
  return {
    graph: { ...graph, inputs: graph.inputs.filter(({ name }) => read.has(name)) },
    feeds: Object.fromEntries(Object.entries(feeds).filter(([name]) => read.has(name))),
  };
}
