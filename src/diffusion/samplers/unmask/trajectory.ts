import { z } from "zod";
import { fail } from "../../../core/errors.js";
import type { Reveal } from "../../sampler.js";
import { Canvas, type Recorded } from "../../template.js";
import { checkChoices, checkTemplate, inconsistent, natural, readRecord, tokenFields } from "../../trajectory.js";
import { SLOT_FILLS } from "./options.js";
import { eosAllowedSlots } from "./slots.js";

/**
 * The tokens that one round revealed and kept, as parallel arrays by ascending position. `positions` count from the
 * start of the response, or the cells of a template's blanks; `logProbs` are nats at the trajectory's temperature, with
 * EOS allowed or not as `eosAllowed` says.
 */
const roundSchema = z.strictObject({
  positions: z.array(natural).min(1),
  tokens: z.array(natural),
  logProbs: z.array(z.number()),
  eosAllowed: z.array(z.boolean()),
  /** The most probable token of every cell that the round left open, ascending, where drafts are recorded. */
  draft: z.array(natural).optional(),
});
export type TrajectoryRound = Recorded<typeof roundSchema>;

const trajectorySchema = z.strictObject({
  ...tokenFields,
  slotSize: natural.min(1),
  /** Absent: `parallel`. */
  slotFill: z.enum(SLOT_FILLS).exclude(["parallel"]).optional(),
  rounds: z.array(roundSchema).min(1),
});
/** A recorded rollout of the sampler `unmask`. */
export type UnmaskTrajectory = Recorded<typeof trajectorySchema>;

/**
 * Reads a trajectory from JSON data and checks that it could have been sampled: whole slots, every position once, EOS
 * only where the policy allows it, no token after it in its blank, the response equal to the tokens of the rounds.
 * @param where names the source in messages, as `trajectories.jsonl line 3`.
 * @param eos the model's EOS token: it must stand in the response exactly at the ends.
 * @throws UserError that says what is inconsistent.
 */
export function parseTrajectory(data: unknown, where: string, eos: number): UnmaskTrajectory {
  const trajectory: UnmaskTrajectory = readRecord(trajectorySchema, data, where);
  checkTrajectory(trajectory, where, eos);
  return trajectory;
}

/** Runs the checks of {@link parseTrajectory} on a trajectory of the right shape. @throws UserError */
export function checkTrajectory(trajectory: UnmaskTrajectory, where: string, eos: number): void {
  const { slotSize, responseLength, rounds, template } = trajectory;
  if (responseLength % slotSize !== 0)
    inconsistent(where, `the canvas of ${responseLength} positions is not a multiple of the slot size ${slotSize}`);
  checkTemplate(trajectory, where, { slotSize });
  const canvas = Canvas.of(template);
  const blankOf = (slot: number): number => canvas.blankOf(slot * slotSize);
  const open = Array.from({ length: responseLength / slotSize }, () => true);
  const tokens = new Map<number, number>();
  rounds.forEach((round, t) => {
    const at = `round ${t}`;
    const selected = open.map(() => false);
    checkPositions(round, responseLength, where, at);
    round.positions.forEach((position, i) => {
      const slot = Math.floor(position / slotSize);
      if (!open[slot]) inconsistent(where, `${at}: position ${position} was revealed before, or is behind an end`);
      if (trajectory.slotFill === "next-token" && !canvas.isFirst(position) && !tokens.has(position - 1))
        inconsistent(where, `${at}: position ${position} was drawn without the token before it`);
      selected[slot] = true;
      tokens.set(position, round.tokens[i] as number);
    });
    // the cells of the ends drawn in this round, by blank
    const ends = new Map(
      round.positions.flatMap((position, i) =>
        round.tokens[i] === eos ? [[canvas.blankOf(position), position] as const] : [],
      ),
    );
    for (let slot = 0; slot < open.length; slot++) {
      for (let i = 0; selected[slot] && i < slotSize; i++) {
        const position = slot * slotSize + i;
        if (!tokens.has(position) && !(position > (ends.get(blankOf(slot)) ?? position)))
          inconsistent(where, `${at}: slot ${slot} is revealed without its position ${position}`);
      }
    }
    // draws after an end were dropped, so their slot may look unselected
    const allowed = eosAllowedSlots(open, selected, blankOf);
    round.positions.forEach((position, i) => {
      const expected = allowed[Math.floor(position / slotSize)] as boolean;
      if (round.eosAllowed[i] !== expected) {
        inconsistent(
          where,
          `${at}: eosAllowed at position ${position} is ${round.eosAllowed[i]}, the policy gives ${expected}`,
        );
      }
      if (round.tokens[i] === eos && !expected) inconsistent(where, `${at}: EOS was sampled where it is not allowed`);
    });
    for (const slot of open.keys()) if (selected[slot] || ends.has(blankOf(slot))) open[slot] = false;
  });
  const drawn = rounds.flatMap(({ positions, tokens }) => positions.map((p, i) => [p, tokens[i] as number] as const));
  checkChoices(canvas, drawn, where, eos);
  checkResponse(trajectory, tokens, where, eos);
  const never = open.indexOf(true);
  if (never >= 0) inconsistent(where, `slot ${never} was never revealed`);
}

