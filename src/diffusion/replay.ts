import { UserError } from "../core/errors.js";
import { type BufferBatch, BufferBuilder, batchBuffers, bucketLength, type TokenBuffer } from "./buffer.js";
import { scoringTemperature, type TokenIds } from "./policy.js";
import { commitOrder, type Trajectory, type TrajectoryRound } from "./trajectory.js";

/**
 * Recorded rounds laid out for scoring: buffers, and B*T*K terms of which `mask` marks the real ones. Term (b, t, i) is
 * the i-th token revealed in the t-th packed round of buffer b; its log-probability is that of `targets` under the
 * logits of `rows`, at `temperature`, without mask and pad, without EOS where `eosAllowed` is 0.
 */
export interface PackedBatch extends BufferBatch {
  /** T */
  readonly rounds: number;
  /** K */
  readonly reveals: number;
  /** Softmax temperature of the scores. */
  readonly temperature: number;
  /** [B*T*K] flat index b*N+n; 0 where there is no term. */
  readonly rows: BigInt64Array;
  /** [B*T*K] token id; EOS where there is no term (allowed there, so that every score is an ordinary number). */
  readonly targets: BigInt64Array;
  /** [B*T*K] 1 or 0; 1 where there is no term. */
  readonly eosAllowed: Float32Array;
  /** [B*T*K] 1 for a real term. */
  readonly mask: Float32Array;
  /** [B*T*K] the rollout's own log-probabilities ("old"), nats; 0 where there is no term. */
  readonly logProbs: Float32Array;
  /** Packed rounds of each buffer (0 for padding). */
  readonly roundCount: readonly number[];
}

export interface PackOptions {
  readonly tokens: TokenIds;
  /** B; default: as many as needed. */
  readonly batch?: number;
  /** N; default: the smallest multiple of 32 that fits. */
  readonly length?: number;
  /** T; default: the most rounds of any trajectory. */
  readonly rounds?: number;
  /** K; default: the most tokens of any round, rounded up to whole slots. */
  readonly reveals?: number;
  /** Indices of the rounds to score, ascending, one list a trajectory; default: all. `pack` only. */
  readonly subset?: readonly (readonly number[])[];
}

interface Scored {
  readonly round: TrajectoryRound;
  /** Buffer index of each revealed position's mask. */
  readonly rows: readonly number[];
}

interface Entry {
  readonly buffer: TokenBuffer;
  readonly scored: readonly Scored[];
}

/**
 * All rounds of a rollout in one sequence:
 * prompt | committed tokens in commit order | for every round its open masks.
 * A mask of round t sees the prompt, the tokens committed before t, and the masks of its own round up to itself. That
 * is what it saw in the rollout, where a committed token saw only the entries before it, so its keys and values are the
 * same in all rounds. Two things are left out because nothing real sees them: the masks of a round behind its last
 * revealed position, and the tokens committed in the last scored round.
 * @throws UserError where a trajectory does not fit the given sizes, or temperatures differ.
 */
export function packTrajectories(trajectories: readonly Trajectory[], options: PackOptions): PackedBatch {
  const entries = trajectories.map((trajectory, i) => packEntry(trajectory, options.tokens.mask, options.subset?.[i]));
  return assemble(entries, trajectories, options);
}

/**
 * The same terms scored round by round: one buffer per round exactly as sampled, with T = 1. It is the reference that
 * {@link packTrajectories} is tested against, and the way to score a network whose attention does not allow packing.
 */
export function unpackedRounds(trajectory: Trajectory, options: PackOptions): PackedBatch {
  const entries: Entry[] = [];
  const revealed = new Map<number, number>();
  for (const round of trajectory.rounds) {
    const buffer = new BufferBuilder(trajectory.prompt);
    for (const [position, token] of revealed) buffer.push(token, position);
    const rowOf = new Map<number, number>();
    for (let position = 0; position < trajectory.responseLength; position++) {
      if (!revealed.has(position)) rowOf.set(position, buffer.push(options.tokens.mask, position));
    }
    entries.push({ buffer, scored: [{ round, rows: round.positions.map((p) => rowOf.get(p) as number) }] });
    round.positions.forEach((position, i) => {
      revealed.set(position, round.tokens[i] as number);
    });
  }
  return assemble(entries, [trajectory], options);
}

