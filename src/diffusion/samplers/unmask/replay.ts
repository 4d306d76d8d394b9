import { UserError } from "../../../core/errors.js";
import type { Batch } from "../../batch.js";
import { BufferBuilder, bucketLength } from "../../buffer.js";
import type { StepLayout } from "../../layouts.js";
import { scoringTemperature } from "../../sampler.js";
import { policyHead } from "../../score-head.js";
import { commonTemperature, type StepBuffer, type StepTerm, stepTerms } from "../../terms.js";
import type { SampledModel } from "../../tokens.js";
import { layCanvas } from "./canvas.js";
import { type UnmaskOptions, unmaskShapes } from "./options.js";
import type { TrajectoryRound, UnmaskTrajectory } from "./trajectory.js";
import { reveals } from "./trajectory.js";

/**
 * The rounds of rollouts as terms: all of a rollout in one sequence where the model is causal ({@link packRounds}), else
 * (or where `packed` is false) every round in a sequence of its own ({@link separateRounds}).
 * @throws UserError where a trajectory does not fit the sizes, or temperatures differ.
 */
export function roundTerms(
  trajectories: readonly UnmaskTrajectory[],
  options: UnmaskOptions,
  layout: StepLayout,
): Batch {
  const { model } = options;
  const { steps, length } = unmaskShapes(options);
  const packed = (layout.packed ?? true) && model.attention === "causal";
  const buffers = trajectories.flatMap((trajectory, b) => {
    const chosen = layout.subset?.[b] ?? trajectory.rounds.map((_, t) => t);
    return packed ? [packRounds(trajectory, b, chosen, model)] : separateRounds(trajectory, b, chosen, options.model);
  });
  const separate = layout.subset === undefined ? steps : Math.max(1, ...layout.subset.map((chosen) => chosen.length));
  const longest = Math.max(0, ...buffers.map(({ buffer }) => buffer.ids.length));
  return stepTerms(
    buffers,
    {
      steps,
      terms: options.responseLength,
      sequences: packed ? 1 : separate,
      length: packed ? bucketLength(longest, layout.lengthStep) : length,
      whole: trajectories.map((t) => ({ steps: t.rounds.length, terms: t.response.length })),
    },
    layout,
    {
      temperature: commonTemperature(trajectories.map((t) => scoringTemperature(t.temperature))),
      head: policyHead,
      pad: model.tokens.pad,
      filler: model.tokens.eos,
    },
  );
}

function roundOf(trajectory: UnmaskTrajectory, t: number): TrajectoryRound {
  const round = trajectory.rounds[t];
  if (round === undefined) throw new UserError(`Round ${t} of a trajectory of ${trajectory.rounds.length} rounds`);
  return round;
}

function roundTermsAt(round: TrajectoryRound, rowOf: (position: number) => number): StepTerm[] {
  return round.positions.map((position, i) => ({
    row: rowOf(position),
    target: round.tokens[i] as number,
    logProb: round.logProbs[i] as number,
    features: { eos_allowed: round.eosAllowed[i] ? 1 : 0 },
  }));
}

/**
 * All rounds of a rollout in one sequence:
 * prompt | committed tokens in commit order | for every round its open masks.
 * A mask of round t sees the prompt, the tokens committed before t, and the masks of its own round up to itself. That
 * is what it saw in the rollout, where a committed token saw only the entries before it, so its keys and values are the
 * same in all rounds. Two things are left out because nothing real sees them: the masks of a round behind its last
 * revealed position, and the tokens committed in the last scored round.
 */
function packRounds(
  trajectory: UnmaskTrajectory,
  index: number,
  chosen: readonly number[],
  { tokens }: SampledModel,
): StepBuffer {
  const committedBefore: number[] = [];
  let committed = 0;
  for (const round of trajectory.rounds) {
    committedBefore.push(committed);
    committed += round.positions.length;
  }
  const visible = committedBefore[chosen.at(-1) ?? 0] ?? 0;
  const buffer = new BufferBuilder(trajectory.prompt);
  for (const { position, token } of reveals(trajectory).slice(0, visible)) buffer.push(token, position);
  // the prompt and the committed tokens are plainly causal
  const shared = buffer.ids.map(() => 0);
  const own = buffer.ids.map(() => 0);
  const steps = chosen.map((t) => {
    const round = roundOf(trajectory, t);
    const start = buffer.length;
    const rowOf = new Map<number, number>();
    for (const position of openBefore(trajectory, t, round.positions.at(-1) as number)) {
      rowOf.set(position, buffer.push(tokens.mask, position));
      shared.push(trajectory.prompt.length + (committedBefore[t] as number));
      own.push(start);
    }
    return { step: t, terms: roundTermsAt(round, (position) => rowOf.get(position) as number) };
  });
  return { buffer: { ids: buffer.ids, positions: buffer.positions, shared, own }, trajectory: index, steps };
}

/**
 * One sequence a round, exactly as sampled: what {@link packRounds} is tested against, and the way to score a network
 * whose attention does not allow packing.
 */
function separateRounds(
  trajectory: UnmaskTrajectory,
  index: number,
  chosen: readonly number[],
  model: SampledModel,
): StepBuffer[] {
  return chosen.map((t) => {
    const round = roundOf(trajectory, t);
    const revealed = new Map(
      trajectory.rounds.slice(0, t).flatMap((r) => r.positions.map((p, i) => [p, r.tokens[i] as number] as const)),
    );
    const { buffer, indexOf } = layCanvas(trajectory.prompt, revealed, trajectory.responseLength, model);
    const terms = roundTermsAt(round, (position) => indexOf[position] as number);
    return { buffer, trajectory: index, steps: [{ step: t, terms }] };
  });
}

/** Entries that a trajectory takes when packed: what a batch's bucket is chosen by. */
export function packedLength(trajectory: UnmaskTrajectory, subset?: readonly number[]): number {
  const chosen = subset ?? trajectory.rounds.map((_, t) => t);
  let length = trajectory.prompt.length;
  let committed = 0;
  trajectory.rounds.forEach((round, t) => {
    // open masks up to the last revealed position = that many positions less those committed before
    if (chosen.includes(t)) length += openBefore(trajectory, t, round.positions.at(-1) as number).length;
    if (t === chosen.at(-1)) length += committed;
    committed += round.positions.length;
  });
  return length;
}

/** Open positions 0..last of the canvas before round `t`, ascending. */
function openBefore(trajectory: UnmaskTrajectory, t: number, last: number): number[] {
  const committed = new Set(trajectory.rounds.slice(0, t).flatMap((round) => round.positions));
  return Array.from({ length: last + 1 }, (_, position) => position).filter((position) => !committed.has(position));
}
