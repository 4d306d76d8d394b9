import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { fromOutside } from "../core/boundary.js";
import { fail, messageOf, UserError } from "../core/errors.js";
import { readJson, sha256, sha256File, syncToDisk, writeHint } from "../core/files.js";
import { problemsOf } from "../core/problems.js";
import { ADAPTER, ADAPTER_CONFIG, writePeftTensors } from "../nn/peft.js";
import type { Tensor } from "../onnx/types.js";
import type { ParameterGroup } from "../optim/optimizer.js";
import { readSafetensors, writeSafetensors } from "../weights/safetensors.js";
import { stepName, stepsIn } from "./run-directory.js";

/** Everything that an exact resume needs. */
export interface Checkpoint {
  readonly step: number;
  /** PEFT's layout: `base_model.model.<module>.lora_A.weight` ...; null where the whole model is trained. */
  readonly adapter: {
    readonly config: Readonly<Record<string, unknown>>;
    readonly tensors: ReadonlyMap<string, Tensor>;
  } | null;
  /** All weights in full training, by their Hugging Face names; null where an adapter is trained. */
  readonly weights: ReadonlyMap<string, Tensor> | null;
  /** The objective's own parameter groups by name, each in its own file; absent: none. */
  readonly groups?: Readonly<Record<string, ReadonlyMap<string, Tensor>>>;
  readonly optimizer: ReadonlyMap<string, Tensor>;
  /** Plain JSON: random streams, data cursor, best score, partial group. */
  readonly state: Readonly<Record<string, unknown>>;
}

const WEIGHTS = "model.safetensors";
const OPTIMIZER = "optimizer.safetensors";
export const STATE = "state.json";
const TENSORS = ".safetensors";

/** Sorts a policy's parameters into the parts of a checkpoint. @param adapter its config. */
export function parameterParts(
  groups: readonly ParameterGroup[],
  parameters: ReadonlyMap<string, Tensor>,
  adapter: Readonly<Record<string, unknown>>,
): Pick<Checkpoint, "adapter" | "weights" | "groups"> {
  const of = (group: ParameterGroup): Map<string, Tensor> =>
    new Map(group.parameters.map(({ name }) => [name, parameters.get(name) as Tensor]));
  const [first, ...others] = groups as [ParameterGroup, ...ParameterGroup[]];
  const tensors = of(first);
  return {
    adapter: first.name === "adapter" ? { config: adapter, tensors } : null,
    weights: first.name === "adapter" ? null : tensors,
    groups: Object.fromEntries(others.map((group) => [group.name, of(group)])),
  };
}

/** Returns all parameters of a checkpoint by name. */
export const parametersIn = ({ adapter, weights, groups = {} }: Checkpoint): ReadonlyMap<string, Tensor> =>
  new Map([adapter?.tensors, weights, ...Object.values(groups)].flatMap((tensors) => [...(tensors ?? [])]));

/** Steps of the longest run: a resume iterates over the earlier steps. */
const MOST_STEPS = 10_000_000;

const stateSchema = z.strictObject({
  format: z.literal(1),
  step: z.int().min(0).max(MOST_STEPS),
  /** SHA-256 by file name. */
  files: z.record(z.string().regex(/^\w[\w.-]*$/), z.string()),
  state: z.record(z.string(), z.unknown()),
  /** Hash of the four fields above, to detect a damaged state. */
  sha256: z.string(),
});

