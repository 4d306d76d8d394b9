import { z } from "zod";
import type { Reveal } from "../../sampler.js";
import { inconsistent, natural, readRecord, type TokenTrajectory, tokenFields } from "../../trajectory.js";
import type { SlotFill } from "./options.js";
import { eosAllowedSlots } from "./slots.js";

const roundSchema = z.strictObject({
  positions: z.array(natural).min(1),
  tokens: z.array(natural),
  logProbs: z.array(z.number()),
  eosAllowed: z.array(z.boolean()),
  draft: z.array(natural).optional(),
});

const trajectorySchema = z.strictObject({
  ...tokenFields,
  slotSize: natural.min(1),
  slotFill: z.literal("autoregressive").optional(),
  rounds: z.array(roundSchema).min(1),
});

/**
 * What one round revealed and kept. Parallel arrays, by ascending position.
 * `positions` count from the start of the response; `logProbs` are nats at the trajectory's temperature, of the variant
 * (EOS allowed or not) that `eosAllowed` names.
 */
export interface TrajectoryRound {
  readonly positions: readonly number[];
  readonly tokens: readonly number[];
  readonly logProbs: readonly number[];
  readonly eosAllowed: readonly boolean[];
  /** The most probable token of every position of the canvas that the round left open, ascending, where drafts are recorded. */
  readonly draft?: readonly number[] | undefined;
}

/** A recorded rollout of the sampler `unmask`. */
export interface UnmaskTrajectory extends TokenTrajectory {
  readonly slotSize: number;
  /** Absent: `parallel`. */
  readonly slotFill?: SlotFill | undefined;
  readonly rounds: readonly TrajectoryRound[];
}

/**
 * Reads a trajectory from JSON data and checks that it could have been sampled: whole slots, every position once, EOS
 * only as the last token and only where the policy allows it, the response equal to what the rounds revealed.
 * @param where names the source in messages, as `trajectories.jsonl line 3`.
 * @param eos the model's EOS token: the response must hold it exactly where it ended.
 * @throws UserError that says what is inconsistent.
 */
export function parseTrajectory(data: unknown, where: string, eos: number): UnmaskTrajectory {
  const trajectory: UnmaskTrajectory = readRecord(trajectorySchema, data, where);
  checkTrajectory(trajectory, where, eos);
  return trajectory;
}

/** The checks of {@link parseTrajectory} on a trajectory that has the right shape. @throws UserError */
export function checkTrajectory(trajectory: UnmaskTrajectory, where: string, eos: number): void {
  const { slotSize, responseLength, rounds, response, ended } = trajectory;
  if (responseLength % slotSize !== 0) {
    inconsistent(where, `the canvas of ${responseLength} positions is not a multiple of the slot size ${slotSize}`);
  }
  const open = Array.from({ length: responseLength / slotSize }, () => true);
  const tokens = new Map<number, number>();
  rounds.forEach((round, t) => {
    const at = `round ${t}`;
    const size = round.positions.length;
    if (round.tokens.length !== size || round.logProbs.length !== size || round.eosAllowed.length !== size) {
      inconsistent(where, `${at}: positions, tokens, logProbs and eosAllowed differ in length`);
    }
    const last = round.positions[size - 1] as number;
    const endsHere = ended === "eos" && t === rounds.length - 1;
    const selected = open.map(() => false);
    round.positions.forEach((position, i) => {
      if (position >= responseLength) inconsistent(where, `${at}: position ${position} is outside the canvas`);
      if (i > 0 && position <= (round.positions[i - 1] as number))
        inconsistent(where, `${at}: positions do not ascend`);
      if (!open[Math.floor(position / slotSize)])
        inconsistent(where, `${at}: position ${position} was revealed before`);
      // a sum of rounded numbers may pass 0 by a little
      const logProb = round.logProbs[i] as number;
      if (!Number.isFinite(logProb) || logProb > 1e-4)
        inconsistent(where, `${at}: ${logProb} at position ${position} is no log-probability`);
      selected[Math.floor(position / slotSize)] = true;
      tokens.set(position, round.tokens[i] as number);
    });
    for (let slot = 0; slot < open.length; slot++) {
      for (let i = 0; selected[slot] && i < slotSize; i++) {
        const position = slot * slotSize + i;
        if (!tokens.has(position) && !(endsHere && position > last)) {
          inconsistent(where, `${at}: slot ${slot} is revealed without its position ${position}`);
        }
      }
    }
    const allowed = eosAllowedSlots(open, selected);
    round.positions.forEach((position, i) => {
      const expected = allowed[Math.floor(position / slotSize)] as boolean;
      if (round.eosAllowed[i] !== expected) {
        inconsistent(
          where,
          `${at}: eosAllowed at position ${position} is ${round.eosAllowed[i]}, the policy gives ${expected}`,
        );
      }
    });
    selected.forEach((taken, slot) => {
      if (taken) open[slot] = false;
    });
  });
  checkResponse(trajectory, tokens, where);
  const end = response.indexOf(eos);
  if (ended === "length" ? end >= 0 : end !== response.length - 1) {
    inconsistent(
      where,
      `it ended by ${ended}, and EOS (${eos}) is ${end < 0 ? "not in the response" : `at position ${end}`}`,
    );
  }
  if (ended === "eos") {
    const last = rounds.at(-1) as TrajectoryRound;
    if (last.positions.at(-1) !== end) inconsistent(where, "EOS is not the last token that was revealed");
    if (!last.eosAllowed.at(-1)) inconsistent(where, "EOS was sampled where it is not allowed");
  }
}

function checkResponse(trajectory: UnmaskTrajectory, tokens: ReadonlyMap<number, number>, where: string): void {
  const { response, responseLength, ended } = trajectory;
  if (ended === "length" ? response.length !== responseLength : response.length > responseLength) {
    inconsistent(
      where,
      `the response has ${response.length} tokens on a canvas of ${responseLength} and ended by ${ended}`,
    );
  }
  if (tokens.size !== response.length) {
    inconsistent(where, `the rounds reveal ${tokens.size} tokens, the response has ${response.length}`);
  }
  response.forEach((token, position) => {
    if (tokens.get(position) !== token) {
      inconsistent(
        where,
        `the response has token ${token} at position ${position}, the rounds ${tokens.get(position)}`,
      );
    }
  });
}

/** When each token was revealed, in the order of commitment (rounds in order, ascending position inside a round). */
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
 * The response as it stood after each round, read up to its first EOS: what is revealed, and elsewhere what the round
 * drafted. The last one is the response itself.
 */
export function drafts(trajectory: UnmaskTrajectory): UnmaskTrajectory[] {
  const { rounds, responseLength } = trajectory;
  const revealed = new Map<number, number>();
  return rounds.map((round, t) => {
    round.positions.forEach((position, i) => void revealed.set(position, round.tokens[i] as number));
    if (t === rounds.length - 1) return trajectory;
    const open = (round.draft ?? [])[Symbol.iterator]();
    const response = Array.from({ length: responseLength }, (_, p) => revealed.get(p) ?? open.next().value);
    return { ...trajectory, response: response.filter((token) => token !== undefined) };
  });
}

/** log pi of the whole trajectory in nats, as recorded. */
export function totalLogProb(trajectory: UnmaskTrajectory): number {
  let total = 0;
  for (const round of trajectory.rounds) for (const logProb of round.logProbs) total += logProb;
  return total;
}
