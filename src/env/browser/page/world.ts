import type { CDPSession } from "playwright";
import { ariaKit } from "./aria.js";
import { type FieldKit, fieldKit } from "./fields.js";
import { pageKit } from "./kit.js";
import { nameKit } from "./names.js";

/** An object of our own that stays in the page. */
export interface PageHandle<T> {
  /** Runs a function IN THE PAGE on the object and plain data; plain data comes back. */
  evaluate<R, A = undefined>(work: (object: T, argument: A) => R, argument?: A): Promise<Awaited<R>>;
  /** Whether one of the elements that a function finds IN THE PAGE listens to one of these events itself. */
  hears(find: (object: T) => readonly Element[], types: readonly string[]): Promise<boolean>;
  dispose(): Promise<void>;
}

/**
 * A document seen from a script world of our own, as a browser extension sees it: the same elements, events and timers,
 * but untouched built-ins and no object of the page. Whatever a page patches, nothing of ours calls it. The world ends
 * with its document; every call then fails.
 */
export class PageWorld {
  private constructor(
    private readonly devtools: CDPSession,
    private readonly context: number,
  ) {}

  /** Enters the document that a frame shows now. */
  static async enter(devtools: CDPSession, frameId: string): Promise<PageWorld> {
    const { executionContextId } = await devtools.send("Page.createIsolatedWorld", { frameId, worldName: "forms" });
    return new PageWorld(devtools, executionContextId);
  }

  /** Runs a function IN THE PAGE. Its source text is sent: it may use nothing but its argument and the page. */
  async evaluate<R, A = undefined>(work: (argument: A) => R, argument?: A): Promise<Awaited<R>> {
    const { value } = await this.call(String(work), { executionContextId: this.context }, argument, true);
    return value as Awaited<R>;
  }

  /** As `evaluate`, but the function also gets the page's kit, and what it returns stays in the page. */
  async hold<R, A>(work: (kit: FieldKit, argument: A) => R, argument: A): Promise<PageHandle<Awaited<R>>> {
    const withKit = `function (argument) { return (${work})((${fieldKit})((${nameKit})((${ariaKit})((${pageKit})()))), argument); }`;
    const { objectId } = await this.call(withKit, { executionContextId: this.context }, argument, false);
    if (objectId === undefined) throw new Error("nothing was left in the page");
    return {
      evaluate: async <Q, B>(on: (object: Awaited<R>, argument: B) => Q, data?: B): Promise<Awaited<Q>> => {
        const bound = `function (argument) { return (${on})(this, argument); }`;
        return (await this.call(bound, { objectId }, data, true)).value as Awaited<Q>;
      },
      hears: async (find, types) => this.hear(`function () { return (${find})(this); }`, objectId, types),
      dispose: async () => {
        // it went with its document, where a page has left after its post
        await this.devtools.send("Runtime.releaseObject", { objectId }).catch(() => undefined);
      },
    };
  }

  /**
   * Asked of each element. A search of the whole document would enter the browser's own shadow trees, as a date field has
   * one, and a tab of Chromium 156 then crashes at one of the next clicks.
   */
  private async hear(find: string, on: string, types: readonly string[]): Promise<boolean> {
    const { objectId } = await this.call(find, { objectId: on }, undefined, false);
    if (objectId === undefined) return false;
    const { result } = await this.devtools.send("Runtime.getProperties", { objectId, ownProperties: true });
    for (const { value } of result) {
      if (value?.subtype !== "node" || value.objectId === undefined) continue;
      // without `pierce` it tells of listeners of our own world alone
      const about = { objectId: value.objectId, depth: 1, pierce: true };
      const { listeners } = await this.devtools.send("DOMDebugger.getEventListeners", about);
      if (listeners.some(({ type }) => types.includes(type))) return true;
    }
    return false;
  }

  private async call(
    functionDeclaration: string,
    on: { executionContextId: number } | { objectId: string },
    argument: unknown,
    returnByValue: boolean,
  ): Promise<{ value?: unknown; objectId?: string }> {
    const { result, exceptionDetails } = await this.devtools.send("Runtime.callFunctionOn", {
      functionDeclaration,
      ...on,
      arguments: [{ value: argument }],
      awaitPromise: true,
      returnByValue,
    });
    if (exceptionDetails === undefined) return result;
    throw new Error(exceptionDetails.exception?.description?.split("\n")[0] ?? exceptionDetails.text);
  }
}
