import { misuse } from "../../core/errors.js";
import { loadFolder } from "../../core/registry.js";
import type { Rng } from "../../core/rng.js";
import type { Task } from "../../env/site.js";
import type { Field } from "./fields.js";

export const LEVELS = ["off", 1, 2, 3] as const;
export type LetterLevel = (typeof LEVELS)[number];
export type WrittenLevel = Exclude<LetterLevel, "off">;

/** Adds a letter of a level to a task. A file under letters/ of a feature exports it as `letter`. */
export type Letter = (task: Task, fields: readonly Field[], level: WrittenLevel, rng: Rng) => Task;

/** Adds letters of one level. */
export interface Letters {
  readonly level: WrittenLevel;
  add(task: Task, fields: readonly Field[], rng: Rng): Task;
}

/** Loads what adds letters of a level; undefined for "off". @throws UserError where no feature writes letters. */
export async function lettersOf(level: LetterLevel): Promise<Letters | undefined> {
  if (level === "off") return undefined;
  const [letter] = (await loadFolder<Letter>(new URL("./letters/", import.meta.url), "letter")).values();
  if (letter === undefined)
    misuse("This build writes no letters: the feature `letters` is missing.", { hint: "Set letters=off." });
  return { level, add: (task, fields, rng) => letter(task, fields, level, rng) };
}
