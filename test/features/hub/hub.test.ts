import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { downloadFromHub, parseHubSource } from "../../../src/features/hub/checkpoints/hub.js";
import { type Answer, servePages } from "../../env/page-site.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const TOKEN = "hf_secret";
const WEIGHTS = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 251));
const FILES: Readonly<Record<string, Buffer>> = {
  "config.json": Buffer.from('{"model_type": "llama"}'),
  "model.safetensors": WEIGHTS,
  "tokenizer.json": Buffer.from("{}"),
  "README.md": Buffer.from("# not wanted"),
  "small.gguf": Buffer.from("GGUF"),
};

/** The Hub's routes, as its documentation and client have them: revision, tree and resolve with ranges. */
class LocalHub {
  readonly requests: { readonly url: string; readonly range: string | undefined }[] = [];
  url = "";
  /** Bytes after which a transfer of the weights is cut, once each. */
  cuts: number[] = [];
  token: string | undefined;
  /** What is sent in place of the weights. */
  weights = WEIGHTS;

  readonly answer: Answer = ({ url, headers }, response) => {
    const [pathname = ""] = url.split("?");
    const { range } = headers;
    this.requests.push({ url: pathname, range });
    const say = (status: number, body: unknown): boolean =>
      Boolean(response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)));
    if (this.token !== undefined && headers.authorization !== `Bearer ${this.token}`)
      return say(401, { error: "Access to model org/name is restricted" });
    if (pathname === "/api/models/org/name/revision/main") return say(200, { id: "org/name", sha: SHA });
    if (pathname === `/api/models/org/name/tree/${SHA}`) return say(200, Object.entries(FILES).map(listed));
    const path = pathname.replace(`/org/name/resolve/${SHA}/`, "");
    const data = path === "model.safetensors" ? this.weights : FILES[path];
    if (data === undefined) return say(404, { error: "Repository not found" });
    const [, first = "0", last = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "bytes=0-") ?? [];
    const part = data.subarray(Number(first), last === "" ? data.length : Number(last) + 1);
    response.writeHead(range === undefined ? 200 : 206, {
      etag: '"x"',
      "content-length": part.length,
      "content-range": `bytes ${first}-${Number(first) + part.length - 1}/${data.length}`,
    });
    const cut = part.length > 1 && path === "model.safetensors" ? this.cuts.shift() : undefined;
    if (cut === undefined) response.end(part);
    else response.write(part.subarray(0, cut), () => response.destroy());
    return true;
  };
}

const hex = (algorithm: string, ...parts: (string | Buffer)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash(algorithm)).digest("hex");

function listed([path, data]: [string, Buffer]): object {
  const entry = { type: "file", path, size: data.length, oid: hex("sha1", `blob ${data.length}\0`, data) };
  return path.endsWith(".safetensors")
    ? { ...entry, lfs: { oid: hex("sha256", data), size: data.length, pointerSize: 132 } }
    : entry;
}

describe("models of the Hub", async () => {
  const hub = new LocalHub();
  let cache: string;
  const served = await servePages({}, hub.answer);
  hub.url = served.baseUrl;
  after(() => served.stop());
  beforeEach(() => {
    cache = temporaryFolder("hub");
    Object.assign(process.env, { HF_ENDPOINT: `${hub.url}/`, HF_HUB_CACHE: cache });
    delete process.env.HF_TOKEN;
    Object.assign(hub, { cuts: [], token: undefined, weights: WEIGHTS });
    hub.requests.length = 0;
  });

  const fetched = (source = "hf:org/name"): Promise<string> => downloadFromHub(parseHubSource(source));
  const refused = (pattern: RegExp, hint: RegExp, source?: string): Promise<void> =>
    assert.rejects(fetched(source), userError(pattern, { hint }));

  it("are named as hf:org/name[@revision][:file]", () => {
    assert.deepEqual(parseHubSource("hf:a/b-1.5"), { repo: "a/b-1.5", revision: "main", file: undefined });
    assert.deepEqual(parseHubSource("hf:a/b@refs/pr/1:x.gguf"), { repo: "a/b", revision: "refs/pr/1", file: "x.gguf" });
    for (const odd of ["hf:a", "hf:a/b/c", "hf:", "hf:a/b@"])
      assert.throws(() => parseHubSource(odd), /names no model/);
  });

  it("come into the cache as Python keeps it, and only what export reads", async () => {
    const dir = await fetched();
    assert.equal(dir, join(cache, "models--org--name", "snapshots", SHA));
    assert.deepEqual(readdirSync(dir).sort(), ["config.json", "model.safetensors", "tokenizer.json"]);
    assert.deepEqual(readFileSync(join(dir, "model.safetensors")), WEIGHTS);
    hub.requests.length = 0;
    assert.equal(await fetched(), dir);
    assert.ok(hub.requests.every(({ url }) => !url.includes("/resolve/")));
    assert.match(await fetched("hf:org/name:small.gguf"), /small\.gguf$/);
  });

  it("go on where a transfer broke off", async () => {
    hub.cuts = [1_000_000, 500_000];
    const dir = await fetched();
    assert.deepEqual(readFileSync(join(dir, "model.safetensors")), WEIGHTS);
    const begins = hub.requests
      .filter(({ url }) => url.endsWith(".safetensors"))
      .map(({ range }) => Number(/bytes=(\d+)/.exec(range ?? "bytes=0")?.[1]));
    // what was sent last may not have arrived when the connection broke
    const [second, third] = begins.slice(-2) as [number, number];
    assert.ok(second > 0 && second <= 1_000_000, begins.join());
    assert.ok(third > second && third <= second + 500_000, begins.join());
  });

  it("go on in another call, too", async () => {
    const controller = new AbortController();
    const stopped = downloadFromHub(parseHubSource("hf:org/name"), {
      signal: controller.signal,
      progress: (file) => file === "model.safetensors" && controller.abort(),
    });
    await assert.rejects(stopped, { name: "AbortError" });
    hub.requests.length = 0;
    const dir = await fetched();
    assert.deepEqual(readFileSync(join(dir, "model.safetensors")), WEIGHTS);
    assert.match(hub.requests.at(-1)?.url ?? "", /tokenizer/);
    const first = hub.requests.filter(({ url, range }) => url.endsWith(".safetensors") && range !== "bytes=0-0");
    assert.match(first[0]?.range ?? "", /bytes=[1-9]/);
  });

  it("are hashed", async () => {
    hub.weights = Buffer.from(WEIGHTS).fill(1, 2_000_000, 2_000_001);
    await refused(/model\.safetensors arrived damaged/, /run the same command again/);
    assert.ok(!existsSync(join(cache, "models--org--name", "snapshots", SHA, "model.safetensors")));
    hub.weights = WEIGHTS;
    await fetched();
  });

  it("need a token where the Hub asks for one, and name what is not there", async () => {
    hub.token = TOKEN;
    await refused(/org\/name .*cannot be had: Access to model org\/name is restricted/, /set HF_TOKEN/);
    process.env.HF_TOKEN = TOKEN;
    await fetched();
    await refused(/org\/other .*cannot be had: Repository not found/, /check the name/, "hf:org/other");
    await refused(/There is no file x\.gguf in org\/name at main/, /it has small\.gguf/, "hf:org/name:x.gguf");
    process.env.HF_ENDPOINT = "http://127.0.0.1:1";
    await refused(/could not be downloaded/, /HF_ENDPOINT/);
  });
});
