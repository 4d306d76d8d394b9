import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../../src/core/files.js";
import { temporaryFolder } from "../../support/temporary.js";

const script = join(packageRoot(), "scripts", "gpu-plan.mjs");
const compiled = fileURLToPath(new URL("../../..", import.meta.url));
const dir = temporaryFolder("gpu-plan-test");

interface Counters {
  readonly syncs: number;
  readonly toDevice: { readonly bytes: number };
  readonly toHost: { readonly bytes: number };
  readonly gemms: Readonly<Record<string, number>>;
}
interface Result {
  readonly weights: number;
  readonly first: Readonly<Record<string, Counters>>;
  readonly phases: Readonly<Record<string, Counters>>;
  readonly sessions: readonly {
    readonly session: string;
    readonly runs: number;
    readonly roles: Readonly<Record<string, { launches: number; bytes: number }>>;
  }[];
  readonly offDevice: readonly { readonly op: string; readonly count: number }[];
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
const tools = (): boolean => has("g++", "--version") && has("python3", "-m", "pip", "--version");
const possible = process.platform === "linux" && process.arch === "x64" && tools();

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

  it("one layer of 8 B parameters: little crosses the bus, and the base once", () => {
    const { status, stderr, result } = plan("--size", "8b", "--layers", "1", "--checkpoint", "--cached");
    assert.equal(status, 0, stderr);
    const crossing = (phase: string): number => {
      const { toDevice, toHost } = result.phases[phase] as Counters;
      return toDevice.bytes + toHost.bytes;
    };
    const rounds = 64;
    assert.ok(crossing("rollout group") / rounds < 1e6, `${crossing("rollout group")} bytes in ${rounds} rounds`);
    for (const phase of ["Flow-GRPO, values to compare with", "Flow-GRPO, update", "ESPO, update"])
      assert.ok(crossing(phase) < 10e6, `${phase}: ${crossing(phase)} bytes`);
    // two at the end of a run, none inside: four micro-batches, the step, and one run for all constants of the step
    assert.ok((result.phases["ESPO, update"] as Counters).syncs <= 16);
    assert.ok((result.phases["rollout group"] as Counters).syncs <= 6.1 * rounds);
    const { runs = 0, roles } = result.sessions.find(({ session }) => session === "hidden_model/lanes") ?? {};
    // roles: the products of a round read the base at least, and what is constant is cast before the rounds
    assert.ok((roles?.products?.bytes ?? 0) > runs * 1e8);
    // what is kept moves in the first round, and in the second, where the rollouts part
    assert.equal(runs, 2 * (rounds - 2));
    assert.equal(roles?.["casts of constants"], undefined);
    // into the residual stream and out of it twice a layer; the angles
    assert.equal(roles?.["casts of activations"]?.launches, (4 + 6) * runs);
    // the head is cast in larger blocks than in an update, where a gradient reads it too
    const head = result.sessions.find(({ session }) => session === "rollout_model/head");
    assert.equal(head?.roles["casts of constants"]?.launches, 3 * (head?.runs ?? 0));
    const uploaded = (result.first["Flow-GRPO, update"] as Counters).toDevice.bytes;
    assert.ok(uploaded < 0.1 * result.weights, `${uploaded} bytes to the device where the base was there already`);
    assert.deepEqual(new Set(["Concat", ...result.offDevice.map(({ op }) => op)]), new Set(["Concat"]));
  });

  it("a captured product with a 4-bit matrix is named: its replay reads a table that is gone", () => {
    const capture = join(packageRoot(), "scripts", "gpu", "capture.mjs");
    const env = { ...process.env, REFUSION_DIST: compiled };
    const { stdout, stderr } = spawnSync(process.execPath, [capture], { encoding: "utf8", env });
    assert.notEqual(stdout, "", stderr);
    const { MatMulBnb4, MatMul } = JSON.parse(stdout) as Record<string, { replays: number; violations: object }>;
    assert.deepEqual([MatMul?.replays, MatMul?.violations], [MatMulBnb4?.replays, {}]);
    assert.match(JSON.stringify(MatMulBnb4?.violations), /a replay reads other bytes/);
  });

  it("says that a card is too small, and what it had", () => {
    const { status, result } = plan("--size", "tiny", "--gpu-gb", "0.001");
    assert.equal(status, 1);
    assert.match(result.failure?.message ?? "", /memory does not suffice/);
  });
});
