import type { CDPSession } from "playwright";
import { type FormKit, fieldKit, formKit } from "./form.js";
import { nameKit } from "./names.js";

/** An object of our own that stays in the page. */
export interface PageHandle<T> {
  /** Runs a function IN THE PAGE on the object and plain data; plain data comes back. */
  evaluate<R, A = undefined>(work: (object: T, argument: A) => R, argument?: A): Promise<Awaited<R>>;
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
  evaluate<R, A = undefined>(work: (argument: A) => R, argument?: A): Promise<Awaited<R>> {
    return this.run<Awaited<R>>(String(work), argument);
  }

  /** Runs a function that is given as source text IN THE PAGE. */
  async run<R>(source: string, argument: unknown): Promise<R> {
    return (await this.call(source, { executionContextId: this.context }, argument, true)).value as R;
  }

  /** As `evaluate`, but the function also gets the page's kit, and what it returns stays in the page. */
  async hold<R, A>(work: (argument: A, kit: FormKit) => R, argument: A): Promise<PageHandle<Awaited<R>>> {
    const withKit = `function (argument) { return (${work})(argument, (${formKit})((${fieldKit})((${nameKit})()))); }`;
    const { objectId } = await this.call(withKit, { executionContextId: this.context }, argument, false);
    if (objectId === undefined) throw new Error("nothing was left in the page");
    return {
      evaluate: async <Q, B>(on: (object: Awaited<R>, argument: B) => Q, data?: B): Promise<Awaited<Q>> => {
        const bound = `function (argument) { return (${on})(this, argument); }`;
        return (await this.call(bound, { objectId }, data, true)).value as Awaited<Q>;
      },
      dispose: async () => {
        // it went with its document, where a page has left after its post
        await this.devtools.send("Runtime.releaseObject", { objectId }).catch(() => undefined);
      },
    };
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
