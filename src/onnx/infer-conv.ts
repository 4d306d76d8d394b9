import { type InferRule, intAttribute, intsAttribute, mustKnow, type OpCall, required } from "./infer.js";
import { axisOf, formatShape } from "./shapes.js";

/** Shapes of convolutions and padding. */

/** The way a kernel of this shape slides over the axes after batch and channels. */
export interface Sliding {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly begins: readonly number[];
  readonly ends: readonly number[];
}

/**
 * Reads kernel, strides, dilations and padding of a convolution or pooling.
 * @throws Error where the padding is left to the runtime.
 */
export function slidingOf(call: Pick<OpCall, "op" | "attributes">, axes: number): Sliding {
  const list = (name: string, length: number, fallback: number): readonly number[] =>
    intsAttribute(call as OpCall, name) ?? Array<number>(length).fill(fallback);
  const auto = call.attributes.auto_pad ?? "NOTSET";
  if (auto !== "NOTSET" && auto !== "VALID") throw new Error(`${call.op}: auto_pad ${auto} is not supported`);
  const pads = list("pads", 2 * axes, 0);
  return {
    strides: list("strides", axes, 1),
    dilations: list("dilations", axes, 1),
    begins: pads.slice(0, axes),
    ends: pads.slice(axes),
  };
}

/** X [B, C, ...], W [M, C / group, ...] -> [B, M, ...]. */
export const conv: InferRule = (call) => {
  const [x, w] = [required(call, 0), required(call, 1)];
  const axes = w.shape.length - 2;
  const { strides, dilations, begins, ends } = slidingOf(call, axes);
  const channels = (w.shape[1] as number) * intAttribute(call, "group", 1);
  if (x.shape.length !== w.shape.length || x.shape[1] !== channels)
    throw new Error(`Conv: ${formatShape(x.shape)} does not fit a kernel of ${formatShape(w.shape)}`);
  const spatial = strides.map((stride, i) => {
    const [size, kernel] = [x.shape[2 + i], w.shape[2 + i] as number];
    const padded = (begins[i] as number) + (ends[i] as number);
    const covered = (dilations[i] as number) * (kernel - 1);
    if (typeof size !== "number") {
      if (stride === 1 && padded === covered) return size as string;
      throw new Error(`Conv over the symbolic dimension ${size}`);
    }
    return Math.floor((size + padded - covered - 1) / stride) + 1;
  });
  return [{ dtype: x.dtype, shape: [x.shape[0] as number, w.shape[0] as number, ...spatial] }];
};

/** X [B, M, ...], W [M, C / group, ...] -> [B, C, ...]. */
export const convTranspose: InferRule = (call) => {
  const [x, w] = [required(call, 0), required(call, 1)];
  const axes = w.shape.length - 2;
  const { strides, dilations, begins, ends } = slidingOf(call, axes);
  const extra = intsAttribute(call, "output_padding") ?? Array<number>(axes).fill(0);
  const spatial = strides.map((stride, i) => {
    const [size, kernel] = [x.shape[2 + i] as number, w.shape[2 + i] as number];
    const covered = (dilations[i] as number) * (kernel - 1) + 1;
    return stride * (size - 1) + (extra[i] as number) + covered - (begins[i] as number) - (ends[i] as number);
  });
  const channels = (w.shape[1] as number) * intAttribute(call, "group", 1);
  return [{ dtype: x.dtype, shape: [x.shape[0] as number, channels, ...spatial] }];
};

/** Returns the padding before and after each axis; negative where Pad crops. */
export function padsOf(call: OpCall): { readonly begins: readonly number[]; readonly ends: readonly number[] } {
  const rank = required(call, 0).shape.length;
  const pads = mustKnow(call, 1, "pads");
  const axes = call.inputs[3] === undefined ? [...Array(rank).keys()] : mustKnow(call, 3, "axes");
  const [begins, ends] = [Array<number>(rank).fill(0), Array<number>(rank).fill(0)];
  axes.forEach((raw, i) => {
    const axis = axisOf(raw, rank);
    begins[axis] = pads[i] as number;
    ends[axis] = pads[axes.length + i] as number;
  });
  return { begins, ends };
}

export const pad: InferRule = (call) => {
  const x = required(call, 0);
  const { begins, ends } = padsOf(call);
  const shape = x.shape.map((size, i) => {
    const added = (begins[i] as number) + (ends[i] as number);
    if (added === 0) return size;
    if (typeof size !== "number") throw new Error(`Pad of the symbolic dimension ${size}`);
    return size + added;
  });
  return [{ dtype: x.dtype, shape }];
};
