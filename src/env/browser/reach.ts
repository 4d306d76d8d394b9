import type { ControlKind, FieldValue } from "../site.js";
import { NEXT_LABEL } from "./buttons.js";
import { currentValues, findControl, type ReadForm, readForm, rescan } from "./controls.js";
import { Hands } from "./hands.js";
import { awaitChange, discover, type Place, pressOption, scrollOn } from "./page/hands.js";
import type { PageForm } from "./page/reader.js";
import type { Session } from "./session.js";

/** How long fields may take to appear after another one was filled in, by the page's own clock. */
const APPEAR_MS = 900;
const MOST_STEPS = 8;
const MOST_OPENERS = 6;
const MOST_SCREENS = 40;

/** What a field is that no page has shown yet, by its true value. */
export function kindOfValue(value: FieldValue): ControlKind {
  return typeof value === "boolean" ? "checkbox" : Array.isArray(value) ? "checkbox-group" : "select";
}

const isThere = (form: ReadForm, label: string): boolean => {
  const target = findControl(form.controls, label);
  return target !== "none" && (target === "ambiguous" || target.control.present);
};

/**
 * Makes a field of the task reachable that the page does not show: one that appears after another one, that a click on a
 * text without any role fills in, behind a tab or a heading, in one more row, on a further step or in a dialog.
 * @returns whether it is there now.
 */
export async function reach(session: Session, form: ReadForm, label: string, kind: ControlKind): Promise<boolean> {
  const hands = new Hands(session, form.handle);
  const settled = async (ms: number): Promise<boolean> => {
    await session.background.settle(session.stretched(1000));
    await hands.calm(ms, 100);
    await rescan(form);
    return isThere(form, label);
  };
  // a frame may have been read while it was parsed
  if (await settled(200)) return true;
  if (form.scripted && (await discovered(form, label, kind))) return true;
  const hidden = await form.handle.evaluate(findRevealer, label);
  if (hidden !== undefined && (await press(hands, hidden)) && (await settled(400))) return true;
  if (await addRows(session, form, settled)) return true;
  if (form.scripted && (await scrolledTo(hands, settled))) return true;
  if (form.scripted) {
    await form.handle.evaluate(awaitChange, APPEAR_MS);
    if (await settled(100)) return true;
  }
  return stepOn(session, form, label);
}

/** What is drawn, or can be used, only when it has been scrolled to. */
async function scrolledTo(hands: Hands, settled: (ms: number) => Promise<boolean>): Promise<boolean> {
  for (let screens = 0; screens < MOST_SCREENS && (await hands.handle.evaluate(scrollOn)); screens++)
    if (await settled(100)) return true;
  return false;
}

/** Whether a visible text of this label has something to click beside it: it is a control from here on. */
export async function discovered(form: ReadForm, label: string, kind: ControlKind): Promise<boolean> {
  await form.handle.evaluate(discover, { label, kind });
  await rescan(form);
  return isThere(form, label);
}

async function press(hands: Hands, place: Place): Promise<boolean> {
  return hands.click(place, () => hands.handle.evaluate(pressOption, 0));
}

/** `Guest 2`: there is a button for one more. */
async function addRows(session: Session, form: ReadForm, settled: (ms: number) => Promise<boolean>): Promise<boolean> {
  for (let rows = 0; rows < MOST_STEPS; rows++) {
    const button = form.buttons.findIndex(
      (b) => !b.submits && /^(?:\+\s*)?add\b(?! to)|\banother\b|^\+$|\bone more\b/i.test(b.label),
    );
    if (button < 0) return false;
    const before = form.controls.filter((c) => c.present).length;
    await clickButton(session, form, button);
    if (await settled(300)) return true;
    if (form.controls.filter((c) => c.present).length <= before) return false;
  }
  return false;
}

