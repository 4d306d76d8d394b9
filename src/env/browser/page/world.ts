import type { CDPSession } from "playwright";
import { EnvironmentFault } from "../browser.js";
import { type FormKit, fieldKit, formKit } from "./form.js";
import { nameKit } from "./names.js";

/** The key of the objects that stay: a name could be that of an element of the page. */
const HELD = 'Symbol.for("held")';

/** A handle of an object that stays in the page. */
export interface PageHandle<T, F = unknown> {
  /** Plain data that was read from the object as it was made. */
  readonly first: F;
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
    return this.run(String(work), argument);
  }

  /**
   * Runs a function IN THE PAGE with the page's kit. @returns a handle of its result, which stays in the page.
   * @param read runs IN THE PAGE on the result, in the same message.
   */
  async hold<R, A, F = undefined>(
    work: (argument: A, kit: FormKit) => R,
    argument: A,
    read: (object: Awaited<R>) => F = () => undefined as F,
  ): Promise<PageHandle<Awaited<R>, F>> {
    const withKit = `async function (argument) {
      const object = await (${work})(argument, (${formKit})((${fieldKit})((${nameKit})())));
      return { at: (globalThis[${HELD}] ??= []).push(object) - 1, first: (${read})(object) };
    }`;
    const { at, first } = await this.run<{ at: number; first: F }>(withKit, argument);
    return {
      first,
      evaluate: <Q, B>(on: (object: Awaited<R>, argument: B) => Q, data?: B) =>
        this.run<Awaited<Q>>(`function ({ at, data }) { return (${on})(globalThis[${HELD}][at], data); }`, {
          at,
          data,
        }),
      // the object is gone if the page was left after its post
      dispose: () => this.run<void>(`(at) => void delete globalThis[${HELD}][at]`, at).catch(() => undefined),
    };
  }

  /** Runs a function that is given as source text IN THE PAGE. */
  async run<R>(functionDeclaration: string, argument: unknown): Promise<R> {
    const call = {
      ...{ functionDeclaration, executionContextId: this.context, arguments: [{ value: argument }] },
      ...{ awaitPromise: true, returnByValue: true },
    };
    const answer = this.devtools.send("Runtime.callFunctionOn", call).catch((cause: unknown) => {
      throw new EnvironmentFault("the page went away while it was in use", { cause });
    });
    const { result, exceptionDetails } = await answer;
    if (exceptionDetails === undefined) return result.value as R;
    throw new Error(exceptionDetails.exception?.description?.split("\n")[0] ?? exceptionDetails.text);
  }
}
