import { groupBy } from "../../../../src/core/group-by.js";
import type { Batch } from "../../../../src/diffusion/batch.js";
import type { BoundLayout } from "../../../../src/diffusion/layouts.js";
import type { SamplerOptions } from "../../../../src/diffusion/sampler.js";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { Canvas } from "../../../../src/diffusion/template.js";
import type { TokenTrajectory, Trajectory } from "../../../../src/diffusion/trajectory.js";
import type { Policy } from "../../../../src/engine/policy.js";
import type { ObjectiveOnTrial } from "../../../../src/features/verify/proof.js";
import { eosIds } from "../../../../src/nn/config.js";
import type { Tensor } from "../../../../src/onnx/types.js";
import type { ScoredBatch } from "../../../../src/train/micro-batch.js";
import type { Sample } from "../../../../src/train/rollouts/groups.js";
import type { FormulaOptions } from "./formulas.js";

/** A term of a micro-batch, with its place and its weight in its bound. */
export interface Term {
  /** Index in the batch. */
  readonly r: number;
  readonly trajectory: Trajectory;
  readonly step: number;
  readonly position: number;
  readonly weight: number;
}

/** A micro-batch laid out again, by the sampler alone. */
export interface TermBatch {
  readonly batch: Batch;
  readonly terms: readonly Term[];
  /** True if the rollouts recorded the log-probabilities of each ratio. */
  readonly recorded: boolean;
}

/** Gauss-Legendre nodes on (0, 1) with their weights: roots of the Legendre polynomials, in closed form. */
function quadrature(points: number): { fraction: number; weight: number }[] {
  const [near, far] = [-1, 1].map((sign) => Math.sqrt(3 / 7 + sign * (2 / 7) * Math.sqrt(6 / 5))) as [number, number];
  const [small, large] = [(18 - Math.sqrt(30)) / 36, (18 + Math.sqrt(30)) / 36];
  // nodes x >= 0 on [-1, 1]; each -x has the same weight
  const right = [
    new Map([[0, 2]]),
    new Map([[1 / Math.sqrt(3), 1]]),
    new Map([[0, 8 / 9]]).set(Math.sqrt(3 / 5), 5 / 9),
    new Map([[near, large]]).set(far, small),
  ][points - 1] as Map<number, number>;
  const nodes = new Map([...right].flatMap(([x, w]) => [[-x, w] as const, [x, w] as const]));
  return [...nodes].sort(([x], [y]) => x - y).map(([x, w]) => ({ fraction: (x + 1) / 2, weight: w / 2 }));
}

/** Returns how an objective draws its masks, as in docs/objectives.md. */
function masksOf(name: string, o: FormulaOptions): Pick<BoundLayout, "samples" | "coupled" | "quadrature"> {
  const samples = o.mc_samples as number;
  if (name === "gdpo") return { samples, coupled: false, quadrature: quadrature(o.points as number) };
  return { samples, coupled: name === "espo" ? (o.coupled as boolean) : name !== "spg" };
}

/** A micro-batch laid out by an objective, with its samples. */
interface Given extends Pick<ScoredBatch, "batch" | "trajectories"> {
  readonly samples: readonly Sample[];
  /** Batch size B. */
  readonly size: number;
  /** Set where samples of one prompt read it once. */
  readonly share: boolean;
}

type LaidBy = Pick<Policy, "sampler" | "model"> & { readonly options: SamplerOptions };

/**
 * Lists the terms of a micro-batch in its order, from the sampler's own layout of the same trajectories with the same
 * masks. It determines the scored tokens and their steps; the objective's layout is not read, except its chosen steps.
 */
export function layTerms(policy: LaidBy, trial: ObjectiveOnTrial, given: Given): TermBatch {
  return trial.objective.scoring === "steps" ? stepTerms(policy, trial, given) : textTerms(policy, trial, given);
}

const realTerms = (batch: Batch): number[] => [...batch.coefficient.keys()].filter((r) => batch.coefficient[r] !== 0);

