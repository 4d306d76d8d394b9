import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { UserError } from "../../src/core/errors.js";
import {
  chooseProvider,
  cudaLibrary,
  cudaNeeds,
  matMulCheck,
  type Probe,
  type SelfCheck,
} from "../../src/onnx/provider.js";
import { Runtime } from "../../src/onnx/session.js";
import type { Tensor } from "../../src/onnx/types.js";
import { cpuRuntime, temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

/** Stands for a CUDA library that is installed: only its existence is looked at. */
const INSTALLED = fileURLToPath(import.meta.url);
const MISSING = "/nowhere/libonnxruntime_providers_cuda.so";

const product = (...values: number[]): Map<string, Float32Array> => new Map([["MatMul", Float32Array.of(...values)]]);
const agrees: Probe = async () => product(1, 2);
const differs: Probe = async (provider) => product(1, provider === "cpu" ? 2 : 2.5);
const fails: Probe = async (provider) => {
  if (provider === "cpu") return product(1, 2);
  throw new Error("libcudnn.so.9: cannot open shared object file");
};
const mustNotRun: Probe = async (provider) => assert.fail(`${provider} was tried`);

describe("chooseProvider", () => {
  it("takes the CPU without a check where it is asked for", async () => {
    assert.deepEqual(await chooseProvider("cpu", mustNotRun, INSTALLED), { provider: "cpu", reason: "requested" });
  });

  it("auto takes CUDA only if its library is there and the self-check agrees", async () => {
    const chosen = async (probe: Probe, library: string | undefined): Promise<string> => {
      const { provider, reason } = await chooseProvider("auto", probe, library);
      return `${provider}: ${reason}`;
    };
    assert.match(await chosen(agrees, INSTALLED), /^cuda: .*agrees/);
    assert.match(await chosen(mustNotRun, MISSING), /^cpu: .*not installed/);
    assert.match(await chosen(fails, INSTALLED), /^cpu: .*libcudnn/);
    const apart = /^cpu: .*MatMul differs from the CPU's by 25 % of its largest value\./;
    assert.match(await chosen(differs, INSTALLED), apart);
  });

  it("auto takes a result of NaN for a disagreement", async () => {
    const nan: Probe = async (provider) => product(provider === "cpu" ? 1 : Number.NaN);
    assert.equal((await chooseProvider("auto", nan, INSTALLED)).provider, "cpu");
  });

  it("reads off the provider's file which release of CUDA it needs, and says what is not there", async () => {
    const dir = temporaryFolder("cuda");
    const library = join(dir, "provider.so");
    // names lie across the borders of what is read at once
    const padding = (size: number): Buffer => Buffer.alloc(size, "x\0");
    const names = ["libcudart.so.97", "libcudnn.so.9"].map((name) => Buffer.from(`\0${name}\0`));
    writeFileSync(library, Buffer.concat([padding(2 ** 24 - 8), names[0] as Buffer, padding(100), names[1] as Buffer]));
    writeFileSync(join(dir, "libcudnn.so.9"), "");
    assert.deepEqual(cudaNeeds(library), ["libcudart.so.97", "libcudnn.so.9"]);
    const { reason } = await chooseProvider("auto", fails, library);
    assert.match(reason, /It needs libcudart\.so\.97, libcudnn\.so\.9; not found: libcudart\.so\.97\.$/);
  });

  it("says what is missing for a provider that cannot be used", async () => {
    const install = /install\.js --onnxruntime-node-install=true/;
    for (const [provider, probe, library, message, hint] of [
      ["cuda", mustNotRun, MISSING, /libonnxruntime_providers_cuda\.so is missing/, install],
      ["cuda", fails, INSTALLED, /libcudnn/, /driver\. It needs .*libcudnn/],
      ["cuda", differs, INSTALLED, /MatMul differs/, install],
      ["webgpu", fails, undefined, /webgpu provider cannot be used/, /Vulkan/],
    ] as const)
      await assert.rejects(chooseProvider(provider, probe, library), userError(message, { hint }));
  });

  it("runs the caller's checks too, each with its own tolerance, and names what differs", async () => {
    const check = (tolerance: number): SelfCheck => {
      return { graph: { ...matMulCheck().graph, name: "gradients" }, feeds: {}, tolerance };
    };
    // one output of five is right
    const probe: Probe = async (provider, { graph }) =>
      graph.name === "gradients"
        ? new Map(["a", "b", "c", "d", "e"].map((n, i) => [n, Float32Array.of(100, provider === "cpu" ? 0 : i)]))
        : product(1);
    const apart = /its b differs from the CPU's by 1 % of its largest value; its c .*; its d .*; and 1 more$/;
    await assert.rejects(chooseProvider("webgpu", probe, undefined, [check(0.005)]), userError(apart));
    assert.equal((await chooseProvider("webgpu", probe, undefined, [check(0.05)])).provider, "webgpu");
  });

  it("takes an output that is missing, or of another size, for a disagreement", async () => {
    const fewer: Probe = async (provider) => (provider === "cpu" ? product(1, 2) : product(1));
    const none: Probe = async (provider) => (provider === "cpu" ? product(1, 2) : new Map());
    for (const probe of [fewer, none])
      await assert.rejects(chooseProvider("webgpu", probe, undefined), /MatMul differs/);
  });

  it("takes a requested provider that passes the self-check", async () => {
    assert.equal((await chooseProvider("cuda", agrees, INSTALLED)).provider, "cuda");
    assert.equal((await chooseProvider("webgpu", agrees, undefined)).provider, "webgpu");
  });
});

describe("the self-check graph", () => {
  it("multiplies its matrices on the CPU", async () => {
    const { graph, feeds } = matMulCheck();
    const { a, b } = feeds as { a: Tensor; b: Tensor };
    const [rows, inner] = a.shape as [number, number];
    const cols = b.shape[1] as number;
    const expected = Array.from({ length: rows * cols }, (_, at) => {
      const [row, col] = [Math.floor(at / cols), at % cols];
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += Number(a.data[row * inner + k]) * Number(b.data[k * cols + col]);
      return sum;
    });
    const runtime = await cpuRuntime();
    await runtime.load("check", { bytes: runtime.encode(graph) });
    const got = (await runtime.run("check", { feeds })).MatMul?.data as Float32Array;
    assert.deepEqual([...got], expected);
  });
});

describe("Runtime.open", () => {
  it("logs what auto took and why", async () => {
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const runtime = await Runtime.open({ threads: 1, log });
    await runtime.close();
    assert.match(runtime.provider, /^(cpu|cuda)$/);
    assert.match(runtime.providerReason, /^auto: /);
    const { provider, reason } = JSON.parse(lines[0] ?? "{}") as Record<string, unknown>;
    assert.deepEqual([provider, reason], [runtime.provider, runtime.providerReason]);
  });

  const library = cudaLibrary();
  it("refuses cuda without its library", { skip: library !== undefined && existsSync(library) }, async () => {
    await assert.rejects(Runtime.open({ provider: "cuda", threads: 1 }), UserError);
  });
});