/** @throws UserError where a round's arrays do not match or are not positions with log-probabilities. */
function checkPositions(round: TrajectoryRound, responseLength: number, where: string, at: string): void {
  const size = round.positions.length;
  if (round.tokens.length !== size || round.logProbs.length !== size || round.eosAllowed.length !== size)
    inconsistent(where, `${at}: positions, tokens, logProbs and eosAllowed differ in length`);
  round.positions.forEach((position, i) => {
    if (position >= responseLength) inconsistent(where, `${at}: position ${position} is outside the canvas`);
    if (i > 0 && position <= (round.positions[i - 1] as number)) inconsistent(where, `${at}: positions do not ascend`);
    // a sum of rounded numbers may exceed 0 slightly
    const logProb = round.logProbs[i] as number;
    if (!Number.isFinite(logProb) || logProb > 1e-4)
      inconsistent(where, `${at}: ${logProb} at position ${position} is no log-probability`);
  });
}

function checkResponse(
  { response, template, ended }: UnmaskTrajectory,
  revealed: ReadonlyMap<number, number>,
  where: string,
  eos: number,
): void {
  const tokens = [...revealed].sort(([a], [b]) => a - b);
  if (tokens.length !== response.length)
    inconsistent(where, `the rounds reveal ${tokens.length} tokens, the response has ${response.length}`);
  response.forEach((token, i) => {
    const [position, drawn] = tokens[i] as [number, number];
    if (drawn !== token)
      inconsistent(where, `the response has token ${token} at position ${position}, the rounds ${drawn}`);
  });
  const canvas = Canvas.of(template);
  const cells = canvas.cellsOf(response, eos);
  const odd = tokens.findIndex(([position], i) => position !== cells[i]);
  if (odd >= 0 || !canvas.isRead(response, eos))
    inconsistent(
      where,
      `position ${tokens[odd]?.[0] ?? response.indexOf(eos)} is revealed behind an end, or one before it is not`,
    );
  const ends = response.filter((token) => token === eos).length;
  if ((ended === "eos") !== (ends === canvas.blanks.length))
    inconsistent(where, `it ended by ${ended}, and ${ends} of ${canvas.blanks.length} blanks end in EOS (${eos})`);
}

/** Returns the round of each token, in commit order (rounds in order, ascending position inside a round). */
export function reveals(trajectory: UnmaskTrajectory): Reveal[] {
  return trajectory.rounds.flatMap((round, step) =>
    round.positions.map((position, i) => ({
      position,
      token: round.tokens[i] as number,
      step,
      logProb: round.logProbs[i],
    })),
  );
}

/**
 * Returns the response after each round, read up to its first EOS: revealed tokens, and the round's draft elsewhere.
 * The last one is the response itself.
 * @throws UserError where a round's draft does not cover all its open cells.
 */
export function drafts(trajectory: UnmaskTrajectory, eos: number): UnmaskTrajectory[] {
  const { rounds, responseLength, template } = trajectory;
  const canvas = Canvas.of(template);
  const revealed = new Map<number, number>();
  return rounds.map((round, t) => {
    round.positions.forEach((position, i) => void revealed.set(position, round.tokens[i] as number));
    if (t === rounds.length - 1) return trajectory;
    const draft = round.draft ?? [];
    const isOpen = canvas.openness(revealed, eos);
    const open = Array.from({ length: responseLength }, (_, p) => p).filter((p) => !revealed.has(p) && isOpen(p));
    if (draft.length !== open.length)
      fail(`round ${t} of a rollout holds no draft of its ${open.length} open positions, but ${draft.length} tokens`, {
        hint: "Record the rollouts with an objective that learns from drafts, as mdpo.",
      });
    const drafted = new Map(open.map((p, i) => [p, draft[i] as number]));
    const cells = Array.from({ length: responseLength }, (_, p) => revealed.get(p) ?? drafted.get(p));
    const response = canvas.isFree ? cells.filter((token) => token !== undefined) : canvas.read(cells, eos);
    return { ...trajectory, response };
  });
}
