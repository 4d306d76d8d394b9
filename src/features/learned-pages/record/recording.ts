import { fail, misuse } from "../../../core/errors.js";
import type { EpisodeRunner } from "../../../env/browser/episode.js";
import { looseLabel } from "../../../env/forms/normalize.js";
import type { Task } from "../../../env/site.js";
import type { Action, PlaceOf } from "../contract.js";
import type { Recording } from "../learn/learner.js";
import { kindOfAll } from "../values.js";
import { type Call, isSamePlace, locatorOf } from "./actions.js";
import { type Part, partsOf } from "./assign.js";
import { isOptions, type Link } from "./code.js";
import { generalized, stringsIn } from "./generalize.js";
import { observed, type Seen } from "./observe.js";
import type { Asserted } from "./sign.js";
import type { Run } from "./spec.js";

/** Time limit of repeating one run, in milliseconds. */
const RUN_MS = 120_000;

interface Shown {
  readonly task: Task;
  readonly seen: readonly Seen[];
  readonly parts: readonly Part[];
}

/**
 * Finds in what people did how each field of a form is operated, which steps lead on, and which button sends it.
 * @param runs what each person did. @param tell reports the labels that stay open.
 * @throws UserError if a run has no task's values, or a step does not work on the page.
 */
export async function recordingOf(
  runner: EpisodeRunner,
  runs: readonly Run[],
  tasks: readonly Task[],
  tell: (text: string) => void,
): Promise<Recording> {
  const played: Omit<Shown, "parts">[] = [];
  for (const run of runs) {
    const task = taskOf(run, tasks);
    const found = await runner.converse((session) => observed(session, run, task, tell), RUN_MS);
    if ("fault" in found) fail(`${run.lines[0]?.file}: ${task.form} could not be filled in: ${found.fault}`);
    played.push({ task, seen: found.result });
  }
  const texts = played.map(({ seen }) => new Set(seen.flatMap(({ call }) => stringsIn(call)).map(looseLabel)));
  const fixed =
    texts.length < 2
      ? new Set<string>()
      : new Set([...(texts[0] ?? [])].filter((text) => texts.every((one) => one.has(text))));
  const shown = played.map((one): Shown => ({ ...one, parts: partsOf(one.seen, one.task, fixed) }));
  const [first] = shown as [Shown];
  const labels = [...new Set(tasks.flatMap(({ fields }) => Object.keys(fields)))];
  const order = [
    ...new Set(shown.flatMap(({ parts }) => parts.flatMap((part) => (typeof part === "object" ? [part.label] : [])))),
  ];
  const fields = new Map<string, { readonly actions: readonly Action[]; readonly step: number }>();
  for (const label of order) {
    const values = tasks.flatMap(({ fields: { [label]: value } }) => (value === undefined ? [] : [value]));
    const samples = shown.flatMap(({ task, seen, parts }) => {
      const value = task.fields[label];
      const own = seen.filter((_, i) => isOf(parts[i], label));
      return value === undefined ? [] : [{ value, seen: own }];
    });
    const kind = kindOfAll(values);
    let actions: Action[] | undefined;
    for (const reading of READINGS)
      actions ??= generalized(
        kind,
        samples.map(({ value, seen }) => ({ value, calls: reading(seen) })),
        values,
      );
    actions ??= keyed(samples.flatMap((one) => one.seen));
    if (actions !== undefined) fields.set(label, { actions, step: stepOf(shown, label) });
  }
  if (runs.length < 2)
    tell(`${first.task.form}: one person is recorded; a second one would show where the value stands in each step`);
  const open = labels.filter((label) => !fields.has(label));
  if (open.length > 0)
    tell(`${first.task.form}: the recording leaves open: ${open.join(", ")}; these are entered plainly`);
  const steps = first.seen
    .filter((_, i) => first.parts[i] === "step")
    .map(({ call }): PlaceOf => ({ locator: locatorOf(call), nth: 0 }));
  const submit = first.seen.find((_, i) => first.parts[i] === "submit");
  if (fields.size === 0)
    fail(`${runs[0]?.lines[0]?.file}: no step of the recording enters a value on the page as it is now.`, {
      hint: "Elements whose ids differ at each visit have to be found by their labels or texts: write getByLabel(...) for them.",
    });
  const success = successOf(runs, tasks, tell);
  return { fields, steps, submit: submit && { locator: locatorOf(submit.call), nth: 0 }, success };
}

