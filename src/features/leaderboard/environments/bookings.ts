/**
 * Bookings: forms that several answers fill in rightly. A guest, who is named, wants a place; the day and the season are
 * left open, so that each of 6 x 4 = 24 plans is right. What a policy makes of that freedom is what an objective that
 * matches a distribution (FlowRL) is told apart by from one that maximises a reward.
 *
 *   form: Boat Trip                 fill Guest Name | Ines Meyer
 *    Guest Name | Ines Meyer   ->   select Day | Friday          (any of 6)
 *    Day | any                      select Season | Spring       (any of 4)
 *    Season | any                   submit
 */

import { z } from "zod";
import { codeHash } from "../../../core/code-hash.js";
import { sha256 } from "../../../core/files.js";
import type { Act } from "../../../core/interaction.js";
import { Rng } from "../../../core/rng.js";
import type {
  Demonstration,
  Environment,
  EnvironmentKind,
  EnvironmentTask,
  EpisodeOutcome,
  FixedPolicy,
  Split,
} from "../../../env/environment.js";
import { parsePlan, renderPlan } from "../../../env/forms/plan.js";
import { OPTIONS } from "../../../env/sites/embedded/catalog.js";
import { person } from "../../../env/sites/embedded/values.js";
import { fraction, recordSplit } from "../../../env/sites/parts/split-hash.js";
import { renderPrompt } from "../../../text/prompt.js";

const schema = z.strictObject({
  seed: z.int().min(0).default(1).describe("of the guests"),
  train: z.int().min(1).max(5000).default(64).describe("tasks to train on; val, test and heldout have a quarter each"),
});
type BookingOptions = z.output<typeof schema>;

const TITLES = ["Boat Trip", "Garden Tour", "Tennis Lesson", "Library Talk"] as const;
const HELDOUT_TITLES = ["Garden Talk", "Boat Lesson"] as const;
const [DAY, SEASON, GUEST] = ["Day", "Season", "Guest Name"] as const;
/** Stands in a prompt for whatever the form offers. */
const ANY = "any";

interface BookingTask extends EnvironmentTask {
  readonly guest: string;
}

const { days = [], seasons = [] } = OPTIONS;
/** Every right answer, as {@link answerOf} names it. */
export const RIGHT_ANSWERS: readonly string[] = days.flatMap((day) =>
  seasons.map((season) => `${day.text}, ${season.text}`),
);

export const environment: EnvironmentKind = {
  schema,
  async open({ environment: section }) {
    const { kind: _, ...options } = section as { kind: string };
    return new BookingsEnvironment(schema.parse(options));
  },
};

/**
 * Index of the right answer that a plan is; undefined where it is wrong: every field once, with a value that the form offers and the
 * named guest, then the submit, and nothing else.
 */
export function answerOf(guest: string, text: string): string | undefined {
  const { actions, unresolved } = parsePlan(text);
  const given = new Map<string, string>();
  for (const action of actions) if ("value" in action) given.set(action.label, action.value);
  const answer = `${given.get(DAY)}, ${given.get(SEASON)}`;
  const whole = actions.length === 4 && given.size === 3 && actions[3]?.kind === "submit" && unresolved.length === 0;
  return whole && given.get(GUEST) === guest && RIGHT_ANSWERS.includes(answer) ? answer : undefined;
}

export class BookingsEnvironment implements Environment {
  readonly name = "bookings";
  readonly notes: readonly string[] = [];
  readonly started = true;
  readonly tasks: readonly BookingTask[];

  constructor(options: BookingOptions) {
    const quarter = Math.ceil(options.train / 4);
    this.tasks = [
      ...tasksOf("train", TITLES, options.train, options.seed),
      ...tasksOf("val", TITLES, quarter, options.seed),
      ...tasksOf("test", TITLES, quarter, options.seed),
      ...tasksOf("heldout", HELDOUT_TITLES, quarter, options.seed),
    ];
  }

  splitHash(): string {
    return sha256(this.tasks.map(({ id, guest }) => `${id} ${guest}`).join("\n"));
  }

  judge(): string {
    return codeHash(import.meta.url);
  }

  async start(): Promise<void> {}

  firstObservation(task: EnvironmentTask): { text: string } {
    const { form, guest } = task as BookingTask;
    const fields = { [GUEST]: guest, [DAY]: ANY, [SEASON]: ANY };
    return { text: renderPrompt({ formTitle: form, instruction: "", fields }, "compact") };
  }

  async play(task: EnvironmentTask, act: Act): Promise<EpisodeOutcome> {
    const { text = "" } = await act(this.firstObservation(task));
    const answer = answerOf((task as BookingTask).guest, text);
    const success = answer !== undefined;
    const right = { is: answer ?? null, of: RIGHT_ANSWERS.length };
    return { reward: Number(success), success, metrics: {}, answer: right, detail: { answer: right.is } };
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    /** Each right answer as often as any other. */
    oracle: async (task, rng) => async () => ({ text: rightPlan(task as BookingTask, rng) }),
  };

  /** A right answer that the task's own draw decides on: over tasks each as often as any other. */
  demonstrations(tasks: readonly EnvironmentTask[]): Demonstration[] {
    return (tasks as readonly BookingTask[]).map((task) => ({
      id: task.id,
      observation: this.firstObservation(task),
      action: { text: rightPlan(task, Rng.named(0, `booking/${task.id}`)) },
    }));
  }

  /** Another guest, and another right answer. */
  syntheticDemonstration(rng: Rng): Demonstration {
    const task: BookingTask = {
      id: "synthetic/train/0",
      split: "train",
      form: rng.pick(TITLES),
      guest: guestOf("train", rng),
    };
    return { id: task.id, observation: this.firstObservation(task), action: { text: rightPlan(task, rng) } };
  }

  async close(): Promise<void> {}
}

function rightPlan({ guest }: BookingTask, rng: Rng): string {
  return renderPlan(
    [
      { kind: "fill", label: GUEST, value: guest },
      { kind: "select", label: DAY, value: rng.pick(days).text },
      { kind: "select", label: SEASON, value: rng.pick(seasons).text },
      { kind: "submit" },
    ],
    "compact",
  );
}

function tasksOf(split: Split, titles: readonly string[], count: number, seed: number): BookingTask[] {
  const rng = Rng.named(seed, `bookings/${split}`);
  return Array.from({ length: count }, (_, i) => ({
    id: `bookings/${split}/${String(i).padStart(4, "0")}`,
    split,
    form: titles[i % titles.length] as string,
    guest: guestOf(split, rng),
  }));
}

/** A name of the split's own: no guest of one split is one of another. */
function guestOf(split: Split, rng: Rng): string {
  for (;;) {
    const guest = String(person.draw(rng));
    if (split === "heldout" ? fraction(`bookings/${guest}`) >= 0 : recordSplit(`bookings/${guest}`) === split)
      return guest;
  }
}
