import { join } from "node:path";
import { z } from "zod";
import { readTree, shippedOr } from "../../config/config.js";
import { isPlainObject } from "../../config/overrides.js";
import { checked } from "../../core/problems.js";
import { SPLITS } from "../../env/environment.js";

const tree = z.record(z.string(), z.unknown());
const seeds = z.array(z.int().min(0)).min(1);
/** Name of a family or an objective: part of a run's name and its directory. */
const entryName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: "a name may hold letters, digits, '.', '_' and '-' only" });

const schema = z
  .strictObject({
    name: entryName,
    /** Seeds of the reported runs, one per objective and seed. */
    seeds,
    /** Runs that choose each objective's learning rate, from the same grid. */
    tuning: z.strictObject({
      seeds,
      learning_rates: z.array(z.number().positive()).min(1),
      /** Most rates tried beyond an end of the grid, while the best one is at that end. */
      widen: z.int().min(0).default(0),
      split: z.enum(SPLITS).default("val"),
    }),
    /** Reported splits in the table's order; objectives are sorted by the first. */
    splits: z.array(z.enum(SPLITS)).min(1).default(["test", "heldout"]),
    /** Rollouts for the estimate of the KL spent. */
    kl_rollouts: z.int().min(1).default(64),
    /** Families: the config of their runs, and each objective's changes of it, by a name for the table. */
    families: z.record(entryName, z.strictObject({ config: tree, objectives: z.record(entryName, tree.nullable()) })),
  })
  .refine(({ seeds: reported, tuning }) => !reported.some((seed) => tuning.seeds.includes(seed)), {
    path: ["tuning", "seeds"],
    error: "must hold no seed that is reported: a learning rate chosen on it would be chosen for it",
  })
  .refine(({ splits, tuning }) => !splits.includes(tuning.split), {
    path: ["tuning", "split"],
    error: "must be no split that is reported: a learning rate chosen on it would be chosen for it",
  });

export type Leaderboard = z.output<typeof schema>;

/** One training run of a leaderboard. */
export interface PlannedRun {
  readonly family: string;
  /** Name of the objective's entry. */
  readonly objective: string;
  readonly seed: number;
  readonly learningRate: number;
  /** True for the choice of a learning rate, false for reported runs. */
  readonly tuning: boolean;
  /** Path under the leaderboard's directory. */
  readonly place: string;
  /** The run's config. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly splits: Leaderboard["splits"];
}

/** Reads a leaderboard's file. @throws UserError that lists all problems of the file. */
export function readLeaderboard(path: string): Leaderboard {
  return checked(schema, readTree(shippedOr(path)), `${path} is no leaderboard`, {
    hint: "configs/leaderboard/letters.yaml is one, and says what the keys mean",
    exitCode: 2,
  });
}

export type Entry = Pick<PlannedRun, "family" | "objective">;

export const entryKey = ({ family, objective }: Entry): string => `${family}/${objective}`;

/**
 * Lists the runs that choose learning rates, or the reported ones, ordered by seed: if time ends early, all objectives
 * have equally many.
 * @param ratesOf returns the learning rates of an entry.
 */
export function plannedRuns(
  board: Leaderboard,
  tuning: boolean,
  ratesOf: (entry: Entry) => readonly number[],
): PlannedRun[] {
  const seedsOf = tuning ? board.tuning.seeds : board.seeds;
  return Object.keys(board.families).flatMap((family) =>
    seedsOf.flatMap((seed) =>
      entriesOf(board, family).flatMap((entry) =>
        ratesOf(entry).map((rate) => planned(board, entry, seed, rate, tuning)),
      ),
    ),
  );
}

/** Extends a grid geometrically beyond the end at which its best rate lies; empty if the best is inside. */
export function rateBeyond(grid: readonly number[], best: number): number[] {
  const sorted = [...grid].sort((a, b) => a - b);
  const at = sorted.indexOf(best);
  const neighbour = at === 0 ? sorted[1] : at === sorted.length - 1 ? sorted[at - 1] : undefined;
  return neighbour === undefined ? [] : [Number(((best * best) / neighbour).toPrecision(3))];
}

/** Lists the objectives of a family. */
export function entriesOf({ families }: Pick<Leaderboard, "families">, family: string): Entry[] {
  return Object.keys(families[family]?.objectives ?? {}).map((objective) => ({ family, objective }));
}

function planned(
  { families, splits, tuning: { split } }: Leaderboard,
  { family, objective }: Entry,
  seed: number,
  learningRate: number,
  tuning: boolean,
): PlannedRun {
  const { config, objectives } = families[family] as Leaderboard["families"][string];
  const place = join(family, objective, `${tuning ? "tuning" : "reported"}-lr-${learningRate}-seed-${seed}`);
  const own = { objective: { kind: objective }, name: `${family}-${objective}-${seed}`, seed };
  const fixed = { training: { learning_rate: learningRate }, evaluation: { splits: [] } };
  const whole = [own, objectives[objective] ?? {}, fixed].reduce<Record<string, unknown>>(merged, config);
  return {
    family,
    objective,
    seed,
    learningRate,
    tuning,
    place,
    splits: tuning ? [split] : splits,
    config: whole,
  };
}

/** Makes the config of a family before training, for the table's first row. */
export function startConfig({ families }: Leaderboard, family: string): Record<string, unknown> {
  return { ...merged(families[family]?.config ?? {}, { objective: { kind: "flow-grpo" } }), name: `${family}-start` };
}

function merged(below: Readonly<Record<string, unknown>>, above: Readonly<Record<string, unknown>>) {
  const out: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const before = out[key];
    out[key] = isPlainObject(before) && isPlainObject(value) ? merged(before, value) : value;
  }
  return out;
}
