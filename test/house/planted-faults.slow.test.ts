import assert from "node:assert/strict";
import { execFile } from "node:child_process";
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

/** Runs test files until a test of one fails. @returns the file's name. */
async function failing(folder: string, tests: readonly string[]): Promise<string | undefined> {
  for (const name of tests) {
    const failed = await new Promise<boolean>((resolve, reject) =>
      execFile(
        process.execPath,
        ["--test-reporter=tap", join(folder, "test", `${name}.test.js`)],
        // the runner of this test must not take over the one that is started
        { cwd: packageRoot(), maxBuffer: 2 ** 24, env: { ...process.env, NODE_TEST_CONTEXT: undefined } },
        (error, stdout, stderr) => {
          const found = /^\s*not ok /m.test(stdout);
          // such as a file that cannot be loaded
          if (error !== null && !found) reject(new Error(`${name} fails without a test: ${stderr}`));
          else resolve(found);
        },
      ),
    );
    if (failed) return name;
  }
  return undefined;
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

test("the tests that find planted faults pass without one", async () => {
  const tests = [...new Set(FAULTS.flatMap((fault) => fault.tests))];
  await inCopy(async (folder) => assert.equal(await failing(folder, tests), undefined));
});

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
        if ((await failing(folder, tests)) === undefined) missed.push(`${file}: ${name}`);
        writeFileSync(path, own);
      }
    });
  await Promise.all(Array.from({ length: PROCESSES }, worker));
  assert.deepEqual(missed, []);
});
