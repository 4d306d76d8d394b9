import type { PageWorld } from "./world.js";

/** Runs IN THE PAGE: lets no form be sent until it is told to. */
function holdBack(): { letGo(): void } {
  const stop = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  // Enter in a field clicks the button that sends
  const isImplied = (event: Event): boolean =>
    event instanceof MouseEvent &&
    event.detail === 0 &&
    event
      .composedPath()
      .some((e) => e instanceof HTMLElement && "form" in e && e.form !== null && "type" in e && e.type === "submit");
  const onClick = (event: Event): void => {
    if (isImplied(event)) stop(event);
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

/** Keeps a page's forms from being sent, by a key or by a script that sends on its own, until it is disposed. */
export async function heldBack(world: PageWorld): Promise<AsyncDisposable> {
  const handle = await world.hold(holdBack, undefined);
  return {
    async [Symbol.asyncDispose]() {
      // a page that has left has nothing to be let go
      await handle.evaluate((held) => held.letGo()).catch(() => undefined);
      await handle.dispose();
    },
  };
}
