import { isPromise } from "node:util/types";
import { messageOf, UserError } from "./errors.js";

/**
 * Reads what comes from outside, as a file: whatever its content makes throw becomes an error that a user can act on.
 * @param what names it in messages. @param hint the next step where an error has none.
 * @throws UserError with a hint, or a rejected promise of it where `read` returns a promise.
 */
export function fromOutside<T>(what: string, hint: string, read: () => T): T {
  const refuse = (error: unknown): never => {
    if (error instanceof Error && error.name === "AbortError") throw error;
    if (!(error instanceof UserError))
      throw new UserError(`${what} cannot be read: ${messageOf(error)}`, { hint, cause: error });
    if (error.hint !== undefined) throw error;
    throw new UserError(error.message, { hint, exitCode: error.exitCode, cause: error.cause ?? error });
  };
  try {
    const value = read();
    return isPromise(value) ? (value.catch(refuse) as T) : value;
  } catch (error) {
    return refuse(error);
  }
}