/** Goes on to the next step of a form, of the same page or of the next one. */
async function stepOn(session: Session, form: ReadForm, label: string): Promise<boolean> {
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const nexts = form.buttons.flatMap((b, i) => (NEXT_LABEL.test(b.label) && !/newsletter/i.test(b.label) ? [i] : []));
    const next =
      nexts.find((i) => form.controls.some((c) => c.present && !c.elsewhere && c.form === form.buttons[i]?.form)) ??
      nexts[0];
    if (next === undefined) return false;
    const before = pageState(form);
    await stepBy(session, form, next);
    if (isThere(form, label)) return true;
    if (pageState(form) === before) return false;
  }
  return false;
}

const pageState = (form: ReadForm): string =>
  form.controls.map((c) => (c.present ? "1" : "0")).join("") + form.buttons.map((b) => b.label).join("|");

/** Clicks a button that leads on, and reads what is there then. */
export async function stepBy(session: Session, form: ReadForm, button: number): Promise<void> {
  const { traffic } = session;
  const documents = session.documents;
  await rememberValues(form);
  traffic.arm("step", () => true);
  try {
    await clickButton(session, form, button);
    await settleStep(session, form, documents);
  } finally {
    if (traffic.phase === "step") traffic.disarm();
  }
}

/**
 * After a click that may lead to another page: the new page, or this one when it has come to rest.
 * @throws EnvironmentFault where the server failed what the step sent.
 */
export async function settleStep(session: Session, form: ReadForm, documents: number): Promise<void> {
  await arriveOrRest(session, form, documents);
  session.traffic.checkAnswers("step");
}

async function arriveOrRest(session: Session, form: ReadForm, documents: number): Promise<void> {
  for (let waited = 0; waited < session.actionTimeoutMs; waited += 100) {
    const left = session.documents > documents || session.isLeaving();
    if (left) {
      await renew(session, form);
      return;
    }
    if (waited >= 200 && !session.traffic.isForwarding()) break;
    await session.traffic.next(100);
  }
  const hands = new Hands(session, form.handle);
  try {
    await session.background.settle(session.stretched(1000));
    await hands.calm(500, 100);
    await rescan(form);
  } catch (error) {
    if (session.documents === documents && !session.isLeaving()) throw error;
    await renew(session, form);
  }
}

/** The page that has taken the place of the last one; its controls come after those that are known. */
export async function renew(session: Session, form: ReadForm): Promise<void> {
  const world = await session.enter();
  const next = await readForm(world, Math.min(session.actionTimeoutMs, 3000), form.labels, form);
  Object.assign(form, {
    controls: next.controls,
    buttons: next.buttons,
    handle: next.handle,
    scripted: next.scripted,
    keyed: undefined,
  });
}

/** What a step held is not seen any more once it is left. */
export async function rememberValues(form: ReadForm): Promise<void> {
  const values = await currentValues(form);
  form.controls.forEach((control, i) => {
    if (control.present && values[i] !== undefined) form.left.set(i, values[i]);
  });
}

async function clickButton(session: Session, form: ReadForm, button: number): Promise<void> {
  const hands = new Hands(session, form.handle);
  const place = await form.handle.evaluate(placeOfButton, button);
  await hands.click(place, () => form.handle.evaluate(pressButton, button));
}

/** Runs IN THE PAGE: where a button can be clicked. */
function placeOfButton(page: PageForm, button: number): Place | undefined {
  const element = page.buttons[button];
  return element === undefined ? undefined : page.kit.aim(element);
}

function pressButton(page: PageForm, button: number): void {
  page.buttons[button]?.click();
}

/** Opens what a form may be behind: a dialog, a first step. @returns whether one of the labels can be seen now. */
export async function openUp(session: Session, form: ReadForm): Promise<boolean> {
  const shows = (): boolean => form.labels.some((label) => isThere(form, label));
  const tried = new Set<string>();
  for (let clicks = 0; clicks < MOST_OPENERS && !shows(); clicks++) {
    const places = await form.handle.evaluate(findOpeners, [...tried]);
    if (places === undefined) return false;
    tried.add(places.text);
    const documents = session.documents;
    await press(new Hands(session, form.handle), places.place);
    await settleStep(session, form, documents);
  }
  return shows();
}

