import { padsOf, slidingOf } from "../onnx/infer-conv.js";
import type { Rule } from "./rule.js";

/** Gradients of convolutions and padding, as far as adapters need them: by what flows through, not by a kernel. */

/** By x: the transposed convolution with the same kernel, which lies as that operator wants it. */
export const conv: Rule = (c) => [
  () => {
    const [x, w] = [c.x(0), c.x(1)];
    const { strides, dilations, begins, ends } = slidingOf(c.node, x.shape.length - 2);
    // places at the end that no step of the kernel reached
    const left = strides.map((stride, i) => {
      const covered = (dilations[i] as number) * ((w.shape[2 + i] as number) - 1) + 1;
      const padded = (x.shape[2 + i] as number) + (begins[i] as number) + (ends[i] as number);
      return (padded - covered) % stride;
    });
    const { auto_pad: _, kernel_shape: __, ...attributes } = c.node.attributes;
    return c.g.op("ConvTranspose", [c.dy, w], { ...attributes, output_padding: left });
  },
  null,
  () =>
    c.e.sum(
      c.dy,
      c.dy.shape.flatMap((_, i) => (i === 1 ? [] : [i])),
      false,
    ),
];

/** Cuts off again what was added; the gradient of what was cut off is 0. */
export const pad: Rule = (c) => {
  const mode = c.node.attributes.mode ?? "constant";
  if (mode !== "constant") c.refuse(`with mode ${mode}`);
  const { begins, ends } = padsOf(c.node);
  const back = [...begins, ...ends].map((n) => -n);
  return [() => c.g.op("Pad", [c.dy, c.g.ints(back)], { mode: "constant" }), null, null, null];
};
