import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { temporaryFolder } from "../support/temporary.js";

const script = join(packageRoot(), "scripts", "check-imports.mjs");

describe("check-imports", () => {
  let root = "";
  beforeEach(() => {
    root = temporaryFolder("check-imports");
  });

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, "src", path)), { recursive: true });
    writeFileSync(join(root, "src", path), text);
  };
  const check = (where: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, where], { encoding: "utf8" });
    assert.equal(stderr, "");
    const lines = stdout.split("\n").filter((line) => line !== "");
    /** The places of what is wrong; the last line counts them. */
    const places = lines.slice(0, -1).map((line) => line.split(" ")[0] ?? "");
    return { status, lines, places };
  };

  it("finds nothing in this repository", () => {
    assert.deepEqual(check(packageRoot()), { status: 0, lines: [], places: [] });
  });

  it("allows lower floors, the own floor and packages", () => {
    write("text/a.ts", 'import { x } from "../core/x.js";\nimport zod from "zod";\nimport "./b.js";\n');
    write("text/c.ts", 'import "../onnx/types.js";\n');
    write("text/deep/b.ts", 'import { a } from "../a.js";\n');
    write("cli/train.ts", 'import * as all from "../train/recipe.js";\nconst later = await import("../rl/a.js");\n');
    assert.deepEqual(check(root).lines, []);
    assert.equal(check(root).status, 0);
  });

  it("names every import of a higher floor with its line, in any form", () => {
    write(
      "core/a.ts",
      [
        '// import { a } from "../cli/comment.js";',
        "/* a comment",
        'import { a } from "../cli/comment.js"; */',
        'import { one } from "../text/one.js";',
        "import {",
        "  two,",
        "  type Three,",
        '} from "../train/two.js";',
        'import type { Four } from "../nn/four.js";',
        'export * from "../rl/five.js";',
        'export { six } from "../env/six.js";',
        'import "../cli/seven.js";',
        'const eight = () => import("../onnx/eight.js");',
      ].join("\n"),
    );
    const { status, lines, places } = check(root);
    assert.equal(status, 1);
    const wrong = [4, 8, 9, 10, 11, 12, 13].map((line) => `src/core/a.ts:${line}`);
    assert.deepEqual(places, wrong);
    assert.match(lines[1] ?? "", /core \(floor 0\) imports train \(floor 9\)/);
    assert.match(lines.at(-1) ?? "", /^7 imports against the floors/);
  });

  it("finds circles between folders of one floor, also longer ones", () => {
    write("autodiff/a.ts", 'import "../nn/b.js";\n');
    write("nn/b.ts", 'import "../optim/c.js";\n');
    write("optim/c.ts", 'import "../core/x.js";\n');
    assert.equal(check(root).status, 0);
    write("optim/d.ts", '\nimport "../autodiff/a.js";\n');
    const { status, places } = check(root);
    assert.equal(status, 1);
    assert.deepEqual(places, ["src/autodiff/a.ts:1", "src/nn/b.ts:1", "src/optim/d.ts:2"]);
  });

  it("finds circles of files, through types too", () => {
    write("nn/a.ts", 'import type { B } from "./b.js";\n');
    write("nn/b.ts", 'import { c } from "./deep/c.js";\n');
    write("nn/deep/c.ts", 'import "../d.js";\n');
    assert.equal(check(root).status, 0);
    write("nn/deep/c.ts", 'import "../d.js";\nexport type { A } from "../a.js";\n');
    const { status, lines } = check(root);
    assert.equal(status, 1);
    assert.deepEqual(lines.slice(0, -1), [
      "src/nn/a.ts:1 a.ts imports b.ts, which imports a.ts again",
      "src/nn/b.ts:1 b.ts imports c.ts, which imports b.ts again",
      "src/nn/deep/c.ts:2 c.ts imports a.ts, which imports c.ts again",
    ]);
  });

  it("keeps strangers apart and refuses what is on no floor or outside src", () => {
    write("env/a.ts", 'import "../diffusion/x.js";\n');
    write("rl/a.ts", 'import "../utilities/x.js";\nimport "../../scripts/x.mjs";\n');
    write("utilities/x.ts", "");
    const { status, places } = check(root);
    assert.equal(status, 1);
    assert.deepEqual(places, ["src/env/a.ts:1", "src/rl/a.ts:1", "src/rl/a.ts:2", "src/utilities/x.ts:1"]);
  });

  it("lets a feature be built on those that its line names, in no circle", () => {
    write("features/b/b.ts", "");
    write("features/a/a.ts", 'import "../b/b.js";\n');
    write("cli/train.ts", 'import "../features/b/b.js";\n');
    write("index.ts", 'export * from "./features/a/a.js";\n');
    const found = (): string[] => check(root).places;
    assert.deepEqual(found(), ["src/cli/train.ts:1", "src/features/a/a.ts:1"]);
    const drawn = (order: string): void => writeFileSync(join(root, "ARCHITECTURE.md"), order);
    drawn("- `a` (on `b`): one\n- `b` (on `a`): two\n");
    assert.deepEqual(found(), ["src/cli/train.ts:1"]);
    write("features/b/b.ts", 'import "../a/other.js";\n');
    assert.deepEqual(found(), ["src/cli/train.ts:1", "src/features/a/a.ts:1", "src/features/b/b.ts:1"]);
    write("features/b/b.ts", "");
    write("cli/train.ts", "");
    assert.deepEqual(found(), ["ARCHITECTURE.md:1", "ARCHITECTURE.md:2", "ARCHITECTURE.md:2"]);
    drawn("- `a` (on `b`): one\n- `b` (on `gone`): two\n");
    assert.deepEqual(found(), []);
    drawn("");
    assert.deepEqual(found(), ["src/features/a/a.ts:1"]);
  });

  it("lets an environment that is written as a user's own import only what the library exports, by name", () => {
    write("index.ts", 'export { shown, type Shape as Form } from "./core/a.js";\n');
    write("core/a.ts", "");
    write("features/miniwob/b.ts", 'import { type Shape, shown as s } from "../../core/a.js";\nimport "./c.js";\n');
    write("features/miniwob/commands/d.ts", 'import { hidden } from "../../../core/a.js";\n');
    write("features/other/e.ts", 'import { hidden } from "../../core/a.js";\n');
    assert.deepEqual(check(root).lines, []);
    const imports = 'import { shown, hidden, type Form } from "../../core/a.js";\nimport "../../core/a.js";\n';
    write("features/miniwob/b.ts", imports);
    const [names, whole] = check(root).lines;
    assert.equal(names, "src/features/miniwob/b.ts:1 miniwob imports hidden, Form, which src/index.ts does not export");
    assert.match(whole ?? "", /^src\/features\/miniwob\/b\.ts:2 miniwob imports \*/);
  });
});
