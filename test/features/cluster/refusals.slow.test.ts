import assert from "node:assert/strict";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { CliProcess } from "../../support/cli-process.js";
import { noRedis, TestRedis } from "../../support/redis.js";
import { ClusterFolder } from "./cluster-run.js";

const missing = noRedis();

describe("who may not work for a run", { skip: missing ?? false }, () => {
  let redis: TestRedis;
  const folder = new ClusterFolder();
  before(async () => {
    redis = await TestRedis.start("--requirepass", "hunter2-secret");
  });
  after(() => folder.remove());
  after(() => redis.stop());
  afterEach(() => folder.end());

  const password = { REFUSION_REDIS_PASSWORD: "hunter2-secret" };

  it("a worker of another version, or with another model, is refused by name; the password is nowhere", async () => {
    // another version: the worker's package says so
    const other = folder.path("other-version");
    cpSync(join(packageRoot(), "dist"), join(other, "dist"), { recursive: true });
    const own = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
    writeFileSync(join(other, "package.json"), JSON.stringify({ ...own, version: "0.0.9" }));
    for (const name of ["node_modules", "src", "models"])
      symlinkSync(join(packageRoot(), name), join(other, name), "junction");
    const asked = ["worker", "--redis", redis.url, "--name", "old"];
    const old = new CliProcess(asked, { cwd: folder.dir, env: password, root: other });
    // another model: one weight differs
    const model = folder.path("model");
    cpSync(join(packageRoot(), "models", "tiny-refusion"), model, { recursive: true });
    const weights = readFileSync(join(model, "model.safetensors"));
    weights[weights.length - 1] = (weights[weights.length - 1] as number) ^ 1;
    writeFileSync(join(model, "model.safetensors"), weights);
    const wrong = folder.worker(redis, ["--name", "wrong", "--model", model], password);
    const run = folder.coordinator(redis, "run", {}, password);
    // a run without a worker waits for one for ever: a worker that ends is told first
    assert.ok(await old.says(/does not work for run: other versions/), old.err);
    assert.ok(await wrong.says(/does not work for run: another model/), wrong.err);
    assert.ok(await run.says(/worker old is refused: other versions: refusion_train 0\.0\.9 instead of /), run.err);
    assert.ok(await run.says(/worker wrong is refused: another model: model \w+ instead of /), run.err);
    // the run goes on when one comes that may
    const right = folder.worker(redis, [], password);
    await folder.done(run);
    const said = [run, old, wrong, right].map(({ err, out }) => err + out).join("");
    assert.doesNotMatch(said, /hunter2/);
    for (const file of ["config.yaml", "env.json", "log.jsonl", "report.html"])
      assert.doesNotMatch(readFileSync(folder.path(join("run", file)), "utf8"), /hunter2/);
    old.killGroup();
    await old.ended;
  });

  it("without its password Redis lets nobody in, and the error says what to set", async () => {
    const { code, err } = await folder.worker(redis).ended;
    assert.equal(code, 1);
    assert.match(err, /cannot be used: .*NOAUTH[\s\S]*set REFUSION_REDIS_PASSWORD/);
  });
});
