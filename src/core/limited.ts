import { createContext, Script } from "node:vm";
import { fail } from "./errors.js";

const room = createContext({ run: undefined as unknown });
const script = new Script("run()");

/** Longest time for a short text, in ms: 10,000 times what any of them takes. */
const LIMIT = 5000;

/**
 * Calls a function that applies regular expressions of somebody else's, which may take for ever: V8 ends them. @param
 * size of the text in characters; each adds a millisecond to the limit.
 * @throws UserError naming `what`, and what the function throws.
 */
export function limited<T>(what: string, size: number, run: () => T): T {
  room.run = run;
  try {
    return script.runInContext(room, { timeout: LIMIT + size }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    fail(`${what}: a regular expression takes more than ${LIMIT / 1000} s on a text of ${size} characters.`, {
      hint: "Write it without repetitions inside repetitions, as (a+)+, or use another.",
      cause: error,
    });
  }
}
