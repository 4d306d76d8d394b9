import type { TokenBuffer } from "../../../attention/rows.js";
import { BufferBuilder } from "../../../diffusion/layout/buffer.js";
import { Canvas, type TokenTemplate } from "../../../diffusion/template.js";

/** Lays out prompt | given | moving tokens, each at its position, with full attention; only the moving ones change. */
export function flowBuffer(
  prompt: readonly number[],
  tokens: readonly number[],
  template?: TokenTemplate | Canvas | undefined,
): TokenBuffer {
  const buffer = new BufferBuilder(prompt, template instanceof Canvas ? template : Canvas.of(template));
  tokens.forEach((token, cell) => void buffer.push(token, cell));
  buffer.prefix.fill(buffer.length);
  return buffer;
}

/** Returns the buffer index of the first moving token. */
export const flowStart = (prompt: readonly number[], template: TokenTemplate | undefined): number =>
  prompt.length + Canvas.of(template).given.length;
