import { z } from "zod";
import { fail } from "../core/errors.js";
import { problemsOf } from "../core/problems.js";
import { Canvas, isRoom, type Recorded, templateSchema } from "./template.js";

/** Record of one turn by its sampler: plain data that JSON represents exactly. Only its own sampler interprets it. */
export type Trajectory = object;

/** A token id, a position, a count. */
export const natural = z.int().nonnegative();

/** Schema of the fields that every sampler of text records. */
export const tokenFields = {
  prompt: z.array(natural),
  /** Given tokens and blanks; absent: the whole response is one blank. */
  template: templateSchema.optional(),
  /** L: drawn positions of the canvas, those of its blanks. */
  responseLength: natural.min(1),
  /** tau; 0 is greedy, with log-probabilities at temperature 1. */
  temperature: z.number().nonnegative(),
  /** Up to its EOS, or L tokens; of a template the tokens of all blanks, each up to its EOS or its full room. */
  response: z.array(natural).min(1),
  /** `eos`: every blank ended with EOS. */
  ended: z.enum(["eos", "length"]),
};
export type TokenTrajectory = Recorded<z.ZodObject<typeof tokenFields>>;

/**
 * Checks data against a record's schema and returns it unchanged: its keys keep their order and its bytes.
 * @param where names the source in messages.
 * @throws UserError where it does not match.
 */
export function readRecord<T>(schema: z.ZodType<T>, data: unknown, where: string): T {
  const parsed = schema.safeParse(data);
  return parsed.success ? (data as T) : inconsistent(where, problemsOf(parsed.error).trimStart());
}

/**
 * Checks a record's template.
 * @throws UserError where its rooms do not match the canvas, or its tokens could not have been given.
 */
export function checkTemplate(
  { template, responseLength }: TokenTrajectory,
  where: string,
  { slotSize = 1 }: { readonly slotSize?: number } = {},
): void {
  if (template === undefined) return;
  const rooms = template.filter(isRoom).map(({ room }) => room);
  const cells = rooms.reduce((sum, room) => sum + room, 0);
  if (cells !== responseLength) inconsistent(where, `blanks of ${cells} tokens on a canvas of ${responseLength}`);
  const odd = rooms.find((room) => room % slotSize !== 0);
  if (odd !== undefined) inconsistent(where, `a blank of ${odd} tokens is not a multiple of the slot size ${slotSize}`);
}

/**
 * Checks tokens against their blanks' options.
 * @param drawn in the order of the draws. @throws UserError where a token continues none of its blank's options.
 */
export function checkChoices(
  canvas: Canvas,
  drawn: readonly (readonly [cell: number, token: number])[],
  where: string,
  eos: number,
): void {
  const allowed = canvas.allowedAt(drawn, eos);
  const odd = drawn.find(([cell, token]) => allowed.get(cell)?.includes(token) === false);
  if (odd !== undefined) inconsistent(where, `token ${odd[1]} at position ${odd[0]} continues none of the options`);
}

/** Checks that a response written from left to right is complete, and ended as recorded. @throws UserError */
export function checkEnded({ response, responseLength, ended, template }: TokenTrajectory, where: string, eos: number) {
  const canvas = Canvas.of(template);
  const isWhole = response.length === responseLength || canvas.next(response, eos) === undefined;
  const cut = canvas.cut(response, eos).length;
  if (!isWhole || !canvas.isRead(response, eos) || (ended === "eos") !== (cut === 0))
    inconsistent(
      where,
      `it ended by ${ended} after ${response.length} of ${responseLength} tokens, EOS at ${response.indexOf(eos)}`,
    );
}

/** Refuses a record. @throws UserError: it could not have been sampled. */
export function inconsistent(where: string, problem: string): never {
  fail(`${where}: inconsistent trajectory: ${problem}`, {
    hint: "Record it again with this version; an edited or truncated trajectory cannot be scored.",
  });
}
