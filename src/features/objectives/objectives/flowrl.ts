/**
 * FlowRL (arXiv 2509.15207; design document 004): matches the policy to the distribution exp(beta r(x, y)) / Z(x)
 * around the reference, by trajectory balance, instead of maximising the reward; Z(x) is learned too.
 *
 *   loss = w ( log Z(x) + (1/L) log pi(y|x) - beta A - (1/L) log pi_ref(y|x) )^2
 *   w    = clip( pi(y|x) / pi_old(y|x), 1 - eps_low, 1 + eps_high ), detached,   L: tokens of y, through EOS
 *
 * Design document 004's code does not clip w.
 *
 * A is the group-normalised reward, beta 15. log Z is three linear layers with GELU and LayerNorm in between, on the
 * mean of the prompt's last hidden states; it trains with the policy at its own learning rate, and is not part of an
 * adapter. log pi is that of the sampled path: exact, where the square of an estimated bound would be biased by its
 * variance. The residual's gradient reaches the policy through log Z's prompt states too. Of the paper's head (Linear,
 * GELU, LayerNorm, Dropout, twice, then Linear) dropout is left out, and so is LayerNorm's bias, which the next layer
 * has.
 */

import { z } from "zod";
import { misuse } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { mean, std } from "../../../core/statistics.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { TokenTrajectory, Trajectory } from "../../../diffusion/trajectory.js";
import type { Emitter } from "../../../onnx/emit.js";
import { sizeOf } from "../../../onnx/shapes.js";
import { f32, i64, type NamedTensors } from "../../../onnx/tensors.js";
import type { Tensor, Value } from "../../../onnx/types.js";
import { advantageOptions } from "../../../rl/credit.js";
import type { Objective } from "../../../rl/objective.js";
import { clipBounds, clipOptions, ratioMetrics } from "../../../rl/surrogate.js";

const schema = z.strictObject({
  beta: z.number().positive().default(15).describe("inverse temperature of the rewards that the policy is matched to"),
  ...clipOptions(0.2),
  head_width: z.int().min(1).default(64).describe("width of the head of log Z"),
  head_lr_scale: z.number().positive().default(1).describe("learning rate of that head, as a multiple"),
  adv_clip_max: advantageOptions("group").adv_clip_max,
});

const EPSILON = 1e-5;

/** Returns the shapes of the head's tensors, by name. */
function shapesOf(width: number, hidden: number): Readonly<Record<string, readonly number[]>> {
  return {
    "log_z.0.weight": [width, hidden],
    "log_z.0.bias": [width],
    "log_z.0.norm": [width],
    "log_z.1.weight": [width, width],
    "log_z.1.bias": [width],
    "log_z.1.norm": [width],
    "log_z.2.weight": [1, width],
    "log_z.2.bias": [1],
  };
}

/** Initialises linear layers like PyTorch, the last one with 0, so that log Z starts at 0. */
function fresh(shapes: ReturnType<typeof shapesOf>, rng: Rng): Map<string, Tensor> {
  return new Map(
    Object.entries(shapes).map(([name, shape]) => {
      const size = sizeOf(shape);
      const bound = 1 / Math.sqrt(shape[1] ?? 1);
      const value = (): number => {
        if (name.endsWith("norm")) return 1;
        return name.startsWith("log_z.2") || name.endsWith("bias") ? 0 : (2 * rng.uniform() - 1) * bound;
      };
      return [name, f32(shape, Float32Array.from({ length: size }, value))];
    }),
  );
}

/** (x - mean) over the last axis, divided by its standard deviation, times gain. */
function layerNorm(e: Emitter, x: Value, gain: Value): Value {
  const width = x.shape.at(-1) as number;
  const mean = (v: Value): Value => e.mul(e.sum(v, [-1]), 1 / width);
  const centred = e.sub(x, mean(x));
  return e.mul(e.div(centred, e.sqrt(e.add(mean(e.mul(centred, centred)), EPSILON))), gain);
}

/** Returns log Z [B] of the mean prompt states [B, D]. */
function logZ(e: Emitter, state: Value, p: Readonly<Record<string, Value>>): Value {
  const linear = (x: Value, n: number): Value =>
    e.add(e.gemm(x, p[`log_z.${n}.weight`] as Value, { transB: true }), p[`log_z.${n}.bias`] as Value);
  let x = state;
  for (const n of [0, 1]) x = layerNorm(e, e.g.op("Gelu", [linear(x, n)]), p[`log_z.${n}.norm`] as Value);
  return e.squeeze(linear(x, 2), [1]);
}

