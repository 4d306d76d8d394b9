import { join } from "node:path";
import { configDifferences, loadConfig, type RunConfig, resolvePath } from "../config/config.js";
import { parseOverrides } from "../config/overrides.js";
import { fail, misuse } from "../core/errors.js";
import { sha256File } from "../core/files.js";
import { createLog, type Logger } from "../core/log.js";
import type { Policy } from "../engine/policy.js";
import type { Environment } from "../env/environment.js";
import { modelHash } from "../nn/model.js";
import { type Checkpoint, latestCheckpoint, readCheckpoint, recoverCheckpoints } from "../runs/checkpoint.js";
import { MetricsWriter } from "../runs/metrics.js";
import { RunDirectory } from "../runs/run-directory.js";
import type { TrainOptions } from "./types.js";

/** A run in progress: its directory, and the checkpoint it continues from. */
export interface Run {
  readonly directory: RunDirectory;
  readonly log: Logger;
  /** Undefined at the start. */
  readonly checkpoint: Checkpoint | undefined;
  /** Unlocks the run for other processes. */
  close(): void;
}

/**
 * Creates the run's directory, or opens it again.
 * @param rollouts the stored rollouts to learn from, where it plays none.
 * @throws UserError where a resumed run's model, tasks or config have changed.
 */
export async function openRun(
  config: RunConfig,
  options: TrainOptions,
  policy: Policy,
  environment: Environment,
  rollouts?: { readonly hash: string },
): Promise<Run> {
  const facts = {
    command: options.command,
    config: options.configPath,
    provider: policy.runtime.provider,
    ...(options.rolloutsRun === undefined ? {} : { rollouts: options.rolloutsRun }),
    seeds: { run: config.seed, evaluation: config.evaluation.seed },
    hashes: {
      model: await modelHash(policy.model.dir),
      split: environment.splitHash(),
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
    return { directory, log: createLog(directory.log), checkpoint: undefined, close: unlock };
  }
  const directory = resumedDirectory(config, options);
  const unlock = directory.lock();
  try {
    const before = directory.readEnvironment();
    const changed = configDifferences(
      { command: before.command, hashes: before.hashes },
      { command: facts.command, hashes: facts.hashes },
    );
    if (changed.length > 0)
      fail(
        `${directory.dir} cannot be resumed, because something it was made with has changed:\n${changed.map((c) => `  ${c}`).join("\n")}`,
        { hint: "Restore it, or start a new run." },
      );
    const log = createLog(directory.log);
    const settings = changedSettings(await loadConfig(directory.config, { command: before.command }), config, options);
    if (settings.length > 0) {
      log.warn({ settings }, "resumed with other settings");
      if (!options.quiet) process.stderr.write(`resumed with other settings: ${settings.join(", ")}\n`);
      await directory.writeConfig(config, options.command);
    }
    recoverCheckpoints(directory);
    directory.removeLeftovers();
    const path = latestCheckpoint(directory.checkpoints);
    const checkpoint = path === undefined ? undefined : await readCheckpoint(path);
    directory.dropRolloutsAfter(checkpoint?.step ?? 0);
    return { directory, log, checkpoint, close: unlock };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Opens metrics.jsonl at the run's checkpoint; missing lines are reported and logged. */
export function openMetrics(run: Run, watch: { note(text: string): void }): Promise<MetricsWriter> {
  return MetricsWriter.open(run.directory.metrics, run.checkpoint?.step, (text) => {
    run.log.warn(text);
    watch.note(`warning: ${text}`);
  });
}

/** Returns the directory that a resume continues. @throws UserError where there is none, or nothing in it to resume. */
export function resumedDirectory(config: RunConfig, options: TrainOptions): RunDirectory {
  const directory = options.runDir === undefined ? RunDirectory.newest(config.name) : RunDirectory.open(options.runDir);
  if (directory.begun) return directory;
  fail(`${directory.dir} was ended before its run began: there is nothing to resume.`, {
    hint: "start it again, without --resume: the directory is used",
  });
}

/** Sections that the checkpoint's tensors and streams depend on: another value would not continue that run. */
const FIXED = ["seed", "model", "init_adapter", "lora", "environment", "site", "prompt", "sampler"];

/**
 * Returns the settings that a resume changes: only typed ones, and none that would make it another run.
 * @throws UserError for any other difference, as of an edited config file.
 */
function changedSettings(before: RunConfig, now: RunConfig, options: TrainOptions): string[] {
  const differences = configDifferences(before, { ...now, name: before.name });
  const typed = parseOverrides(options.overrides ?? []).map((override) => override.path.join("."));
  const keyOf = (difference: string): string => difference.slice(0, difference.indexOf(":"));
  const wasTyped = (key: string): boolean => typed.some((path) => key === path || key.startsWith(`${path}.`));
  const refused = differences.filter((difference) => {
    const key = keyOf(difference);
    return FIXED.includes(key.split(".")[0] as string) || !wasTyped(key);
  });
  if (refused.length === 0) return differences;
  misuse(
    `The config is not the one of this run (its config.yaml -> now):\n${refused.map((r) => `  ${r}`).join("\n")}`,
    {
      hint: refused.some((r) => FIXED.includes(keyOf(r).split(".")[0] as string))
        ? "start a new run for other settings; leave --config out to resume with the run's own"
        : "leave --config out to resume with the run's own; what should change follows as key=value",
    },
  );
}
