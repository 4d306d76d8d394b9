import type { Page } from "playwright";
import { messageOf } from "../../../core/errors.js";
import { type NameKit, nameKit } from "../../../env/browser/page/names.js";
import type { Session } from "../../../env/browser/session.js";
import type { Task } from "../../../env/site.js";
import { slowed } from "../gestures.js";
import { openPage } from "../operate.js";
import { WRITABLE } from "../way.js";
import { act, type Call, firstPlace, targetOf } from "./actions.js";
import { isOptions, type Link, refuseStatement, type Value } from "./code.js";
import type { Line, Run } from "./spec.js";

/** A step of a recording with what its page shows of the element. */
export interface Seen extends Line {
  /** Names that the page gives the element and its group. */
  readonly names: readonly string[];
  /** Its number among the lines of the run. */
  readonly at: number;
  /** Set if the element is on the fresh page. */
  readonly isFresh: boolean;
  /** The numbers of later lines whose elements were there before this step. */
  readonly ahead: ReadonlySet<number>;
  /** The later steps after which the element was still there, by index. */
  readonly after: ReadonlySet<number>;
  /** The step with the element's whole name, of which codegen writes only as much as is unique. */
  readonly whole: Call;
  /** The step with the element's `name` attribute, if no other element has it. */
  readonly named: Call;
  /** Set if the element takes typed text. */
  readonly isText: boolean;
  /** Set if the step clicks the label of the control that the next one clicks or ticks. */
  readonly isLabel: boolean;
}

/** Time limits of a step of a recording, of an element at its index and beside its label, and of the page's reaction, in milliseconds. */
const STEP_MS = 4000;
const INDEX_MS = 2000;
const TWIN_MS = 500;
const LOOK_MS = 120;
/** Number of further steps after which an element is looked for, and of those whose elements are looked for. */
export const FURTHER = 8;

interface Read {
  readonly names: readonly string[];
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly isText: boolean;
  readonly text: string;
  readonly hasBox: boolean;
  /** CSS of its `name` attribute, if no other element has it. */
  readonly named: string | undefined;
}

/** Runs IN THE PAGE: reads an element's text, the names of it and of its group, and the options of a native list. */
function read(e: Element, writable: string, { labelsOf, textOf, listedIn, ariaName, clean }: NameKit): Read {
  const group = e.parentElement?.closest("fieldset,[role=radiogroup],[role=group]") ?? null;
  const texts = [
    ...[...labelsOf(e), ...listedIn(e, "aria-labelledby")].map(textOf),
    clean(e.getAttribute("aria-label")),
    clean(e.getAttribute("placeholder")),
    clean(group?.querySelector("legend")?.textContent),
    group === null ? "" : ariaName(group),
  ];
  const options = e instanceof HTMLSelectElement ? [...e.options].map((o): [string, string] => [o.value, o.label]) : [];
  const names = texts.filter((text) => text !== "");
  const own = `${e.localName}[name=${JSON.stringify(e.getAttribute("name"))}]`;
  const isAlone = e.hasAttribute("name") && document.querySelectorAll(own).length === 1;
  const hasBox = e.getClientRects().length > 0;
  const named = isAlone ? own : undefined;
  return { names, options, isText: e.matches(writable), text: clean(e.textContent), hasBox, named };
}
const READ = new Function("e", "writable", `return (${read})(e, writable, (${nameKit})())`) as (
  e: Element,
  w: string,
) => Read;

/**
 * Repeats what a person did, up to the last step, and reads what the page shows of each element. Where a step does not
 * work, the recording goes on at the next element that is there: codegen loses the click on an option that goes before
 * the button is released, and may write a step twice, once with a class that the step itself has set.
 * @throws UserError with the line of a step that does not work, if none of the next ones is there.
 */
