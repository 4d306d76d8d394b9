import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { packageRoot } from "../../src/core/files.js";

const COMPILED = fileURLToPath(new URL("../../", import.meta.url));
const PROCESSES = 2;

/** What planted-faults.yaml says of each file; a fault's two texts are what stands there and what takes its place. */
type Planted = Readonly<
  Record<string, { readonly tests: string; readonly faults: Readonly<Record<string, [string, string]>> }>
>;
const LIST = parse(readFileSync(join(packageRoot(), "test/house/planted-faults.yaml"), "utf8")) as Planted;
const FAULTS = Object.entries(LIST).flatMap(([file, { tests, faults }]) =>
  Object.entries(faults).map(([name, [from, to]]) => ({ name, file, from, to, tests: tests.split(" ") })),
);

/** Tells whether a test of a file fails, of `file:pattern` one whose title matches; the first failure ends the file. */
async function fails(folder: string, named: string): Promise<boolean> {
  const [name, title = "."] = named.split(":");
  const child = spawn(
    process.execPath,
    ["--test-reporter=tap", `--test-name-pattern=${title}`, join(folder, "test", `${name}.test.js`)],
    {
      cwd: packageRoot(),
      // the runner of this test must not take over the one that is started
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let [out, err, found] = ["", "", false];
  child.stdout.on("data", (data: Buffer) => {
    out += data;
    found ||= /^\s*not ok /m.test(out);
    if (found) child.kill("SIGKILL");
  });
  child.stderr.on("data", (data: Buffer) => {
    err += data;
  });
  const [code] = await once(child, "close");
  // such as a file that cannot be loaded
  assert.ok(found || code === 0, `${named} fails without a test: ${err}`);
  return found;
}

/** Does some work with a copy of the compiled sources and tests, inside the package, where its dependencies are found. */
async function inCopy(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(packageRoot(), "planted-"));
  try {
    for (const part of ["src", "test"])
      cpSync(join(COMPILED, part), join(folder, part), {
        recursive: true,
        filter: (path) => !/\.(map|d\.ts)$/.test(path),
      });
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("every planted fault fits the sources", () => {
  const count = (file: string, from: string): number =>
    readFileSync(join(COMPILED, "src", file), "utf8").split(from).length - 1;
  assert.deepEqual(
    FAULTS.filter(({ file, from }) => count(file, from) !== 1).map(({ name, file }) => `${file}: ${name}`),
    [],
    "faults that no longer fit the sources: write them anew",
  );
});

// without a fault they pass, as all ordinary tests do
test("every planted fault makes a test fail", async () => {
  const left = FAULTS.values();
  const missed: string[] = [];
  const worker = (): Promise<void> =>
    inCopy(async (folder) => {
      for (const { name, file, from, to, tests } of left) {
        const path = join(folder, "src", file);
        const own = readFileSync(path, "utf8");
        writeFileSync(
          path,
          own.replace(from, () => to),
        );
        let failed = false;
        for (const name of tests) failed ||= await fails(folder, name);
        if (!failed) missed.push(`${file}: ${name}`);
        writeFileSync(path, own);
      }
    });
  await Promise.all(Array.from({ length: PROCESSES }, worker));
  assert.deepEqual(missed, []);
});
