// Sets up a fresh clone until the program runs: packages and build (browser.mjs adds the browser). Needs only Node.
// All messages go to stderr: stdout is for results.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of package.json. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const SOURCES = ["src", "test"];
const COMPILED = [".js", ".js.map", ".d.ts"];

export function log(text) {
  process.stderr.write(`${text}\n`);
}

/** Ends the program with a message, which should say how to fix the problem. */
export function fail(...lines) {
  for (const line of lines) log(line);
  process.exit(1);
}

/**
 * Runs a program with its output on stderr.
 * @returns whether its exit code was 0. Ctrl-C ends this program too.
 */
export function run(command, args, { timeoutSeconds, env, cwd = ROOT } = {}) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", process.stderr, process.stderr],
    timeout: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
    env: { ...process.env, ...env },
  });
  if (error?.code === "ETIMEDOUT") log(`${command} took longer than ${timeoutSeconds} s: given up`);
  else if (signal === "SIGINT") process.exit(130);
  else if (error !== undefined) log(`${command}: ${error.message}`);
  return status === 0;
}

/** Ends the program where Node is older than `engines` of package.json asks for. */
export function checkNode(version = process.versions.node, root = ROOT) {
  const wanted = readJson(join(root, "package.json")).engines.node.replace(">=", "").split(".").map(Number);
  const got = version.split(".").map(Number);
  for (let i = 0; i < wanted.length; i++) {
    if (got[i] > wanted[i]) return;
    if (got[i] < wanted[i]) {
      fail(
        `Node ${wanted.join(".")} or newer is needed, this is ${version}.`,
        "  Get one from https://nodejs.org/en/download.",
      );
    }
  }
}

/**
 * Tests whether node_modules matches package-lock.json, by npm's own record of the installed packages: file times are
 * of no use after a checkout.
 */
export function packagesAreCurrent(root = ROOT) {
  const record = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const installed = readJson(record).packages;
  for (const [path, { version, optional, peer }] of Object.entries(
    readJson(join(root, "package-lock.json")).packages,
  )) {
    if (path === "") continue;
    const have = installed[path]?.version;
    // npm skips the packages of other platforms
    if (have === undefined ? !optional && !peer : have !== version) return false;
  }
  return true;
}

/** Runs `npm ci` where the packages are not current. */
export function installPackages(root = ROOT) {
  if (packagesAreCurrent(root)) return;
  log("Installing packages (npm ci) ...");
  // under `npm start` this npm runs the script; --include=dev keeps the compiler where NODE_ENV is production
  const npm = process.env.npm_execpath;
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const done =
    npm !== undefined && /npm-cli\.[cm]?js$/.test(npm)
      ? run(process.execPath, [npm, ...args], { cwd: root })
      : run(process.platform === "win32" ? "npm.cmd" : "npm", args, { cwd: root });
  if (!done) fail("npm ci failed (above). Check the network or npm's registry setting, then run this again.");
  if (root !== ROOT) return;
  log("Packages are installed. They run on the CPU; for an NVIDIA GPU add its library once (docs/gpu.md):");
  log("  node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=true");
}

/** Compiles src and test to dist where a source changed, and removes compiled files whose source is gone. */
export function build(root = ROOT) {
  removeOrphans(root);
  const stamp = join(root, "dist", ".built");
  const fingerprint = fingerprintOf(root);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) return;
  log("Compiling ...");
  rmSync(stamp, { force: true });
  if (
    !run(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.json"], { cwd: root })
  ) {
    fail("The TypeScript sources do not compile (above).");
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint);
}

/**
 * Deletes compiled files whose source is gone: otherwise a deleted test would still run, and a deleted module in a
 * registry's folder would stay registered.
 */
export function removeOrphans(root = ROOT) {
  for (const folder of SOURCES) {
    for (const path of filesUnder(join(root, "dist", folder))) {
      const suffix = COMPILED.find((end) => path.endsWith(end));
      if (suffix === undefined) continue;
      const source = join(root, relative(join(root, "dist"), path).slice(0, -suffix.length));
      if (!existsSync(`${source}.ts`)) rmSync(path);
    }
  }
}

/** Hashes the paths, sizes and times of all files that the compiler reads. */
function fingerprintOf(root) {
  const hash = createHash("sha256");
  const inputs = [join(root, "tsconfig.json"), join(root, "package-lock.json")];
  for (const folder of SOURCES) inputs.push(...filesUnder(join(root, folder)).filter((path) => path.endsWith(".ts")));
  for (const path of inputs) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${relative(root, path).split(sep).join("/")} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** Lists the files below a folder in order, without node_modules; none where it is missing. (Node 20 has no globs.) */
export function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesUnder(path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
