import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { parse } from "yaml";
import { writeCheckpoint } from "../../../src/runs/checkpoint.js";
import { summarize, writeEvaluation } from "../../../src/runs/evaluation.js";
import { writeRollouts } from "../../../src/runs/rollout-record.js";
import type { RunDirectory } from "../../../src/runs/run-directory.js";
import { callProgram } from "../../support/call-program.js";
import { exampleRun, rollout } from "../../support/example-run.js";

const TOKEN = "hf_secret";

/** The Hub's routes for uploads, as its client uses them: create, preupload, LFS batch, the storage, commit. */
class LocalHub {
  readonly server = createServer((request, response) => void this.answer(request, response));
  /** Committed files by repository. */
  readonly repos = new Map<string, Map<string, Buffer>>();
  readonly titles: string[] = [];
  private readonly stored = new Map<string, Buffer>();

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const say = (status: number, value: unknown): unknown =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const { pathname } = new URL(request.url ?? "/", this.url);
    const blob = /^\/storage\/([0-9a-f]{64})$/.exec(pathname)?.[1];
    if (blob !== undefined) {
      if (createHash("sha256").update(body).digest("hex") !== blob) return say(400, { error: "another hash" });
      this.stored.set(blob, body);
      return say(200, {});
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return say(401, { error: "Invalid username or password" });
    if (pathname === "/api/repos/create") {
      const { name, organization, type } = JSON.parse(body.toString());
      const id = `${type}s/${organization}/${name}`;
      if (this.repos.has(id)) return say(409, { error: "You already created this repo" });
      this.repos.set(id, new Map());
      return say(200, { url: `${this.url}/${id}`, id });
    }
    if (pathname.endsWith("/name.git/info/lfs/objects/batch")) return say(200, this.batch(body));
    const files = this.repos.get(/^\/api\/((?:models|datasets)\/org\/name)\//.exec(pathname)?.[1] ?? "");
    if (files === undefined) return say(404, { error: "Repository not found" });
    if (pathname.endsWith("/preupload/main")) {
      const wanted = JSON.parse(body.toString()).files as { path: string }[];
      const modeOf = (path: string): string => (path.endsWith(".safetensors") ? "lfs" : "regular");
      return say(200, { files: wanted.map(({ path }) => ({ path, uploadMode: modeOf(path) })) });
    }
    return pathname.endsWith("/commit/main") ? say(200, this.commit(files, body)) : say(404, { error: pathname });
  }

  private batch(body: Buffer): object {
    const { objects } = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] };
    const upload = (oid: string): object => ({ upload: { href: `${this.url}/storage/${oid}` } });
    return {
      transfer: "basic",
      objects: objects.map(({ oid, size }) => ({
        oid,
        size,
        ...(this.stored.has(oid) ? {} : { actions: upload(oid) }),
      })),
    };
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

describe("push", () => {
  const { HF_ENDPOINT, HF_TOKEN } = process.env;
  let dir: string;
  let hub: LocalHub;
  let run: RunDirectory;
  const push = (...args: string[]) => callProgram("train", dir, ["push", run.dir, "org/name", ...args]);
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "push-"));
    hub = new LocalHub();
    await new Promise<void>((resolve) => hub.server.listen(0, "127.0.0.1", resolve));
    run = await exampleRun(dir, "run");
    const site = '{ kind: url, base_url: "http://ann:pa55word@127.0.0.1:1", tasks: tasks.jsonl }';
    writeFileSync(run.config, `model: models/tiny-refusion\nenvironment: { kind: forms }\nsite: ${site}\n`);
    await writeRollouts(run.rollouts(20), [rollout(0), rollout(1)]);
    const tensor = { dtype: "float32", shape: [3], data: Float32Array.of(1, -2, 3) } as const;
    await writeCheckpoint(join(run.checkpoints, "step-000020"), {
      step: 20,
      adapter: {
        config: { peft_type: "LORA", r: 8 },
        tensors: new Map([["base_model.model.q.lora_A.weight", tensor]]),
      },
      weights: null,
      optimizer: new Map(),
      state: {},
    });
    const tries = [true, false].map((success) => ({ task_id: "t", form: "f", reward: 0.5, success, metrics: {} }));
    const checksum = { judge: "1a2b3c4d0000", tasks: "5e6f7a8b0000" };
    const about = { split: "test", policy: "model", seed: 1, split_hash: "h", temperature: 1, checksum };
    await writeEvaluation(join(run.dir, "eval", "last", "test.json"), summarize(tries, about, 2));
  });
  beforeEach(() => {
    process.env.HF_ENDPOINT = `${hub.url}/`;
    process.env.HF_TOKEN = TOKEN;
  });
  after(() => {
    hub.server.close();
    rmSync(dir, { recursive: true, force: true });
    for (const [key, value] of Object.entries({ HF_ENDPOINT, HF_TOKEN }))
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
  });

  it("--dry-run writes the folder and asks nobody", async () => {
    delete process.env.HF_TOKEN;
    const { code, out, err } = await push("--dry-run", "--base", "org/base");
    assert.deepEqual([code, out], [0, ""], err);
    assert.equal(hub.repos.size, 0);
    const card = readFileSync(join(run.dir, "push", "model", "README.md"), "utf8");
    const [, front = "", text = ""] = card.split("---\n");
    const { base_model, datasets } = parse(front) as Record<string, unknown>;
    assert.deepEqual([base_model, datasets], ["org/base", ["org/name"]]);
    assert.match(text, /last +test +2 +0 +0\.500 .* 1a2b3c4d-5e6f7a8b\n/);
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
    assert.ok(
      ["README.md", "config.yaml", "adapter_config.json", "eval/last/test.json"].every((file) => model?.has(file)),
    );
    assert.ok(!model?.has("optimizer.safetensors"));
    const lines =
      hub.repos.get("datasets/org/name")?.get("data/step-000020.jsonl")?.toString().trim().split("\n") ?? [];
    assert.equal(lines.length, 2);
    const { task_id, turns, detail } = JSON.parse(lines[0] as string);
    const first = rollout(0);
    assert.deepEqual(
      [task_id, turns[0].response, JSON.parse(detail)],
      [first.task_id, first.turns[0]?.response, first.detail],
    );
    assert.equal(turns[0].trajectory, undefined);
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
    const echo = createServer((request, response) => {
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: `bad ${request.headers.authorization}` }));
    }).listen(0, "127.0.0.1");
    await once(echo, "listening");
    process.env.HF_ENDPOINT = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    for (const token of ["hf_first secret", "hf_first\nsecret", "hf_first\u00e9secret", " hf_firstsecret\n"]) {
      process.env.HF_TOKEN = token;
      const { code, err, out } = await push("--debug");
      assert.ok(code === 1 || code === 2);
      assert.match(err, /next: /);
      assert.doesNotMatch(err + out, /first|secret/);
    }
    echo.close();
  });
});
