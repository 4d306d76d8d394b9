import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readTree, resolvePath } from "../../config/config.js";
import { fail, misuse, UserError } from "../../core/errors.js";
import { modelHash, WEIGHTS_FILE } from "../../nn/model.js";
import { ADAPTER, PICKLED } from "../../nn/peft.js";
import { findCheckpoint, isCheckpoint, verifyCheckpoint } from "../../runs/checkpoint.js";
import { RunDirectory } from "../../runs/run-directory.js";

export interface MergeOptions {
  /** Checkpoint of a run; default: the best one, or the last one if there is no best. */
  readonly step?: "best" | "last" | number | undefined;
  /** The model to merge into; if it is given, the run's own model is not needed. */
  readonly model?: string | undefined;
}

/** Changes that `export --merge` makes to a model. */
export interface MergeSource {
  /** Directory of the changes. */
  readonly from: string;
  readonly adapter?: string | undefined;
  /** Directory with all weights, of a run that trained all of them. */
  readonly weights?: string | undefined;
  /** The model to merge into: the given one, or the run's; undefined for an adapter without a run. */
  readonly model?: string | undefined;
  /** A note on the result for the user. */
  readonly note?: string;
}

/**
 * Finds the changes to merge: in a run, in a checkpoint of a run, or in an adapter directory.
 * @throws UserError for another directory, for a damaged checkpoint, or if the run's model has changed.
 */
export async function mergeSource(dir: string, { step, model }: MergeOptions): Promise<MergeSource> {
  if (!existsSync(dir))
    fail(`There is no run or adapter ${dir}.`, {
      hint: "give the directory of a run, as runs/letters-flow-grpo, or of an adapter",
    });
  const checkpointItself = isCheckpoint(dir);
  const plain = !checkpointItself && [ADAPTER, PICKLED].some((file) => existsSync(join(dir, file)));
  if ((checkpointItself || plain) && step !== undefined)
    misuse(`--step chooses a checkpoint of a run, and ${dir} is ${plain ? "an adapter" : "one"} itself.`, {
      hint: "leave --step out",
    });
  if (plain) return { from: dir, adapter: dir, model };
  const run = checkpointItself ? runOf(dir) : openRun(dir);
  const from = checkpointItself ? dir : findCheckpoint(run as RunDirectory, step);
  const files = await verifyCheckpoint(from);
  const adapter = files.includes(ADAPTER) ? from : undefined;
  const weights = adapter === undefined && files.includes(WEIGHTS_FILE) ? from : undefined;
  if (adapter === undefined && weights === undefined) fail(`${from} holds neither an adapter nor weights.`);
  const source = { from, adapter, weights, model };
  if (run === undefined) return source;
  if (model === undefined) return { ...source, model: await trainedModel(run) };
  if (adapter === undefined || (await hashOf(model)) === trainedHash(run)) return source;
  const note = `${model} is not the very model that ${run.dir} trained: what it learnt there is added to this one`;
  return { ...source, note };
}

function openRun(dir: string): RunDirectory {
  if (existsSync(join(dir, "config.yaml"))) return RunDirectory.open(dir);
  fail(`${dir} is no run, no checkpoint of one, and no adapter: it has no config.yaml, state.json or ${ADAPTER}.`, {
    hint: "give the directory of a run, as runs/letters-flow-grpo",
  });
}

/** Finds the run of a checkpoint directory, DIR/best or DIR/checkpoints/step-000010; undefined for a copy elsewhere. */
function runOf(checkpoint: string): RunDirectory | undefined {
  const path = resolve(checkpoint);
  const parent = dirname(path);
  const dir = basename(parent) === "checkpoints" ? dirname(parent) : parent;
  return existsSync(join(dir, "config.yaml")) ? RunDirectory.open(dir) : undefined;
}

/** Finds the model that a run trained. @throws UserError if it is missing or has changed. */
async function trainedModel(run: RunDirectory): Promise<string> {
  const { model } = readTree(run.config);
  const hint = `name it: --model DIR`;
  if (typeof model !== "string") fail(`${run.config} names no model.`, { hint });
  let path: string;
  try {
    path = resolvePath(model, "model");
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    fail(`The model that ${run.dir} trained, ${model}, is not there any more.`, {
      hint: `${hint} says where it is now`,
      cause: error,
    });
  }
  const hash = trainedHash(run);
  if (hash !== undefined && (await hashOf(path)) !== hash)
    fail(`${model} is not the model that ${run.dir} trained: it was changed since.`, {
      hint: `restore it, or merge into what it is now with --model ${model}`,
    });
  return path;
}

/** The recorded hash of a run's model; undefined if there is none. */
const trainedHash = (run: RunDirectory): string | undefined =>
  run.begun ? run.readEnvironment().hashes.model : undefined;

/** Hash of a model directory; undefined for a Hugging Face checkpoint. */
const hashOf = async (model: string): Promise<string | undefined> =>
  existsSync(join(model, "model.onnx")) ? modelHash(model) : undefined;
