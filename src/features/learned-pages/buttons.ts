import type { Locator, Page } from "playwright";
import type { Session } from "../../env/browser/session.js";
import type { PlaceOf } from "./contract.js";
import { rest } from "./gestures.js";
import { asLabel, located } from "./place.js";
import type { Surface } from "./surface.js";

const BUTTONS =
  "button:not([type=reset]),input[type=submit],input[type=button],input[type=image],[role=button],[type=submit]";
/** CSS of headings that open a section. */
const SECTIONS = "summary,[aria-expanded]:not([aria-haspopup],[role=combobox],input,select)";
/** CSS of openers in a heading, or with the class of one: they open a section and no list. */
const HEADINGS = `summary,:is(h1,h2,h3,h4,h5,h6,[role=heading]) [aria-expanded],:is([class*=accordion i],[class*=expan i],[class*=collaps i])[aria-expanded]`;
/** Time in which a section opens, in milliseconds. */
const OPENS_MS = 250;
const MOST = 12;

/** Runs IN THE PAGE: reads a button's text, in slots too, and whether it submits its form. */
function readButton(button: Element): { readonly text: string; readonly submits: boolean } {
  const slotted = [...button.querySelectorAll("slot")].flatMap((slot) => slot.assignedNodes({ flatten: true }));
  const inner = (button.textContent ?? "").trim() || slotted.map((node) => node.textContent ?? "").join(" ");
  const text = button.getAttribute("aria-label") || inner;
  const type = button.getAttribute("type");
  const isOfForm = (button as HTMLButtonElement).form != null || button.closest("form") !== null;
  return {
    text: text.replace(/\s+/g, " ").trim() || (button.getAttribute("value") ?? ""),
    submits: type === "submit" || (button.localName === "button" && type === null && isOfForm),
  };
}

/** Runs IN THE PAGE: lists the texts of elements that look like buttons, but have no such tag or role and no link. */
function clickableTexts(css: string): string[] {
  const found: string[] = [];
  const visit = (node: Element | ShadowRoot): void => {
    for (const e of node.children) {
      if (found.length > 60 || e.matches(`${css},label,select,input,textarea,script,style`)) continue;
      const isNamed = e.localName.endsWith("-button") || e.matches(".button,.btn");
      const isHand = isNamed || getComputedStyle(e).cursor === "pointer";
      if (isHand) {
        const text = (e.textContent ?? "").replace(/\s+/g, " ").trim();
        const leads = /^(?!#|javascript:)/.test(e.closest("a")?.getAttribute("href") ?? "#");
        const isPart = e.hasAttribute("role") || e.querySelector("input,select,textarea,label") !== null;
        if (text !== "" && text.length <= 60 && !leads && !isPart && e.checkVisibility({ visibilityProperty: true }))
          found.push(text);
      } else {
        if (e.shadowRoot !== null) visit(e.shadowRoot);
        visit(e);
      }
    }
  };
  if (document.body !== null) visit(document.body);
  return found;
}

/** Locates a button for a contract: by its name if that is unique, else by its index among the buttons. */
async function named(page: Page, { nth, text }: { readonly nth: number; readonly text: string }): Promise<PlaceOf> {
  const locator = `role=button[name=${JSON.stringify(text)}s]`;
  const same = text === "" || text.length > 60 ? 0 : await page.locator(locator).count();
  return same === 1 ? { locator, nth: 0 } : { locator: BUTTONS, nth };
}

/**
 * Lists the buttons that may send the form, likeliest first: submit buttons, other buttons with text, elements that
 * look like buttons, and buttons without text, mostly parts of fields. Of each sort, the last on the page is first.
 */
export async function buttonsOf({ page, view }: Session): Promise<PlaceOf[]> {
  const found: { readonly nth: number; readonly text: string; readonly rank: number }[] = [];
  for (const [nth, button] of (await page.locator(BUTTONS).all()).entries()) {
    if (!(await button.isVisible())) continue;
    const { text, submits } = await button.evaluate(readButton);
    found.unshift({ nth, text, rank: submits ? 0 : /\p{L}/u.test(text) ? 1 : 3 });
  }
  const ranked = async (...ranks: number[]): Promise<PlaceOf[]> =>
    Promise.all(ranks.flatMap((rank) => found.filter((b) => b.rank === rank)).map((button) => named(page, button)));
  const clickable = (await view.evaluate(clickableTexts, BUTTONS)).reverse();
  const looks = clickable.map((text): PlaceOf => ({ locator: `text=${JSON.stringify(text)}`, nth: 0 }));
  return [...(await ranked(0, 1)), ...looks, ...(await ranked(3))].slice(0, MOST);
}

export const buttonAt = (page: Page, { locator, nth }: PlaceOf): Locator => located(page, locator).nth(nth);

/** Runs IN THE PAGE: tells whether a section is closed, or a tab stands behind the open one. */
function isClosed(e: Element): boolean {
  if (!/\p{L}/u.test(e.textContent ?? "") || e.matches("[disabled],[aria-disabled=true]")) return false;
  if (e.localName === "summary") return !(e.parentElement as HTMLDetailsElement).open;
  if (e.hasAttribute("aria-expanded")) return e.getAttribute("aria-expanded") === "false";
  const open = e.closest("[role=tablist]")?.querySelector("[aria-selected=true]") ?? e;
  return (open.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) > 0;
}

/** Lists the openers of further fields: closed sections of a page, then tabs that come next. */
export async function openersOf({ page }: Session): Promise<PlaceOf[]> {
  const found: PlaceOf[] = [];
  for (const css of [SECTIONS, "[role=tab]"])
    for (const [nth, opener] of (await page.locator(css).all()).entries())
      if ((await opener.isVisible()) && (await opener.evaluate(isClosed))) found.push({ locator: css, nth });
  return found;
}

/** Opens the section whose heading is the label of a field in it, if it is closed. */
export async function unfold(surface: Surface, label: string): Promise<void> {
  const heading = surface.page
    .locator(HEADINGS)
    .filter({ hasText: asLabel(label) })
    .locator("visible=true");
  if ((await heading.count()) !== 1 || !(await heading.evaluate(isClosed))) return;
  await heading.click({ timeout: surface.stretched(1000) }).catch(() => undefined);
  await rest(surface, OPENS_MS);
}
