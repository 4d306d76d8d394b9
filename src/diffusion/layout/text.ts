import { Canvas, type TokenTemplate } from "../template.js";
import { BufferBuilder } from "./buffer.js";

/** A prompt and the response written after it. */
export interface Written {
  readonly prompt: readonly number[];
  readonly template?: TokenTemplate | undefined;
  readonly response: readonly number[];
}

/**
 * Lays out prompt, given texts and values from left to right, each at its canvas position.
 * @returns `rows`: buffer index of the entry before each token of the response, and of the one before the next token,
 *   where there is one.
 */
export function layText(
  { prompt, template, response }: Written,
  eos: number,
): { readonly buffer: BufferBuilder; readonly rows: readonly number[] } {
  const canvas = Canvas.of(template);
  const buffer = new BufferBuilder(prompt);
  const given = [...canvas.given];
  const rows: number[] = [];
  const cells = canvas.cellsOf(response, eos);
  const next = canvas.next(response, eos);
  for (const [i, cell] of (next === undefined ? cells : [...cells, next]).entries()) {
    const position = canvas.position(cell);
    while (given[0] !== undefined && given[0][0] < position) {
      const [at, token] = given.shift() as readonly [number, number];
      buffer.push(token, at);
    }
    rows.push(buffer.length - 1);
    if (i < response.length) buffer.push(response[i] as number, position);
  }
  return { buffer, rows };
}
