import { fail } from "../../../core/errors.js";
import type { Batch } from "../../layout/batch.js";
import { bucketLength } from "../../layout/buffer.js";
import type { StepLayout } from "../../layout/scorings.js";
import { scoringTemperature } from "../../sampler.js";
import { constrainedHead, policyHead } from "../../score-head.js";
import { Canvas } from "../../template.js";
import { commonTemperature, type StepBuffer, type StepTerm, stepTerms } from "../../terms.js";
import type { SampledModel, TokenIds } from "../../tokens.js";
import { layCanvas, layRevealed, type PartialResponse, pushMask, pushSlots } from "./canvas.js";
import { layBefore } from "./next-token.js";
import { hasMask, isSerial, type UnmaskOptions, unmaskShapes } from "./options.js";
import type { TrajectoryRound, UnmaskTrajectory } from "./trajectory.js";

/**
 * Lays out the rounds of rollouts as terms: a rollout in one sequence where the model is causal ({@link packRounds}),
 * else (or where `packed` is false) each round in a sequence of its own ({@link separateRounds}).
 * @throws UserError where a trajectory does not fit the sizes, or temperatures differ.
 */
export function roundTerms(
  trajectories: readonly UnmaskTrajectory[],
  options: UnmaskOptions,
  layout: StepLayout,
): Batch {
  const { model } = options;
  const { steps, length } = unmaskShapes(options);
  const isShifted = trajectories.some(({ slotFill }) => slotFill === "next-token");
  const packed = (layout.packed ?? true) && (isShifted || model.attention === "causal");
  const buffers = trajectories.flatMap((trajectory, b) => {
    const chosen = layout.subset?.[b] ?? trajectory.rounds.map((_, t) => t);
    if (isShifted)
      return (packed ? [chosen] : chosen.map((t) => [t])).map((some) => drawnRounds(trajectory, b, some, model));
    return packed ? [packRounds(trajectory, b, chosen, model.tokens)] : separateRounds(trajectory, b, chosen, model);
  });
  const separate = layout.subset === undefined ? steps : Math.max(1, ...layout.subset.map((chosen) => chosen.length));
  const longest = Math.max(0, ...buffers.map(({ buffer }) => buffer.ids.length));
  return stepTerms(
    buffers,
    {
      steps,
      sequences: packed ? 1 : separate,
      length: packed ? bucketLength(longest, layout.lengthStep) : Math.max(length, longest),
      whole: trajectories.map((t) => ({ steps: t.rounds.length, terms: t.response.length })),
    },
    layout,
    {
      temperature: commonTemperature(trajectories.map((t) => scoringTemperature(t.temperature))),
      head: trajectories.some(({ template }) => Canvas.of(template).isConstrained) ? constrainedHead : policyHead,
      pad: model.tokens.pad,
      filler: model.tokens.eos,
    },
  );
}

function roundOf(trajectory: UnmaskTrajectory, t: number): TrajectoryRound {
  const round = trajectory.rounds[t];
  if (round === undefined) fail(`Round ${t} of a trajectory of ${trajectory.rounds.length} rounds`);
  return round;
}

function roundTermsAt(
  round: TrajectoryRound,
  rowOf: (cell: number) => number,
  place: ReadonlyMap<number, number>,
  allowed: ReadonlyMap<number, readonly number[]>,
): StepTerm[] {
  return round.positions.map((cell, i) => ({
    row: rowOf(cell),
    target: round.tokens[i] as number,
    position: place.get(cell) as number,
    logProb: round.logProbs[i] as number,
    features: { eos_allowed: round.eosAllowed[i] ? 1 : 0 },
    allowed: allowed.get(cell),
  }));
}

/** Returns the response index of each cell's token. */
function placesOf({ rounds }: UnmaskTrajectory): Map<number, number> {
  const cells = rounds.flatMap(({ positions }) => positions).sort((a, b) => a - b);
  return new Map(cells.map((cell, i) => [cell, i]));
}

/** Returns the response after its first `through` rounds. */
function partialResponseOf(trajectory: UnmaskTrajectory, canvas: Canvas, through: number): PartialResponse {
  const { prompt, slotFill, slotSize } = trajectory;
  const rounds = trajectory.rounds.slice(0, through).map(({ positions }) => positions.length);
  return { prompt, canvas, revealed: revealedBy(trajectory, through), rounds, slotSize, slotFill };
}

/** Cell -> token of the first `through` rounds, in the order of commitment. */
function revealedBy({ rounds }: UnmaskTrajectory, through: number): Map<number, number> {
  return new Map(
    rounds.slice(0, through).flatMap((r) => r.positions.map((p, i) => [p, r.tokens[i] as number] as const)),
  );
}

/**
 * Packs all rounds of a rollout into one sequence: prompt | given tokens | committed tokens in commit order | the open
 * masks of each round.
 *
 * A mask of round t sees the prompt, the given tokens, the tokens committed before t, and the masks of its own round up
 * to itself ({@link pushMask}). It saw the same in the rollout, where a committed token saw only the entries before it
 * (with slots filled in autoregressively, those of earlier rounds and of its own slot), so its keys and values are the
 * same in all rounds. Entries that no scored row sees are left out: the masks of a round after the last that predicts a
 * token, and the tokens committed in the last scored round, where they predict none.
 */
