import type { Page, Route } from "playwright";
import type { PageWorld } from "./world.js";

/** Least number of values in a request for it to count as the form's, if that many are known. */
const CARRIED = 2;
/** Length in characters of the shortest text that counts: shorter ones may occur in any request. */
const SHORTEST = 3;

/** Runs IN THE PAGE: stops forms from being sent and their window from being closed, until `letGo` is called. */
function holdBack(): { letGo(): void } {
  const stop = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const sends = (e: EventTarget): boolean =>
    e instanceof HTMLElement &&
    (e.getAttribute("type") === "submit" || ("type" in e && e.type === "submit" && "form" in e && e.form !== null));
  const onClick = (event: Event): void => {
    if (event.composedPath().some(sends)) stop(event);
  };
  const OPEN = "[role=dialog],[role=listbox],[role=menu],[role=grid],[role=tree],dialog[open],[aria-expanded=true]";
  const openNow = (): Element[] =>
    [...document.querySelectorAll(OPEN)].filter((e) => e.checkVisibility({ visibilityProperty: true }));
  const openBefore = new Set(openNow());
  // Escape closes lists; it must not close the window of the form
  const onKey = (event: Event): void => {
    if ((event as KeyboardEvent).key === "Escape" && openNow().every((e) => openBefore.has(e))) stop(event);
  };
  const listeners = { submit: stop, click: onClick, keydown: onKey };
  for (const [type, listener] of Object.entries(listeners)) window.addEventListener(type, listener, true);
  return {
    letGo: () => {
      for (const [type, listener] of Object.entries(listeners)) window.removeEventListener(type, listener, true);
    },
  };
}

/**
 * Keeps a page from sending the entered values by a key, a button or a script, until the result is disposed: forms are
 * not submitted, and requests with values are stopped.
 * @param texts the entered values.
 */
export async function heldBack(page: Page, world: PageWorld, texts: readonly string[]): Promise<AsyncDisposable> {
  const handle = await world.hold(holdBack, undefined);
  const told = [...new Set(texts)].filter((text) => text.length >= SHORTEST);
  const spellings = told.map((text) => [
    text,
    encodeURIComponent(text),
    new URLSearchParams({ t: text }).toString().slice(2),
  ]);
  const isForm = (body: string): boolean =>
    told.length > 0 &&
    spellings.filter((all) => all.some((text) => body.includes(text))).length >= Math.min(CARRIED, told.length);
  const filter = (route: Route): Promise<void> =>
    route.request().method() !== "GET" && isForm(route.request().postData() ?? "") ? route.abort() : route.fallback();
  await page.route("**/*", filter);
  return {
    async [Symbol.asyncDispose]() {
      await page.unroute("**/*", filter).catch(() => undefined);
      // a page that was left holds nothing back any more
      await handle.evaluate((held) => held.letGo()).catch(() => undefined);
      await handle.dispose();
    },
  };
}
