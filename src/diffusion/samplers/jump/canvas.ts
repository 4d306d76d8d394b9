import type { TokenBuffer } from "../../buffer.js";

/** prompt | canvas, every token at its place, everything sees everything; the prompt never changes. */
export function flowBuffer(prompt: readonly number[], canvas: readonly number[]): TokenBuffer {
  const ids = [...prompt, ...canvas];
  return { ids, positions: ids.map((_, i) => i), shared: ids.map(() => ids.length) };
}
