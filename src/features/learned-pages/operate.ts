import { UserError } from "../../core/errors.js";
import { isModulePath } from "../../core/own-module.js";
import { loadFolder } from "../../core/registry.js";
import { PolicyFailure } from "../../env/browser/episode.js";
import { type Exchange, isAwaited } from "../../env/browser/network/exchange.js";
import { press } from "../../env/browser/press.js";
import type { Session } from "../../env/browser/session.js";
import type { Kind } from "../../env/forms/values.js";
import type { FieldValue } from "../../env/site.js";
import { buttonAt, unfold } from "./buttons.js";
import type { Action, PlaceOf, Variant } from "./contract.js";
import { clickButton, placeAt, rest, slowed } from "./gestures.js";
import { isCovered, setLabels, shownIn } from "./place.js";
import { natureOf, perform } from "./record/actions.js";
import type { Surface } from "./surface.js";
import { kindOfAll } from "./values.js";
import type { Way } from "./way.js";

/** Time limits for a page to draw the form, and to stand still meanwhile, in milliseconds. */
const DRAWN_MS = 6000;
const STILL_MS = 300;
/** Time limit for answers to the page's own requests before it is read, in milliseconds. */
const LOOKUP_MS = 1000;

/** Time in which a page begins to upload a chosen file, or takes over the answer, in milliseconds. */
const UPLOAD_MS = 250;

/** Time limit for a closed list to disappear, in milliseconds. */
const FADE_MS = 800;

/** Closes a list or window that an earlier operation left open over a field, and waits until it has gone. */
async function uncover(session: Surface, label: string): Promise<void> {
  if (!(await isCovered(session, label))) return;
  await session.page.keyboard.press("Escape");
  for (const end = performance.now() + slowed(session, FADE_MS); performance.now() < end; await rest(session, 60)) {
    if (!(await isCovered(session, label))) return;
    await session.page.mouse.click(1, 1);
  }
}

/** Size of the window in pixels: a form and its open lists have to fit, as nothing outside can be clicked. */
const VIEWPORT = { width: 1280, height: 1400 };

/** Loads the built-in ways, and those that a contract names by the path of a module. */
export async function waysOf(named: readonly string[] = []): Promise<Map<string, Way>> {
  const folder = new URL("./ways/", import.meta.url);
  const ways = await loadFolder<Way>(folder, "way");
  for (const name of named)
    if (!ways.has(name)) for (const [key, way] of await loadFolder<Way>(folder, "way", name)) ways.set(key, way);
  return ways;
}

/**
 * Opens a form's page and waits until it is drawn: one of the labels is there and no more labels appear.
 * @param opener the button that shows the first label, where none is there before.
 */
export async function openPage(
  session: Session,
  url: string,
  labels: readonly string[],
  opener?: PlaceOf,
): Promise<void> {
  setLabels(session.page, labels);
  await session.page.setViewportSize(VIEWPORT);
  await session.page.emulateMedia({ reducedMotion: "reduce" });
  await session.goto(url);
  await session.background.settle(session.stretched(LOOKUP_MS));
  let last = -1;
  let since = performance.now();
  for (const end = since + session.stretched(DRAWN_MS); performance.now() < end; ) {
    const shown = await shownIn(session, labels);
    // the button counts as one more label, so that the page has to stand still for it too
    const isReady = opener !== undefined && (await buttonAt(session.page, opener).isVisible());
    const present = isReady ? labels.length + 1 : shown.filter((one) => one.present).length;
    if (present === labels.length) break;
    if (present !== last) since = performance.now();
    last = present;
    if (present > 0 && performance.now() - since > session.stretched(STILL_MS)) break;
    await session.page.waitForTimeout(60);
  }
  session.background.touch();
}

/** A way with its variant, and the place of the field that it operates. */
export interface Operation extends PlaceOf {
  readonly way: string;
  readonly variant: Variant;
  /** Recorded steps, which take the place of a way. */
  readonly actions?: readonly Action[] | undefined;
}

/** Returns what is known of the way of an operation. */
export const wayOf = (
  ways: ReadonlyMap<string, Way>,
  { way, actions }: Pick<Operation, "way" | "actions">,
): Partial<Way> => (actions === undefined ? (ways.get(way) ?? {}) : natureOf(actions));

/** Operates one field. @throws Error if that fails; PolicyFailure if a user's own way has a mistake. */
export async function operate(
  session: Surface,
  ways: ReadonlyMap<string, Way>,
  label: string,
  operation: Operation & { readonly kind?: Kind },
  value: FieldValue,
  patience?: number,
): Promise<void> {
  const { actions, kind = kindOfAll([value]) } = operation;
  const begun = session.traffic.exchanges.length;
  if (actions !== undefined) {
    await perform(session, actions, kind, value, patience);
    if (kind === "file") await uploadDone(session, begun);
    return;
  }
  const way = ways.get(operation.way);
  if (way === undefined) throw new Error(`no way ${operation.way}`);
  await unfold(session, label);
  if (way.isQuiet !== true) await uncover(session, label);
  const place = await placeAt(session, label, operation, operation.variant, patience, way.needs);
  try {
    await way.operate(place, value);
  } catch (error) {
    // a mistake in a user's module must not count as a failure on the page
    const mistake = [TypeError, ReferenceError, RangeError, UserError].some((kind) => error instanceof kind);
    throw isModulePath(operation.way) && mistake ? new PolicyFailure("a way of the user's", { cause: error }) : error;
  }
  if (way.sends === true) await uploadDone(session, begun);
}

