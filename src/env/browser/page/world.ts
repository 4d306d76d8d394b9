import type { CDPSession } from "playwright";
import { EnvironmentFault } from "../browser.js";
import { type FormKit, fieldKit, formKit } from "./form.js";
import { nameKit } from "./names.js";

/** A handle of an object that stays in the page. */
export interface PageHandle<T> {
  /** Runs a function IN THE PAGE on the object and plain data. @returns plain data. */
  evaluate<R, A = undefined>(work: (object: T, argument: A) => R, argument?: A): Promise<Awaited<R>>;
  dispose(): Promise<void>;
}

/**
 * A document seen from an isolated script world, as a browser extension sees it: the same elements, events and timers,
 * but untouched built-ins and none of the page's objects, so that no patch by the page has an effect. The world ends
 * with its document; every call then fails.
 */
export class PageWorld {
  private constructor(
    private readonly devtools: CDPSession,
    private readonly context: number,
  ) {}

  /** Enters the current document of a frame. */
  static async enter(devtools: CDPSession, frameId: string): Promise<PageWorld> {
    const { executionContextId } = await devtools.send("Page.createIsolatedWorld", { frameId, worldName: "forms" });
    return new PageWorld(devtools, executionContextId);
  }

  /** Runs a function IN THE PAGE. Its source text is sent: it may use only its argument and the page. */
  evaluate<R, A = undefined>(work: (argument: A) => R, argument?: A): Promise<Awaited<R>> {
    return this.run<Awaited<R>>(String(work), argument);
  }

  /** Runs a function that is given as source text IN THE PAGE. */
  async run<R>(source: string, argument: unknown): Promise<R> {
    return (await this.call(source, { executionContextId: this.context }, argument, true)).value as R;
  }

  /** Runs a function IN THE PAGE with the page's kit. @returns a handle of its result, which stays in the page. */
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
        // the object is gone if the page was left after its post
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
    const call = { functionDeclaration, ...on, arguments: [{ value: argument }], awaitPromise: true, returnByValue };
    const answer = this.devtools.send("Runtime.callFunctionOn", call).catch((cause: unknown) => {
      throw new EnvironmentFault("the page went away while it was in use", { cause });
    });
    const { result, exceptionDetails } = await answer;
    if (exceptionDetails === undefined) return result;
    throw new Error(exceptionDetails.exception?.description?.split("\n")[0] ?? exceptionDetails.text);
  }
}