/** Returns a mask of the prompt in each sequence [B, N], and each segment's sequence [S]. */
function promptsOf(batch: Batch, trajectories: readonly Trajectory[]): NamedTensors {
  const positions = batch.inputs.position_ids as Tensor;
  const [count, length] = positions.shape as [number, number];
  const rows = batch.inputs.rows?.data as BigInt64Array;
  const sequence = new BigInt64Array(batch.segments);
  const prompt = new Float32Array(count * length);
  const seen = new Set<number>();
  batch.segment.forEach((segment, r) => {
    const s = Number(segment);
    if (batch.coefficient[r] === 0 || seen.has(s)) return;
    seen.add(s);
    const b = Math.floor(Number(rows[r]) / length);
    sequence[s] = BigInt(b);
    const { prompt: ids } = trajectories[batch.owner[s] as number] as TokenTrajectory;
    prompt.fill(1 / ids.length, b * length, b * length + ids.length);
  });
  return { prompt: f32([count, length], prompt), prompt_sequence: i64([batch.segments], sequence) };
}

export const objective: Objective<z.infer<typeof schema>> = {
  name: "flowrl",
  description: "trajectory balance with a learned log Z: matches the rewards' distribution instead of their maximum",
  schema,
  learnsFrom: "rollouts",
  scoring: "steps",
  readsPrompt: true,
  needs: () => ({ reference: true }),
  // groups of equal rewards train log Z, and the penalty to the reference
  credit(group, { adv_clip_max: most }) {
    const rewards = group.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const [middle, deviation] = [mean(rewards), std(rewards)];
    const normalised = (r: number): number => Math.max(-most, Math.min(most, (r - middle) / (deviation + 1e-8)));
    return group.map(({ reward, turns }) =>
      reward === null ? null : turns.map(() => (deviation < 1e-6 ? 0 : normalised(reward))),
    );
  },
  parameters(o, { hiddenSize }) {
    const shapes = shapesOf(o.head_width, hiddenSize);
    return [
      {
        name: "log_z",
        parameters: Object.entries(shapes).map(([name, shape]) => ({ name, shape })),
        learningRateScale: o.head_lr_scale,
        initial: (rng) => fresh(shapes, rng),
      },
    ];
  },
  inputs: {
    prompt: { dtype: "float32", shape: ["B", "N"] },
    prompt_sequence: { dtype: "int64", shape: ["S"] },
  },
  feed: promptsOf,
  held: () => ["ratio"],
  // L is the response's, even where a path draws more than its tokens: `jump` draws its canvas in every step
  layout: (trajectories, _, context) => {
    const batch = context.stepTerms(trajectories, { level: "sequence" });
    const lengthOf = (owner: number): number =>
      owner < 0 ? 1 : (trajectories[owner] as TokenTrajectory).response.length;
    return { ...batch, units: Float32Array.from(batch.owner, lengthOf) };
  },
  loss({ e, logProb, old, reference, advantage, weight, units, hidden, extra, parameters }, o) {
    const { prompt, prompt_sequence } = extra as Record<"prompt" | "prompt_sequence", Value>;
    if (hidden === undefined)
      misuse("flowrl reads the model's last hidden states, which this graph does not show.", {
        hint: "Use objective.kind=flow-grpo, or a model that `export` built from a checkpoint.",
      });
    const [batch, length] = prompt.shape as [number, number];
    const width = hidden.shape.at(-1) as number;
    const mean = e.matmul(e.reshape(prompt, [batch, 1, length]), e.reshape(hidden, [batch, length, width]));
    const z = e.gather(logZ(e, e.reshape(mean, [batch, width]), parameters), prompt_sequence);
    const ratio = e.exp(e.sub(logProb, old));
    const bounds = clipBounds(o);
    const importance = e.stopGradient(e.clip(ratio, ...bounds));
    const perToken = (v: Value): Value => e.div(v, units);
    const logReward = e.mul(advantage, o.beta);
    const balance = e.sub(e.add(z, perToken(e.sub(logProb, reference))), logReward);
    const average = (v: Value): Value => e.total(e.mul(weight, v));
    return {
      loss: average(e.mul(importance, e.mul(balance, balance))),
      metrics: {
        kl: { value: average(perToken(e.sub(logProb, reference))), reduce: "sum" },
        // the balance closes where log_z + log_pi - log_reward - log_reference is 0
        log_z: { value: average(z), reduce: "sum" },
        log_pi: { value: average(perToken(logProb)), reduce: "sum" },
        log_reference: { value: average(perToken(reference)), reduce: "sum" },
        log_reward: { value: average(logReward), reduce: "sum" },
        balance_weight: { value: average(importance), reduce: "sum" },
        ...ratioMetrics({ e, weight }, ratio, bounds),
      },
    };
  },
};
