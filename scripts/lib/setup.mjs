// Everything between a fresh clone and a program that runs: packages, build, browser. Nothing but Node is needed.
// All of it prints to stderr: stdout is for results.
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

/** Ends the program with a message that says what to do. */
export function fail(...lines) {
  for (const line of lines) log(line);
  process.exit(1);
}

/**
 * Runs a program with its output on stderr.
 * @returns whether it ended with 0. Ctrl-C ends this program too.
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

/** Refuses a Node that is too old, by package.json's own `engines`. */
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
 * Whether node_modules holds what package-lock.json asks for: npm's own record of what it installed is compared, as
 * file times say nothing after a checkout.
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
    // packages for other platforms are left out
    if (have === undefined ? !optional && !peer : have !== version) return false;
  }
  return true;
}

/** `npm ci` where it is needed. */
export function installPackages(root = ROOT) {
  if (packagesAreCurrent(root)) return;
  log("Installing packages (npm ci) ...");
  // under `npm start` this is the npm that runs us; NODE_ENV=production would leave the compiler out
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

/** Compiles src and test to dist where a source changed; removes what has no source any more. */
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
 * Deletes compiled files whose source is gone: a deleted test would still run, and a deleted entry of a folder that is
 * a registry would still be registered.
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

/** Paths, sizes and times of everything that compilation reads. */
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

/** Every file below a folder but packages, sorted; none where the folder is missing. (Node 20 has no globs.) */
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
