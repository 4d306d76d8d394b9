/** Writes Einsum out as Transpose, ReduceSum, Reshape and MatMul, so that every pass and every gradient knows it. */
import type { Emitter } from "./emit.js";
import { formatShape, product } from "./shapes.js";
import type { Dim, Value } from "./types.js";

/** A value with a letter for each axis. */
interface Term {
  readonly value: Value;
  readonly axes: readonly string[];
}

/**
 * Emits an Einsum.
 * @param equation as `bhid,bhjd->bhij`; without an arrow the letters that come once, sorted. `...` stands for any axes.
 * @throws Error where the operands do not fit, or a letter comes twice in one of them.
 */
export function einsum(e: Emitter, equation: string, operands: readonly Value[]): Value {
  const [left = "", right] = equation.replaceAll(/\s/g, "").split("->");
  const texts = left.split(",");
  if (texts.length !== operands.length) throw new Error(`Einsum ${equation} has ${operands.length} operands`);
  const terms = operands.map((value, i): Term => ({ value, axes: axesOf(texts[i] as string, value, equation) }));
  const all = terms.flatMap(({ axes }) => axes);
  const rest = [...new Set(all.filter((axis) => axis.startsWith(".")))].sort();
  const single = [...new Set(all)].filter(
    (axis) => !axis.startsWith(".") && all.indexOf(axis) === all.lastIndexOf(axis),
  );
  const output = right === undefined ? [...rest, ...single.sort()] : lettersOf(right, rest);
  const unknown = output.find((axis) => !all.includes(axis));
  if (unknown !== undefined) throw new Error(`Einsum ${equation}: no operand has ${unknown}`);
  let result = terms[0] as Term;
  for (const [i, next] of terms.slice(1).entries())
    result = multiplied(e, result, next, new Set([...output, ...terms.slice(i + 2).flatMap(({ axes }) => axes)]));
  return ordered(e, summed(e, result, new Set(output)), output).value;
}

/** Splits a term into letters. @param rest the axes that `...` stands for. */
function lettersOf(text: string, rest: readonly string[]): string[] {
  const [before = "", after] = text.split("...");
  return after === undefined ? [...before] : [...before, ...rest, ...after];
}

/** Names a value's axes. Those of `...` are counted from the last one, as broadcasting does. */
function axesOf(text: string, { shape }: Value, equation: string): string[] {
  const hidden = shape.length - text.replace("...", "").length;
  const axes = lettersOf(
    text,
    Array.from({ length: Math.max(0, hidden) }, (_, i) => `.${String(99 - hidden + i)}`),
  );
  if (axes.length !== shape.length) throw new Error(`Einsum ${equation}: ${text} does not fit ${formatShape(shape)}`);
  if (new Set(axes).size < axes.length)
    throw new Error(`Einsum ${equation}: ${text} takes a diagonal, which is not read here`);
  return axes;
}

/** Sums over the axes that nothing needs any more. */
function summed(e: Emitter, { value, axes }: Term, needed: ReadonlySet<string>): Term {
  const over = axes.flatMap((axis, i) => (needed.has(axis) ? [] : [i]));
  if (over.length === 0) return { value, axes };
  return { value: e.sum(value, over, false), axes: axes.filter((axis) => needed.has(axis)) };
}

function ordered(e: Emitter, { value, axes }: Term, order: readonly string[]): Term {
  const perm = order.map((axis) => axes.indexOf(axis));
  return { value: perm.every((from, i) => from === i) ? value : e.transpose(value, perm), axes: order };
}

/** Multiplies two terms, and sums over what they share and nothing needs. */
function multiplied(e: Emitter, a: Term, b: Term, needed: ReadonlySet<string>): Term {
  const both = a.axes.filter((axis) => b.axes.includes(axis));
  const left = summed(e, a, new Set([...needed, ...both]));
  const right = summed(e, b, new Set([...needed, ...both]));
  const batch = both.filter((axis) => needed.has(axis));
  const inner = both.filter((axis) => !needed.has(axis));
  const ofLeft = left.axes.filter((axis) => !both.includes(axis));
  const ofRight = right.axes.filter((axis) => !both.includes(axis));
  const sizeIn = ({ value, axes }: Term, of: readonly string[]): Dim[] =>
    of.map((axis) => value.shape[axes.indexOf(axis)] as Dim);
  const unequal = inner.find((axis) => sizeIn(left, [axis])[0] !== sizeIn(right, [axis])[0]);
  if (unequal !== undefined)
    throw new Error(
      `Einsum: the sizes of ${unequal} differ in ${formatShape(a.value.shape)} and ${formatShape(b.value.shape)}`,
    );
  const shapeOf = (term: Term, groups: readonly (readonly string[])[]): Dim[] => [
    ...sizeIn(term, batch),
    ...groups.map((group) => product(sizeIn(term, group))),
  ];
  const matrix = (term: Term, groups: readonly (readonly string[])[]): Value => {
    const { value } = ordered(e, term, [...batch, ...groups.flat()]);
    return groups.every((group) => group.length === 1) ? value : e.reshape(value, shapeOf(term, groups));
  };
  const y = e.matmul(matrix(left, [ofLeft, inner]), matrix(right, [inner, ofRight]));
  const axes = [...batch, ...ofLeft, ...ofRight];
  if (ofLeft.length === 1 && ofRight.length === 1) return { value: y, axes };
  const batches = y.shape.slice(0, batch.length);
  return { value: e.reshape(y, [...batches, ...sizeIn(left, ofLeft), ...sizeIn(right, ofRight)]), axes };
}
