import type { Locator, Page } from "playwright";
import { framesDrawn } from "../../env/browser/page/actions.js";
import { parseTime } from "../../env/forms/normalize.js";
import { writeTime } from "../../env/forms/values.js";
import type { PlaceOf, Variant } from "./contract.js";
import { boxAt, fieldIn, located, OPERABLE } from "./place.js";
import type { Surface } from "./surface.js";
import { TIME_PATTERNS } from "./values.js";
import { clickLabel, closeOpen, escaped, NoOption, NoWay, type Place, WRITABLE } from "./way.js";

/** Time limits of a step on a control and of opening a list on a quiet machine, in milliseconds. */
const STEP_MS = 900;
const OPEN_MS = 450;

/** Time for drawing two frames on a quiet machine, in milliseconds, and the greatest slowness that counts. */
const FRAMES_MS = 50;
const MOST_SLOWED = 8;
/** Share of an earlier slowness that still counts: a busy machine is slow in bursts. */
const LASTING = 0.8;
const SLOWED = new WeakMap<Page, number>();

/** Factor on the time limits of a way that is known, or that is tried again on a busy machine. */
export const PATIENCE = 4;

/** Factor by which a page now takes longer to draw than on a quiet machine. */
export const slowness = ({ page }: Surface): number => SLOWED.get(page) ?? 1;

/** Stretches a time limit for a quiet machine by the present slowness of the page. */
export const slowed = (surface: Surface, ms: number): number => surface.stretched(ms * slowness(surface));

/** Waits for the page to react to a step: some milliseconds, then two drawn frames. */
export async function rest(surface: Surface, ms: number): Promise<void> {
  await surface.page.waitForTimeout(ms);
  const begun = performance.now();
  // the page may be navigating away
  await surface.view.evaluate(framesDrawn).catch(() => undefined);
  const now = (performance.now() - begun) / FRAMES_MS;
  SLOWED.set(surface.page, Math.min(MOST_SLOWED, Math.max(1, now, LASTING * slowness(surface))));
}

/**
 * Takes the focus from the control that has it.
 * @param twice whether a text is entered and left once more: a box may show a value that its state does not have.
 */
export async function leave(surface: Surface, twice = false): Promise<void> {
  const blur = `(twice) => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; e?.blur?.();
    if (twice && e?.matches?.("input,textarea")) { e.focus(); e.blur(); } }`;
  await surface.view.run(blur, twice);
  await rest(surface, 40);
}

/** CSS of the button that opens a branch of a tree, and the most branches that are opened. */
const TOGGLE = "button,[class*=toggle i],[class*=switch i],[class*=expand i],[class*=arrow i]";
const MOST_BRANCHES = 40;

/** Opens the closed branches of visible trees. @returns whether more options are there. */
async function openBranches(page: Page, timeout: number): Promise<boolean> {
  const items = page.getByRole("treeitem");
  const before = await items.count();
  for (let i = 0; i < Math.min(await items.count(), MOST_BRANCHES); i++) {
    const toggle = items.nth(i).locator(TOGGLE).locator("visible=true").first();
    const isOpen = (await items.nth(i).getAttribute("aria-expanded", { timeout })) === "true";
    if (isOpen || (await toggle.count()) === 0) continue;
    await toggle.click({ timeout }).catch(() => undefined);
    await page.waitForTimeout(60);
  }
  return (await items.count()) > before;
}

/**
 * Picks an option by its role, else by its text: the last match on the page, where newly opened lists stand. If there
 * is none, the branches of trees are opened.
 * @throws NoWay if none appears in time.
 */