/** Runs IN THE PAGE: the next thing to click that may open a form, best first, of those that were not tried. */
function findOpeners(page: PageForm, tried: readonly string[]): { place: Place; text: string } | undefined {
  const { kit } = page;
  const rank = (e: HTMLElement): number => {
    const text = kit.clean(e.textContent) || kit.ariaName(e);
    let score = e.matches(
      "[aria-haspopup=dialog],[data-toggle=modal],[data-bs-toggle=modal],[popovertarget],[aria-controls],summary",
    )
      ? 4
      : 0;
    if (
      /^(?:open|start|begin|get started|apply|contact|new|create|add|register|sign ?up|book|request|show|edit|leave|write|ask|join|order|continue|next)\b/i.test(
        text,
      )
    )
      score += 3;
    if (/form|feedback|review|quote|appointment|application|enquiry|inquiry|message/i.test(text)) score += 2;
    if (/cancel|log ?(?:in|out)|sign ?(?:in|out)|close|delete|search|menu|cookie|privacy|home/i.test(text)) score -= 6;
    if (e.matches("a[href]") && !/^(?:#|javascript:)/.test(e.getAttribute("href") ?? "")) score -= 4;
    return score;
  };
  const all = kit
    .all("button,[role=button],[role=tab],a,summary,[onclick],[aria-haspopup]")
    .filter(
      (e) =>
        kit.shown(e) &&
        !kit.isDisabled(e) &&
        (e as HTMLButtonElement).form?.querySelector("input:not([type=hidden])") == null &&
        !tried.includes(kit.clean(e.textContent) || kit.ariaName(e)),
    );
  const [best] = all.filter((e) => rank(e) >= 0).sort((a, b) => rank(b) - rank(a));
  if (best === undefined) return undefined;
  page.options = [best];
  return { place: kit.aim(best), text: kit.clean(best.textContent) || kit.ariaName(best) };
}

/** Runs IN THE PAGE: what has to be clicked so that a hidden field of this label is shown: a tab, a heading, a summary. */
function findRevealer(page: PageForm, label: string): Place | undefined {
  const { kit } = page;
  const strip = (text: string): string => kit.clean(text).replace(/[\s*:]+$/, "");
  const hidden = kit.all("label,legend,[aria-label],[placeholder],span,p,div,h3,h4").find((e) => {
    if (kit.shown(e) && e.closest("details:not([open])") === null) return false;
    const text = e.getAttribute("aria-label") ?? e.getAttribute("placeholder") ?? kit.textOf(e);
    return kit.same(strip(text), strip(label));
  });
  for (let node: Element | null = hidden ?? null; node !== null; node = kit.parentOf(node)) {
    let opener: HTMLElement | null | undefined;
    if (node.tagName === "DETAILS" && !(node as HTMLDetailsElement).open)
      opener = node.querySelector<HTMLElement>(":scope > summary");
    else if (node.id !== "") {
      const { id } = node;
      opener = kit
        .all("[aria-controls],[data-target],[data-bs-target],[popovertarget],a[href],[data-tab],[data-panel]")
        .find((e) =>
          ["aria-controls", "data-target", "data-bs-target", "popovertarget", "href", "data-tab", "data-panel"].some(
            (a) => e.getAttribute(a) === id || e.getAttribute(a) === `#${id}`,
          ),
        );
    }
    if (opener === null || opener === undefined) {
      const labelled = node.getAttribute("aria-labelledby");
      opener = labelled === null ? undefined : kit.all("[role=tab],button").find((e) => e.id === labelled);
    }
    if (opener !== null && opener !== undefined && kit.shown(opener)) {
      page.options = [opener];
      return kit.aim(opener);
    }
  }
  return undefined;
}