/** Unites what people assert after their last step. @param tell reports what holds for one of them alone. */
function successOf(runs: readonly Run[], tasks: readonly Task[], tell: (text: string) => void): Asserted | undefined {
  const asserted = runs.flatMap(({ success }) => success ?? []);
  const form = tasks[0]?.form;
  if (asserted.length === 0)
    tell(
      `${form}: the recording ends without an assertion of what acceptance looks like: \`success\` has to declare it`,
    );
  const values = tasks.flatMap(({ fields }) => Object.values(fields).flat()).map((value) => looseLabel(String(value)));
  const shared = SIGNS.flatMap((sign) => {
    const shown = [...new Set(asserted.map(({ [sign]: text }) => text))];
    const [text] = shown;
    const isOwn = values.some((value) => value.length >= OWN && looseLabel(text ?? "").includes(value));
    if (shown.length === 1 && text !== undefined && !isOwn) return [[sign, text]];
    const all = shown.map((one) => JSON.stringify(one ?? null)).join(", ");
    if (shown.length > 0 && shown.some((one) => one !== undefined))
      tell(`${form}: the assertions say ${all}, which does not hold for every task: \`success\` leaves it out`);
    return [];
  });
  return shared.length > 0 ? Object.fromEntries(shared) : undefined;
}
const SIGNS = ["url", "text", "selector"] as const;
/** Least length in characters of a value that is looked for in an assertion. */
const OWN = 4;

/** Types into an input that people only clicked, as far as codegen has seen: it takes each key for itself. */
function keyed(steps: readonly Seen[]): Action[] | undefined {
  const [first] = steps;
  if (
    first === undefined ||
    !steps.every((one) => one.isText && one.call.method === "click" && isSamePlace(one.call, first.call))
  )
    return undefined;
  const at = locatorOf(first.call);
  return [`${at}.click()`, `${at}.pressSequentially('{value}', { delay: 20 })`];
}

/** Readings of a field's steps: the first by which they show where the value stands counts. */
const READINGS: readonly ((own: readonly Seen[]) => Call[])[] = [
  (own) => own.map(({ call }) => call),
  (own) => own.map(({ whole }) => whole),
  // a click on a box's label is written as a click, and as a step that ticks the box: it may lie under the label
  (own) =>
    own
      .map(({ call }) => call)
      .filter((call, i) => !isTick(call, own[i + 1]?.call))
      .map((call) => (/check$/.test(call.method) ? { ...call, args: [{ force: true }] } : call)),
  // a key goes to the element that has the focus, whatever its name is
  (own) =>
    own.map(({ call }, i) =>
      call.method === "press" && i > 0 && isSamePlace(call, (own[i - 1] as Seen).call)
        ? { find: [], method: "keyboard.press", args: call.args }
        : call,
    ),
  // the first of several has no number while it is alone
  (own) =>
    own.map(({ call }) =>
      call.find.length === 0 || call.find.at(-1)?.name === "nth"
        ? call
        : { ...call, find: [...call.find, { name: "nth", args: [0] }] },
    ),
  (own) => own.map(({ named }) => named),
  // a name is exact only where another one holds it: a step on several elements is taken on the exact one
  (own) => own.map(({ call }) => ({ ...call, find: call.find.map(withoutExact) })),
];

function withoutExact({ name, args = [] }: Link): Link {
  const last = args.at(-1);
  if (!isOptions(last)) return { name, args };
  const { exact: _, ...kept } = last;
  return { name, args: [...args.slice(0, -1), ...(Object.keys(kept).length > 0 ? [kept] : [])] };
}

const isTick = ({ method }: Call, next: Call | undefined): boolean =>
  method === "click" && /^(?:un)?check$/.test(next?.method ?? "");

const isOf = (part: Part | undefined, label: string): boolean => typeof part === "object" && part.label === label;

/** Counts the steps onward before a field. */
function stepOf(shown: readonly Shown[], label: string): number {
  const { parts } = shown.find((one) => one.parts.some((part) => isOf(part, label))) as Shown;
  const at = parts.findIndex((part) => isOf(part, label));
  return parts.slice(0, at).filter((part) => part === "step").length;
}

/** Finds the task whose values a run enters. @throws UserError if no task has two of them, or all of its one. */
function taskOf({ lines }: Run, tasks: readonly Task[]): Task {
  const texts = new Set(lines.flatMap(({ call }) => stringsIn(call)).map(looseLabel));
  const held = ({ fields }: Task): number =>
    Object.values(fields)
      .flat()
      .filter((value) => typeof value !== "boolean" && texts.has(looseLabel(String(value)))).length;
  const best = tasks.reduce((top, task) => (held(task) > held(top) ? task : top));
  if (held(best) > 0) return best;
  const { file, line } = lines[0] as (typeof lines)[number];
  misuse(
    `${file}:${line}: the person who is recorded here is no task of ${best.form}: none of its values is entered.`,
    {
      hint: "Record with the values of a task of the tasks file; or add that person to the file.",
    },
  );
}
