import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "../../env/site.js";

/** A task as a tasks file has it (docs/sites.md). */
export type WrittenTask = Pick<Task, "id" | "form" | "url" | "fields" | "document" | "split"> & { title: string };

/** Letters of a token, and what a page and each of its fields add to a prompt or an answer, in tokens. */
const [LETTERS, PAGE, FIELD] = [3, 32, 24];

/** Rounds lengths up, so that few texts need other graphs. */
const rounded = (tokens: number): number => 32 * Math.ceil(tokens / 32);

/**
 * Writes tasks, a config for SmolLM2 and one letter of `test` into a folder.
 * @param out its name once it is complete. @param options letters of the options that the prompt shows.
 */
export function writeTasks(
  folder: string,
  tasks: readonly WrittenTask[],
  {
    out,
    baseUrl,
    success,
    options,
  }: {
    readonly out: string;
    readonly baseUrl: string;
    readonly success?: string | undefined;
    readonly options: number;
  },
): void {
  writeFileSync(join(folder, "tasks.jsonl"), tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
  const letter = (tasks.find(({ split }) => split === "test") ?? tasks[0])?.document;
  if (letter !== undefined) writeFileSync(join(folder, "letter.txt"), `${letter}\n`);
  const fields = Math.max(...tasks.map((task) => Object.keys(task.fields).length));
  const longest = Math.max(...tasks.map((task) => (task.document ?? Object.entries(task.fields).join()).length));
  const prompt = rounded((longest + options) / LETTERS + PAGE + FIELD * fields);
  const response = rounded(PAGE + FIELD * fields);
  const splits = ["val", "test"].filter((split) => tasks.some((task) => task.split === split));
  const most = Math.max(1, ...splits.map((split) => tasks.filter((task) => task.split === split).length));
  writeFileSync(
    join(folder, "config.yaml"),
    `model: models/smollm2
init_adapter: models/smollm2-letters
lora: {rank: 10, alpha: 20}
plan: template
prompt: {style: ${letter === undefined ? "compact" : "page"}}
site:
  kind: url
  tasks: ${JSON.stringify(join(out, "tasks.jsonl"))}
  base_url: ${baseUrl}
  # what the site shows only where it accepted a form; without it evaluation measures fields alone
  success: ${success === undefined ? null : `{text: ${JSON.stringify(success)}}`}
sampler: {kind: unmask, order: blanks, slot_fill: next-token, rounds: 32, temperature: 0, constrained_decoding: true, prompt_length: ${prompt}, response_length: ${response}, room: 16}
objective: {kind: sft, batch_size: 8, pack_length: ${Math.max(512, prompt + response)}}
training: {steps: 20, learning_rate: 5.0e-4}
evaluation: {splits: [${splits.join(", ")}], episodes: ${most}, every: 0}
`,
  );
}
