import type { RoundInput, RoundModel } from "../../../src/diffusion/sampler.js";
import type { RowStatistics } from "../../../src/diffusion/samplers/unmask/round.js";
import { sampler } from "../../../src/diffusion/samplers/unmask.js";
import { f32 } from "../../../src/onnx/tensors.js";
import type { Tensor } from "../../../src/onnx/types.js";
import type { Sample } from "../../../src/train/rollouts/groups.js";
import { prepareBatches } from "../../../src/train/update.js";

/** Estimators with one known fault each, for the proofs to find. */

type Rollout = (typeof sampler)["rollout"];

/** Slots are ranked by the probability of the SAMPLED token: what is revealed depends on the sample, the score does not know. */
function sampledConfidence(model: RoundModel<RowStatistics>): RoundModel<RowStatistics> {
  return {
    async forwardRound(input) {
      const statistics = await model.forwardRound(input);
      const sampled = statistics.top.map((_, r) => Math.exp(statistics.logProb[r * 2] as number));
      return { ...statistics, top: sampled, entropy: sampled.map((p) => -p) };
    },
  };
}

/** By entropy, the one order that draws a token for every row that it ranks. */
export const sampledConfidenceRollout: Rollout = (model, prompts, options, ...rest) =>
  sampler.rollout(sampledConfidence(model), prompts, { ...options, order: "entropy" }, ...rest);

/** A round with one input of its head multiplied. */
export function scaled(round: RoundInput, name: string, factor: number): RoundInput {
  const { shape, data } = round.headInputs[name] as Tensor;
  const multiplied = (data as Float32Array).map((x) => x * factor);
  return { ...round, headInputs: { ...round.headInputs, [name]: f32(shape, multiplied) } };
}

/** Samples at half of the temperature that it records and that everything is scored at. */
export const wrongTemperature: Rollout = (model, ...rest) =>
  sampler.rollout({ forwardRound: (input) => model.forwardRound(scaled(input, "inverse_temperature", 2)) }, ...rest);

/** Old values on masks of their own, instead of the policy's. */
export const freshMasks: typeof prepareBatches = async (context, parts) => {
  const again = parts.map((samples) =>
    samples.map((sample): Sample => ({ ...sample, stream: (name) => sample.stream(`${name}, again`) })),
  );
  const others = await prepareBatches(context, again);
  return (await prepareBatches(context, parts)).map(({ values, ...batch }, i) => {
    return { ...batch, values: { ...values, old: others[i]?.values.old ?? values.old } };
  });
};

/** One of the values of each batch, multiplied. */
const multiplied =
  (name: "advantage" | "old", factor: number): typeof prepareBatches =>
  async (...given) =>
    (await prepareBatches(...given)).map(({ values, ...batch }) => {
      return { ...batch, values: { ...values, [name]: values[name].map((x) => factor * x) } };
    });
/** Credit of the wrong sign. */
export const wrongSign = multiplied("advantage", -1);
/** Old values as a warmer policy would have given them. */
export const warmerOld = multiplied("old", 0.8);
