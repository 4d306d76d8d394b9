import { padsOf, slidingOf } from "../onnx/infer-conv.js";
import type { Rule } from "./rule.js";

/** Gradients of convolutions and padding with respect to their input x; kernels get none. */

/** Gradient of x: the transposed convolution with the same kernel, whose layout ConvTranspose already expects. */
export const conv: Rule = (c) => [
  () => {
    const [x, w] = [c.x(0), c.x(1)];
    const { strides, dilations, begins, ends } = slidingOf(c.node, x.shape.length - 2);
    // positions at the end that no step of the kernel reached
    const outputPadding = strides.map((stride, i) => {
      const covered = (dilations[i] as number) * ((w.shape[2 + i] as number) - 1) + 1;
      const padded = (x.shape[2 + i] as number) + (begins[i] as number) + (ends[i] as number);
      return (padded - covered) % stride;
    });
    const { auto_pad: _, kernel_shape: __, ...attributes } = c.node.attributes;
    return c.g.op("ConvTranspose", [c.dy, w], { ...attributes, output_padding: outputPadding });
  },
  null,
  () =>
    c.e.sum(
      c.dy,
      c.dy.shape.flatMap((_, i) => (i === 1 ? [] : [i])),
      false,
    ),
];

/** Gradient of a constant padding: removes the added border; an element that the padding cropped has gradient 0. */
export const pad: Rule = (c) => {
  const mode = c.node.attributes.mode ?? "constant";
  if (mode !== "constant") c.refuse(`with mode ${mode}`);
  const { begins, ends } = padsOf(c.node);
  const back = [...begins, ...ends].map((n) => -n);
  return [() => c.g.op("Pad", [c.dy, c.g.ints(back)], { mode: "constant" }), null, null, null];
};