/** Waits until the page has uploaded a file and taken over the answer. @param begun number of requests before it was attached. */
async function uploadDone(session: Surface, begun: number): Promise<void> {
  const isOpen = (): boolean => session.traffic.exchanges.slice(begun).some((e) => e.method !== "GET" && isAwaited(e));
  await rest(session, UPLOAD_MS);
  await session.until(session.actionTimeoutMs, () => !isOpen());
  await rest(session, UPLOAD_MS);
}

/** Time in which a page saves what was entered last, in milliseconds. */
const SAVES_MS = 500;

/** Waits until a page that saves each field by itself has saved all of them. */
export async function savesDone(session: Session): Promise<void> {
  const { exchanges } = session.traffic;
  for (let known = -1; known !== exchanges.length; ) {
    known = exchanges.length;
    await rest(session, SAVES_MS);
    await session.until(session.actionTimeoutMs, () => !exchanges.some((e) => e.method !== "GET" && isAwaited(e)));
  }
}

/** Clicks the button to the next part of a form. @param then places of which one appears, besides the labels. */
export async function stepOn(
  session: Session,
  button: PlaceOf,
  labels: readonly string[],
  patienceMs: number,
  then: readonly PlaceOf[] = [],
): Promise<boolean> {
  await clickButton(session.page, buttonAt(session.page, button), session.stretched(1000)).catch(() => undefined);
  const isPresent = async (): Promise<boolean> => {
    for (const place of then) if (await buttonAt(session.page, place).isVisible()) return true;
    return (await shownIn(session, labels)).some(({ present }) => present);
  };
  return session.until(slowed(session, patienceMs), isPresent);
}

/** The result of pressing the submit button. */
export interface Press {
  /** The form's request with its answer; undefined if nothing was sent. */
  readonly exchange: Exchange | undefined;
  /** All requests since the page was opened. */
  readonly exchanges: readonly Exchange[];
  /** Time until it was sent, in milliseconds. */
  readonly ms: number;
}

/** Time between two looks whether the page has refused to send, in milliseconds. */
const LOOKS_MS = 300;

/**
 * Clicks a button and the buttons of its confirmation windows, and waits for the form's request and its answer.
 * @param isForm recognises the form's request.
 * @param patienceMs time limit for the request to be sent, in milliseconds.
 * @param isOver tells, while nothing is sent, whether the page has already refused to send.
 * @param lingerMs time in which further requests may follow an answer: the form's own may not be the first one.
 * @throws EnvironmentFault if the server fails the request.
 */
export async function pressChain(
  session: Session,
  buttons: readonly [PlaceOf, ...PlaceOf[]],
  isForm: (exchange: Exchange) => boolean,
  patienceMs: number,
  isOver: () => Promise<boolean>,
  lingerMs = 0,
): Promise<Press> {
  const { traffic, page } = session;
  const sent = (): Exchange[] => traffic.exchanges.filter((one) => one.phase === "submit" && isForm(one));
  const isSent = (): boolean => sent().length > 0;
  const start = performance.now();
  const left = (): number => start + slowed(session, patienceMs) - performance.now();
  let [looked, isRefused] = [start, false];
  const isDone = async (): Promise<boolean> => {
    // another post, such as a check of the values, may come first
    if (isRefused || performance.now() - looked < LOOKS_MS || traffic.awaited() !== undefined) return isRefused;
    looked = performance.now();
    isRefused = await isOver().catch(() => false);
    return isRefused;
  };
  const click = async (): Promise<true> => {
    // a confirmation window that is open already is continued
    const seen = await Promise.all(buttons.slice(1).map((one) => buttonAt(page, one).isVisible()));
    const [first = buttons[0], ...confirm] = buttons.slice(seen.lastIndexOf(true) + 1);
    await clickButton(page, buttonAt(page, first), slowed(session, 900), isSent);
    for (const next of confirm)
      if (!isSent()) await buttonAt(page, next).click({ timeout: slowed(session, patienceMs), noWaitAfter: true });
    return true;
  };
  const ms = await press(session, {
    ...{ phase: "submit", isForm, sent, click },
    waits: [
      [async () => left(), isDone],
      // the present slowness of the page is measured before giving up
      [() => rest(session, 0).then(left), isDone],
      [session.answerTimeoutMs, () => traffic.awaited() === undefined],
    ],
  });
  for (let known = 0; lingerMs > 0 && isSent() && known < traffic.exchanges.length; ) {
    known = traffic.exchanges.length;
    await session.until(slowed(session, lingerMs), () => traffic.exchanges.length > known);
    await session.until(session.actionTimeoutMs, () => traffic.awaited() === undefined);
  }
  const exchange = sent().at(-1);
  if (exchange === undefined) traffic.checkAnswers("submit");
  return { exchange, exchanges: [...traffic.exchanges], ms: ms ?? 0 };
}

const MOST_LINE_LETTERS = 160;

/** Lists the lines that the open page shows, and the texts of its dialogs. */
export async function shownLines(session: Session): Promise<string[]> {
  const text = await session.view.evaluate(() => {
    let text = "";
    const read = (node: Element | ShadowRoot): void => {
      text += `\n${node instanceof HTMLElement ? node.innerText : ""}`;
      for (const e of node.querySelectorAll("*")) if (e.shadowRoot !== null && text.length < 100000) read(e.shadowRoot);
    };
    if (document.body !== null) read(document.body);
    return text.slice(0, 100000);
  });
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return [...new Set([...lines, ...session.alerts])].filter((line) => line !== "" && line.length <= MOST_LINE_LETTERS);
}
