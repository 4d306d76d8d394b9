import type { EpisodeTurn, GroupEpisode, TurnCredit } from "../../../rl/credit.js";
import { figures, type Measurement, type Proof, type VerifyContext } from "../../../verify/proof.js";

const LIMIT = 1e-6;

const turn = (more: Partial<EpisodeTurn> = {}): EpisodeTurn => ({ steps: 2, ...more });
const episode = (reward: number | null, ...turns: EpisodeTurn[]): GroupEpisode => ({
  reward,
  turns: turns.length === 0 ? [turn()] : turns,
});

/** Rewards 0, 1, 2 and 5, and a failed environment: mean 2, deviation sqrt(3.5). */
const FOUR = [episode(0), episode(1), episode(null), episode(2), episode(5)];
/** Episodes of two turns with rewards 1 and 3, of one turn with reward 2, and of two turns with rewards 0 and 8. */
const TURNS = [
  episode(4, turn({ reward: 1 }), turn({ reward: 3 })),
  episode(2, turn({ reward: 2 })),
  episode(8, turn({ reward: 0 }), turn({ reward: 8 })),
];
/** The same episodes without rewards of turns. */
const UNTOLD = [episode(4, turn(), turn()), episode(2, turn()), episode(8, turn(), turn())];
const DRAFTS = [
  episode(1, turn({ steps: 3, drafts: [0, 0.5, 1] })),
  episode(0, turn({ steps: 3, drafts: [0, 0, 0] })),
  episode(null, turn({ steps: 3, drafts: [1, 1, 1] })),
];
const PARTS = [
  episode(
    1,
    turn({
      tokens: 5,
      parts: [
        { name: "name", reward: 1, tokens: [0, 1] },
        { name: "date", reward: 0.5, tokens: [3] },
      ],
    }),
  ),
  episode(0, turn({ tokens: 3, parts: [{ name: "name", reward: 0, tokens: [0] }] })),
];

/** A group, and its expected credit, computed by hand from docs/objectives.md. */
type Example = readonly [
  name: string,
  options: object,
  group: readonly GroupEpisode[],
  expected: readonly (readonly TurnCredit[] | null)[],
];

const BY_RATIO: readonly Example[] = [
  ["group", { advantage: "group" }, FOUR, [[-1.0690449676], [-0.5345224838], null, [0], [1.6035674514]]],
  ["center, clipped to 1.5", { advantage: "center", adv_clip_max: 1.5 }, FOUR, [[-1.5], [-1], null, [0], [1.5]]],
  ["leave one out", { advantage: "leave_one_out" }, FOUR, [[-2.6666666667], [-1.3333333333], null, [0], [4]]],
  ["equal rewards", {}, [episode(0.5), episode(0.5), episode(0.5)], [null, null, null]],
  ["one episode", {}, [episode(1), episode(null)], [null, null]],
  [
    "discounted episode",
    { advantage: "center", discount: 0.5 },
    UNTOLD,
    [[-0.3333333333, -0.6666666667], [-2.6666666667], [1.6666666667, 3.3333333333]],
  ],
  // returns of the first turns 1 + 3 / 2, 2 and 0 + 8 / 2, mean 17 / 6; of the second turns 3 and 8
  [
    "return of a turn",
    { advantage: "center", turn_credit: "turn", discount: 0.5 },
    TURNS,
    [[-0.3333333333, -2.5], [-0.8333333333], [1.1666666667, 2.5]],
  ],
  // returns of the first turns 4 / 2, 2 and 8 / 2, mean 8 / 3; of the second turns 4 and 8
  [
    "return of a turn, the last earns the episode's reward",
    { advantage: "center", turn_credit: "turn", discount: 0.5 },
    UNTOLD,
    [[-0.6666666667, -2], [-0.6666666667], [1.3333333333, 2]],
  ],
];

/** The examples of each objective. */
const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  ...Object.fromEntries(
    ["espo", "grpo", "cj-grpo", "coupled-grpo", "gdpo", "just-grpo", "spg"].map((name) => [name, BY_RATIO]),
  ),
  "flow-grpo": [
    ...BY_RATIO,
    // name: rewards 1 and 0; date: 0.5 and 0 for the episode without one; elsewhere the episodes' rewards 1 and 0
    [
      "parts",
      { advantage: "center", turn_credit: "part", ratio_level: "token" },
      PARTS,
      [[{ tokens: [0.5, 0.5, 0.5, 0.25, 0.5] }], [{ tokens: [-0.5, -0.5, -0.5] }]],
    ],
  ],
  wd1: [
    [
      "softmax of the rewards",
      { psi: Math.log(2) },
      [episode(1), episode(0), episode(null)],
      [[0.6666666667], [-0.6666666667], null],
    ],
  ],
  mdpo: [
    // gains 0 + 1 + 0.75, 0.5 + 1 + 1, 0.5 + 1 against 1, 1, 1: one above and one below at each step
    ["gains of the drafts", { top_steps: 8 }, DRAFTS, [[[1, 1, 1]], [[-1, -1, -1]], null]],
    // gains of step 0: 2.5, 1, 3, mean 13 / 6, deviation sqrt(13 / 18); of step 1: 0.5, 1, 1, deviation sqrt(1 / 18)
    [
      "the largest step alone",
      { top_steps: 1 },
      [
        episode(0.5, turn({ drafts: [1, 0.5] })),
        episode(0, turn({ drafts: [0, 0] })),
        episode(1, turn({ drafts: [1, 1] })),
      ],
      [[[0, -Math.SQRT2]], [[-1.3728129459, 0]], [[0.9805806757, 0]]],
    ],
  ],
  flowrl: [
    ["normalised rewards", {}, FOUR, [[-1.0690449676], [-0.5345224838], null, [0], [1.6035674514]]],
    ["equal rewards teach log Z", {}, [episode(1), episode(1)], [[0], [0]]],
  ],
};

/** Compares the credit of each objective with examples computed by hand. */
export async function measureCredit({ objectives }: Pick<VerifyContext, "objectives">): Promise<Measurement[]> {
  return objectives.flatMap(({ objective }) => {
    const own = EXAMPLES[objective.name] ?? [];
    const errors = own.map(([, options, group, expected]) =>
      differenceOf(objective.credit(group, objective.schema.parse(options)), expected),
    );
    const largest = Math.max(...errors);
    const worst = largest > LIMIT ? `: ${own[errors.indexOf(largest)]?.[0]}` : "";
    const name = `${objective.name}: credit of groups made by hand`;
    return own.length === 0
      ? []
      : figures(LIMIT, [[name, largest, `largest difference in ${own.length} groups${worst}`]]);
  });
}

/** Largest difference of corresponding numbers; infinite if the structures differ. */
function differenceOf(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null)
    return a === b ? 0 : Number.POSITIVE_INFINITY;
  const [x, y] = [Object.entries(a), new Map(Object.entries(b))];
  if (x.length !== y.size || Array.isArray(a) !== Array.isArray(b)) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...x.map(([key, value]) => differenceOf(value, y.get(key))));
}

export const proof: Proof = {
  claim: "credit of groups made by hand is what the docs say",
  run: (context) => measureCredit(context),
};
