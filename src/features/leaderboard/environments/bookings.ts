/**
 * Bookings: forms with several right answers. The guest's name is given; day and season are free, so that each of
 * 6 x 4 = 24 plans is right. The diversity of answers distinguishes objectives that match a distribution (FlowRL)
 * from those that maximise a reward.
 *
 *   form: Boat Trip                 fill Guest Name | Ines Meyer
 *    Guest Name | Ines Meyer   ->   select Day | Friday          (any of 6)
 *    Day | any                      select Season | Spring       (any of 4)
 *    Season | any                   submit
 */

import { z } from "zod";
import { codeHash } from "../../../core/code-hash.js";
import { sha256 } from "../../../core/files.js";
import { Rng } from "../../../core/rng.js";
import type { Demonstration, Environment, EnvironmentKind, EnvironmentTask, Split } from "../../../env/environment.js";
import { parsePlan, renderPlan } from "../../../env/forms/plan.js";
import { OPTIONS } from "../../../env/sites/embedded/catalog.js";
import { person } from "../../../env/sites/embedded/values.js";
import { fraction, recordSplit } from "../../../env/sites/parts/split-hash.js";
import { renderPrompt } from "../../../text/prompt.js";

const schema = z.strictObject({
  seed: z.int().min(0).default(1).describe("of the guests"),
  train: z.int().min(1).max(5000).default(64).describe("tasks to train on; val, test and heldout have a quarter each"),
});

const TITLES = ["Boat Trip", "Garden Tour", "Tennis Lesson", "Library Talk"] as const;
const HELDOUT_TITLES = ["Garden Talk", "Boat Lesson"] as const;
const [DAY, SEASON, GUEST] = ["Day", "Season", "Guest Name"] as const;
/** Value in a prompt for a free choice among the form's options. */
const ANY = "any";

interface BookingTask extends EnvironmentTask {
  readonly guest: string;
}

const { days = [], seasons = [] } = OPTIONS;
/** All right answers, in the form of {@link answerOf}. */
export const RIGHT_ANSWERS: readonly string[] = days.flatMap((day) =>
  seasons.map((season) => `${day.text}, ${season.text}`),
);

export const environment: EnvironmentKind = {
  schema,
  async open({ environment: section }) {
    const { kind: _, ...options } = section as { kind: string };
    return bookings(schema.parse(options));
  },
};

/**
 * Identifies a plan's right answer; undefined if the plan is wrong. A right plan sets every field once, with the
 * guest's name and values that the form offers, and then submits.
 */
export function answerOf(guest: string, text: string): string | undefined {
  const { actions, unresolved } = parsePlan(text);
  const given = new Map(
    actions.flatMap((action) => ("value" in action ? [[action.label, action.value] as const] : [])),
  );
  const answer = `${given.get(DAY)}, ${given.get(SEASON)}`;
  const whole = actions.length === 4 && given.size === 3 && actions[3]?.kind === "submit" && unresolved.length === 0;
  return whole && given.get(GUEST) === guest && RIGHT_ANSWERS.includes(answer) ? answer : undefined;
}

export interface Bookings extends Environment {
  readonly tasks: readonly BookingTask[];
}

export function bookings({ train, seed }: z.output<typeof schema>): Bookings {
  const quarter = Math.ceil(train / 4);
  const tasks = [
    ...tasksOf("train", TITLES, train, seed),
    ...tasksOf("val", TITLES, quarter, seed),
    ...tasksOf("test", TITLES, quarter, seed),
    ...tasksOf("heldout", HELDOUT_TITLES, quarter, seed),
  ];
  return {
    name: "bookings",
    notes: [],
    started: true,
    tasks,
    splitHash: () => sha256(tasks.map(({ id, guest }) => `${id} ${guest}`).join("\n")),
    judge: () => codeHash(import.meta.url),
    start: async () => undefined,
    firstObservation: (task) => observationOf(task as BookingTask),
    async play(task, act) {
      const { text = "" } = await act(observationOf(task as BookingTask));
      const is = answerOf((task as BookingTask).guest, text) ?? null;
      const success = is !== null;
      const answer = { is, of: RIGHT_ANSWERS.length };
      return { reward: Number(success), success, metrics: {}, answer, detail: { answer: is } };
    },
    fixedPolicies: {
      /** Draws all right answers with equal probability. */
      oracle: async (task, rng) => async () => ({ text: rightPlan(task as BookingTask, rng) }),
    },
    /** Uses a right answer drawn by the task's id: over tasks, all are equally frequent. */
    demonstrations: (some) =>
      some.map((task) => demonstrationOf(task as BookingTask, Rng.named(0, `booking/${task.id}`))),
    /** Draws a guest and a right answer. */
    syntheticDemonstration(rng) {
      const [id, split] = ["synthetic/train/0", "train"] as const;
      return demonstrationOf({ id, split, form: rng.pick(TITLES), guest: guestOf(split, rng) }, rng);
    },
    close: async () => undefined,
  };
}

function observationOf({ form, guest }: BookingTask): { readonly text: string } {
  const fields = { [GUEST]: guest, [DAY]: ANY, [SEASON]: ANY };
  return { text: renderPrompt({ formTitle: form, instruction: "", fields }, "compact") };
}

function demonstrationOf(task: BookingTask, rng: Rng): Demonstration {
  return { id: task.id, observation: observationOf(task), action: { text: rightPlan(task, rng) } };
}

function rightPlan({ guest }: BookingTask, rng: Rng): string {
  return renderPlan([
    { kind: "fill", label: GUEST, value: guest },
    { kind: "select", label: DAY, value: rng.pick(days).text },
    { kind: "select", label: SEASON, value: rng.pick(seasons).text },
    { kind: "submit" },
  ]);
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

/** Draws a name that occurs in this split only. */
function guestOf(split: Split, rng: Rng): string {
  for (;;) {
    const guest = String(person.draw(rng));
    if (split === "heldout" ? fraction(`bookings/${guest}`) >= 0 : recordSplit(`bookings/${guest}`) === split)
      return guest;
  }
}
