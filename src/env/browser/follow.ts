/** Follows a page after the press of its button until the site shows that it took the form, or refused it. */
import type { Acceptance } from "../forms/contract.js";
import type { Verdict } from "../forms/judge.js";
import { holdsOwn, textOf, writtenIn } from "../forms/own-text.js";
import type { RefusedFields, Sign } from "../site.js";
import { EnvironmentFault, Unanswered } from "./browser.js";
import { checkAnswered, type Exchange, isAwaited, isError, nameOf } from "./network/exchange.js";
import type { Session } from "./session.js";

/** Time without a request, an answer or a new page after which the site has shown all that it will, in milliseconds. */
const STILL_MS = 3000;
/** The same where nothing is to be expected: after an error that a script may repair, or without a declared success. */
const SETTLED_MS = 400;
/** Interval of looking at the page, in milliseconds: it grows while nothing changes. */
const LOOKS = { first: 60, longest: 400, growth: 1.5 };
const MOST_LETTERS = 160;

/** The state of a page before its button is pressed. */
export interface Before {
  /** Number of documents that the session had shown. */
  readonly documents: number;
  readonly shown: Shown;
  /** The declared signs that the page shows already: in the same document they prove nothing. */
  readonly early: { readonly success: boolean; readonly refusal: boolean };
}

/** What a page shows: its text with that of its dialogs, and the selectors that match a visible element. */
interface Shown {
  readonly text: string;
  readonly matched: readonly string[];
  readonly login: boolean;
  /** Set if nothing in the document can change it: it has no script, no frame and no refresh. */
  readonly isFixed: boolean;
  /** The charset in which its forms are written. */
  readonly charset: string;
}

/** Runs IN THE PAGE: reads the visible text, and which selectors match a visible element. */
function readShown(selectors: readonly string[]): Shown {
  let text = "";
  const matched = new Set<string>();
  const isSeen = (e: Element): boolean => e.checkVisibility({ visibilityProperty: true });
  const all = (root: Document | ShadowRoot, selector: string): Element[] => {
    try {
      return [...root.querySelectorAll(selector)];
    } catch {
      return [];
    }
  };
  let login = false;
  const read = (root: Document | ShadowRoot): void => {
    const body = root instanceof Document ? [root.body] : root.children;
    for (const e of body) text += `\n${(e as HTMLElement | null)?.innerText ?? ""}`;
    for (const selector of selectors) if (all(root, selector).some(isSeen)) matched.add(selector);
    login ||= all(root, "input[type=password]").some(isSeen);
    for (const e of all(root, "*")) if (e.shadowRoot !== null && text.length < 100_000) read(e.shadowRoot);
  };
  read(document);
  const coded = [...document.forms].find(({ acceptCharset }) => acceptCharset !== "");
  const charset = coded?.acceptCharset.split(/[\s,]+/)[0] || document.characterSet;
  const moving = "script, iframe, frame, object, embed, meta[http-equiv=refresh i]";
  const isFixed =
    document.readyState === "complete" &&
    document.querySelector(moving) === null &&
    !all(document, "*").some((e) => Element.prototype.getAttributeNames.call(e).some((name) => name.startsWith("on")));
  return { text: text.slice(0, 100_000), matched: [...matched], login, isFixed, charset };
}

async function look(session: Session, { success, refusal }: Acceptance): Promise<Shown> {
  const selectors = [success?.selector, refusal?.selector].flatMap((one) => one ?? []);
  const shown = await session.view.evaluate(readShown, selectors);
  return { ...shown, text: [shown.text, ...session.alerts].join("\n") };
}

/** Looks at a page whose form will be sent. @param written texts of the plan: what only repeats them is no sign. */
export async function beforePress(
  session: Session,
  acceptance: Acceptance,
  written: readonly string[],
): Promise<Before> {
  const shown = await look(session, acceptance);
  session.charset = shown.charset;
  const isEarly = (sign: Sign | undefined): boolean =>
    sign !== undefined && (sign.text !== undefined || sign.selector !== undefined) && isShown(sign, shown, written);
  const { documents } = session;
  const early = { success: isEarly(acceptance.success), refusal: isEarly(acceptance.refusal) };
  return { documents, shown, early };
}

/** Tells whether a page shows the text and the element of a sign. */
function isShown({ text, selector }: Sign, shown: Shown, written: readonly string[]): boolean {
  // a plan may write elements into a page that shows its text as markup
  const isOwn = !written.some((one) => /<[a-z]/i.test(one));
  return (
    (text === undefined || holdsOwn(shown.text, text, written)) &&
    (selector === undefined || (isOwn && shown.matched.includes(selector)))
  );
}

