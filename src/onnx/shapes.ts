import type { Dim } from "./types.js";

/** Shape arithmetic over dimensions that may be symbols. */

export function isStatic(shape: readonly Dim[]): shape is readonly number[] {
  return shape.every((d) => typeof d === "number");
}

/** Returns the number of elements. @throws Error where a dimension is a symbol. */
export function sizeOf(shape: readonly Dim[]): number {
  let size = 1;
  for (const d of shape) {
    if (typeof d !== "number") throw new Error(`shape ${formatShape(shape)} is not static`);
    size *= d;
  }
  return size;
}

/** Returns the number of elements with these sizes of symbols; an unknown symbol counts once. */
export function sizeAt(shape: readonly Dim[], sizes: Readonly<Record<string, number>>): number {
  const of = (d: Dim): number =>
    typeof d === "number" ? d : d.split("*").reduce((n, part) => n * (sizes[part] ?? (Number(part) || 1)), 1);
  return shape.reduce<number>((size, d) => size * of(d), 1);
}

/** Tells whether two shapes have the same dimensions. */
export const sameShape = (a: readonly Dim[], b: readonly Dim[]): boolean =>
  a.length === b.length && a.every((d, i) => d === b[i]);

/** Formats a shape, as `[B, N, 64]`. */
export const formatShape = (shape: readonly Dim[]): string => `[${shape.join(", ")}]`;

/** Returns the product as a number, or as a symbol such as `B*N` or `2*B`. */
export function product(dims: readonly Dim[]): Dim {
  let factor = 1;
  const symbols: string[] = [];
  for (const d of dims) {
    if (typeof d === "number") factor *= d;
    else symbols.push(...d.split("*"));
  }
  if (factor === 0) return 0;
  const numeric = symbols.filter((s) => /^\d+$/.test(s));
  for (const s of numeric) factor *= Number(s);
  const names = symbols.filter((s) => !/^\d+$/.test(s)).sort();
  if (names.length === 0) return factor;
  return [...(factor === 1 ? [] : [String(factor)]), ...names].join("*");
}

/** Returns total / part, exactly; undefined where it does not divide. */
export function quotient(total: Dim, part: Dim): Dim | undefined {
  const split = (d: Dim): { factor: number; names: string[] } => {
    if (typeof d === "number") return { factor: d, names: [] };
    const parts = d.split("*");
    return {
      factor: parts.filter((p) => /^\d+$/.test(p)).reduce((a, p) => a * Number(p), 1),
      names: parts.filter((p) => !/^\d+$/.test(p)),
    };
  };
  const t = split(total);
  const p = split(part);
  if (p.factor === 0 || t.factor % p.factor !== 0) return undefined;
  for (const name of p.names) {
    const i = t.names.indexOf(name);
    if (i < 0) return undefined;
    t.names.splice(i, 1);
  }
  return product([t.factor / p.factor, ...t.names]);
}

/** Broadcasts shapes by NumPy's rule; undefined where they do not fit. */
export function broadcast(...shapes: (readonly Dim[])[]): Dim[] | undefined {
  const rank = Math.max(...shapes.map((s) => s.length));
  const out: Dim[] = [];
  for (let axis = 0; axis < rank; axis++) {
    let dim: Dim = 1;
    for (const shape of shapes) {
      const d = shape[axis - rank + shape.length];
      if (d === undefined || d === 1 || d === dim) continue;
      if (dim !== 1) return undefined;
      dim = d;
    }
    out.push(dim);
  }
  return out;
}

/** Normalises a negative axis, counted from the end. @throws Error where it is out of range. */
export function axisOf(axis: number, rank: number): number {
  const a = axis < 0 ? axis + rank : axis;
  if (a < 0 || a >= rank) throw new Error(`axis ${axis} is out of range for rank ${rank}`);
  return a;
}
