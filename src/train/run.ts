import { join } from "node:path";
import { UserError } from "../core/errors.js";
import { sha256File } from "../core/files.js";
import { createLog, type Logger } from "../core/log.js";
import { modelHash } from "../nn/model.js";
import { type Checkpoint, latestCheckpoint, readCheckpoint } from "./checkpoint.js";
import { configDifferences, type RunConfig, resolvePath } from "./config.js";
import type { Environment } from "./environment.js";
import type { Policy } from "./policy.js";
import type { RecordedGroups } from "./recorded-groups.js";
import { RunDirectory } from "./run-directory.js";
import type { TrainOptions } from "./types.js";

/** A run that is under way: its directory, and the checkpoint it goes on from. */
export interface Run {
  readonly directory: RunDirectory;
  readonly log: Logger;
  /** Undefined at the start. */
  readonly checkpoint: Checkpoint | undefined;
  unlock(): void;
}

/**
 * Makes the run's directory, or opens it again.
 * @param rollouts the recorded rollouts that it learns from, where it plays none.
 * @throws UserError where a resumed run's model, tasks or config are not what they were.
 */
export async function openRun(
  config: RunConfig,
  options: TrainOptions,
  policy: Policy,
  environment: Environment,
  rollouts?: RecordedGroups,
): Promise<Run> {
  const facts = {
    command: options.command,
    config: options.configPath,
    provider: policy.runtime.provider,
    seeds: { run: config.seed, evaluation: config.evaluation.seed },
    hashes: {
      model: await modelHash(policy.model.dir),
      split: environment.site.splitHash(),
      ...(rollouts === undefined ? {} : { rollouts: rollouts.hash }),
      ...(config.init_adapter === null
        ? {}
        : {
            init_adapter: await sha256File(
              join(resolvePath(config.init_adapter, "init_adapter"), "adapter_model.safetensors"),
            ),
          }),
    },
  };
  if (!options.resume) {
    const directory = RunDirectory.create({ name: config.name, runDir: options.runDir });
    const unlock = directory.lock();
    await directory.writeConfig(config, options.command);
    await directory.writeEnvironment(facts);
    return { directory, log: createLog({ file: directory.log }), checkpoint: undefined, unlock };
  }
  const directory = options.runDir === undefined ? RunDirectory.newest(config.name) : RunDirectory.open(options.runDir);
  const unlock = directory.lock();
  const before = directory.readEnvironment();
  const changed = configDifferences(
    { command: before.command, hashes: before.hashes },
    { command: facts.command, hashes: facts.hashes },
  );
  if (changed.length > 0) {
    throw new UserError(
      `${directory.dir} cannot be resumed, because something it was made with has changed:\n${changed.map((c) => `  ${c}`).join("\n")}`,
      {
        hint: "Restore it, or start a new run.",
      },
    );
  }
  const path = latestCheckpoint(directory.checkpoints);
  const checkpoint = path === undefined ? undefined : await readCheckpoint(path);
  directory.dropRolloutsAfter(checkpoint?.step ?? 0);
  return { directory, log: createLog({ file: directory.log }), checkpoint, unlock };
}
