/** The work that a filled-in field leaves to a person. */
export type Group = "filled" | "to check" | "left for you";

/** A value with a lower probability is to be checked (docs/mcp.md#how-sure has what was measured). */
export const CHECK_BELOW = 0.9;

/** Facts of a field that decide its group. */
export interface Outcome {
  /** The field's value now; absent where the page has no such field. */
  readonly value?: unknown;
  /** The model's probability of this value; a value without one is to be checked. */
  readonly probability?: number;
  /** Set where the value is not the wanted one. */
  readonly fault?: string;
  /** A required box that is not ticked is empty. */
  readonly required?: boolean;
  /** The value is a person's own, not the model's. */
  readonly given?: boolean;
}

/** Returns a field's group. @param checkBelow the probability that is sure enough, 0 to 1. */
export function groupOf({ value, probability, fault, required, given }: Outcome, checkBelow = CHECK_BELOW): Group {
  const isUntouched = required === true || (probability === undefined && given !== true);
  const isEmpty = value === false ? isUntouched : [undefined, null, ""].includes(value as "") || isEmptyList(value);
  if (isEmpty) return "left for you";
  return fault === undefined && (given === true || (probability ?? 0) >= checkBelow) ? "filled" : "to check";
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
