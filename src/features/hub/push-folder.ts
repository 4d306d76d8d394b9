import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { RunConfig } from "../../config/config.js";
import { fail } from "../../core/errors.js";
import { writeDirectory } from "../../core/files.js";
import { withoutPasswords } from "../../core/shown.js";
import { SPLITS } from "../../env/environment.js";
import { readCheckpoint } from "../../runs/checkpoint.js";
import { type Evaluation, formatEvaluations, formatPassAt, readEvaluation } from "../../runs/evaluation.js";
import { type RolloutRecord, readRollouts } from "../../runs/rollout-record.js";
import type { RunDirectory } from "../../runs/run-directory.js";

export interface PushOptions {
  readonly repo: string;
  /** The checkpoint's directory, and its name for `refusion-eval`. */
  readonly checkpoint: string;
  readonly which: string;
  /** The base model's name on the Hub. */
  readonly base?: string | undefined;
  readonly rollouts: boolean;
}

const ADAPTER = ["adapter_config.json", "adapter_model.safetensors"];
/** Sections of the config that describe the training data. */
const DATA = ["environment", "site", "prompt", "reward", "plan"];

/** Writes a run's files into the folders of RUN/push: `model`, and `dataset` if it has rollouts. */
export async function writePushFolder(
  run: RunDirectory,
  config: RunConfig,
  options: PushOptions,
): Promise<{ readonly dir: string; readonly model: string; readonly dataset: string | undefined }> {
  if ((await readCheckpoint(options.checkpoint)).adapter === null)
    fail(`${run.dir} trained a whole model: there is no adapter to push.`, {
      hint: "the Hub's own tools upload a model directory",
    });
  const steps = options.rollouts ? run.rolloutSteps() : [];
  const evaluations = evaluationsOf(run, options.which);
  const model: Record<string, string> = { "README.md": modelCard(run, config, evaluations, steps.length > 0, options) };
  for (const { when, evaluation } of evaluations)
    model[`eval/${when}/${evaluation.split}.json`] = `${JSON.stringify(evaluation, undefined, 2)}\n`;
  // addresses in the config may contain a password
  model["config.yaml"] = withoutPasswords(readFileSync(run.config, "utf8"));
  const dir = join(run.dir, "push");
  rmSync(dir, { recursive: true, force: true });
  await writeDirectory(dir, async (aside) => {
    write(join(aside, "model"), model);
    for (const file of ADAPTER) copyFileSync(join(options.checkpoint, file), join(aside, "model", file));
    if (steps.length === 0) return;
    write(join(aside, "dataset"), { "README.md": datasetCard(options.repo, steps.length) });
    for (const step of steps) {
      const lines = readRollouts(run.rollouts(step)).map((record) => `${JSON.stringify(row(record))}\n`);
      write(join(aside, "dataset"), { [`data/step-${String(step).padStart(6, "0")}.jsonl`]: lines.join("") });
    }
  });
  return { dir, model: join(dir, "model"), dataset: steps.length === 0 ? undefined : join(dir, "dataset") };
}

function write(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

/** Reads the evaluations before training, and of the pushed checkpoint. */
function evaluationsOf(run: RunDirectory, which: string): { when: string; evaluation: Evaluation }[] {
  const own = join(run.dir, "eval");
  const folders = {
    before: join(own, "before"),
    ...(which === "last" ? { after: own } : {}),
    [which]: join(own, which),
  };
  return Object.entries(folders).flatMap(([when, folder]) =>
    [...SPLITS, "all"].flatMap((split) => {
      const file = join(folder, `${split}.json`);
      return existsSync(file) ? [{ when, evaluation: readEvaluation(file) }] : [];
    }),
  );
}

/** Columns of the data set before texts and detail, equal for all environments. */
const COLUMNS = [
  ...["step", "group", "rollout", "task_id", "form"],
  ...["reward", "success", "advantage", "fault", "tokens"],
] as (keyof RolloutRecord)[];

/** Makes a line of the data set; the environment's detail is JSON in a string. */
function row(record: RolloutRecord): object {
  const about = Object.fromEntries(COLUMNS.map((column) => [column, record[column]]));
  const turns = record.turns.map(({ prompt, response }) => ({ prompt, response }));
  return { ...about, turns, detail: JSON.stringify(record.detail) };
}

const frontMatter = (keys: object): string => `---\n${stringify(keys)}---\n`;
const code = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`;

function modelCard(
  run: RunDirectory,
  config: RunConfig,
  evaluations: readonly { readonly when: string; readonly evaluation: Evaluation }[],
  hasRollouts: boolean,
  { repo, base, which }: PushOptions,
): string {
  const { command, hashes, versions } = run.readEnvironment();
  const rows = evaluations.map(({ when, evaluation }) => ({ label: when, evaluation }));
  const data = Object.fromEntries(Object.entries(config).filter(([key]) => DATA.includes(key)));
  const passed = rows.map(({ evaluation }) => formatPassAt(evaluation)).filter((text) => text !== "");
  return `${frontMatter({
    ...(base === undefined ? {} : { base_model: base }),
    library_name: "refusion-train",
    tags: ["refusion-train", command, "lora", "diffusion-language-model"],
    ...(hasRollouts ? { datasets: [repo] } : {}),
  })}
# ${repo.split("/")[1]}

A LoRA adapter in PEFT's files, checkpoint \`${which}\` of a run of refusion-train ${versions.refusion_train ?? ""} by \`${command}\`.

## Base

${base === undefined ? "" : `\`${base}\`: `}\`${withoutPasswords(config.model)}\`, hash \`${hashes.model ?? "unknown"}\`.

## Data

Tasks of the hash \`${hashes.split ?? "unknown"}\`, as these sections of config.yaml give them:

${code("yaml", withoutPasswords(stringify(data)))}
## Evaluation

Means with 95 % bootstrap intervals over tasks. The checksum is of judge and tasks: evaluations that show the same can be
compared. The numbers of each task are in \`eval/\`.

${rows.length === 0 ? "This run was not evaluated.\n" : code("", [formatEvaluations(rows), ...passed].join("\n\n"))}
## Command

With the config.yaml of this repository, which holds every setting:

${code("sh", `npx refusion-train ${command} --config config.yaml`)}`;
}

function datasetCard(repo: string, steps: number): string {
  return `${frontMatter({
    configs: [{ config_name: "default", data_files: [{ split: "train", path: "data/*.jsonl" }] }],
    tags: ["refusion-train", "rollouts"],
  })}
# ${repo.split("/")[1]}: rollouts

What the policy of [${repo}](../../${repo}) wrote in ${steps} training steps, and what it was worth. One line a rollout: prompts and
responses by turn, reward (null where the environment failed), advantage, and the environment's detail as JSON.
`;
}
