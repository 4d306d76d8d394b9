import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readTasks } from "../../../src/features/own-site/tasks-file.js";
import { type Boundaries, ofFile } from "../../support/boundary.js";
import { mutatedBytes, mutatedJsonText, mutatedText } from "../../support/mutations.js";

const BASE = "http://127.0.0.1:8080";
const task = { id: "a", form: "club/join", url: "/club/join", fields: { Name: "Ann" }, split: "train" };
/** Tasks that use every key, and all kinds of values. */
export const TASKS = [
  task,
  { ...task, id: "b", title: "Join us", url: `${BASE}/club/join?lang=en`, instruction: "Do it.", split: "heldout" },
  { ...task, id: "c", fields: { Age: 3, News: true, Days: ["Mon", "Fri"], Note: "" }, document: "I am Ann." },
  { ...task, id: "d", url: "/club/leave", success: { json: { path: "a.b", is: 3 } }, refused: { selector: "li" } },
];

/** The file of a site's tasks. */
export const boundaries: Boundaries = async (root) => {
  const path = join(root, "tasks.jsonl");
  const lines = TASKS.map((one) => JSON.stringify(one));
  const whole = lines.join("\n");
  writeFileSync(path, whole);
  const oneLine = fc
    .tuple(fc.constantFrom(...TASKS.keys()), fc.constantFrom("\n", "\r\n"))
    .chain(([at, newline]) => mutatedJsonText(TASKS[at]).map((bad) => lines.with(at, bad).join(newline)));
  const contents = fc.oneof(
    { weight: 6, arbitrary: oneLine },
    mutatedText(whole),
    mutatedBytes(new TextEncoder().encode(whole)),
    fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
    fc.array(fc.oneof(fc.json(), fc.constantFrom(...lines)), { maxLength: 6 }).map((some) => some.join("\n")),
  );
  return [ofFile("tasks.jsonl", path, contents, () => readTasks(path, BASE), { cases: 80 })];
};
