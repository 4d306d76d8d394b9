import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { formatConfig, type RunConfig } from "../config/config.js";
import { fromOutside } from "../core/boundary.js";
import { fail, messageOf, UserError } from "../core/errors.js";
import { cannotWrite, packageRoot, readJson, syncToDisk, writeAtomic } from "../core/files.js";
import { checked } from "../core/problems.js";
import { acquireLock, isLocked } from "./lock.js";
import { RESTORE } from "./metrics.js";

const environmentSchema = z.looseObject({
  /** The objective: `refusion-train <command>`. */
  command: z.string(),
  /** Path of the config; `key=value` arguments and flags are in config.yaml. */
  config: z.string(),
  provider: z.string().optional(),
  /** The run whose stored rollouts it learns from. */
  rollouts: z.string().optional(),
  seeds: z.record(z.string(), z.number()),
  /** Hashes of model, tasks, split and tokenizer. */
  hashes: z.record(z.string(), z.string()),
  versions: z.record(z.string(), z.string()),
});

export type RunEnvironment = z.infer<typeof environmentSchema>;
/** A caller's facts about a run beyond the machine: saved in env.json and checked on a resume. */
export type RunFacts = Readonly<
  Pick<RunEnvironment, "command" | "config" | "provider" | "rollouts" | "seeds" | "hashes">
>;

/** runs/<name>/, with all files of one run. Never overwritten: a new run gets a new directory. */
export class RunDirectory {
  private constructor(
    readonly dir: string,
    readonly config = join(dir, "config.yaml"),
    readonly environment = join(dir, "env.json"),
    readonly metrics = join(dir, "metrics.jsonl"),
    readonly log = join(dir, "log.jsonl"),
    readonly report = join(dir, "report.html"),
    readonly checkpoints = join(dir, "checkpoints"),
    readonly best = join(dir, "best"),
    readonly rolloutsDir = join(dir, "rollouts"),
    private readonly lastEvaluations = join(dir, "eval", "last"),
    private readonly lockPath = join(dir, ".lock"),
  ) {}

  /**
   * Creates a new directory and locks it: `runDir` itself, or `parent`/name, name-2, name-3 ... An empty directory, or
   * one whose run ended before it began, is reused.
   * @throws UserError (exit 1) where `runDir` holds a run or anything else.
   */
  static create(options: { name: string; runDir?: string | undefined; parent?: string }): RunDirectory {
    const wanted = options.runDir ?? join(options.parent ?? "runs", options.name);
    mkdirs(dirname(wanted));
    for (let n = 1; ; n++) {
      const directory = new RunDirectory(n === 1 ? wanted : `${wanted}-${n}`);
      if (directory.claim()) return directory;
      if (options.runDir !== undefined)
        fail(`${directory.dir} exists already, and a run is never overwritten.`, {
          hint:
            directory.begun || isLocked(directory.lockPath)
              ? "add --resume to continue it, or give another --run-dir"
              : "give another --run-dir",
        });
    }
  }

  /** Opens an existing run. @throws UserError where `dir` is not a run. */
  static open(dir: string): RunDirectory {
    const run = new RunDirectory(dir);
    if (!existsSync(run.config))
      fail(`${dir} is no run directory: ${run.config} is missing.`, {
        hint: "give the directory of a run, as runs/letters-flow-grpo",
      });
    return run;
  }

  /**
   * Opens the newest run of a name: the highest suffix. For `--resume` without `--run-dir`.
   * @throws UserError where there is none.
   */
  static newest(name: string, parent = "runs"): RunDirectory {
    const suffixes = (existsSync(parent) ? readdirSync(parent) : []).flatMap((entry) => {
      if (entry === name) return [1];
      const suffix = entry.startsWith(`${name}-`) ? entry.slice(name.length + 1) : "";
      return /^[1-9][0-9]*$/.test(suffix) ? [Number(suffix)] : [];
    });
    const candidates = suffixes.sort((a, b) => b - a).map((n) => join(parent, n === 1 ? name : `${name}-${n}`));
    const dir = candidates.find((candidate) => existsSync(join(candidate, "config.yaml")));
    if (dir === undefined)
      fail(`There is no run ${join(parent, name)} to resume.`, {
        hint: "start it without --resume, or name it with --run-dir",
      });
    return new RunDirectory(dir);
  }

