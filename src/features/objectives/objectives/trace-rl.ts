/**
 * TraceRL, trajectory-aware reinforcement learning with a value model (arXiv 2509.06949; official code: dLLM-RL).
 *
 *   tau(1..T)  the tokens of a response by the round that drew them; s neighbouring rounds are joined to one (shrinkage)
 *   rho_j      = pi(o_j | tau(1..t-1)) / pi_old(o_j | tau(1..t-1))                      token j of round t
 *   policy     = mean over g, mean over t, mean over j of max(-A_j rho_j, -A_j clip(rho_j, 1 - eps, 1 + eps)) + beta k3_j
 *   k3         = exp(d) - d - 1,  d = l_old - l:  the penalty is to the policy before the update
 *
 * V_j is a linear head without bias on the hidden state that predicts token j, in the state before its round. With
 * r_j = A_g, the group's normalised reward, in the last round and 0 elsewhere, and * the mean over a round:
 *
 *   R_j  = r_j + gamma R*_(t+1)                                        the return
 *   A_j  = r_j - V_j + gamma V*_(t+1) + gamma lambda A*_(t+1)          GAE over rounds (arXiv 1506.02438), of old values
 *   loss = policy + 1/2 mean of max((V_j - R_j)^2, (V_old_j + clip(V_j - V_old_j, -eps_v, eps_v) - R_j)^2)
 *
 * `value: false` is TraceRL without a value model: A_j = A_g. The paper's value model is a second network; here the head
 * reads the policy's states, and starts at 0 as theirs. Both losses are means over rounds of means over tokens.
 */
import { z } from "zod";
import { misuse } from "../../../core/errors.js";
import { mean } from "../../../core/statistics.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { UnmaskTrajectory } from "../../../diffusion/samplers/unmask/trajectory.js";
import type { Trajectory } from "../../../diffusion/trajectory.js";
import type { Emitter } from "../../../onnx/emit.js";
import { f32, vector } from "../../../onnx/tensors.js";
import type { Value } from "../../../onnx/types.js";
import { clippedLoss, clippedObjective, clippedOptions } from "../../../rl/clipped.js";
import { meanOfRounds } from "../../../rl/layouts.js";
import type { Critic, Objective } from "../../../rl/objective.js";
import { withoutRecords } from "../../../rl/surrogate.js";

const schema = z.strictObject({
  ...clippedOptions,
  kl_coeff: z.number().min(0).default(0.01).describe("beta: weight of the k3 penalty to the policy before the update"),
  shrink: z
    .int()
    .min(1)
    .default(1)
    .describe("s: neighbouring rounds that count as one, drawn from the state before it"),
  value: z.boolean().default(true).describe("advantages by a learned value of states; false: the group's advantage"),
  gamma: z.number().gt(0).max(1).default(1).describe("discount of a round"),
  lambda: z.number().min(0).max(1).default(1).describe("of GAE: 1 = return minus value, 0 = the next round's value"),
  value_clip: z.number().positive().default(0.2).describe("eps_v: values within +- this of the old ones are trained"),
  value_lr_scale: z.number().positive().default(5).describe("learning rate of the value's head, as a multiple"),
  value_trunk: z
    .number()
    .min(0)
    .default(0)
    .describe("weight of the value's loss in the model's own gradient; 0: the head alone learns from it"),
});
type Options = z.infer<typeof schema>;

const WEIGHT = "value.weight";

/** Joins each `size` neighbouring rounds of a path: their tokens then count as drawn from the state before the first. */
function joinRounds(trajectory: Trajectory, size: number): Trajectory {
  const { rounds } = trajectory as Partial<UnmaskTrajectory>;
  if (rounds === undefined)
    misuse("objective.shrink joins rounds of unmasking, and this sampler has none.", {
      hint: "Set objective.shrink=1, or use sampler.kind=unmask.",
    });
  const joined = Array.from({ length: Math.ceil(rounds.length / size) }, (_, i) => {
    const tokens = rounds
      .slice(i * size, (i + 1) * size)
      .flatMap((round) => round.positions.map((position, at) => ({ position, round, at })))
      .sort((a, b) => a.position - b.position);
    const of = <K extends "tokens" | "logProbs" | "eosAllowed">(key: K) =>
      tokens.map(({ round, at }) => round[key][at] as (typeof round)[K][number]);
    const positions = tokens.map(({ position }) => position);
    return { positions, tokens: of("tokens"), logProbs: of("logProbs"), eosAllowed: of("eosAllowed") };
  });
  return { ...trajectory, rounds: joined };
}

/** Returns advantages [S] and returns [S] of tokens, from old values [S] and the rewards [S] of their paths. */
export function advantagesOf(
  { owner, step }: Pick<Batch, "owner" | "step">,
  values: Float32Array,
  reward: Float32Array,
  { gamma, lambda }: Pick<Options, "gamma" | "lambda">,
): { readonly advantage: Float32Array; readonly returns: Float32Array } {
  const paths = new Map<number, number[][]>();
  owner.forEach((path, s) => {
    if (path < 0) return;
    const [t, rounds] = [step[s] as number, paths.get(path) ?? []];
    paths.set(path, rounds);
    rounds[t] = [...(rounds[t] ?? []), s];
  });
  const [advantage, returns] = [new Float32Array(owner.length), new Float32Array(owner.length)];
  for (const rounds of paths.values()) {
    // means over the next round
    const next = { returns: 0, value: 0, advantage: 0 };
    rounds.toReversed().forEach((tokens, i) => {
      for (const s of tokens) {
        const own = i === 0 ? (reward[s] as number) : 0;
        returns[s] = own + gamma * next.returns;
        advantage[s] = own - (values[s] as number) + gamma * next.value + gamma * lambda * next.advantage;
      }
      const over = (all: Float32Array): number => mean(tokens.map((s) => all[s] as number));
      Object.assign(next, { returns: over(returns), value: over(values), advantage: over(advantage) });
    });
  }
  return { advantage, returns };
}

