import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { UserError } from "../core/errors.js";
import { WEIGHTS_FILE } from "../nn/model.js";
import { ADAPTER } from "../nn/peft.js";
import { findCheckpoint } from "./checkpoint.js";
import { resolvePath } from "./config.js";
import { RunDirectory } from "./run-directory.js";

/** What `export --merge` adds to a model. */
export interface MergeSource {
  readonly adapter?: string;
  /** Directory with the weights of a run that trained all of them. */
  readonly weights?: string;
  /** The model that a run says it trained. */
  readonly model?: string;
}

/**
 * An adapter directory (a checkpoint of a run is one too), or a run, of which a checkpoint is taken.
 * @throws UserError where the directory is neither.
 */
export function mergeSource(dir: string, step: "best" | "last" | number): MergeSource {
  if (existsSync(join(dir, ADAPTER))) return { adapter: dir };
  if (!existsSync(dir)) throw new UserError(`There is no run or adapter ${dir}.`);
  const run = RunDirectory.open(dir);
  const { model } = parse(readFileSync(run.config, "utf8")) as { model?: unknown };
  const checkpoint = findCheckpoint(run, step);
  const source = typeof model === "string" ? { model: resolvePath(model, "model") } : {};
  if (existsSync(join(checkpoint, ADAPTER))) return { ...source, adapter: checkpoint };
  if (existsSync(join(checkpoint, WEIGHTS_FILE))) return { ...source, weights: checkpoint };
  throw new UserError(`${checkpoint} holds neither an adapter nor weights.`);
}