/** Entries that a trajectory takes when packed: what a batch's bucket is chosen by. */
export function packedLength(trajectory: Trajectory, subset?: readonly number[]): number {
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
function openBefore(trajectory: Trajectory, t: number, last: number): number[] {
  const committed = new Set(trajectory.rounds.slice(0, t).flatMap((round) => round.positions));
  return Array.from({ length: last + 1 }, (_, position) => position).filter((position) => !committed.has(position));
}

function packEntry(trajectory: Trajectory, mask: number, subset: readonly number[] | undefined): Entry {
  const chosen = subset ?? trajectory.rounds.map((_, t) => t);
  const committedBefore: number[] = [];
  let committed = 0;
  for (const round of trajectory.rounds) {
    committedBefore.push(committed);
    committed += round.positions.length;
  }
  const visible = chosen.length === 0 ? 0 : (committedBefore[chosen.at(-1) as number] as number);
  const buffer = new BufferBuilder(trajectory.prompt);
  for (const { position, token } of commitOrder(trajectory).slice(0, visible)) buffer.push(token, position);
  // the prompt and the committed tokens are plainly causal
  const shared = buffer.ids.map(() => 0);
  const own = buffer.ids.map(() => 0);
  const scored = chosen.map((t) => {
    const round = trajectory.rounds[t];
    if (round === undefined) throw new UserError(`Round ${t} of a trajectory of ${trajectory.rounds.length} rounds`);
    const start = buffer.length;
    const rowOf = new Map<number, number>();
    for (const position of openBefore(trajectory, t, round.positions.at(-1) as number)) {
      rowOf.set(position, buffer.push(mask, position));
      shared.push(trajectory.prompt.length + (committedBefore[t] as number));
      own.push(start);
    }
    return { round, rows: round.positions.map((position) => rowOf.get(position) as number) };
  });
  return { buffer: { ids: buffer.ids, positions: buffer.positions, shared, own }, scored };
}

function assemble(entries: readonly Entry[], from: readonly Trajectory[], options: PackOptions): PackedBatch {
  const batch = options.batch ?? entries.length;
  const length = options.length ?? bucketLength(Math.max(0, ...entries.map((entry) => entry.buffer.ids.length)));
  const rounds = options.rounds ?? Math.max(0, ...entries.map((entry) => entry.scored.length));
  const reveals = options.reveals ?? mostReveals(from);
  const temperatures = new Set(from.map((trajectory) => scoringTemperature(trajectory.temperature)));
  if (temperatures.size > 1) {
    throw new UserError(`Trajectories of different temperatures in one batch: ${[...temperatures].join(", ")}`);
  }
  const terms = batch * rounds * reveals;
  const packed = {
    ...batchBuffers(
      entries.map((entry) => entry.buffer),
      { batch, length, pad: options.tokens.pad },
    ),
    rounds,
    reveals,
    temperature: [...temperatures][0] ?? 1,
    rows: new BigInt64Array(terms),
    targets: new BigInt64Array(terms).fill(BigInt(options.tokens.eos)),
    eosAllowed: new Float32Array(terms).fill(1),
    mask: new Float32Array(terms),
    logProbs: new Float32Array(terms),
    roundCount: Array.from({ length: batch }, (_, b) => entries[b]?.scored.length ?? 0),
  };
  entries.forEach((entry, b) => {
    if (entry.scored.length > rounds) {
      throw new UserError(`A trajectory of ${entry.scored.length} rounds does not fit ${rounds}`);
    }
    entry.scored.forEach(({ round, rows }, t) => {
      if (rows.length > reveals) throw new UserError(`A round of ${rows.length} tokens does not fit ${reveals}`);
      rows.forEach((row, i) => {
        const term = (b * rounds + t) * reveals + i;
        packed.rows[term] = BigInt(b * length + row);
        packed.targets[term] = BigInt(round.tokens[i] as number);
        packed.eosAllowed[term] = round.eosAllowed[i] ? 1 : 0;
        packed.mask[term] = 1;
        packed.logProbs[term] = round.logProbs[i] as number;
      });
    });
  });
  return packed;
}

/** K: tokens of the largest round, in whole slots (the last round of a trajectory may be cut inside one by EOS). */
function mostReveals(trajectories: readonly Trajectory[]): number {
  const sizes = trajectories.flatMap(({ slotSize, rounds }) =>
    rounds.map((round) => Math.ceil(round.positions.length / slotSize) * slotSize),
  );
  return Math.max(0, ...sizes);
}
