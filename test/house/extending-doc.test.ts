import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";

const read = (...path: string[]): string => readFileSync(join(packageRoot(), ...path), "utf8");
/** The names in backticks in a section of docs/extending.md. */
function named(heading: string, from: string): string[] {
  const section = read("docs", "extending.md").split(`## ${heading}\n`)[1]?.split("\n## ")[0]?.split(from)[1] as string;
  return [...section.matchAll(/`([a-zA-Z]+)(?:\([a-z, ]*\))?`/g)].map(([, name]) => name as string).sort();
}

/** The members of an interface, as its source writes them. */
function membersOf(name: string, path: string): string[] {
  const body = read(...path.split("/"))
    .split(`export interface ${name} {`)[1]
    ?.split("\n}")[0] as string;
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member]) => member as string);
}

test("docs/extending.md lists every operation of a loss's emitter", () => {
  const emitter = new Emitter(new GraphBuilder("doc"));
  const own = Object.keys(emitter).filter((key) => typeof emitter[key as keyof Emitter] === "function");
  const methods = Object.getOwnPropertyNames(Emitter.prototype).filter((key) => !["constructor", "pair"].includes(key));
  assert.deepEqual(named("What a loss may use", "The operations of `e`:"), [...own, ...methods].sort());
});

test("docs/extending.md lists every input of a loss and every member of an environment", () => {
  const text = read("docs", "extending.md");
  const members = [
    ...membersOf("LossInputs", "src/rl/objective.ts"),
    ...membersOf("Environment", "src/env/environment.ts"),
    ...membersOf("EpisodeOutcome", "src/env/environment.ts"),
    ...membersOf("EnvironmentTask", "src/env/environment.ts"),
  ];
  assert.ok(members.length > 40);
  assert.deepEqual(
    members.filter((member) => !new RegExp(`\\b${member}\\b`).test(text)),
    [],
  );
});