export async function observed(
  session: Session,
  { lines }: Run,
  { url, fields }: Task,
  tell: (text: string) => void,
): Promise<Seen[]> {
  const { page } = session;
  await openPage(session, url, [], firstPlace(lines.map(({ call }) => call)));
  const isThere = (call: Call): Promise<boolean> =>
    call.find.length === 0 ? Promise.resolve(true) : targetOf(page, call).first().isVisible();
  const fresh = await Promise.all(lines.map(({ call }) => isThere(call)));
  const seen: (Seen & { after: Set<number> })[] = [];
  const values = new Set(Object.values(fields).flat().map(String).filter(Boolean));
  let next = 0;
  for (const [i, line] of lines.entries()) {
    if (i < next) continue;
    const isLast = i === lines.length - 1;
    const there = isLast ? line.call : await mended(session, line.call);
    let call = there ?? line.call;
    const looked =
      call.find.length === 0 || there === undefined
        ? undefined
        : await targetOf(page, call)
            .first()
            .evaluate(READ, WRITABLE, { timeout: slowed(session, STEP_MS) })
            .catch(() => undefined);
    const { names = [], isText = false, options = [], text = "", named } = looked ?? {};
    // the mouse reaches no element without a box of its own, such as a slot, but what is around it
    if (looked?.hasBox === false && call.method === "click")
      call = { ...call, find: [...call.find, { name: "locator", args: [".."] }] };
    const further = lines.slice(i + 1, i + 1 + FURTHER);
    const areAhead = await Promise.all(further.map((later) => isThere(later.call)));
    const ahead = new Set(further.flatMap((_, j) => (areAhead[j] ? [i + 1 + j] : [])));
    const then = lines[i + 1]?.call;
    const isLabel = then !== undefined && (await isLabelOf(page, call, then));
    if (isLabel && then.method === "click") next = i + 2;
    const taken = (): Promise<string | undefined> =>
      act(session, call, { texts: {} }, slowed(session, STEP_MS)).then(() => undefined, messageOf);
    let failed = isLast ? undefined : call.find.length > 0 && !looked ? "its element is not there" : await taken();
    if (failed !== undefined && looked) {
      // a box may lie under its own label; a list that is still open, because the choice in it was lost, over all
      if (/check$/i.test(call.method)) call = { ...call, args: [...call.args, { force: true }] };
      else await page.keyboard.press("Escape");
      failed = await taken();
    }
    if (failed !== undefined) {
      // the session keeps the page until the form is sent
      const left = session.traffic.exchanges.find((one) => one.how === "navigation" && one.method !== "GET");
      if (left !== undefined) refusePage(line, new URL(left.url).pathname);
      next = [...ahead].find((j) => (lines[j] as Line).call.find.length > 0) ?? refuseStep(line, failed);
      const most = next > i + 1 ? `, and what follows up to line ${(lines[next - 1] as Line).line}` : "";
      tell(`${line.file}:${line.line} does not work on the page, and is passed over${most}: ${line.text}`);
      continue;
    }
    if (call.method === "selectOption" && looked) call = byLabel(withoutOptions(call, names), options);
    else if (values.has(text)) call = byText(call, text);
    await page.waitForTimeout(LOOK_MS);
    seen.push({
      ...line,
      call,
      names,
      at: i,
      isFresh: fresh[i] === true,
      ahead,
      isText,
      isLabel,
      whole: withWholeName(call, names),
      named: named === undefined ? call : { ...call, find: [{ name: "locator", args: [named] }] },
      after: new Set(),
    });
    const last = seen.length - 1;
    const look = async (before: (typeof seen)[number]): Promise<unknown> =>
      (await isThere(before.call)) && before.after.add(last);
    if (!isLast) await Promise.all(seen.slice(-FURTHER).map(look));
  }
  return seen;
}

/** @throws UserError for a step that does not work on the page, where none of the next ones is there. */
const refuseStep = (line: Line, why: string): never =>
  refuseStatement(
    line,
    `does not work on the page (${why.split("\n")[0]}), or a step before it is missing`,
    "Write the missing step by hand, or record once more and wait until the page is still before each click.",
  );

