import { inspect } from "node:util";
import { distance } from "fastest-levenshtein";

/** Exit codes of the command line. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/**
 * An error that a user can act on: its message and its hint are printed, without a stack trace. `exitCode` 2 is for a
 * wrong call (flags, config), 1 for everything else.
 */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: 1 | 2;

  constructor(message: string, options: { hint?: string; exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** Hint, exit code and cause of an error. */
export type Next = ConstructorParameters<typeof UserError>[1];

/** Throws an error that a user can act on. @throws UserError with exit code 1. */
export function fail(message: string, next?: Next): never {
  throw new UserError(message, next);
}

/** Throws an error of the call or the config. @throws UserError with exit code 2. */
export function misuse(message: string, next?: Next): never {
  throw new UserError(message, { ...next, exitCode: 2 });
}

/** Returns the candidate closest to `word` by edit distance, or undefined where none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 2)) + 1;
  for (const candidate of candidates) {
    const d = distance(word.toLowerCase(), candidate.toLowerCase());
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  }
  return best;
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "object" ? inspect(error) : String(error);
}
