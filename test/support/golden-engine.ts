import assert from "node:assert/strict";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import { Engine } from "../../src/engine/engine.js";
import { sampledModel } from "../../src/engine/policy.js";
import type { Model } from "../../src/nn/model.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Tensor } from "../../src/onnx/types.js";
import type { Objective } from "../../src/rl/objective.js";
import { GOLDEN_OPTIMIZER, type Golden, goldenLora, goldenModel, relativeError, under } from "./golden.js";

/** Returns a golden's adapter under the names of PEFT. */
export const goldenAdapter = (golden: Golden): Map<string, Tensor> =>
  new Map([...golden.tensors].filter(([name]) => name.startsWith("base_model.")));

type Own = Partial<ConstructorParameters<typeof Engine>[2]> & {
  readonly model?: Model;
  /** The objective's own parameters. */
  readonly more?: Iterable<readonly [string, Tensor]>;
};

/** Opens an engine on a golden's model that trains by an objective, from the golden's adapter. */
export async function goldenEngine<O>(
  runtime: Runtime,
  golden: Golden,
  [objective, options]: readonly [Objective<O>, O],
  { model: own, more = [], ...rest }: Own = {},
): Promise<Engine> {
  const model = own ?? (await goldenModel(golden));
  const engine = new Engine(runtime, model, {
    sampler,
    about: sampledModel(model.config),
    lora: goldenLora(golden),
    training: { objective, options, optimizer: GOLDEN_OPTIMIZER },
    ...rest,
  });
  await engine.setParameters("policy", new Map([...goldenAdapter(golden), ...more]));
  await engine.setOptimizer(undefined);
  return engine;
}

/** Asserts that a loss is PyTorch's. */
export function assertLoss(golden: Golden, name: string, loss: number | null | undefined, tolerance = 1e-4): void {
  const expected = golden.floats(`expect.${name}_loss`)[0] as number;
  assert.ok(Math.abs((loss as number) / expected - 1) < tolerance, `loss ${loss}, PyTorch ${expected}`);
}

/** Asserts that the gradients that an engine holds are PyTorch's below `grad.`, every one of them where all are named. */
export async function assertGradients(golden: Golden, prefix: string, engine: Engine, tolerance = 1e-4): Promise<void> {
  const gradients = await engine.getGradients();
  if (prefix !== "") assert.equal(gradients.size, under(golden, `grad.${prefix}`).size);
  for (const [name, { data }] of gradients) {
    const difference = relativeError(data as Float32Array, golden.floats(`grad.${prefix}${name}`));
    assert.ok(difference < tolerance, `${name}: ${difference}`);
  }
}