/** @throws UserError for a step on a further page of the server. */
const refusePage = (line: Line, path: string): never =>
  refuseStatement(
    line,
    `is on a further page of the server, as a step before it sends the page to ${path}; a contract is of one page`,
    "`environment.kind: pages` plays a form of several pages (docs/environments.md#forms-of-several-pages).",
  );

/** Tells whether a click is on the label of the control that the next step clicks: a browser clicks that by itself. */
async function isLabelOf(page: Page, one: Call, next: Call): Promise<boolean> {
  const isClick = one.method === "click" && /^(?:click|check|uncheck)$/.test(next.method);
  if (!isClick || one.find.length === 0 || next.find.length === 0) return false;
  const control = await targetOf(page, next)
    .first()
    .elementHandle({ timeout: TWIN_MS })
    .catch(() => null);
  const isOf = (e: Element, other: unknown): boolean => e !== other && e.closest("label")?.control === other;
  const target = targetOf(page, one).first();
  return control !== null && (await target.evaluate(isOf, control, { timeout: TWIN_MS }).catch(() => false));
}

/**
 * Writes a step as it has to be before it is taken, where codegen has written it as it was afterwards: without an index
 * that counts what the step has brought, or a tick that it has set behind a name.
 * @returns undefined if no such element is there.
 */
async function mended(session: Session, call: Call): Promise<Call | undefined> {
  const { page } = session;
  const { find } = call;
  const isThere = (): Promise<boolean> =>
    targetOf(page, call)
      .first()
      .waitFor({ state: "attached", timeout: slowed(session, INDEX_MS) })
      .then(
        () => true,
        () => false,
      );
  if (find.length === 0 || (await isThere())) return call;
  const last = [
    { name: "locator", args: ["visible=true"] },
    { name: "last", args: [] },
  ];
  const plain = find.map(({ name, args = [] }): Link => ({ name, args: args.map(withoutSigns) }));
  const others = find.at(-1)?.name === "nth" ? [[...find.slice(0, -1), ...last], plain] : [plain];
  for (const other of others) {
    const one = { ...call, find: other };
    const count = await targetOf(page, one)
      .count()
      .catch(() => 0);
    if (count > 0) return one;
  }
  return undefined;
}

/** Leaves out signs before and behind a name. */
const withoutSigns = (value: Value): Value =>
  isOptions(value) && typeof value.name === "string"
    ? { ...value, name: value.name.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "") }
    : value;

/** Finds an element by the value that it shows, where codegen finds it by CSS: its class or index may be another one's. */
const byText = (call: Call, text: string): Call =>
  call.find.every(({ name }) => /^(?:locator|nth|first|last)$/.test(name))
    ? { ...call, find: [{ name: "getByText", args: [text, { exact: true }] }] }
    : call;

function withWholeName(call: Call, names: readonly string[]): Call {
  const link = call.find.at(-1);
  const [role = "", options] = link?.args ?? [];
  const text = isOptions(options) ? options.name : undefined;
  const name = names.find((one) => typeof text === "string" && one.startsWith(text));
  if (link?.name !== "getByRole" || name === undefined) return call;
  return { ...call, find: [...call.find.slice(0, -1), { name: link.name, args: [role, { name }] }] };
}

/** Writes the label of a list without its options, which codegen counts as a part of it. */
function withoutOptions(call: Call, [name]: readonly string[]): Call {
  const [link] = call.find;
  const isLonger = name !== undefined && String(link?.args?.[0]).startsWith(`${name} `);
  if (call.find.length > 1 || link?.name !== "getByLabel" || !isLonger) return call;
  return { ...call, find: [{ name: "getByLabel", args: [name] }] };
}

/** Names the chosen options of a native list by their texts: codegen writes their values. */
function byLabel(call: Call, options: Read["options"]): Call {
  const named = (value: Value): Value => {
    const option = options.find((one) => one[0] === value) ?? options.find((one) => one[1] === value);
    return option === undefined || option[1].trim() === "" ? value : { label: option[1].trim() };
  };
  const [first, ...more] = call.args;
  if (first === undefined) return call;
  return { ...call, args: [Array.isArray(first) ? first.map(named) : named(first), ...more] };
}
