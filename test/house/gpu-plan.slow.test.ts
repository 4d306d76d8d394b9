import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../src/core/files.js";

const script = join(packageRoot(), "scripts", "gpu-plan.mjs");
const compiled = fileURLToPath(new URL("../..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "gpu-plan-test-"));
after(() => rmSync(dir, { recursive: true, force: true }));

interface Copies {
  readonly bytes: number;
  readonly sizes: Readonly<Record<string, number>>;
}
interface Counters {
  readonly peak: number;
  readonly syncs: number;
  readonly toDevice: Copies;
  readonly toHost: Copies;
  readonly gemms: Readonly<Record<string, number>>;
}
interface Result {
  readonly weights: number;
  readonly first: Readonly<Record<string, Counters>>;
  readonly phases: Readonly<Record<string, Counters>>;
  readonly offDevice: readonly { readonly op: string }[];
  readonly failure?: { readonly message: string };
}

function plan(...args: string[]): { status: number | null; stderr: string; result: Result } {
  const json = join(dir, `${args.join("")}.json`);
  const { status, stderr } = spawnSync(process.execPath, [script, ...args, "--json", json], {
    encoding: "utf8",
    env: { ...process.env, REFUSION_DIST: compiled },
  });
  return { status, stderr, result: JSON.parse(readFileSync(json, "utf8")) as Result };
}

const has = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const possible =
  process.platform === "linux" &&
  process.arch === "x64" &&
  has("g++", "--version") &&
  has("python3", "-m", "pip", "--version");

describe("gpu-plan", { skip: possible ? false : "needs Linux x64, g++ and Python with pip" }, () => {
  it("tiny: everything on the device, layers in 16 bits, and without that in float32", () => {
    for (const precision of ["bfloat16", "float16", "float32"]) {
      const { status, stderr, result } = plan("--size", "tiny", "--precision", precision);
      assert.equal(status, 0, stderr);
      assert.deepEqual(result.offDevice, []);
      const [type] = precision === "float32" ? ["tf32"] : [precision === "bfloat16" ? "bf16" : "f16"];
      const products = Object.keys(result.phases["ESPO, update"]?.gemms ?? {}).map((key) => key.split(" ")[0]);
      assert.ok(products.length > 5);
      // the head alone keeps float32
      const others = products.filter((types) => !types?.startsWith(type as string));
      assert.ok(others.length <= 4, others.join());
    }
  });

  it("says that a card is too small, and what it had", () => {
    const { status, result } = plan("--size", "tiny", "--gpu-gb", "0.001");
    assert.equal(status, 1);
    assert.match(result.failure?.message ?? "", /memory does not suffice/);
  });

  it("8B in NF4 on 24 GB: a whole step, the base once, a few bytes back", () => {
    const { status, stderr, result } = plan("--size", "8b", "--rounds", "2", "--checkpoint");
    assert.equal(status, 0, stderr);
    assert.deepEqual(result.offDevice, []);
    const espo = result.phases["ESPO, update"] as Counters;
    assert.ok(espo.peak < 16e9, `${espo.peak} bytes at the peak`);
    // four micro-batches and the optimizer: the end of each run alone
    assert.ok(espo.syncs <= 10, `${espo.syncs} synchronisations`);
    assert.ok(espo.toHost.bytes < 1e4);
    // the first phase uploads the base, the next one (policy, reference and training) adapters and moments alone
    const loaded = result.first["ESPO, values to compare with"] as Counters;
    assert.ok(loaded.toDevice.bytes < 1.1 * result.weights, `${loaded.toDevice.bytes} of ${result.weights}`);
    const trained = result.first["ESPO, update"] as Counters;
    assert.ok(trained.toDevice.bytes < 1e9);
  });
});
