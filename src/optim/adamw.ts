import type { Update, UpdateContext } from "./update-rule.js";

/**
 * AdamW (Loshchilov & Hutter 2019), as torch.optim.AdamW:
 *   m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;  p = p (1 - lr wd) - lr (m / c1) / (sqrt(v / c2) + eps)
 * Gains (1-D) are not decayed.
 */
export function adamw({
  e,
  options,
  parameter,
  gradient,
  first,
  second,
  lr,
  correction1,
  correction2,
}: UpdateContext): Update {
  const m = e.add(e.mul(first, options.beta1), e.mul(gradient, 1 - options.beta1));
  const v = e.add(e.mul(second, options.beta2), e.mul(e.mul(gradient, gradient), 1 - options.beta2));
  const direction = e.div(e.div(m, correction1), e.add(e.sqrt(e.div(v, correction2)), options.epsilon));
  const decays = options.weightDecay > 0 && parameter.shape.length > 1;
  const decayed = decays ? e.mul(parameter, e.sub(1, e.mul(lr, options.weightDecay))) : parameter;
  return { parameter: e.sub(decayed, e.mul(direction, lr)), first: m, second: v };
}
