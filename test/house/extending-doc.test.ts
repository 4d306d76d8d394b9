import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";

test("docs/extending.md has a signature of every operation of a loss's emitter", () => {
  const text = readFileSync(join(packageRoot(), "docs", "extending.md"), "utf8").split("class Emitter {")[1] as string;
  const listed = [...(text.split("\n}")[0] as string).matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name as string);
  const emitter = new Emitter(new GraphBuilder("doc"));
  const own = Object.keys(emitter).filter((key) => typeof emitter[key as keyof Emitter] === "function");
  const methods = Object.getOwnPropertyNames(Emitter.prototype).filter((key) => !["constructor", "pair"].includes(key));
  assert.deepEqual(listed.sort(), [...own, ...methods].sort());
});
