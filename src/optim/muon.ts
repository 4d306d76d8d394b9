import type { Update, UpdateContext } from "./update-rule.js";

const MOMENTUM = 0.95;
/** Coefficients of the quintic Newton-Schulz iteration, chosen for speed near zero (Jordan 2024). */
const [A, B, C] = [3.4445, -4.775, 2.0315];
const ITERATIONS = 5;

/**
 * Muon (Jordan 2024, "Muon: an optimizer for hidden layers"): momentum, orthogonalised by Newton-Schulz:
 *   u = g + mu m;  X = u / |u|;  X <- a X + (b S + c S^2) X with S = X X^T;
 *   p = p (1 - lr wd) - lr max(1, rows/cols)^0.5 X
 * Matrices only.
 */
export function muon({ e, options, parameter, gradient, first, second, lr }: UpdateContext): Update {
  const [rows, columns] = parameter.shape as [number, number];
  const m = e.add(e.mul(first, MOMENTUM), gradient);
  const u = e.add(gradient, e.mul(m, MOMENTUM));
  const norm = e.g.op("ReduceL2", [u, e.g.ints([0, 1])], { keepdims: 1 });
  let x = e.div(u, e.add(norm, 1e-7));
  // the small side first, so that S is small
  const tall = rows > columns;
  if (tall) x = e.swap(x);
  for (let i = 0; i < ITERATIONS; i++) {
    const s = e.gemm(x, x, { transB: true });
    const polynomial = e.add(e.mul(s, B), e.mul(e.gemm(s, s), C));
    x = e.gemm(polynomial, x, { c: e.mul(x, A) });
  }
  if (tall) x = e.swap(x);
  const rate = e.mul(lr, options.muonLrScale);
  const decayed = options.weightDecay > 0 ? e.mul(parameter, e.sub(1, e.mul(rate, options.weightDecay))) : parameter;
  const step = e.mul(x, e.mul(rate, Math.sqrt(Math.max(1, rows / columns))));
  return { parameter: e.sub(decayed, step), first: m, second };
}
