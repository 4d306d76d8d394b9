import { Rng } from "../../../src/core/rng.js";
import { sampledModel } from "../../../src/engine/policy.js";
import type { FlowOptions } from "../../../src/features/control/flow/options.js";
import { sampler } from "../../../src/features/control/samplers/flow.js";
import { architectureOf, initialise } from "../../../src/nn/architecture.js";
import { type ModelConfig, NO_VOCABULARY } from "../../../src/nn/config.js";
import { loadModel, type Model, saveModel } from "../../../src/nn/model.js";
import type { Tensor } from "../../../src/onnx/types.js";
import { temporaryFolder } from "../../support/temporary.js";
import { samplerConfig } from "../../support/typed.js";

/** The sizes of test/golden/control.safetensors. */
export const VELOCITY: ModelConfig = {
  architecture: "velocity",
  attention: "bidirectional",
  reads_tokens: false,
  ...NO_VOCABULARY,
  hidden_size: 16,
  num_hidden_layers: 2,
  state_size: 5,
  action_size: 2,
  chunk: 3,
};

/** The same network for the states and actions of the control environment. */
export const FOR_CONTROL: ModelConfig = { ...VELOCITY, state_size: 14, action_size: 4, chunk: 4 };

/** A model directory of a velocity network. @param weights random ones where none are given. */
export async function velocityModel(weights?: ReadonlyMap<string, Tensor>, config = VELOCITY): Promise<Model> {
  const dir = temporaryFolder("velocity");
  const drawn = initialise((await architectureOf(config)).weights(config), Rng.named(1, "weights"));
  const fresh = [...drawn].map(([name, { shape, data }]): [string, Tensor] => [
    name,
    { dtype: "float32", shape, data },
  ]);
  await saveModel(dir, config, weights ?? new Map(fresh), undefined);
  return loadModel(dir);
}

/** The sizes of test/golden/control-depth.safetensors. */
export const VELOCITY_WITH_DEPTH: ModelConfig = { ...VELOCITY, depth: 8 };

export const flowOptions = (model: Model, section: object = {}): FlowOptions =>
  sampler.options(samplerConfig(sampler, section), sampledModel(model.config));