/**
 * Writes a checkpoint directory beside its target, syncs it and renames it: after a kill there is the old one or the
 * new one, never a partial one. An existing directory of that name is replaced.
 * @returns `path`.
 */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<string> {
  const aside = `${path}.tmp-${process.pid}`;
  try {
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { recursive: true });
    if (checkpoint.adapter !== null) {
      writeFileSync(join(aside, ADAPTER_CONFIG), `${JSON.stringify(checkpoint.adapter.config, undefined, 2)}\n`);
      writePeftTensors(join(aside, ADAPTER), checkpoint.adapter.tensors);
    }
    if (checkpoint.weights !== null) writeSafetensors(join(aside, WEIGHTS), checkpoint.weights, { format: "pt" });
    for (const [name, tensors] of Object.entries(checkpoint.groups ?? {}))
      writeSafetensors(join(aside, `${name}${TENSORS}`), tensors);
    writeSafetensors(join(aside, OPTIMIZER), checkpoint.optimizer);

    const files: Record<string, string> = {};
    for (const file of readdirSync(aside).sort()) files[file] = await sha256File(join(aside, file));
    requireJson(checkpoint.state, "state");
    const content = { format: 1, step: checkpoint.step, files, state: checkpoint.state };
    const state = { ...content, sha256: sha256(JSON.stringify(content)) };
    writeFileSync(join(aside, STATE), `${JSON.stringify(state, undefined, 2)}\n`);

    for (const file of readdirSync(aside)) syncToDisk(join(aside, file));
    syncToDisk(aside);
    replaceDirectory(aside, path);
  } catch (error) {
    try {
      rmSync(aside, { recursive: true, force: true });
    } catch {
      // the first error is the one to report
    }
    // a UserError, or an error of the file system; anything else is a bug
    if (!(error instanceof UserError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    fail(`Cannot write the checkpoint ${path}: ${messageOf(error)}`, {
      hint: `${writeHint(error)}; checkpoints written before are untouched`,
      cause: error,
    });
  }
  return path;
}

/**
 * Reads a checkpoint after checking every file against its hash.
 * @throws UserError that names each missing or damaged file.
 */
export function readCheckpoint(path: string): Promise<Checkpoint> {
  const hint = "restore it from a copy, or use another checkpoint of the run";
  return fromOutside(`The checkpoint ${path}`, hint, () => readFiles(path));
}

async function readFiles(path: string): Promise<Checkpoint> {
  const { step, files, state } = await readState(path);
  const load = (file: string): Map<string, Tensor> | null =>
    Object.hasOwn(files, file) ? readSafetensors(join(path, file)) : null;
  const tensors = load(ADAPTER);
  return {
    step,
    adapter:
      tensors === null ? null : { config: readJson(join(path, ADAPTER_CONFIG)) as Record<string, unknown>, tensors },
    weights: load(WEIGHTS),
    groups: Object.fromEntries(
      Object.keys(files)
        .filter((file) => file.endsWith(TENSORS) && ![ADAPTER, WEIGHTS, OPTIMIZER].includes(file))
        .map((file) => [file.slice(0, -TENSORS.length), readSafetensors(join(path, file))]),
    ),
    optimizer: load(OPTIMIZER) ?? new Map(),
    state,
  };
}

/** Tells whether a directory is a finished checkpoint, by its last file. */
export const isCheckpoint = (path: string): boolean => existsSync(join(path, STATE));

/**
 * Checks every file of a checkpoint against its hash without keeping it in memory.
 * @returns the names of its files. @throws UserError as `readCheckpoint`.
 */
export const verifyCheckpoint = async (path: string): Promise<string[]> => Object.keys((await readState(path)).files);

async function readState(path: string): Promise<z.infer<typeof stateSchema>> {
  const broken = (problems: readonly string[]): UserError => {
    const others = stepsIn(dirname(path)).filter((step) => stepName(step) !== basename(path));
    const other = others.at(-1);
    return new UserError(`The checkpoint ${path} cannot be used:\n${problems.map((p) => `  ${p}`).join("\n")}`, {
      hint:
        other === undefined
          ? "restore it from a copy, or start a new run"
          : `remove it to go on from ${join(dirname(path), stepName(other))}`,
    });
  };
  if (!existsSync(join(path, STATE)))
    throw broken([existsSync(path) ? `${STATE} is missing` : "there is no such directory"]);
  let raw: unknown;
  try {
    raw = readJson(join(path, STATE));
  } catch (error) {
    throw broken([messageOf(error)]);
  }
  const parsed = stateSchema.safeParse(raw);
  if (!parsed.success)
    throw broken([`${STATE} does not hold what this version writes:${problemsOf(parsed.error).replace(/\n */g, " ")}`]);
  const { sha256: expected, ...content } = parsed.data;
  const named = /^step-(\d+)$/.exec(basename(path))?.[1];
  if (named !== undefined && Number(named) !== content.step)
    throw broken([`${STATE} is of step ${content.step}, its directory of step ${Number(named)}`]);
  if (sha256(JSON.stringify(content)) !== expected) throw broken([`${STATE} was changed after it was written`]);
  const problems: string[] = [];
  for (const [file, hash] of Object.entries(content.files)) {
    const full = join(path, file);
    if (!existsSync(full) || !statSync(full).isFile()) problems.push(`${file} is missing`);
    else if ((await sha256File(full)) !== hash)
      problems.push(`${file} (${statSync(full).size} bytes) differs from its hash: cut off or changed`);
  }
  if (problems.length > 0) throw broken(problems);
  return parsed.data;
}

/** Returns the latest finished checkpoint in checkpoints/, or undefined. */
export function latestCheckpoint(root: string): string | undefined {
  const step = stepsIn(root).at(-1);
  return step === undefined ? undefined : join(root, stepName(step));
}

/**
 * Finds the checkpoint that a user names: `best`, `last` or a step; by default the best one, or the last one of a run
 * without a best.
 * @throws UserError that lists the existing ones.
 */
export function findCheckpoint(
  run: { readonly checkpoints: string; readonly best: string },
  which: "best" | "last" | number | undefined,
): string {
  const steps = stepsIn(run.checkpoints);
  const place = (name: "best" | "last" | number): string | undefined => {
    const path =
      name === "best"
        ? run.best
        : name === "last"
          ? latestCheckpoint(run.checkpoints)
          : join(run.checkpoints, stepName(name));
    return path === undefined || existsSync(path) ? path : replacedCopy(path);
  };
  const found = which === undefined ? (place("best") ?? place("last")) : place(which);
  if (found !== undefined) return found;
  const existing = [
    ...(existsSync(run.best) ? ["best"] : []),
    ...(steps.length > 0 ? ["last"] : []),
    ...steps.map(String),
  ];
  fail(`There is no checkpoint${which === undefined ? "" : ` "${which}"`} in ${dirname(run.checkpoints)}.`, {
    hint:
      existing.length === 0
        ? "the run saved none yet: resume it, or start it again"
        : `there are: ${existing.join(", ")}`,
  });
}

/** Keeps the last `keep` checkpoints; removes older ones and leftovers of ended processes. best/ is elsewhere. */
export function retainCheckpoints(root: string, keep: number): void {
  for (const step of stepsIn(root).slice(0, -keep))
    rmSync(join(root, stepName(step)), { recursive: true, force: true });
  for (const entry of existsSync(root) ? readdirSync(root) : []) {
    if (/^step-\d{6,}\.(tmp|old)-\d+$/.test(entry)) rmSync(join(root, entry), { recursive: true, force: true });
  }
}

/**
 * Restores a checkpoint that a killed process had moved aside but not yet replaced, and removes partial ones. Only
 * while this process holds the run's lock.
 */
export function recoverCheckpoints(run: { readonly checkpoints: string; readonly best: string }): void {
  for (const root of [run.checkpoints, dirname(run.best)]) {
    for (const entry of existsSync(root) ? readdirSync(root) : []) {
      const aside = /^(best|step-\d{6,})\.(tmp|old)-\d+$/.exec(entry);
      if (aside === null) continue;
      const target = join(root, aside[1] as string);
      if (aside[2] === "old" && !existsSync(target)) renameSync(join(root, entry), target);
      else rmSync(join(root, entry), { recursive: true, force: true });
    }
  }
}

/** Replaces a directory. rename() cannot replace a non-empty one, so the old one is moved aside first. */
function replaceDirectory(from: string, to: string): void {
  const old = `${to}.old-${process.pid}`;
  rmSync(old, { recursive: true, force: true });
  const replaces = existsSync(to);
  if (replaces) renameSync(to, old);
  renameSync(from, to);
  syncToDisk(dirname(to));
  if (replaces) rmSync(old, { recursive: true, force: true });
}

/** Finds a checkpoint whose process was killed between the two renames. It may be read; the next run moves it back. */
function replacedCopy(path: string): string | undefined {
  const root = dirname(path);
  const entry = (existsSync(root) ? readdirSync(root) : []).find((e) => e.startsWith(`${basename(path)}.old-`));
  return entry === undefined ? undefined : join(root, entry);
}

/** Refuses values that JSON would silently change, as NaN and undefined. @throws Error */
function requireJson(value: unknown, where: string): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) requireJson(value[i], `${where}[${i}]`);
  } else if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    for (const [key, item] of Object.entries(value)) requireJson(item, `${where}.${key}`);
  } else throw new Error(`checkpoint: ${where} is ${String(value)}, which JSON does not keep`);
}
