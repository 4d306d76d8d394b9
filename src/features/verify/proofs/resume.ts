import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closing } from "../../../core/closing.js";
import { adapterConfig } from "../../../engine/adapter.js";
import type { Engine } from "../../../engine/engine.js";
import type { Policy } from "../../../engine/policy.js";
import type { Tensor } from "../../../onnx/types.js";
import {
  type Checkpoint,
  parameterParts,
  parametersIn,
  readCheckpoint,
  writeCheckpoint,
} from "../../../runs/checkpoint.js";
import { takeStep } from "../../../train/update.js";
import type { Measurement, ObjectiveOnTrial, Proof, VerifyContext } from "../proof.js";
import { drawStep } from "../samples.js";

type Tensors = ReadonlyMap<string, Tensor>;

const SAMPLES = 4;

async function restoreAll(engine: Engine, checkpoint: Checkpoint): Promise<void> {
  await engine.setParameters("policy", parametersIn(checkpoint));
  await engine.setOptimizer(checkpoint.optimizer);
}

/**
 * Compares two updates in a row with one update, a checkpoint on disk, a fresh runtime that reads it, and the second
 * update: parameters and optimizer must be bit-identical. Each update samples its own rollouts. Measured for one
 * objective, and for each with parameters of its own.
 * @param restore restores the state of a resume.
 */
export async function measureResume(
  context: VerifyContext,
  restore: typeof restoreAll = restoreAll,
): Promise<Measurement[]> {
  const trials = context.objectives.filter(({ objective }, i) => i === 0 || objective.parameters !== undefined);
  const measurements: Measurement[] = [];
  for (const trial of trials) measurements.push(await measureOne(context, trial, restore));
  return measurements;
}

async function measureOne(
  context: VerifyContext,
  trial: ObjectiveOnTrial,
  restore: typeof restoreAll,
): Promise<Measurement> {
  const dir = mkdtempSync(join(tmpdir(), "refusion-verify-"));
  try {
    const path = join(dir, "step-000001");
    const straight = await inOneGo(context, trial, path);
    await using policy = closing(await context.open(trial));
    const checkpoint = await readCheckpoint(path);
    await restore(policy.engine, checkpoint);
    await update(context, trial, policy, checkpoint.step + 1);
    const { different, all } = differences(straight, await stateOf(policy.engine));
    return {
      name: `${trial.objective.name}: resume equals no interruption`,
      measured: different,
      limit: 0,
      detail: `numbers that differ, of ${all} in parameters and optimizer`,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Takes two updates, with a checkpoint in between. */
async function inOneGo(context: VerifyContext, trial: ObjectiveOnTrial, path: string): Promise<Tensors> {
  await using policy = closing(await context.open(trial));
  const { engine } = policy;
  await update(context, trial, policy, 1);
  await writeCheckpoint(path, {
    step: 1,
    ...parameterParts(engine.groups, await engine.getParameters("policy"), adapterConfig(context.config, policy)),
    optimizer: await engine.getOptimizer(),
    state: {},
  });
  await update(context, trial, policy, 2);
  return await stateOf(engine);
}

async function update(context: VerifyContext, trial: ObjectiveOnTrial, policy: Policy, t: number): Promise<void> {
  const batches = await drawStep(context, policy, trial, `resume/${t}`, SAMPLES);
  await takeStep(policy.engine, batches, t, context.config.training.learning_rate);
}

const stateOf = async (engine: Engine): Promise<Tensors> =>
  new Map([...(await engine.getParameters("policy")), ...(await engine.getOptimizer())]);

function differences(a: Tensors, b: Tensors): { different: number; all: number } {
  let [different, all] = [0, 0];
  for (const [name, tensor] of a) {
    const [x, y] = [tensor.data as Float32Array, b.get(name)?.data as Float32Array];
    all += x.length;
    x.forEach((value, i) => {
      if (!Object.is(value, y[i])) different++;
    });
  }
  return { different, all };
}

export const proof: Proof = {
  claim: "a resumed run equals one that was not interrupted",
  run: (context) => measureResume(context),
};
