import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { type Context, Hono } from "hono";
import { parse } from "yaml";
import { sha256 } from "../../../src/core/files.js";
import { serveApp } from "../../../src/core/serve.js";
import { writeCheckpoint } from "../../../src/runs/checkpoint.js";
import { summarize, writeEvaluation } from "../../../src/runs/evaluation.js";
import { writeRollouts } from "../../../src/runs/rollout-record.js";
import { callProgram } from "../../support/call-program.js";
import { exampleRun, rollout } from "../../support/example-run.js";
import { temporaryFolder } from "../../support/temporary.js";

const TOKEN = "hf_secret";

/** The Hub's routes for uploads, as its client uses them: create, preupload, LFS batch, the storage, commit. */
class LocalHub {
  readonly app = new Hono();
  url = "";
  /** Committed files by repository. */
  readonly repos = new Map<string, Map<string, Buffer>>();
  readonly titles: string[] = [];
  private readonly stored = new Map<string, Buffer>();

  constructor() {
    const { app } = this;
    const bodyOf = async (c: Context): Promise<Buffer> => Buffer.from(await c.req.arrayBuffer());
    app.put("/storage/:oid", async (c) => {
      const [oid, body] = [c.req.param("oid"), await bodyOf(c)];
      if (sha256(body) !== oid) return c.json({ error: "another hash" }, 400);
      this.stored.set(oid, body);
      return c.json({});
    });
    app.use((c, next) =>
      c.req.header("authorization") === `Bearer ${TOKEN}`
        ? next()
        : Promise.resolve(c.json({ error: "Invalid username or password" }, 401)),
    );
    app.post("/api/repos/create", async (c) => {
      const { name, organization, type } = await c.req.json();
      const id = `${type}s/${organization}/${name}`;
      if (this.repos.has(id)) return c.json({ error: "You already created this repo" }, 409);
      this.repos.set(id, new Map());
      return c.json({ url: `${this.url}/${id}`, id });
    });
    app.post("/*", async (c) => {
      const { path } = c.req;
      if (path.endsWith("/name.git/info/lfs/objects/batch")) return c.json(this.batch(await bodyOf(c)));
      const files = this.repos.get(/^\/api\/((?:models|datasets)\/org\/name)\//.exec(path)?.[1] ?? "");
      if (files === undefined) return c.notFound();
      if (path.endsWith("/commit/main")) return c.json(this.commit(files, await bodyOf(c)));
      const wanted = (await c.req.json()).files as { path: string }[];
      const modeOf = (file: string): string => (file.endsWith(".safetensors") ? "lfs" : "regular");
      return c.json({ files: wanted.map((file) => ({ path: file.path, uploadMode: modeOf(file.path) })) });
    });
  }

  private batch(body: Buffer): object {
    const { objects } = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] };
    const upload = (oid: string): object => ({ upload: { href: `${this.url}/storage/${oid}` } });
    const asked = objects.map((one) => ({ ...one, ...(this.stored.has(one.oid) ? {} : { actions: upload(one.oid) }) }));
    return { transfer: "basic", objects: asked };
  }

  private commit(files: Map<string, Buffer>, body: Buffer): object {
    for (const line of body.toString().trim().split("\n")) {
      const { key, value } = JSON.parse(line);
      if (key === "header") this.titles.push(value.summary);
      else if (key === "file") files.set(value.path, Buffer.from(value.content, value.encoding));
      else if (key === "lfsFile") files.set(value.path, this.stored.get(value.oid) as Buffer);
      else throw new Error(`an operation ${key}`);
    }
    return { success: true, commitOid: "c0ffee", commitUrl: `${this.url}/commit/c0ffee`, hookOutput: "" };
  }
}

