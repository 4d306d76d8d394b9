import { BufferBuilder, type TokenBuffer } from "../../buffer.js";
import { Canvas, type TokenTemplate } from "../../template.js";

/** prompt | given | what moves, every token at its place, everything sees everything; prompt and given never change. */
export function flowBuffer(
  prompt: readonly number[],
  tokens: readonly number[],
  template?: TokenTemplate | Canvas | undefined,
): TokenBuffer {
  const buffer = new BufferBuilder(prompt, template instanceof Canvas ? template : Canvas.of(template));
  tokens.forEach((token, cell) => void buffer.push(token, cell));
  buffer.shared.fill(buffer.length);
  return buffer;
}

/** The buffer index of the first token that moves. */
export function flowStart(prompt: readonly number[], template: TokenTemplate | undefined): number {
  return prompt.length + Canvas.of(template).given.length;
}