  /** Returns the path of a stored rollout's screenshot, taken after its plan. */
  screenshot({ step, group, rollout }: { step: number; group: number; rollout: number }): string {
    return join(this.dir, "screenshots", `${stepName(step)}-${group}-${rollout}.jpg`);
  }

  /** Returns the path of a stored rollout's requests. */
  har({ step, group, rollout }: { step: number; group: number; rollout: number }): string {
    return join(this.dir, "har", `${stepName(step)}-${group}-${rollout}.har`);
  }

  rollouts(step: number): string {
    return join(this.rolloutsDir, `${stepName(step)}.jsonl`);
  }

  /** Returns eval/before/<split>.json, eval/<split>.json (the last one), or eval/step-000010/<split>.json. */
  evaluation(split: string, when: "before" | "after" | number = "after"): string {
    const folder = when === "after" ? [] : [typeof when === "number" ? stepName(when) : when];
    return join(this.dir, "eval", ...folder, `${split}.json`);
  }

  /**
   * Returns the final evaluation of a run: its own at the end, else that of its last checkpoint by `refusion-eval
   * --run` (a supervised run plays no episodes itself).
   */
  finalEvaluation(split: string): string {
    const path = this.evaluation(split);
    return existsSync(path) ? path : join(this.lastEvaluations, `${split}.json`);
  }

  /** Lists the splits with an evaluation of that time; `after`: a final one. */
  evaluatedSplits(when: "before" | "after" | number): string[] {
    const dirs = [dirname(this.evaluation("x", when)), ...(when === "after" ? [this.lastEvaluations] : [])];
    const files = dirs.flatMap((dir) => (existsSync(dir) ? readdirSync(dir) : []));
    return [...new Set(files.flatMap((file) => (file.endsWith(".json") ? [file.slice(0, -5)] : [])))].sort();
  }

  /** Lists the intermediate steps that were evaluated, ascending. */
  evaluatedSteps(): number[] {
    return stepsIn(join(this.dir, "eval"));
  }

  /** Lists the steps with stored rollouts, ascending. */
  rolloutSteps(): number[] {
    return stepsIn(this.rolloutsDir, ".jsonl");
  }

  /** Removes the rollouts of steps that a resume runs again. */
  dropRolloutsAfter(step: number): void {
    for (const later of this.rolloutSteps().filter((s) => s > step)) rmSync(this.rollouts(later));
  }

  /**
   * Waits until the metrics and rollouts of all steps are on the disk. Called before a checkpoint is written: after a
   * loss of power, the checkpoint must not exist without the lines of its steps, which no run would write again.
   */
  sync(): void {
    const paths = [this.metrics, this.rolloutsDir, this.dir].filter((path) => existsSync(path));
    try {
      for (const path of paths) syncToDisk(path);
    } catch (error) {
      throw cannotWrite(this.dir, error);
    }
  }

  async writeConfig(config: RunConfig, command: string): Promise<void> {
    const header = `# Resolved by refusion-train; run it again with:\n#   refusion-train ${command} --config ${this.config}\n`;
    await writeAtomic(this.config, header + formatConfig(config));
  }

  /** Writes env.json: the caller's facts, versions and hardware. No host name, no environment variables. */
  async writeEnvironment(facts: RunFacts): Promise<void> {
    const environment = { ...facts, versions: versions(), hardware: hardware(), started: new Date().toISOString() };
    await writeAtomic(this.environment, `${JSON.stringify(environment, undefined, 2)}\n`);
  }

  readEnvironment(): RunEnvironment {
    const { environment: path } = this;
    return fromOutside(path, RESTORE, () => checked(environmentSchema, readJson(path), `${path} is broken`));
  }

