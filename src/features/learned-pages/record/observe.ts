import { messageOf } from "../../../core/errors.js";
import type { Session } from "../../../env/browser/session.js";
import { openPage } from "../operate.js";
import { WRITABLE } from "../way.js";
import { act, type Call, firstPlace, locatorOf, targetOf } from "./actions.js";
import { type Node, refuseStatement } from "./code.js";
import type { Line, Run } from "./spec.js";

/** A step of a recording with what its page shows of the element. */
export interface Seen extends Line {
  /** Names that the page gives the element and its group. */
  readonly names: readonly string[];
  /** Set if the element is on the fresh page, and if it was there before the step before it. */
  readonly isFresh: boolean;
  readonly isEarlier: boolean;
  /** The later steps after which the element was still there, by index. */
  readonly after: ReadonlySet<number>;
  /** The step with the element's whole name, of which codegen writes only as much as is unique. */
  readonly whole: Call;
  /** Set if the element takes typed text. */
  readonly isText: boolean;
}

/** Time limit of a step of a recording, and of a look at the page's reaction, in milliseconds. */
const STEP_MS = 20_000;
const LOOK_MS = 120;
/** Number of further steps after which an element is looked for. */
const FURTHER = 8;

/** Runs IN THE PAGE: reads the names of an element and of its group, and the options of a native list. */
function read(e: Element, writable: string): { names: string[]; options: [string, string][]; isText: boolean } {
  // the options of a list inside its label are no part of the name
  const own = (label: Element): string => {
    const copy = label.cloneNode(true) as Element;
    for (const inner of copy.querySelectorAll("select,textarea,datalist")) inner.remove();
    return copy.textContent ?? "";
  };
  const of = (ids: string | null): string[] =>
    (ids ?? "").split(" ").map((id) => (id === "" ? "" : (document.getElementById(id)?.textContent ?? "")));
  const labels = [...((e as HTMLInputElement).labels ?? [])].map(own);
  const group = e.parentElement?.closest("fieldset,[role=radiogroup],[role=group]") ?? null;
  const texts = [
    ...labels,
    ...of(e.getAttribute("aria-labelledby")),
    e.getAttribute("aria-label") ?? "",
    e.getAttribute("placeholder") ?? "",
    group?.querySelector("legend")?.textContent ?? "",
    group?.getAttribute("aria-label") ?? "",
    ...of(group?.getAttribute("aria-labelledby") ?? null),
  ];
  const options = e instanceof HTMLSelectElement ? [...e.options].map((o): [string, string] => [o.value, o.label]) : [];
  return {
    names: texts.map((text) => text.replace(/\s+/g, " ").trim()).filter((text) => text !== ""),
    options,
    isText: e.matches(writable),
  };
}

/**
 * Repeats what a person did, up to the last step, and reads what the page shows of each element.
 * @throws UserError with the line of a step that does not work.
 */
export async function observed(session: Session, { lines }: Run, url: string): Promise<Seen[]> {
  const { page } = session;
  await openPage(session, url, [], firstPlace(lines.map(({ call }) => call)));
  const isThere = (call: Call): Promise<boolean> =>
    call.find.length === 0 ? Promise.resolve(true) : targetOf(page, call).first().isVisible();
  const fresh = await Promise.all(lines.map(({ call }) => isThere(call)));
  const seen: (Seen & { after: Set<number> })[] = [];
  let isEarlier = true;
  for (const [i, line] of lines.entries()) {
    let { call } = line;
    let names: readonly string[] = [];
    let isText = false;
    const isLast = i === lines.length - 1;
    if (call.find.length > 0) {
      const target = targetOf(page, call).first();
      const found = await target.evaluate(read, WRITABLE, { timeout: STEP_MS }).catch(() => undefined);
      names = found?.names ?? [];
      isText = found?.isText === true;
      if (call.method === "selectOption" && found !== undefined)
        call = byLabel(withoutOptions(call, names), found.options);
    }
    const next = lines[i + 1]?.call;
    const isNextThere = next !== undefined && (await isThere(next));
    if (!isLast)
      await act(session, line.call, { texts: {} }, STEP_MS).catch((error: unknown) =>
        refuseStatement(
          line.file,
          line,
          `does not work on the page (${messageOf(error).split("\n")[0]}), or a step before it is missing`,
        ),
      );
    await page.waitForTimeout(LOOK_MS);
    seen.push({
      ...line,
      call,
      names,
      isFresh: fresh[i] === true,
      isEarlier,
      isText,
      whole: withWholeName(call, names),
      after: new Set(),
    });
    isEarlier = isNextThere;
    for (const before of seen.slice(-FURTHER)) if (!isLast && (await isThere(before.call))) before.after.add(i);
  }
  return seen;
}

function withWholeName(call: Call, names: readonly string[]): Call {
  const link = call.find.at(-1);
  const options = link?.name === "getByRole" ? link.args?.[1] : undefined;
  const [key, text] = (options?.is === "object" ? options.entries[0] : undefined) ?? [];
  const name = names.find((one) => text?.is === "value" && one.startsWith(String(text.value)));
  if (link?.args === undefined || key !== "name" || name === undefined) return call;
  const whole: Node = { is: "object", entries: [["name", { is: "value", value: name }]] };
  return { ...call, find: [...call.find.slice(0, -1), { name: link.name, args: [link.args[0] as Node, whole] }] };
}

/** Writes the label of a list without its options, which codegen counts as a part of it. */
function withoutOptions(call: Call, [name]: readonly string[]): Call {
  const [link] = call.find;
  const text = link?.args?.[0];
  const isLonger = name !== undefined && text?.is === "value" && String(text.value).startsWith(`${name} `);
  if (call.find.length > 1 || link?.name !== "getByLabel" || !isLonger) return call;
  return { ...call, find: [{ name: "getByLabel", args: [{ is: "value", value: name }] }] };
}

/** Names the chosen options of a native list by their texts: codegen writes their values. */
function byLabel(call: Call, options: readonly (readonly [value: string, text: string])[]): Call {
  const named = (node: Node): Node => {
    if (node.is !== "value") return node;
    const text = options.find(([value]) => value === node.value)?.[1] ?? options.find((o) => o[1] === node.value)?.[1];
    return text === undefined ? node : { is: "object", entries: [["label", { is: "value", value: text.trim() }]] };
  };
  const [first, ...more] = call.args;
  if (first === undefined) return call;
  return {
    ...call,
    args: [first.is === "list" ? { is: "list", items: first.items.map(named) } : named(first), ...more],
  };
}

/** Tells whether two steps are on the same element. */
export const isSamePlace = (a: Call, b: Call): boolean => a.find.length > 0 && locatorOf(a) === locatorOf(b);