/** Lists the terms of objectives that score sampling steps. */
function stepTerms(
  { sampler, options }: LaidBy,
  { objective, options: own }: ObjectiveOnTrial,
  { batch: given, trajectories, size, share }: Given,
): TermBatch {
  const o = own as FormulaOptions;
  const k = typeof o.steps_per_update === "number" ? o.steps_per_update : undefined;
  const stepsGiven = (b: number): number[] => [...new Set(given.step.filter((_, s) => given.owner[s] === b))];
  const subset = k === undefined ? undefined : trajectories.map((_, b) => stepsGiven(b).sort((x, y) => x - y));
  const isRight = trajectories.every(
    (t, b) => k === undefined || subset?.[b]?.length === Math.min(k, sampler.steps(t)),
  );
  const layout = { batch: size, lengthStep: 16, share, ...(subset && { subset }) };
  const lay = sampler.stepTerms as NonNullable<Policy["sampler"]["stepTerms"]>;
  const byStep = lay(trajectories, options, { ...layout, level: "step" });
  const byToken = lay(trajectories, options, { ...layout, level: "token" });
  const level = o.ratio_level === undefined ? (objective.name === "flowrl" ? "sequence" : "token") : o.ratio_level;
  return {
    batch: byToken,
    recorded: (level === "token" ? byToken : byStep).recorded !== undefined,
    terms: realTerms(byToken).map((r) => {
      const s = Number(byToken.segment[r]);
      return {
        r,
        trajectory: trajectories[byToken.owner[s] as number] as Trajectory,
        step: byToken.step[s] as number,
        position: byToken.position?.[s] ?? -1,
        weight: isRight ? (byStep.coefficient[r] as number) : Number.NaN,
      };
    }),
  };
}

/** Lists the terms of objectives that score texts, from left to right or at masks. */
function textTerms(
  { sampler, model, options }: LaidBy,
  { objective, options: own }: ObjectiveOnTrial,
  { trajectories, samples, size }: Given,
): TermBatch {
  const sizes = { batch: size, lengthStep: 16 };
  const text = objective.scoring === "text";
  const masks = text ? undefined : masksOf(objective.name, own as FormulaOptions);
  const rngs = trajectories.map((t) => (samples.find((s) => s.trajectory === t) as Sample).stream("layout"));
  const { textTerms: layText, boundTerms } = sampler as Required<Policy["sampler"]>;
  const batch =
    masks === undefined
      ? layText(trajectories, options, sizes)
      : boundTerms(trajectories, options, { ...sizes, ...masks, rngs });
  const { rows, position_ids, input_ids, time } = batch.inputs as Record<string, Tensor>;
  const length = input_ids?.shape[1] as number;
  const mask = BigInt(model.config.mask_token_id);
  // without masks the bound is the text's own log-probability
  const isExact = masks === undefined || (options as Partial<UnmaskOptions>).slotFill === "next-token";
  const views = isExact ? 1 : masks.samples * (masks.coupled ? 2 : 1) * (masks.quadrature?.length ?? 1);
  const terms = realTerms(batch).map((r) => {
    const row = Number(rows?.data[r]);
    const sequence = Math.floor(row / length);
    const trajectory = trajectories[Math.floor(sequence / views)] as TokenTrajectory & { readonly slotSize?: number };
    const ahead = text || (time === undefined && input_ids?.data[row] !== mask) ? 1 : 0;
    const place = Number(position_ids?.data[row]) - trajectory.prompt.length + ahead;
    const canvas = Canvas.of(trajectory.template);
    const cells = canvas.cellsOf(trajectory.response, eosIds(model.config)[0]);
    const slots = cells.map((cell) => Math.floor(cell / (trajectory.slotSize ?? 1)));
    const position = cells.findIndex((cell) => canvas.position(cell) === place);
    // given tokens are not part of the response
    return { r, trajectory: trajectory as Trajectory, slots, step: -1, position, sequence };
  });
  const masked = groupBy(terms, ({ sequence }) => sequence);
  return {
    batch,
    recorded: false,
    terms: terms.map(({ slots: own, sequence, ...term }) => {
      if (isExact) return { ...term, weight: 1 };
      const slots = new Set(masked.get(sequence)?.map((other) => other.slots[other.position])).size;
      // kappa: probability that the flow's sequence keeps a token
      const kappa = time && Number(time.data[sequence]) ** (options as unknown as { exponent: number }).exponent;
      return { ...term, weight: boundWeight(masks, slots, new Set(own).size, sequence % views, kappa) };
    }),
  };
}

/** @param slots number of masked slots, of `all`. @param view index of the sequence among its response's. */
function boundWeight(
  { samples, coupled, quadrature: nodes }: Pick<BoundLayout, "samples" | "coupled" | "quadrature">,
  slots: number,
  all: number,
  view: number,
  kappa: number | undefined,
): number {
  const draws = samples * (coupled ? 2 : 1);
  if (kappa !== undefined) return 1 / (1 - kappa) / draws;
  if (nodes === undefined) return (all + 1) / slots / draws;
  const { fraction, weight } = nodes[Math.floor(view / samples)] as { fraction: number; weight: number };
  const expected = Math.max(1, Math.floor(fraction * all));
  return slots === expected ? (weight * all) / slots / samples : Number.NaN;
}