/** Returns the value of states, from all hidden states [B*N, D] and the rows of some: a number each. */
function valueAt(e: Emitter, hidden: Value | undefined, rows: Value, weight: Value, trunk: number): Value {
  if (hidden === undefined)
    misuse("trace-rl reads the model's last hidden states, which this graph does not show.", {
      hint: "Set objective.value=false, or use a model that `export` built from a checkpoint.",
    });
  const state = e.gather(hidden, rows);
  const held = e.stopGradient(state);
  const read = trunk === 0 ? held : e.add(held, e.mul(e.sub(state, held), trunk));
  return e.squeeze(e.gemm(read, weight, { transB: true }), [1]);
}

/** Returns the row of each term's hidden state [R]. */
function rowsOf({ inputs, coefficient }: Batch): BigInt64Array {
  return (inputs.rows?.data as BigInt64Array | undefined) ?? BigInt64Array.from(coefficient, (_, r) => BigInt(r));
}

function critic(o: Options, { hiddenSize }: { readonly hiddenSize: number }): Critic | undefined {
  if (!o.value) return undefined;
  const head: Critic["head"] = {
    name: "value",
    inputs: {
      value_rows: { dtype: "int64", shape: ["R"] },
      [WEIGHT]: { dtype: "float32", shape: [1, hiddenSize] },
    },
    emit: (e, { hidden }, inputs) => valueAt(e, hidden, inputs.value_rows as Value, inputs[WEIGHT] as Value, 0),
  };
  return {
    head,
    inputs: {
      value_rows: { dtype: "int64", shape: ["S"] },
      returns: { dtype: "float32", shape: ["S"] },
      old_values: { dtype: "float32", shape: ["S"] },
    },
    states: (batch) => ({ ...batch, head: head as Batch["head"], headInputs: { value_rows: vector(rowsOf(batch)) } }),
    assess(batch, values, credit) {
      const { advantage, returns } = advantagesOf(batch, values, credit, o);
      // a segment is one token
      const rows = new BigInt64Array(batch.segments);
      const rowOf = rowsOf(batch);
      batch.segment.forEach((s, r) => {
        if (batch.coefficient[r] !== 0) rows[Number(s)] = rowOf[r] as bigint;
      });
      return { advantage, extra: { value_rows: vector(rows), returns: vector(returns), old_values: vector(values) } };
    },
  };
}

const SHARED = clippedObjective("steps");

export const objective: Objective<Options> = {
  ...SHARED,
  name: "trace-rl",
  description: "clipped ratio per token in its round, advantages over rounds by a learned value of states",
  schema,
  needs: () => ({ reference: false }),
  unread(o, config) {
    const ofValue = ["gamma", "lambda", "value_clip", "value_lr_scale", "value_trunk"];
    return {
      ...SHARED.unread(o),
      ...(o.shrink > 1 && withoutRecords("objective.shrink joins rounds that a rollout records apart", config)),
      "training.reference_refresh": "its penalty is to the policy before the update",
      ...(o.value ? {} : Object.fromEntries(ofValue.map((key) => [`objective.${key}`, "objective.value is false"]))),
    };
  },
  parameters(o, { hiddenSize }) {
    if (!o.value) return [];
    const shape = [1, hiddenSize];
    const initial = () => new Map([[WEIGHT, f32(shape, new Float32Array(hiddenSize))]]);
    return [{ name: "value", parameters: [{ name: WEIGHT, shape }], learningRateScale: o.value_lr_scale, initial }];
  },
  critic,
  held: (o) => [...SHARED.held(o), ...(o.value && o.value_trunk < 1 ? (["states"] as const) : [])],
  layout(trajectories, { shrink }, context) {
    const paths = shrink === 1 ? trajectories : trajectories.map((trajectory) => joinRounds(trajectory, shrink));
    const batch = meanOfRounds(context.stepTerms(paths, { level: "token" }));
    // the rollout saw the rounds apart
    return shrink === 1 ? batch : { ...batch, logProb: undefined };
  },
  loss(inputs, o) {
    const policy = clippedLoss({ ...inputs, reference: inputs.old }, o);
    if (!o.value) return policy;
    const { e, weight, hidden, extra, parameters } = inputs;
    const { value_rows, returns, old_values } = extra as Record<"value_rows" | "returns" | "old_values", Value>;
    const value = valueAt(e, hidden, value_rows, parameters[WEIGHT] as Value, o.value_trunk);
    const near = e.add(old_values, e.clip(e.sub(value, old_values), -o.value_clip, o.value_clip));
    const error = (v: Value): Value => e.mul(e.sub(v, returns), e.sub(v, returns));
    const average = (v: Value): Value => e.total(e.mul(weight, v));
    const loss = e.mul(average(e.max(error(value), error(near))), 0.5);
    return {
      loss: e.add(policy.loss, loss),
      metrics: {
        ...policy.metrics,
        value_loss: { value: loss, reduce: "sum" },
        value_error: { value: average(error(old_values)), reduce: "sum" },
        return_square: { value: average(e.mul(returns, returns)), reduce: "sum" },
      },
    };
  },
};
