import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { it } from "node:test";
import { packageRoot } from "../../src/core/files.js";

const source = join(packageRoot(), "src");
const SIMULATOR = "@mujoco/mujoco";
/** The one file that may load it, and only when the environment is opened. */
const OPENS = join("features", "control", "simulator", "simulator.ts");

/** Modules that are loaded with a file: static imports that TypeScript does not erase. */
const STATIC = /^(?:import|export)\s+(?!type\b)(?:[\w$*{}\s,]+?\s*from\s*)?["']([^"'\n]+)["']/gm;

it("nothing loads the simulator but the environment that needs it, when it is opened", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const read = (file: string): string => readFileSync(join(source, file), "utf8");
  const loading = files.filter((file) => [...read(file).matchAll(STATIC)].some(([, name]) => name === SIMULATOR));
  assert.deepEqual(loading, [], "imported as a file is loaded");
  const opening = files.filter((file) =>
    new RegExp(`\\bimport\\(\\s*["']${SIMULATOR}["']\\s*\\)(?!\\[|>)`).test(read(file)),
  );
  assert.deepEqual(opening, [OPENS]);
});

it("the command line's graph does not reach the control environment", () => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, name = ""] of readFileSync(join(source, file), "utf8").matchAll(STATIC))
      if (name.startsWith(".")) visit(relative(source, resolve(source, dirname(file), name.replace(/\.js$/, ".ts"))));
  };
  for (const entry of [join("cli", "train.ts"), join("train", "recipe.ts"), "index.ts"]) visit(entry);
  assert.ok(reached.size > 50);
  const actual = [...reached].filter((file) => file.startsWith(join("features", "control")));
  assert.deepEqual(actual, []);
});

it("the simulator is no dependency that is installed with the package", () => {
  const manifest = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as Record<string, object>;
  for (const section of ["dependencies", "optionalDependencies"])
    assert.ok(!(SIMULATOR in (manifest[section] ?? {})), section);
  const { peerDependenciesMeta = {} } = manifest as { peerDependenciesMeta?: Record<string, { optional?: boolean }> };
  assert.equal(peerDependenciesMeta[SIMULATOR]?.optional, true);
});
