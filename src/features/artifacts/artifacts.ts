import { copyFileSync, existsSync, linkSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunConfig } from "../../config/config.js";
import { optimizerOptions } from "../../config/optimizer.js";
import { closing } from "../../core/closing.js";
import { fail } from "../../core/errors.js";
import { writeDirectory } from "../../core/files.js";
import { Rng } from "../../core/rng.js";
import { adapterConfig, initialParameters } from "../../engine/adapter.js";
import { checkPromptsFit, checkSpaces, openPolicy } from "../../engine/policy.js";
import { openEnvironment, tasksOf } from "../../env/open.js";
import { weightFiles } from "../../nn/model.js";
import { writeModelFile } from "../../onnx/format/proto.js";
import type { Objective } from "../../rl/objective.js";
import { parameterParts, writeCheckpoint } from "../../runs/checkpoint.js";
import { prepareBatches } from "../../train/update.js";

/**
 * Writes the graphs that a run builds in memory, under the names of ONNX Runtime's on-device training: rollout_model,
 * eval_model, training_model and optimizer_model, at the shapes of one real micro-batch, and checkpoint/ with the
 * initial adapter. All share one weight file in the same directory. The graphs run in any runtime for ONNX.
 * @returns the paths of the written files.
 */
export async function writeArtifacts(config: RunConfig, objective: Objective, out: string): Promise<string[]> {
  if (existsSync(out)) fail(`${out} exists already, and is not overwritten.`, { hint: "give another --out" });
  const optimizer = optimizerOptions(config);
  await using policy = closing(await openPolicy(config, { objective, options: config.objective, optimizer }));
  await using environment = closing(await openEnvironment(config));
  const { engine } = policy;
  engine.checkTrainable();
  checkSpaces(environment, policy);
  const size = config.training.micro_batch;
  const tasks = tasksOf(environment, "train").slice(0, size);
  checkPromptsFit(environment, tasks, policy);
  const parameters = initialParameters(config, policy);
  await engine.setParameters("policy", parameters);
  await engine.setParameters("reference", parameters);
  const starts = tasks.map((task) => policy.startOf(environment.firstObservation?.(task) ?? {}));
  const rngs = tasks.map((_, i) => Rng.named(config.seed, `artifacts/${i}`));
  const together = config.training.rollout_batch;
  const trajectories = await policy.sampler.rollout(engine, starts, policy.options, rngs, together);
  const samples = trajectories.map((trajectory, i) => {
    const stream = (name: string): Rng => Rng.named(config.seed, `artifacts/${name}/${i}`);
    return { trajectory, credit: i % 2 === 0 ? 1 : -1, stream };
  });
  const [batch] = await prepareBatches({ policy, objective, options: config.objective, size }, [samples]);
  if (batch === undefined) fail("There is no training task to take the shapes from.");
  const { dims, rows } = policy.sampler.shapes(policy.options);
  const rollout = { dims: dims(together), rows: rows && together * rows };
  return await writeDirectory(out, async (aside) => {
    for (const file of weightFiles(policy.model.graph)) {
      mkdirSync(dirname(join(aside, file)), { recursive: true });
      shareWeights(join(policy.model.dir, file), join(aside, file));
    }
    const files: string[] = [];
    for (const [name, graph] of engine.artifacts(batch.batch, rollout)) {
      const file = `${name}.onnx`;
      await writeModelFile(join(aside, file), graph);
      files.push(file);
    }
    await writeCheckpoint(join(aside, "checkpoint"), {
      step: 0,
      ...parameterParts(engine.groups, parameters, adapterConfig(config, policy)),
      optimizer: new Map(),
      state: {},
    });
    return [...files, "checkpoint"].map((file) => join(out, file));
  });
}

/** Shares the weight file by a hard link, or copies it if the file system has none. */
function shareWeights(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