  /**
   * Locks out other processes while this one writes; a lock of an ended process is taken over.
   * @returns a function that unlocks. @throws UserError while another process holds it.
   */
  lock(): () => void {
    const path = this.lockPath;
    let lock: ReturnType<typeof acquireLock>;
    try {
      lock = acquireLock(path);
    } catch (error) {
      throw cannotCreate(path, error);
    }
    if ("release" in lock) return lock.release;
    fail(`${this.dir} is in use by process ${lock.heldBy}.`, {
      hint: "wait until it has ended, or give another --run-dir",
    });
  }

  /** Creates this directory with its lock inside, atomically. @returns false where it is taken. */
  private claim(): boolean {
    // a symbolic link stays, and its target is replaced
    const place = existsSync(this.dir) ? realpathSync(this.dir) : this.dir;
    const aside = join(dirname(place), `.${basename(place)}.new-${process.pid}`);
    try {
      rmSync(aside, { recursive: true, force: true });
      mkdirSync(aside);
      acquireLock(join(aside, ".lock"));
      // fails where the target is not empty
      renameSync(aside, place);
      return true;
    } catch (error) {
      try {
        rmSync(aside, { recursive: true, force: true });
      } catch {
        // the first error is the one to report
      }
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOTDIR" && existsSync(this.dir)) return false;
      if ((code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "EPERM") || !existsSync(this.dir))
        throw cannotCreate(this.dir, error);
    }
    return this.isHalfMade() && "release" in acquireLock(this.lockPath);
  }

  /** Tells whether the process that made the directory ended before its run began: env.json is written last. */
  private isHalfMade(): boolean {
    const ours = /^(\.lock|config\.yaml|env\.json\.\d+|config\.yaml\.\d+)$/;
    const entries = readdirSync(this.dir).filter((entry) => !entry.startsWith(".lock."));
    return entries.length > 0 && entries.every((entry) => ours.test(entry)) && !isLocked(this.lockPath);
  }

  /** Tells whether its run began: an aborted start has nothing to resume. */
  get begun(): boolean {
    return existsSync(this.environment);
  }

  /** Removes temporary files of killed processes. Only while this process holds the lock. */
  removeLeftovers(): void {
    for (const entry of readdirSync(this.dir, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && /\.(yaml|jsonl?|html)\.\d+$/.test(entry.name)) rmSync(join(entry.parentPath, entry.name));
    }
  }
}

/** Formats a step as `step-000010`. */
export function stepName(step: number): string {
  return `step-${String(step).padStart(6, "0")}`;
}

/** Lists the steps whose files or folders a folder contains, ascending, without temporary ones. */
export function stepsIn(folder: string, ending = ""): number[] {
  const entries = existsSync(folder) ? readdirSync(folder) : [];
  return entries
    .flatMap((entry) => (entry.endsWith(ending) ? [entry.slice(0, entry.length - ending.length)] : []))
    .flatMap((name) => (/^step-\d{6,}$/.test(name) ? [Number(name.slice(5))] : []))
    .sort((a, b) => a - b);
}

function mkdirs(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (error) {
    throw cannotCreate(dir, error);
  }
}

function cannotCreate(path: string, error: unknown): UserError {
  return new UserError(`Cannot create ${path}: ${messageOf(error)}`, {
    hint: "give a place that can be written with --run-dir",
    cause: error,
  });
}

/** Returns the versions that can affect the numbers of a run. */
export function versions(): Record<string, string> {
  const manifest = readJson(join(packageRoot(), "package.json")) as { version: string };
  return {
    refusion_train: manifest.version,
    node: process.versions.node,
    onnxruntime_node: packageVersion("onnxruntime-node"),
    playwright: packageVersion("playwright"),
  };
}

function packageVersion(name: string): string {
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    return "missing";
  }
}

/** Describes the machine, without its name. */
export function hardware(): Record<string, string | number> {
  return {
    platform: `${process.platform}-${process.arch}`,
    kernel: release(),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memory_gib: Math.round((totalmem() / 2 ** 30) * 10) / 10,
  };
}
