import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { foundPath } from "../../src/config/config.js";
import { packageRoot } from "../../src/core/files.js";
import { programEnvironment } from "../support/program-environment.js";
import { freePort } from "../support/redis.js";
import { temporaryFolder } from "../support/temporary.js";

const root = packageRoot();
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  name: string;
  bin: Record<string, string>;
};

/** Runs a program, by default Node, to its end. */
const ended = (args: readonly string[], cwd: string, { env = process.env, program = process.execPath } = {}) =>
  spawnSync(program, args, { cwd, encoding: "utf8", env });
const npm = (args: readonly string[], cwd: string) =>
  ended([...args, "--no-audit", "--no-fund", "--ignore-scripts"], cwd, { program: "npm" });

describe("the package as it is published", () => {
  const dir = temporaryFolder("package");
  let files: string[] = [];
  let tarball = "";
  const installed = (): string => join(dir, "node_modules", manifest.name);

  before(() => {
    const packed = npm(["pack", "--json", "--pack-destination", dir], root);
    assert.equal(packed.status, 0, packed.stderr);
    const [about] = JSON.parse(packed.stdout) as { filename: string; size: number; files: { path: string }[] }[];
    assert.ok(about !== undefined && about.size < 25e6, `${about?.size} bytes`);
    files = about.files.map((file) => file.path);
    tarball = about.filename;
    install(dir, join(dir, tarball));
  });

  it("holds the programs, the shipped models, configs and docs, and nothing else", () => {
    const allowed =
      /^(dist\/src\/.*\.(js|d\.ts)|models\/(?:tiny-refusion-(?:letters|template)|smollm2-letters)\/.*|configs\/.*\.(yaml|mjs)|src\/features\/embedded\/forms\.yaml|src\/features\/wizards\/wizards\.yaml|docs\/.*|jobs\/.*\.(sh|sbatch|yaml)|examples\/.*|(README|CHANGELOG|ARCHITECTURE)\.md|LICENSE|package\.json)$/;
    const others = files.filter((file) => !allowed.test(file));
    assert.deepEqual(others, []);
    const some = ["docs/model.md", "configs/tiny/letters-flow-grpo.yaml", "LICENSE"];
    for (const path of [...Object.values(manifest.bin), ...some]) assert.ok(files.includes(path), path);
    // every compiled source is there: a folder is a registry, and one file less is an objective less
    const compiled = readdirSync(join(root, "dist", "src"), { recursive: true, encoding: "utf8" });
    const missing = compiled.filter((file) => file.endsWith(".js") && !files.includes(`dist/src/${file}`));
    assert.deepEqual(missing, []);
  });

  it("does not bring the simulator of the control environment, and says how to install it", () => {
    assert.ok(!existsSync(join(dir, "node_modules", "@mujoco")));
    const control = join(installed(), "dist", "src", "features", "control", "environments", "control.js");
    const program = `const { environment } = await import(${JSON.stringify(pathToFileURL(control).href)});
      await environment.open({ environment: { kind: "control" } }).catch((e) => console.log(e.message, e.hint));`;
    const { stdout } = ended(["--input-type=module", "--eval", program], root);
    assert.match(stdout, /@mujoco\/mujoco is not installed.*npm install .*@mujoco\/mujoco@/);
  });

  const run = (program = "", ...args: string[]) =>
    ended([join(installed(), manifest.bin[program] as string), ...args], dir);

  it("checks its machine in an empty folder", () => {
    const { status, stdout, stderr } = run("refusion-train", "doctor", "--json");
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; found: string }[] };
    // this machine's disk and memory are not the package's concern
    const misses = checks.filter((check) => !check.ok && check.name !== "disk" && check.name !== "memory");
    assert.deepEqual(misses, [], stderr);
    assert.ok(status === 0 || checks.some((check) => !check.ok));
  });

  it("goes through a dry run, and writes nothing", () => {
    const before = readdirSync(dir);
    const config = "node_modules/refusion-train/configs/tiny/letters-flow-grpo.yaml";
    const { status, stdout, stderr } = run(
      ...["refusion-train", "flow-grpo", "--config", config, "--dry-run", "training.group_size=2"],
      ...["training.rollout_batch=2", "training.micro_batch=2", "evaluation.batch=2", "runtime.provider=cpu"],
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /played +2 rollouts[\s\S]*a step +about [\s\S]*the run +about /);
    assert.deepEqual(readdirSync(dir), before);
    assert.equal(run("refusion-eval", "--help").status, 0);
  });

  it("fills in the shipped page from the shipped letter in an empty folder: npx refusion-train try", () => {
    const empty = mkdtempSync(join(dir, "empty-"));
    // as npx calls it; no display, whatever this machine has
    const env = programEnvironment({ DISPLAY: "", WAYLAND_DISPLAY: "" });
    const script = join(installed(), manifest.bin["refusion-train"] as string);
    const { status, stdout, stderr } = ended([script, "try"], empty, { env });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /round 1:\n[\s\S]*round 2:\n[\s\S]*The server received[\s\S]*reward [01]\.\d{3}/);
    const film = stdout.trimEnd().split("\n").at(-1) ?? "";
    assert.ok(existsSync(join(empty, film)), film);
  });

  it("installed globally, runs a module of the user's that imports it", () => {
    const prefix = join(dir, "global");
    const place = installGlobally(prefix, join(dir, tarball));
    const own = temporaryFolder("own");
    const text = readFileSync(join(place, "examples", "reward.mjs"), "utf8");
    assert.match(text, /from "refusion-train"/);
    writeFileSync(join(own, "reward.mjs"), text);
    const args = ["--config", "configs/tiny/letters-flow-grpo.yaml", "--policy", "oracle", "--episodes", "1"];
    const script = join(place, manifest.bin["refusion-eval"] as string);
    const { status, stderr } = ended([script, ...args, "--split", "val", "reward=./reward.mjs"], own);
    assert.equal(status, 0, stderr);
  });

  it("goes through docs/your-own-site.md, file by file and command by command, with fewer steps", async () => {
    const own = mkdtempSync(join(dir, "site-"));
    const port = await freePort();
    // where SmolLM2 has not been fetched, a shipped model learns in its place
    const fetched = foundPath("models/smollm2");
    const hasBase = fetched !== undefined;
    const base =
      "model: models/smollm2\ninit_adapter: models/smollm2-letters # reads letters about forms of any site\n";
    const lengths = "prompt_length: 96, response_length: 80";
    const fewer = [
      ["8080", String(port)],
      ["node_modules/refusion-train", installed()],
      ["steps: 24, prompts_per_step: 8, group_size: 8", "steps: 1, prompts_per_step: 2, group_size: 4"],
      ["training.steps=15", "training.steps=1"],
      ["training.steps=45", "training.steps=1"],
      ["step-000015", "step-000001"],
      ["episodes: 50", "episodes: 2"],
      [base, hasBase ? base : "model: models/tiny-refusion-letters\n"],
      [lengths, hasBase ? lengths : "prompt_length: 224, response_length: 112"],
    ] as const;
    let text = readFileSync(join(installed(), "docs", "your-own-site.md"), "utf8");
    for (const [now, then] of fewer) {
      assert.ok(text.includes(now), now);
      text = text.replaceAll(now, then);
    }
    const env = programEnvironment(fetched === undefined ? {} : { REFUSION_HOME: dirname(dirname(fetched)) });
    writeFileSync(join(own, "letter.txt"), "Dear insurer, this is Ivo Osei. A pipe burst overnight in my flat.");
    // the first block is the command of section 5
    const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].slice(1);
    let server: ChildProcess | undefined;
    const printed: string[] = [];
    try {
      for (const [, language = "", block = ""] of blocks) {
        if (language === "yaml")
          writeFileSync(join(own, /^# (\w+\.yaml)/.exec(block)?.[1] ?? assert.fail(block)), block);
        if (language !== "") continue;
        for (const command of block.trim().split("\n")) {
          // done by `install`, by this machine's browser, and by `hasBase`
          if (/^npm |playwright install|fetch-smollm2/.test(command)) continue;
          const [program = "", ...args] = command.replace(/^npx |^node /, "").split(" ");
          if (args.at(-1) === "&") {
            server = spawn(process.execPath, [program, ...args.slice(0, -1)], { cwd: own, stdio: "ignore" });
            while (!existsSync(join(own, "tasks.jsonl")) || !(await answers(`http://127.0.0.1:${port}/claim/0`)));
            continue;
          }
          const script = join(installed(), manifest.bin[program] as string);
          const run = (given: readonly string[]) => ended([script, ...given], own, { env });
          let done = run(args);
          // eight answers may not tell all values of any letter: then labels make the run that later commands name
          if (args.includes("--rollouts") && /No rollout of runs\/claim had all fields/.test(done.stderr))
            done = run([...args.filter((arg) => !/^(--rollouts|runs\/claim)$/.test(arg)), "site.tasks=first30.jsonl"]);
          assert.equal(done.status, 0, `${command}\n${done.stderr}`);
          printed.push(done.stdout);
        }
      }
    } finally {
      server?.kill();
    }
    assert.match(printed.join(""), /^oracle .* 1\.000 \[1\.000, 1\.000\]/m);
    assert.ok(existsSync(join(own, "runs", "claim", "report.html")));
    assert.ok(existsSync(join(own, "runs", "both", "report.html")));
  });

  it("runs README's commands as they are printed, and has a reason for each that it leaves out", async (t) => {
    const readme = readFileSync(join(installed(), "README.md"), "utf8");
    const base = foundPath("models/smollm2");
    const own = mkdtempSync(join(dir, "readme-"));
    const port = await freePort();
    const rows = Array.from({ length: 20 }, (_, i) => {
      return `P-${i}00,${["Fire", "Water"][i % 2]},Policy P-${i}00; a ${i % 2 ? "flood" : "fire"}.`;
    });
    writeFileSync(join(own, "claims.csv"), `policy,kind,mail\n${rows.join("\n")}\n`);
    writeFileSync(join(own, "server.mjs"), CLAIMS);
    const server = spawn(process.execPath, ["server.mjs", String(port)], { cwd: own, stdio: "ignore" });
    const env = programEnvironment({
      ...{
        DISPLAY: "",
        WAYLAND_DISPLAY: "",
        PATH: `${join(dir, "node_modules", ".bin")}${delimiter}${process.env.PATH}`,
      },
      ...(base === undefined ? {} : { REFUSION_HOME: dirname(dirname(base)) }),
    });
    const unknown: string[] = [];
    const ran: string[] = [];
    try {
      for (const line of commandsOf(readme)) {
        const why = LEFT_OUT.find(([start]) => line.startsWith(start))?.[1];
        const promise = PROMISED.find(([start]) => line.startsWith(start))?.[1];
        if (why !== undefined) t.diagnostic(`not run: ${line} (${why})`);
        else if (promise === undefined) unknown.push(line);
        else if (base === undefined && !line.includes(" tasks "))
          t.diagnostic(`not run: ${line} (SmolLM2 is not here)`);
        else {
          const few = / sft /.test(line) ? " training.steps=1" : "";
          const command = line.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`) + few;
          const { status, stdout, stderr } = ended(["-c", command], own, { program: "sh", env });
          assert.equal(status, 0, `${command}\n${stderr}`);
          assert.match(stdout + stderr, promise, command);
          ran.push(line);
        }
      }
    } finally {
      server.kill();
    }
    assert.deepEqual(unknown, [], "new commands of README: run them here, or give a reason");
    assert.equal(ran.length, base === undefined ? 1 : PROMISED.length);
  });

  it("carries a TypeScript program of 30 lines that trains two steps and fills a form", () => {
    const program = readFileSync(join(installed(), "examples", "program.ts"), "utf8");
    assert.ok(program.trimEnd().split("\n").length <= 30);
    writeFileSync(join(dir, "program.ts"), program);
    writeFileSync(join(dir, "package.json"), '{ "private": true, "type": "module" }');
    // the package's own types, without this checkout's
    const types = ["--typeRoots", join(root, "node_modules", "@types"), "--types", "node"];
    const compiler = join(root, "node_modules", "typescript", "lib", "tsc.js");
    const options = ["--module", "nodenext", "--target", "es2023", "--strict", "--skipLibCheck", ...types];
    const compiled = ended([compiler, "program.ts", ...options], dir);
    assert.equal(compiled.status, 0, compiled.stdout);
    const { status, stdout, stderr } = ended(["program.js", "run"], dir, { env: programEnvironment() });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^trained 2 steps, val reward [01]\.\d+$/m);
    // what the plan says of the field stands in the field
    const [, planned] = /fill Guest Name \| (.*)/.exec(stdout) ?? [];
    assert.ok(planned !== undefined && planned !== "" && stdout.trimEnd().endsWith(planned), stdout);
    assert.ok(existsSync(join(dir, "run", "report.html")));
  });
});

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
/** Page that stands for README's own: a form, and the sentence that it shows only where it accepted. */
const CLAIMS = `import { createServer } from "node:http";
const form = '<form method="post"><p><label>Policy number <input name="policy" required></label></p>' +
  '<p><label>Kind of damage <select name="kind"><option>Fire<option>Water</select></label></p><button>File</button></form>';
createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    response.setHeader("content-type", "text/html");
    const isFiled = request.method === "POST" && new URLSearchParams(body).get("policy");
    response.end("<!doctype html><title>Claim</title>" + (isFiled ? "<p>Your claim is filed</p>" : form));
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
`;

/** Commands of README that run, by how they begin, and what README promises of each. */
const PROMISED: readonly (readonly [string, RegExp])[] = [
  ["refusion-train fetch-smollm2", /models\/smollm2/],
  [
    "refusion-train try --url examples/damage.html",
    /Policy holder +Ingrid Lindqvist +\d+ %[\s\S]*The form was not sent/,
  ],
  ["refusion-train tasks --from claims.csv", /claims: 20 tasks, 14 train, 3 val, 3 test/],
  ["refusion-eval --config claims/config.yaml --policy oracle", /^oracle .* 1\.000 /m],
  ["refusion-eval --config claims/config.yaml --split test", /^test: \d of 3 forms whole\. /m],
  ["refusion-train sft --config claims/config.yaml", /step +1/],
  ["refusion-eval --run runs/claims --split test", /^test: \d of 3 forms whole\. /m],
  ["refusion-train try --url http://127.0.0.1:8080/claim", /Policy number +\S+ +\d+ %[\s\S]*The form was not sent/],
];

/** Commands of README that are not run here, by how they begin, and why. */
const LEFT_OUT: readonly (readonly [string, string])[] = [
  ["npm ci && npm run build && npm pack", "made the package that is tested"],
  ["npm install --ignore-scripts PATH", "`install` does it"],
  ["npx playwright install", "needs a network; this machine's browser stands for it"],
  ["npx refusion-train try", "has a test of its own above"],
  ["npm start", "needs a clone and a network; test/house/setup has it"],
  ["npm test", "runs this file"],
  ["npm run bench", "needs a clone and minutes"],
];

/** Returns a page's shell commands: the lines of its blocks without a language, and those in its sentences. */
function commandsOf(markdown: string): string[] {
  const prose = markdown.replace(/^```\w+\n[\s\S]*?^```/gm, "");
  const blocks = [...prose.matchAll(/^```\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) => block.trim().split("\n"));
  const inline = [...prose.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`((?:npm|npx|node|refusion-\w+) [^`]+)`/g)];
  return [...blocks, ...inline.map(([, command = ""]) => command)];
}

/** As a user would; without a network, the packages that this checkout has stand in for the registry's. */
function install(dir: string, tarball: string): void {
  writeFileSync(join(dir, "package.json"), '{ "private": true }');
  if (npm(["install", "--prefer-offline", "--omit=dev", tarball], dir).status === 0) return;
  rmSync(join(dir, "node_modules"), { recursive: true, force: true });
  unpack(tarball, join(dir, "node_modules", manifest.name));
  linkPackages(dir);
  mkdirSync(join(dir, "node_modules", ".bin"), { recursive: true });
  for (const [name, script] of Object.entries(manifest.bin))
    symlinkSync(join("..", manifest.name, script), join(dir, "node_modules", ".bin", name));
}

/** Lays the package and its dependencies as `npm install -g` does. @returns the package's folder. */
function installGlobally(prefix: string, tarball: string): string {
  const place = join(prefix, "lib", "node_modules", manifest.name);
  unpack(tarball, place);
  linkPackages(place);
  return place;
}

function unpack(tarball: string, target: string): void {
  mkdirSync(target, { recursive: true });
  const unpacked = ended(["-xzf", tarball, "-C", target, "--strip-components=1"], root, { program: "tar" });
  assert.equal(unpacked.status, 0, unpacked.stderr);
}

/** The packages that this checkout has, in a folder's node_modules. */
function linkPackages(dir: string): void {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, entry] of Object.entries(lock.packages)) {
    // nested ones come with the package that they lie in
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || entry.dev === true || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    symlinkSync(join(root, path), join(dir, path));
  }
}
