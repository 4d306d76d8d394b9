import type { RoundHead } from "../../../diffusion/sampler.js";
import type { ScoreHead } from "../../../diffusion/score-head.js";
import type { Emitter } from "../../../onnx/emit.js";
import { type InputSpecs, vector } from "../../../onnx/tensors.js";
import type { Tensor, Value } from "../../../onnx/types.js";

/** Outputs the velocity [B, A]. */
export const velocityHead: RoundHead<Float32Array, unknown> = {
  inputs: {},
  emit(e, { velocity }) {
    e.g.output("drawn_from", e.g.op("Identity", [velocity as Value]));
  },
  read: ({ drawn_from }) => (drawn_from as Tensor).data as Float32Array,
};

const perTerm = { dtype: "float32", shape: ["R"] } as const;
/** A term is one number of a chunk: its index in the flattened velocity [B, A], and its target. */
const TERM = { place: { dtype: "int64", shape: ["R"] }, target: perTerm } as const satisfies InputSpecs;

/** Makes the inputs of either head, with every number of the velocity as a term. @param target [R] */
export const termInputs = (target: Float32Array): Record<keyof typeof TERM, Tensor> => ({
  place: vector(BigInt64Array.from(target, (_, r) => BigInt(r))),
  target: vector(target),
});

const velocityAt = (e: Emitter, { velocity }: Readonly<Record<string, Value>>, place: Value): Value =>
  e.gather(e.reshape(velocity as Value, [-1]), place);

/** log N(x'; ofX x + ofV v, std^2) with target = x' - ofX x (step.ts). */
export const gaussianHead: ScoreHead<unknown> = {
  name: "gaussian",
  inputs: { ...TERM, of_v: perTerm, inverse_std: perTerm, log_normaliser: perTerm },
  emit(e, outputs, { place, target, of_v, inverse_std, log_normaliser }) {
    const mean = e.mul(velocityAt(e, outputs, place as Value), of_v as Value);
    const z = e.mul(e.sub(target as Value, mean), inverse_std as Value);
    return e.sub(log_normaliser as Value, e.mul(e.mul(z, z), 0.5));
  },
};

/** -(v - target)^2, for conditional flow matching. */
export const squaredErrorHead: ScoreHead<unknown> = {
  name: "squared-error",
  inputs: TERM,
  emit(e, outputs, { place, target }) {
    const error = e.sub(velocityAt(e, outputs, place as Value), target as Value);
    return e.neg(e.mul(error, error));
  },
};
