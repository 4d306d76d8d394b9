import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { anyscaleYaml, entrypoint, environmentOf, jobOf, readJob } from "../../../src/cli/submit/job.js";
import { type RayJob, RayJobs, type RayStatus, type Send } from "../../../src/cli/submit/ray.js";
import { filesOf, submitToRay } from "../../../src/cli/submit/submit.js";
import { zip } from "../../../src/cli/submit/zip.js";
import { UserError } from "../../../src/core/errors.js";
import { packageRoot } from "../../../src/core/files.js";

const job = jobOf({ name: "mine", config: "configs/tiny/espo.yaml", run_dir: "/shared/my runs/1" }, "test");

describe("a job", () => {
  it("starts a run, or resumes it where it has begun", () => {
    const dir = mkdtempSync(join(tmpdir(), "job-"));
    try {
      const command = entrypoint({ ...job, run_dir: dir, program: "echo", settings: ["training.steps=3"] });
      const said = (): string => spawnSync("sh", ["-c", command], { encoding: "utf8" }).stdout.trim();
      assert.equal(said(), `refusion-train train --config espo.yaml --run-dir ${dir} training.steps=3`);
      writeFileSync(join(dir, "env.json"), "{}");
      assert.equal(said(), `refusion-train train --resume --run-dir ${dir}`);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("takes secrets from the environment, and says which is missing", () => {
    assert.deepEqual(environmentOf({ env: { A: "1" }, env_from: ["B"] }, { B: "2" }), { A: "1", B: "2" });
    assert.throws(() => environmentOf({ env: {}, env_from: ["B"] }, {}), /takes B from the environment/);
  });

  it("is refused with every problem", () => {
    assert.throws(
      () => jobOf({ name: "a b", config: "x", cpu: 1 }, "job.yaml"),
      (error) => error instanceof UserError && /name/.test(error.message) && /run_dir/.test(error.message),
    );
  });

  it("becomes an Anyscale job without its secrets", () => {
    const yaml = anyscaleYaml({ ...job, image: "image:1", compute: "four", env: { A: "1" }, env_from: ["SECRET"] });
    assert.deepEqual(parse(yaml), {
      name: "mine",
      image_uri: "image:1",
      compute_config: "four",
      working_dir: ".",
      entrypoint: entrypoint({ ...job, working_dir: "." }),
      env_vars: { A: "1" },
      max_retries: 2,
    });
    assert.match(yaml, /^# set from a secret store, not here: SECRET$/m);
  });

  it("lies in jobs/, four of them, with configs that are there", () => {
    for (const name of ["refusion-train", "refusion-evaluate", "fsdfm-train", "fsdfm-evaluate"]) {
      const shipped = readJob(join(packageRoot(), "jobs", `${name}.yaml`));
      assert.equal(shipped.name, name);
      assert.equal(filesOf(shipped).length, 1);
    }
  });
});

describe("the archive of a job", () => {
  it("is one that others can read", (t) => {
    const dir = mkdtempSync(join(tmpdir(), "zip-"));
    try {
      const path = join(dir, "a.zip");
      const entries = [
        { name: "config.yaml", bytes: Buffer.from("seed: 1\n") },
        { name: "folder/é.txt", bytes: Buffer.alloc(1000, "x") },
      ];
      writeFileSync(path, zip(entries));
      assert.ok(zip(entries).equals(zip(entries)));
      const script = "import zipfile,sys; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist())";
      const { status, stdout, error } = spawnSync("python3", ["-X", "utf8", "-c", script, path], { encoding: "utf8" });
      if (error !== undefined) return t.skip("python3, which reads it, is not here");
      assert.deepEqual([status, stdout.trim()], [0, "None ['config.yaml', 'folder/é.txt']"]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe("a job on Ray", () => {
  /** A head whose jobs end as they are told. */
  function head(endings: RayStatus["status"][]) {
    const submitted: RayJob[] = [];
    const stopped: string[] = [];
    const uploads: string[] = [];
    const sent: Send = async ({ pathname }, { method, body }) => {
      const [, id] = /^\/api\/jobs\/([^/]+)/.exec(pathname) ?? [];
      if (pathname.startsWith("/api/packages/")) {
        if (method === "GET") return new Response("", { status: 404 });
        uploads.push(pathname);
        return Response.json({});
      }
      if (pathname === "/api/jobs/") {
        submitted.push(JSON.parse(body as string) as RayJob);
        return Response.json({});
      }
      if (pathname.endsWith("/logs")) return Response.json({ logs: `log of ${id}\n` });
      if (pathname.endsWith("/stop")) {
        stopped.push(id as string);
        return Response.json({ stopped: true });
      }
      return Response.json({ status: stopped.includes(id as string) ? "STOPPED" : (endings.shift() ?? "RUNNING") });
    };
    return { ray: new RayJobs("http://head:8265", {}, sent), submitted, stopped, uploads };
  }
  const run = (ray: RayJobs, changes: object = {}, options: { stop?: boolean; signal?: AbortSignal } = {}) => {
    let printed = "";
    const code = submitToRay({
      ray,
      job: { ...job, ...changes },
      stop: options.stop ?? false,
      signal: options.signal ?? new AbortController().signal,
      print: (text) => {
        printed += text;
      },
      say: () => undefined,
      stamp: "x",
    });
    return { code, printed: () => printed };
  };

  it("is submitted again where it fails, and its workers end with it", async () => {
    const { ray, submitted, stopped, uploads } = head(["FAILED", "SUCCEEDED"]);
    const { code, printed } = run(ray, { workers: 1, cpus: 2, memory_gib: 1.5 });
    assert.equal(await code, 0);
    assert.deepEqual(
      submitted.map(({ submission_id }) => submission_id),
      ["mine-x-worker-0", "mine-x-try-1", "mine-x-try-2"],
    );
    assert.deepEqual(stopped, ["mine-x-worker-0"]);
    assert.equal(submitted[1]?.entrypoint, submitted[2]?.entrypoint);
    assert.deepEqual([submitted[1]?.entrypoint_num_cpus, submitted[1]?.entrypoint_memory], [2, 1.5 * 2 ** 30]);
    assert.match(submitted[1]?.runtime_env.working_dir ?? "", /^gcs:\/\/_ray_pkg_[0-9a-f]{16}\.zip$/);
    assert.equal(uploads.length, 1);
    assert.equal(printed(), "log of mine-x-try-1\nlog of mine-x-try-2\n");
  });

  it("is given up after its retries", async () => {
    const { ray, submitted } = head(["FAILED", "FAILED"]);
    await assert.rejects(run(ray, { retries: 1 }).code, /mine failed 2 times/);
    assert.equal(submitted.length, 2);
  });

  it("goes on after Ctrl-C, or stops where that was asked for", async () => {
    const aborted = AbortSignal.abort();
    const goesOn = head([]);
    assert.equal(await run(goesOn.ray, { workers: 1 }, { signal: aborted }).code, 130);
    assert.deepEqual(goesOn.stopped, []);
    const stops = head([]);
    assert.equal(await run(stops.ray, { workers: 1 }, { signal: aborted, stop: true }).code, 130);
    assert.deepEqual(stops.stopped, ["mine-x-try-1", "mine-x-worker-0"]);
  });
});
