import type { RoundHead } from "../../../diffusion/sampler.js";
import type { ScoreHead } from "../../../diffusion/score-head.js";
import type { Emitter } from "../../../onnx/emit.js";
import type { Tensor, Value } from "../../../onnx/types.js";

/** The velocity [B, A] as it is. */
export const velocityHead: RoundHead<Float32Array, unknown> = {
  inputs: {},
  emit(e, { velocity }) {
    e.g.output("drawn_from", e.g.op("Identity", [velocity as Value]));
  },
  read: ({ drawn_from }) => (drawn_from as Tensor).data as Float32Array,
};

/** Terms are the numbers of the velocity [B, A], row by row. */
const terms = (e: Emitter, { velocity }: Readonly<Record<string, Value>>): Value => e.reshape(velocity as Value, [-1]);

const perTerm = { dtype: "float32", shape: ["R"] } as const;

/** log N(x'; ofX x + ofV v, std^2) with target = x' - ofX x (step.ts). */
export const gaussianHead: ScoreHead<unknown> = {
  name: "gaussian",
  inputs: { target: perTerm, of_v: perTerm, inverse_std: perTerm, log_normaliser: perTerm },
  emit(e, outputs, { target, of_v, inverse_std, log_normaliser }) {
    const mean = e.mul(terms(e, outputs), of_v as Value);
    const z = e.mul(e.sub(target as Value, mean), inverse_std as Value);
    return e.sub(log_normaliser as Value, e.mul(e.mul(z, z), 0.5));
  },
};

/** -(v - target)^2: of conditional flow matching. */
export const squaredErrorHead: ScoreHead<unknown> = {
  name: "squared-error",
  inputs: { target: perTerm },
  emit(e, outputs, { target }) {
    const error = e.sub(terms(e, outputs), target as Value);
    return e.neg(e.mul(error, error));
  },
};