function packRounds(
  trajectory: UnmaskTrajectory,
  index: number,
  chosen: readonly number[],
  tokens: TokenIds,
): StepBuffer {
  const { slotFill, slotSize, template } = trajectory;
  const canvas = Canvas.of(template);
  const isSlotSerial = isSerial(slotFill);
  const fromMask = (cell: number): boolean => !isSlotSerial || cell % slotSize === 0;
  const last = chosen.at(-1) ?? 0;
  const through = isSlotSerial ? last + 1 : last;
  const partial = partialResponseOf(trajectory, canvas, through);
  const committed = partial.revealed;
  const buffer = layRevealed(partial);
  const first = buffer.length - committed.size;
  const committedAt = new Map([...committed.keys()].map((cell, i) => [cell, first + i]));
  const places = placesOf(trajectory);
  const allowed = canvas.allowedAt(revealedBy(trajectory, trajectory.rounds.length), tokens.eos);
  const steps = chosen.map((t) => {
    const round = roundOf(trajectory, t);
    const revealed = revealedBy(trajectory, t);
    const before = first + revealed.size;
    const start = buffer.length;
    const isOpen = canvas.openness(revealed, tokens.eos);
    const drawn = new Set(round.positions);
    // a mask that no other sees is kept only where its token was drawn
    const isSeen = (cell: number): boolean => slotFill !== "single-mask" || drawn.has(cell);
    const maskAt = new Map<number, number>();
    for (let cell = 0; cell <= (round.positions.findLast(fromMask) as number); cell++)
      if (!revealed.has(cell) && isOpen(cell) && hasMask(trajectory, cell) && isSeen(cell))
        maskAt.set(cell, pushMask(buffer, tokens.mask, cell, trajectory, { before, start }));
    const rowOf = (cell: number): number => (fromMask(cell) ? maskAt.get(cell) : committedAt.get(cell - 1)) as number;
    return { step: t, terms: roundTermsAt(round, rowOf, places, allowed) };
  });
  return { buffer, trajectory: index, steps };
}

/**
 * Packs rounds of a rollout without masks: the tokens before the drawn ones ({@link layBefore}). What a token sees does
 * not depend on the rounds.
 */
function drawnRounds(
  trajectory: UnmaskTrajectory,
  index: number,
  chosen: readonly number[],
  model: Pick<SampledModel, "attention" | "tokens">,
): StepBuffer {
  const canvas = Canvas.of(trajectory.template);
  const rounds = chosen.map((t) => roundOf(trajectory, t));
  const drawn = revealedBy(trajectory, trajectory.rounds.length);
  const { buffer, rows } = layBefore(
    { prompt: trajectory.prompt, canvas },
    drawn,
    rounds.flatMap(({ positions }) => positions),
    model,
  );
  const places = placesOf(trajectory);
  const allowed = canvas.allowedAt(drawn, model.tokens.eos);
  const rowOf = (cell: number): number => rows.get(cell) as number;
  const steps = rounds.map((round, i) => ({
    step: chosen[i] as number,
    terms: roundTermsAt(round, rowOf, places, allowed),
  }));
  return { buffer, trajectory: index, steps };
}

/**
 * Lays out one sequence per round: the reference in tests of {@link packRounds}, and the way to score a network whose
 * attention does not allow packing. Slots filled in autoregressively follow the masks, which do not see them.
 */
function separateRounds(
  trajectory: UnmaskTrajectory,
  index: number,
  chosen: readonly number[],
  model: SampledModel,
): StepBuffer[] {
  const { prompt, responseLength, slotFill, slotSize, template } = trajectory;
  const canvas = Canvas.of(template);
  const places = placesOf(trajectory);
  const allowed = canvas.allowedAt(revealedBy(trajectory, trajectory.rounds.length), model.tokens.eos);
  return chosen.map((t) => {
    const round = roundOf(trajectory, t);
    const revealed = revealedBy(trajectory, t);
    const { buffer, indexOf } = layCanvas(partialResponseOf(trajectory, canvas, t), responseLength, model);
    const drawn = round.positions.map((cell, i) => [cell, round.tokens[i] as number] as const);
    const before = prompt.length + canvas.given.length + revealed.size;
    const inSlots = !isSerial(slotFill) ? undefined : pushSlots(buffer, drawn, slotSize, before);
    const rowOf = (cell: number): number =>
      (cell % slotSize === 0 ? undefined : inSlots?.get(cell - 1)) ?? (indexOf[cell] as number);
    return { buffer, trajectory: index, steps: [{ step: t, terms: roundTermsAt(round, rowOf, places, allowed) }] };
  });
}

/** Returns the packed length of a trajectory in entries, for the choice of its bucket. */
export function packedLength(trajectory: UnmaskTrajectory, subset?: readonly number[]): number {
  const chosen = subset ?? trajectory.rounds.map((_, t) => t);
  // without an end no cell is closed: for a template this is an upper bound
  const tokens = { mask: 0, pad: 0, eos: -1 };
  const { buffer } =
    trajectory.slotFill === "next-token"
      ? drawnRounds(trajectory, 0, chosen, { attention: "causal", tokens })
      : packRounds(trajectory, 0, chosen, tokens);
  return buffer.ids.length;
}