/** Looks a path up in a JSON text. @returns undefined if there is none. */
function valueAt(text: string, path: string): unknown {
  try {
    return path
      .split(".")
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What has come of a form by now. */
interface Came {
  /** The form's own requests, and all that were sent after the press. */
  readonly form: readonly Exchange[];
  readonly all: readonly Exchange[];
  readonly shown: Shown;
  readonly written: readonly string[];
  /** Status of a document that has replaced the page. */
  readonly arrived: number | undefined;
  readonly url: string;
}

/** Tells whether all signs have come. @param early whether the page had them before: then only a new document counts. */
function hasCome(sign: Sign, { form, all, shown, written, arrived, url }: Came, early: boolean): boolean {
  const { status, json, text, selector } = sign;
  const answers = form.flatMap(({ answer }) => answer ?? []);
  const statuses = [arrived, ...answers.map((answer) => answer.status)];
  if (status !== undefined && ![status].flat().some((one) => statuses.includes(one))) return false;
  const inAddress = [...written, ...written.map((one) => encodeURIComponent(one).replaceAll("%20", "+"))];
  const addresses = [url, ...answers.map((answer) => answer.url)];
  if (sign.url !== undefined && !addresses.some((one) => holdsOwn(one, sign.url as string, inAddress))) return false;
  if (json !== undefined) {
    // an echo of what was written is no sign, unless it is just the declared value
    const values = all.flatMap(({ answer }) => valueAt(answer?.text ?? "", json.path) ?? []);
    const isSet = (value: unknown): boolean => value !== false && value !== "" && !written.includes(String(value));
    if (!values.some((value) => (json.is === undefined ? isSet(value) : value === json.is))) return false;
  }
  const isNew = arrived !== undefined || !early;
  if (text === undefined && selector === undefined) return true;
  if (isNew && isShown(sign, shown, written)) return true;
  // the answer to a script may be shown only in part
  const isAnswered = text !== undefined && answers.some((answer) => holdsOwn(textOf(answer.text), text, written));
  return isAnswered && (selector === undefined || (isNew && isShown({ selector }, shown, written)));
}

/** A form whose button was pressed. */
export interface Sent {
  readonly before: Before;
  /** Texts of the plan: a sign that only repeats them is none. */
  readonly written: readonly string[];
  /** Lists the form's own requests so far. */
  readonly formOf: () => readonly Exchange[];
  /** Set to look once, as on a page that goes on with the form: nothing but a success is then decided. */
  readonly once?: boolean;
}

/**
 * Watches a page after the press until the site shows its declared success, a declared refusal, or nothing more.
 * Whatever requests and pages come between are followed. Without a declared success nothing is decided.
 * @returns the verdict; undefined if no success is declared.
 * @throws EnvironmentFault for an answer that is lost, an error of the server or a login page instead of an answer;
 * Unanswered if no answer comes in time.
 */
export async function follow(
  session: Session,
  acceptance: Acceptance,
  { before, written, formOf, once = false }: Sent,
): Promise<Verdict | undefined> {
  const { traffic } = session;
  const { success, refusal } = acceptance;
  const end = performance.now() + session.answerTimeoutMs;
  const seen = { documents: before.documents };
  let [state, since, looks, pause] = ["", performance.now(), 0, LOOKS.first];
  for (;;) {
    const shown = await lookOnwards(session, acceptance, seen, before);
    const form = formOf();
    const last = form.at(-1);
    const all = traffic.exchanges.filter(({ phase }) => phase !== "open");
    const arrived = session.documents > before.documents ? session.status : undefined;
    const posted = all.flatMap((exchange) => exchange.posted);
    const came: Came = { form, all, shown, arrived, url: session.page.url(), written: writtenIn(written, posted) };
    const isBusy = session.isLeaving() || all.some(isAwaited);
    const isTaken = !isBusy && !isError(arrived) && (once || wasTaken(form));
    // a script may take back what it showed before the answer: it has to stand at two looks
    looks = success !== undefined && isTaken && hasCome(success, came, before.early.success) ? looks + 1 : 0;
    const isRefused = !once && refusal !== undefined && hasCome(refusal, came, before.early.refusal);
    if (isRefused) {
      const why = `refused: ${newLine(before.shown.text, shown.text) ?? JSON.stringify(refusal)}`;
      return { accepted: false, why, ...(await namedIn(session, acceptance.refused, all)) };
    }
    // the document of an error stays, and so does a page without scripts
    const isOver = last?.how === "navigation" && (isError(arrived) || (!isBusy && shown.isFixed));
    if (looks > (arrived === undefined && !isOver ? 1 : 0)) return { accepted: true };
    if (once && looks === 0) return undefined;
    if (arrived !== undefined && shown.login && !before.shown.login)
      throw new EnvironmentFault(`a login page came instead of an answer (${new URL(came.url).pathname})`);
    const now = JSON.stringify([all.length, isBusy, session.documents, shown.text.length]);
    const isChanged = now !== state;
    if (isChanged) since = performance.now();
    pause = isChanged ? LOOKS.first : Math.min(LOOKS.longest, LOOKS.growth * pause);
    state = now;
    const patience = success === undefined || isError(last?.answer?.status) ? SETTLED_MS : STILL_MS;
    const isStill = !isBusy && performance.now() - since > session.stretched(patience);
    const isLate = performance.now() > end;
    if (isOver || isStill || isLate) {
      checkAll(all, form, isLate);
      if (success === undefined) return undefined;
      const status = last?.answer?.status ?? arrived;
      const line = newLine(before.shown.text, shown.text);
      const why = isError(status) ? `refused with HTTP ${status}` : "the declared success was not seen";
      const shows = line === undefined ? "" : `; the page shows "${line}"`;
      return { accepted: false, why: `${why}${shows}`, ...(await namedIn(session, acceptance.refused, all)) };
    }
    await traffic.next(pause);
  }
}

/** Runs IN THE PAGE: returns the text of each visible element; of a control, or of a group of controls, its label. */
function readRefused(selector: string): string[] {
  const labelOf = (e: Element): string | null | undefined => {
    const labels = [...((e as HTMLInputElement).labels ?? [])].map((label) => label.innerText).join(" ");
    return labels || e.getAttribute("aria-label") || e.getAttribute("name");
  };
  const isControl = (e: Element): boolean => e.matches("input, select, textarea, [role][aria-label]");
  return [...document.querySelectorAll(selector)]
    .filter((e) => isControl(e) || e.checkVisibility({ visibilityProperty: true }))
    .map((e) => (isControl(e) ? labelOf(e) : (e.querySelector("legend") ?? (e as HTMLElement)).innerText) ?? "")
    .filter((text) => text.trim() !== "");
}

/** Lists the texts in which a site names the fields that it refuses. */
async function namedIn(
  session: Session,
  refused: RefusedFields | undefined,
  all: readonly Exchange[],
): Promise<Pick<Verdict, "named">> {
  if (refused === undefined) return {};
  const shown = refused.selector === undefined ? [] : await session.view.evaluate(readRefused, refused.selector);
  const { json } = refused;
  const told = json === undefined ? [] : all.flatMap(({ answer }) => textsOf(valueAt(answer?.text ?? "", json)));
  return { named: [...shown, ...told].map((text) => text.slice(0, MOST_LETTERS)) };
}

/** Lists the keys of an object, or the texts of a list and of the objects in it. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value)) return Object.keys(value);
  return value.flatMap((item) =>
    typeof item === "object" && item !== null ? Object.values(item).flat().map(String) : [String(item)],
  );
}

/** Tells whether the server took the form's last data: a page may send it twice, and the copy is then refused. */
function wasTaken(form: readonly Exchange[]): boolean {
  const data = JSON.stringify(form.at(-1)?.posted);
  return form.some(({ answer, posted }) => !isError(answer?.status) && JSON.stringify(posted) === data);
}

/** @throws EnvironmentFault if the last of equal requests got no answer, or an error of the server. */
function checkAll(all: readonly Exchange[], form: readonly Exchange[], isLate: boolean): void {
  // a page may break off its own GETs when it has what it needs
  const counted = all.filter(
    (one) => form.includes(one) || one.how === "navigation" || (one.how === "script" && one.method !== "GET"),
  );
  counted.forEach((exchange, i) => {
    if (counted.slice(i + 1).some((e) => e.method === exchange.method && e.url === exchange.url)) return;
    checkAnswered(exchange);
    if (isLate && isAwaited(exchange)) throw new Unanswered(`no answer to ${nameOf(exchange)}: timed out`);
  });
}

/** Returns the first line that a page shows now and did not before. */
function newLine(before: string, after: string): string | undefined {
  const lines = (text: string): string[] => text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  const known = new Set(lines(before));
  return lines(after)
    .find((line) => line !== "" && !known.has(line))
    ?.slice(0, MOST_LETTERS);
}

/** Looks at the page, or at the document that has replaced it. @param seen the newest document that was looked at. */
async function lookOnwards(
  session: Session,
  acceptance: Acceptance,
  seen: { documents: number },
  before: Before,
): Promise<Shown> {
  for (let tries = 0; ; tries++) {
    try {
      if (session.hasMovedOn(seen.documents)) {
        await session.enter();
        seen.documents = session.documents;
      } else if (before.shown.isFixed && before.documents === seen.documents) return before.shown;
      return await look(session, acceptance);
    } catch (error) {
      if (tries > 4 || !(await session.movesOn(seen.documents))) throw error;
    }
  }
}
