import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { temporaryFolder } from "../support/temporary.js";

const root = packageRoot();
const features = readdirSync(join(root, "src", "features")).sort();

/** Files of a feature outside of its folders src/features/NAME, test/features/NAME and configs/NAME. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  control: ["configs/documents/flowgrpo-control.yaml"],
  fsdfm: [
    "configs/documents/espo-fsdfm.yaml",
    ..."espo flow-grpo letters-flow-grpo letters-sft model sft template-flow-grpo template-sft"
      .split(" ")
      .map((name) => `configs/tiny/fsdfm-${name}.yaml`),
  ],
  objectives: "cj-grpo coupled-grpo flowrl gdpo just-grpo mdpo spg trace-rl wd1"
    .split(" ")
    .map((name) => `configs/papers/${name}.yaml`),
  "own-site": ["configs/verdict"],
  paper: [
    "configs/letters",
    "configs/tiny/letters-sft.yaml",
    "configs/tiny/template-flow-grpo.yaml",
    "configs/tiny/template-sft.yaml",
  ],
};

/** Rooms that look for features, and need neither a browser nor a training. */
const ROOMS = /test\/(cli|config|core|rl|runs|watch)\//;
/** The schema in docs/, the names of other trainers and what the core calls are of all features. */
const OF_ALL_FEATURES = /(json-schema|unknown-keys|core\/features)\.test\.js$/;

/** Copies the project; tests of one feature may use another, so that only the core's are kept. */
function copied(): string {
  const copy = temporaryFolder("features");
  for (const name of readdirSync(root)) {
    if (["node_modules", "dist", "runs", ".git", ".cache"].includes(name)) continue;
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/[/\\](node_modules|\.cache)([/\\]|$)/.test(path),
    });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  rmSync(join(copy, "test", "features"), { recursive: true, force: true });
  return copy;
}

function run(folder: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    // the runner of this test must not take over the one that is started
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });
  assert.equal(
    status,
    0,
    `${stdout
      .split("\n")
      .filter((line) => /not ok|error/.test(line))
      .join("\n")}\n${stderr}`,
  );
  return stdout;
}

const compiler = join(root, "node_modules", "typescript", "bin", "tsc");

/** Returns a feature with those that are built on it, by the drawn order. */
function withDependents(name: string): string[] {
  const order = [...readFileSync(join(root, "ARCHITECTURE.md"), "utf8").matchAll(/^- `([\w-]+)` \(on ([^)]*)\)/gm)];
  const found = new Set([name]);
  for (const one of found)
    for (const [, dependent = "", list] of order) if (list?.includes(`\`${one}\``)) found.add(dependent);
  return [...found];
}

/** Returns src/index.ts without the exports of features. */
const withoutExports = (entry: string, names: readonly string[]): string =>
  entry.replace(new RegExp(`^export [^;]* from "\\./features/(${names.join("|")})/.*\n`, "gm"), "");

describe("every feature can be deleted", () => {
  it("leaves no import of it in the rest, with those built on it, so that the rest compiles as before", () => {
    const source = join(root, "src");
    const paths = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
    const texts = new Map(paths.map((path) => [path, readFileSync(join(source, path), "utf8")]));
    const imports = [...texts].flatMap(([path, text]) =>
      [...text.matchAll(/(?:from|import|import\()\s*"(\.[^"]+)"/g)].map(([, to = ""]) => ({
        path,
        to: join(path, "..", to),
      })),
    );
    assert.ok(imports.length > 3000);
    const exported = new RegExp(`^features/(${features.join("|")})/`);
    for (const feature of features) {
      const deleted = new RegExp(`^features/(${withDependents(feature).join("|")})/`);
      // the line of an export from a feature goes with it
      const left = imports.filter(({ path, to }) => deleted.test(to) && !deleted.test(path) && path !== "index.ts");
      assert.deepEqual(left, [], feature);
    }
    const entry = withoutExports(texts.get("index.ts") ?? "", features);
    assert.doesNotMatch(entry, /features\//);
    // a file's types are those of what it imports, as long as no file changes the types of all
    assert.deepEqual(
      [...texts].flatMap(([path, text]) =>
        exported.test(path) && /^declare (global|module)/m.test(text) ? [path] : [],
      ),
      [],
    );
  });

  it("builds without all of them, and passes the core's tests with the embedded site", () => {
    const copy = copied();
    const paths = features.flatMap((name) => [join("configs", name), ...(FURTHER[name] ?? [])]);
    for (const path of paths) rmSync(join(copy, path), { recursive: true, force: true });
    rmSync(join(copy, "src", "features"), { recursive: true });
    mkdirSync(join(copy, "src", "features"));
    const entry = join(copy, "src", "index.ts");
    writeFileSync(entry, withoutExports(readFileSync(entry, "utf8"), features));
    run(copy, [compiler, "-p", "tsconfig.json", "--noEmit"]);
    // the core's tests need a site to run on
    const site = join("src", "features", "embedded");
    cpSync(join(root, site), join(copy, site), { recursive: true });
    run(copy, [compiler, "-p", "tsconfig.json"]);
    const tests = readdirSync(join(copy, "dist", "test"), { recursive: true, encoding: "utf8" })
      .map((path) => join("dist", "test", path).replaceAll("\\", "/"))
      .filter((path) => path.endsWith(".test.js") && !path.endsWith(".slow.test.js"))
      .filter((path) => ROOMS.test(path) && !OF_ALL_FEATURES.test(path));
    assert.ok(tests.length >= 40, `${tests.length} test files`);
    const out = run(copy, ["--test", "--test-concurrency=3", "--test-reporter=tap", ...tests]);
    assert.match(out, /^# fail 0$/m);
    assert.ok(!existsSync(join(copy, "src", "features", "control")));
  });
});