describe("push", async () => {
  const dir = temporaryFolder("push");
  const hub = new LocalHub();
  const push = (...args: string[]) => callProgram("train", dir, ["push", run.dir, "org/name", ...args]);
  const served = await serveApp(hub.app, 0, "hub");
  hub.url = served.baseUrl;
  const run = await exampleRun(dir, "run");
  const site = '{ kind: url, base_url: "http://ann:pa55word@127.0.0.1:1", tasks: tasks.jsonl }';
  writeFileSync(run.config, `model: models/tiny-refusion\nenvironment: { kind: forms }\nsite: ${site}\n`);
  await writeRollouts(run.rollouts(20), [rollout(0), rollout(1)]);
  const tensor = { dtype: "float32", shape: [3], data: Float32Array.of(1, -2, 3) } as const;
  const tensors = new Map([["base_model.model.q.lora_A.weight", tensor]]);
  const checkpoint = { step: 20, adapter: { config: { peft_type: "LORA", r: 8 }, tensors }, weights: null };
  await writeCheckpoint(join(run.checkpoints, "step-000020"), { ...checkpoint, optimizer: new Map(), state: {} });
  const tries = [true, false].map((success) => ({ task_id: "t", form: "f", reward: 0.5, success, metrics: {} }));
  const checksum = { judge: "1a2b3c4d0000", tasks: "5e6f7a8b0000" };
  const about = { split: "test", policy: "model", seed: 1, split_hash: "h", temperature: 1, checksum };
  await writeEvaluation(join(run.dir, "eval", "last", "test.json"), summarize(tries, about, 2));
  beforeEach(() => {
    process.env.HF_ENDPOINT = `${hub.url}/`;
    process.env.HF_TOKEN = TOKEN;
  });
  after(() => served.stop());

  it("--dry-run writes the folder and asks nobody", async () => {
    delete process.env.HF_TOKEN;
    const { code, out, err } = await push("--dry-run", "--base", "org/base");
    assert.deepEqual([code, out], [0, ""], err);
    assert.equal(hub.repos.size, 0);
    const card = readFileSync(join(run.dir, "push", "model", "README.md"), "utf8");
    const [, front = "", text = ""] = card.split("---\n");
    const { base_model, datasets } = parse(front) as Record<string, unknown>;
    assert.deepEqual([base_model, datasets], ["org/base", ["org/name"]]);
    assert.match(text, /last +test +2 +0 +0\.500 [\s\S]* 1a2b3c4d-5e6f7a8b\n/);
    assert.match(text, /pass@2 +100\.0 %/);
    assert.match(text, /npx refusion-train flow-grpo --config config\.yaml/);
    const config = readFileSync(join(run.dir, "push", "model", "config.yaml"), "utf8");
    assert.ok(config.includes("127.0.0.1:1") && !`${card}${config}`.includes("pa55word"));
  });

  it("uploads the folder as commits to a model and a data set, again too", async () => {
    for (const times of [1, 2]) {
      const { code, out, err } = await push();
      assert.equal(code, 0, err);
      assert.equal(out, `${hub.url}/commit/c0ffee\n`.repeat(2));
      assert.deepEqual(hub.titles, Array(2 * times).fill("refusion-train: last"));
    }
    const model = hub.repos.get("models/org/name");
    const weights = readFileSync(join(run.checkpoints, "step-000020", "adapter_model.safetensors"));
    assert.deepEqual(model?.get("adapter_model.safetensors"), weights);
    for (const file of ["README.md", "config.yaml", "adapter_config.json", "eval/last/test.json"])
      assert.ok(model?.has(file), file);
    assert.ok(!model?.has("optimizer.safetensors"));
    const lines = String(hub.repos.get("datasets/org/name")?.get("data/step-000020.jsonl")).trim().split("\n");
    assert.equal(lines.length, 2);
    const { task_id, turns, detail } = JSON.parse(lines[0] as string);
    const { task_id: id, turns: played, detail: known } = rollout(0);
    assert.deepEqual([task_id, JSON.parse(detail)], [id, known]);
    assert.deepEqual([turns[0].response, turns[0].trajectory], [played[0]?.response, undefined]);
  });

  it("says what to do without a token, with a wrong one, and with a name that is none", async () => {
    delete process.env.HF_TOKEN;
    const none = await push();
    assert.deepEqual([none.code, /HF_TOKEN is not set[\s\S]*next: .*--dry-run/.test(none.err)], [2, true], none.err);
    process.env.HF_TOKEN = "hf_other";
    const wrong = await push("--no-rollouts");
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /could not be uploaded[\s\S]*next: the account of HF_TOKEN/);
    assert.ok(!wrong.err.includes("hf_other"));
    for (const name of ["name", "owner/..", "../name", "owner/.", "-o/name", "o/a--b", "o/name.git", "a/b/c"]) {
      const named = await callProgram("train", dir, ["push", "--", run.dir, name]);
      assert.deepEqual([named.code, /write owner\/name/.test(named.err)], [2, true], name + named.err);
    }
  });

  it("prints no token: not one that no request can carry, nor one that the server repeats", async () => {
    const app = new Hono().all("*", (c) => c.json({ error: `bad ${c.req.header("authorization")}` }, 500));
    const echo = await serveApp(app, 0, "echo");
    process.env.HF_ENDPOINT = echo.baseUrl;
    for (const token of ["hf_first secret", "hf_first\nsecret", "hf_first\u00e9secret", " hf_firstsecret\n"]) {
      process.env.HF_TOKEN = token;
      const { code, err, out } = await push("--debug");
      assert.ok(code === 1 || code === 2);
      assert.match(err, /next: /);
      assert.doesNotMatch(err + out, /first|secret/);
    }
    await echo.stop();
  });
});