async function pick(page: Page, text: string, ms: number): Promise<void> {
  const time = parseTime(text);
  const spellings = time === undefined ? [] : TIME_PATTERNS.map((pattern) => writeTime(time, pattern));
  // the figures of an hour or a minute may begin with 0
  const plain = /^\d\d?$/.test(text) ? `0?${Number(text)}` : escaped(text);
  const whole = new RegExp(
    `^\\s*(?:${[plain, ...spellings.map(escaped)].join("|")})\\s*$`,
    time === undefined ? "" : "i",
  );
  const roles = ["option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "gridcell"] as const;
  // an element with an input for the text is no option
  const isOption = page.locator(`:not(:has(${WRITABLE}))`);
  const choices: Locator[] = [
    ...roles.map((role) => page.getByRole(role, { name: whole })),
    ...roles.slice(0, 5).map((role) => page.getByRole(role).filter({ hasText: whole })),
    page.locator("li,dd,[class*=option i],[class*=item i]").filter({ hasText: whole }),
    page.getByText(whole),
  ].map((choice) => choice.and(isOption).locator("visible=true"));
  for (let end = performance.now() + ms, isClosed = true; ; ) {
    for (const seen of choices) {
      // an option that cannot be clicked is meant for screen readers only
      if ((await seen.count()) === 0) continue;
      const option = seen.last();
      if (await clicked(option, ms)) return;
      if (await clickedThrough(page, option, ms)) return;
    }
    await page.waitForTimeout(60);
    if (performance.now() < end) continue;
    if (!isClosed || !(await openBranches(page, ms))) throw new NoOption(`no option ${text.slice(0, 60)}`);
    isClosed = false;
    end = performance.now() + ms;
  }
}

/**
 * Clicks an element once it can be clicked. A click that the page handles slowly counts: it is not repeated.
 * @returns whether it could be clicked in time.
 */
async function clicked(target: Locator, timeout: number): Promise<boolean> {
  const isFree = await target.click({ timeout, trial: true }).then(
    () => true,
    () => false,
  );
  if (isFree) await target.click({ timeout, force: true, noWaitAfter: true }).catch(() => undefined);
  return isFree;
}

/**
 * Runs IN THE PAGE: tells whether an element is covered only by a part of its own option, such as a hover effect, or
 * leaves its clicks to a drawing that it is part of, such as a clock's face with its hand.
 */
function isOwnCover(e: Element): boolean {
  const { x, y, width, height } = e.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  const isBlank = top?.textContent?.trim() === "" && top.parentElement !== document.body;
  if (top?.contains(e) || (isBlank && top.parentElement?.contains(e))) return true;
  let box: Element | null = e;
  while (box !== null && !box.contains(top)) box = box.parentElement;
  return box?.textContent?.trim() === e.textContent?.trim();
}

/** Clicks an element that is covered only by a part of its own option. @returns whether that is so. */
async function clickedThrough(page: Page, target: Locator, timeout: number): Promise<boolean> {
  const isOwn = await target.evaluate(isOwnCover, undefined, { timeout }).catch(() => false);
  if (isOwn) await clickLabel({ page, limit: { timeout } }, target);
  return isOwn;
}

/** Runs IN THE PAGE: tells whether what covers the centre of an element is no part of its field, or clearly taller. */
function isUnder(e: Element, box: Element | null): boolean {
  const { x, y, width, height } = e.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  if (top === null || e.contains(top)) return false;
  if (box?.contains(e) && !box.contains(top) && !top.contains(box)) return true;
  let tallest = 0;
  for (let over: Element | null = top; over !== null && !over.contains(e); over = over.parentElement)
    tallest = Math.max(tallest, over.clientHeight);
  return tallest > 80 + height;
}

/** Closes lists and windows that a failed operation may have left open, but not the window of its field. */
export async function closeOpenAt(surface: Surface, label: string): Promise<void> {
  await boxAt(surface, label, 0)
    .then((box) => closeOpen(surface.page, box))
    .catch(() => undefined);
}

/** Closes an open list or window, also by a click in the corner of the page, but not the window of a field. */
async function dismissed(page: Page, box: Locator): Promise<void> {
  await closeOpen(page, box);
  await page.mouse.click(1, 1);
}

/** Clicks an element, or the drawing that covers it. A list or window that lies open over it is closed first. */
async function clickOn(page: Page, target: Locator, box: Locator, timeout: number): Promise<void> {
  if (await clicked(target, timeout / 2)) return;
  const field = await box.elementHandle({ timeout }).catch(() => null);
  if (await target.evaluate(isUnder, field, { timeout }).catch(() => false)) {
    await dismissed(page, box);
    if (await clicked(target, timeout / 2)) return;
  }
  await clickLabel({ page, limit: { timeout } }, target);
}

/** Clicks a button; an open list over it is closed first. @param isDone tells whether the page has gone on already. */
export async function clickButton(page: Page, button: Locator, timeout: number, isDone = () => false): Promise<void> {
  if ((await clicked(button, timeout)) || isDone()) return;
  if (!page.isClosed() && (await clickedThrough(page, button, timeout))) return;
  if (!page.isClosed()) await dismissed(page, button);
  await button.click({ timeout, noWaitAfter: true });
}

/**
 * Finds the place of a label on the page of a surface.
 * @param where locator of its control or its box, and the index of the box.
 * @param patience factor on the time limit of a step.
 * @param needs CSS of the wanted control if there are several, such as a number between two buttons.
 * @throws NoWay if the place is not there.
 */
export async function placeAt(
  surface: Surface,
  label: string,
  where: PlaceOf,
  variant: Variant,
  patience = 1,
  needs = OPERABLE,
): Promise<Place> {
  const { page } = surface;
  const limit = { timeout: slowed(surface, patience * STEP_MS) };
  const field = fieldIn(where.locator);
  const near = await boxAt(surface, field ?? label, where.nth);
  const has = async (locator: Locator): Promise<boolean> => (await locator.count()) > 0;
  const isNear = await has(near);
  const base = field === undefined ? located(page, where.locator) : near;
  // a picker may rename its field once it is open
  const isBox = field !== undefined || (isNear && where.locator.startsWith("label=") && !(await has(base)));
  const box = field !== undefined || isNear ? near : base.first().locator("..");
  if (!(await has(isBox ? box : base))) throw new NoWay(`${where.locator} is not there`);
  const inside = async (): Promise<Locator> => {
    for (const css of [needs, OPERABLE]) {
      const all = box.locator(css).locator("visible=true");
      // a control for scripts alone may lie hidden beside the one that is drawn
      for (const some of [all.and(page.locator(":not([aria-hidden=true])")), all])
        if (await has(some)) return some.first();
    }
    return box;
  };
  const named = base.locator("visible=true").first();
  const control = isBox ? await inside() : (await has(named)) ? named : base.first();
  return {
    page,
    label,
    control,
    box,
    variant,
    limit,
    has,
    click: (target) => clickOn(page, target, box, limit.timeout),
    look: (source) => surface.view.run(source, undefined),
    pick: (text) => pick(page, text, slowed(surface, patience * OPEN_MS)),
    pause: (ms = 80) => rest(surface, ms),
  };
}
