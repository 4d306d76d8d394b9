// npm test [-- part-of-a-path ...] [-- --test-name-pattern=...]: sets everything up, then runs the quick tests.
// --slow runs the slow tests (*.slow.test.ts) instead. The last lines name the tests that failed.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBrowser } from "./lib/browser.mjs";
import { build, checkNode, fail, filesUnder, installPackages, log, ROOT } from "./lib/setup.mjs";

const args = process.argv.slice(2);
const slow = args.includes("--slow");
const nodeOptions = args.filter((arg) => arg.startsWith("--test-"));
const filters = args.filter((arg) => !arg.startsWith("-"));
const unknown = args.find((arg) => arg.startsWith("-") && arg !== "--slow" && !arg.startsWith("--test-"));
if (unknown !== undefined) {
  log(`Unknown option ${unknown}: expected --slow, one of Node's --test-... options, or parts of test files' paths.`);
  process.exit(2);
}

checkNode();
installPackages();
build();
await ensureBrowser();

/** Files of minutes: they begin first, so that no core is idle beside the last of them. */
const LONGEST = ["house/package", "house/boundaries", "house/planted-faults", "house/site", "learned-pages/components"];
const waits = (path) => !LONGEST.some((part) => path.includes(`${part}.slow`));

const files = filesUnder(join(ROOT, "dist", "test"))
  .map((path) => relative(ROOT, path).split(sep).join("/"))
  .filter((path) => path.endsWith(".test.js") && path.endsWith(".slow.test.js") === slow)
  .filter((path) => filters.length === 0 || filters.some((part) => path.includes(part.replace(/\.ts$/, ".js"))))
  .sort((a, b) => waits(a) - waits(b));
if (files.length === 0) {
  if (filters.length > 0) fail(`No ${slow ? "slow " : ""}test file has ${filters.join(" or ")} in its path.`);
  log(`There are no ${slow ? "slow " : ""}tests.`);
  process.exit(0);
}

// The time limit turns a hang into a failure that names the test; the slowest file of a busy machine ends within it.
const limit = slow ? 900_000 : 600_000;
const folder = mkdtempSync(join(tmpdir(), "tests-"));
const failed = join(folder, "failed");
process.on("exit", () => {
  if (existsSync(failed)) process.stdout.write(readFileSync(failed));
  rmSync(folder, { recursive: true });
});
const runner = spawn(
  process.execPath,
  [
    "--enable-source-maps",
    "--test",
    // with six files at once on two slow cores, time limits inside the tests ran out
    "--test-concurrency=4",
    `--test-timeout=${limit}`,
    `--test-reporter=${process.stdout.isTTY ? "spec" : "tap"}`,
    "--test-reporter-destination=stdout",
    `--test-reporter=${pathToFileURL(join(ROOT, "scripts", "lib", "failed-tests.mjs"))}`,
    `--test-reporter-destination=${failed}`,
    ...nodeOptions,
    ...files,
  ],
  { cwd: ROOT, stdio: "inherit" },
);
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => runner.kill(signal));
process.on("SIGINT", () => {
  // a terminal sends Ctrl-C to the runner as well, and a second signal would end it before its summary
  if (!process.stdin.isTTY) runner.kill("SIGINT");
});
runner.on("error", (error) => fail(`Cannot start the test runner: ${error.message}`));
runner.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
