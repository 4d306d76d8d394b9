import type { Page, Route } from "playwright";
import type { PageWorld } from "./world.js";

/** Values that a request has to carry to be the form's, where so many are known. */
const CARRIED = 2;
/** Texts that are shorter stand in any request. */
const SHORTEST = 3;

/** Runs IN THE PAGE: lets no form be sent, and no button that sends be clicked, until it is told to. */
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
  window.addEventListener("submit", stop, true);
  window.addEventListener("click", onClick, true);
  return {
    letGo: () => {
      window.removeEventListener("submit", stop, true);
      window.removeEventListener("click", onClick, true);
    },
  };
}

/**
 * Keeps a page from sending what is filled in, by a key, a button or a script, until it is disposed: its forms are not
 * submitted, and requests that carry values are stopped.
 * @param texts values that are filled in.
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
      // a page that has left has nothing to be let go
      await handle.evaluate((held) => held.letGo()).catch(() => undefined);
      await handle.dispose();
    },
  };
}
