import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/core/files.js";
import { Rng } from "../../src/core/rng.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import type { SampledModel } from "../../src/diffusion/tokens.js";
import { readAdapter } from "../../src/engine/adapter.js";
import { Engine } from "../../src/engine/engine.js";
import { sampledModel } from "../../src/engine/policy.js";
import { loraSites } from "../../src/nn/bind.js";
import { freshAdapter, type LoraOptions } from "../../src/nn/lora.js";
import { loadModel } from "../../src/nn/model.js";
import { type ModelProto, ModelProtoSchema } from "../../src/onnx/format/gen/onnx_pb.js";
import type { Runtime } from "../../src/onnx/session.js";
import { objective as sft } from "../../src/rl/objectives/sft.js";
import { readCheckpoint, writeCheckpoint } from "../../src/runs/checkpoint.js";
import {
  compareEvaluations,
  formatEvaluations,
  formatForms,
  formatPassAt,
  readEvaluation,
} from "../../src/runs/evaluation.js";
import { readMetrics } from "../../src/runs/metrics.js";
import { readRollouts } from "../../src/runs/rollout-record.js";
import { RunDirectory } from "../../src/runs/run-directory.js";
import { writeSafetensors } from "../../src/weights/safetensors.js";
import { microModel } from "../support/micro-model.js";
import { fuzz, mutatedBytes, mutatedJson, mutatedJsonText, mutatedText } from "../support/mutations.js";
import { plainTrajectory } from "../support/plain-trajectory.js";
import { rolloutRecord } from "../support/rollout-record.js";
import { temporaryFolder } from "../support/temporary.js";

const LORA: LoraOptions = { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] };

const opened = await loadModel(await microModel());

describe("whatever a file holds, it is read, or refused in words that name it", () => {
  const root = temporaryFolder("bad");
  const sites = loraSites(opened.graph, LORA);

  const file = (name: string, content: string): string => {
    const path = join(root, name);
    writeFileSync(path, content);
    return path;
  };
  const jsonOf = mutatedJsonText;

  it("configs", async () => {
    const text = readFileSync(join(packageRoot(), "configs", "tiny", "rl.yaml"), "utf8");
    const path = file("config.yaml", text);
    await fuzz(path, mutatedText(text), () => loadConfig(path, { command: "espo" }), 150);
    const value = await loadConfig(path, { command: "espo" });
    await fuzz(path, jsonOf(value), () => loadConfig(path, { command: "espo" }), 100);
    for (const name of ["wizards/sft", "control/sft", "miniwob/sft", "openenv/flow-grpo", "formfactory/smollm2-sft"]) {
      const source = readFileSync(join(packageRoot(), "configs", `${name}.yaml`), "utf8");
      const tree = { tracking: {}, ...parse(source), evaluation: { sampler: { temperature: 1 } } };
      writeFileSync(path, source);
      await fuzz(path, fc.oneof(jsonOf(tree), mutatedText(source)), () => loadConfig(path), 60);
    }
  });

  it("metrics, rollouts, evaluations and env.json of a run", async () => {
    const metrics = { step: 1, reward: 0.5, loss: null, time: { rollout: 1, score: 1, update: 1, total: 3 } };
    const lines = (value: unknown): fc.Arbitrary<string> => jsonOf(value).map((line) => `${line}\n`);
    let path = file("metrics.jsonl", `${JSON.stringify(metrics)}\n`);
    await fuzz(path, lines(metrics), () => readMetrics(path), 100);
    const rollout = rolloutRecord({
      metrics: { fields: 0.5 },
      credit: [1],
      turns: [{ prompt: "p", response: "r", reward: 0.5, trajectory: plainTrajectory([1, 5, 6], [7, 8, 9, 2]) }],
      detail: { truth: { a: 1 }, posted: [["a", "1"]], actions: [{ action: "submit", fate: "done" }] },
    });
    path = file("rollouts.jsonl", `${JSON.stringify(rollout)}\n`);
    const about = { tokens: { mask: 1, pad: 0, eos: 2 } } as SampledModel;
    const reads = (): void =>
      readRollouts(path).forEach(({ turns }) => {
        for (const turn of turns) sampler.parse(turn.trajectory, path, about);
      });
    await fuzz(path, lines(rollout), reads, 400);
    const interval = { mean: 0.5, low: 0, high: 1 };
    const scores = { episodes: 1, reward: interval, success_rate: interval, metrics: { fields: interval } };
    const one = { task_id: "t", form: "f", reward: 0.5, success: true, metrics: { fields: 1 } };
    const evaluation = {
      ...{ split: "val", policy: "model", faults: 0, seed: 1, split_hash: "x", temperature: null, ...scores },
      ...{ per_form: { f: scores }, per_task: [one], pass_at: { attempts: 2, tasks: 1, rates: [interval] } },
    };
    path = file("val.json", JSON.stringify(evaluation));
    const shows = (): void => {
      const read = readEvaluation(path);
      formatEvaluations([{ label: "", evaluation: read }]);
      formatForms(read);
      formatPassAt(read);
      compareEvaluations(read, read);
    };
    await fuzz(path, jsonOf(evaluation), shows, 300);
    const run = RunDirectory.create({ name: "run", parent: root });
    const facts = { command: "sft", config: "c", seeds: { run: 0 }, hashes: { model: "x" } };
    await run.writeEnvironment(facts);
    const environment = JSON.parse(readFileSync(run.environment, "utf8"));
    await fuzz(run.environment, jsonOf(environment), () => run.readEnvironment(), 100);
  });

  it("adapters", async () => {
    const dir = temporaryFolder("adapter");
    const tensors = freshAdapter(sites, LORA, Rng.named(1, "a"));
    const path = join(dir, "adapter_model.safetensors");
    const described = { r: LORA.rank, lora_alpha: LORA.alpha, peft_type: "LORA", target_modules: LORA.targets };
    writeSafetensors(path, tensors);
    writeFileSync(join(dir, "adapter_config.json"), JSON.stringify(described));
    const read = (): unknown => readAdapter(dir, { lora: LORA, sites, model: opened });
    read();
    await fuzz(path, mutatedBytes(readFileSync(path).subarray(0)), read, 200);
    await fuzz(path, mutatedHeader(readFileSync(path)), read, 300);
    await fuzz(join(dir, "adapter_config.json"), jsonOf(described), read, 100, dir);
  });

  it("checkpoints, of which not one wrong byte is believed", async () => {
    const dir = join(root, "checkpoints", "step-000001");
    await writeCheckpoint(dir, {
      step: 1,
      adapter: { config: { r: LORA.rank }, tensors: freshAdapter(sites, LORA, Rng.named(2, "a")) },
      weights: null,
      optimizer: new Map(),
      state: { cursor: 1, updates: 2 },
    });
    const good = await readCheckpoint(dir);
    for (const name of readdirSync(dir)) {
      const path = join(dir, name);
      const bytes = readFileSync(path);
      const read = async (): Promise<void> => assert.deepEqual(await readCheckpoint(dir), good);
      await fuzz(path, mutatedBytes(bytes), read, 60, dir);
    }
  });

  it("model directories", async () => {
    const dir = temporaryFolder("model");
    cpSync(opened.dir, dir, { recursive: true });
    const read = (): Promise<unknown> => loadModel(dir);
    for (const name of ["config.json", "tokenizer.json"]) {
      const path = join(dir, name);
      await fuzz(path, jsonOf(JSON.parse(readFileSync(path, "utf8"))), read, 150, dir);
    }
    const weights = join(dir, "model.safetensors");
    const bytes = readFileSync(weights);
    // the loader cannot judge the numbers of the weights, but it must notice missing bytes
    const cut = fc.nat(bytes.length - 1).map((end) => bytes.subarray(0, end));
    await fuzz(weights, cut, read, 30, dir);
  });

  it("graphs: bytes, and every part of the protocol buffer, up to the training graph", async () => {
    const dir = temporaryFolder("graph");
    cpSync(opened.dir, dir, { recursive: true });
    const path = join(dir, "model.onnx");
    const bytes = readFileSync(path);
    const read = async (): Promise<void> => {
      const model = await loadModel(dir);
      // a runtime that computes nothing: a fault must be found before it is used
      const engine = new Engine({ provider: "cpu" } as Runtime, model, {
        sampler,
        about: sampledModel(model.config),
        lora: LORA,
        training: {
          objective: sft,
          options: sft.schema.parse({}),
          optimizer: {
            ...{ kind: "adamw", beta1: 0.9, beta2: 0.99, epsilon: 1e-8 },
            ...{ weightDecay: 0, gradClip: 1, muonLrScale: 1 },
          },
        },
      });
      engine.checkTrainable();
    };
    await read();
    await fuzz(path, mutatedBytes(bytes), read, 120, dir);
    await fuzz(path, mutatedGraph(bytes), read, 250, dir);
  });
});

/** Generates safetensors files with other dtypes, shapes and offsets in the header and the same data. */
function mutatedHeader(bytes: Buffer): fc.Arbitrary<Uint8Array> {
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString("utf8"));
  const data = bytes.subarray(8 + length);
  return mutatedJson(header).map((value) => {
    const json = Buffer.from(JSON.stringify(value));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(json.length));
    return Buffer.concat([size, json, data]);
  });
}

const INTS = [-1n, 0n, 1n, 3n, 7n, 2n ** 31n, 2n ** 40n, 2n ** 62n];
const NAMES = ["", "logits", "input_ids", "../../outside", "/absolute", "nowhere"];

/** Generates graphs with renamed values (cycles, missing values), other sizes or types, or exchanged operators. */
function mutatedGraph(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(fc.nat(8), fc.nat(10_000), fc.nat(10_000), fc.nat(10_000));
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const proto = fromBinary(ModelProtoSchema, new Uint8Array(bytes));
    for (const [kind, a, b, c] of changes) mutate(proto, kind, a, b, c);
    return toBinary(ModelProtoSchema, proto);
  });
}

function mutate({ graph, opsetImport }: ModelProto, kind: number, a: number, b: number, c: number): void {
  if (graph === undefined) return;
  const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(1, items.length)];
  const node = pick(graph.node, a);
  const other = pick(graph.node, b);
  const initializer = pick(graph.initializer, a);
  if (node === undefined || other === undefined || initializer === undefined) return;
  const int = INTS[c % INTS.length] as bigint;
  const name = c % 2 === 0 ? (other.output[0] ?? "") : (NAMES[c % NAMES.length] as string);
  if (kind === 0) node.input[b % Math.max(1, node.input.length)] = name;
  else if (kind === 1) node.output[0] = name;
  else if (kind === 2) node.opType = other.opType;
  else if (kind === 3) initializer.dims[b % Math.max(1, initializer.dims.length)] = int;
  else if (kind === 4) initializer.dataType = b % 24;
  else if (kind === 5) {
    const attribute = pick(node.attribute, b);
    if (attribute === undefined) return;
    attribute.i = int;
    if (attribute.ints.length > 0) attribute.ints[c % attribute.ints.length] = int;
  } else if (kind === 6) {
    const entry = pick(initializer.externalData, b);
    if (entry !== undefined) entry.value = c % 2 === 0 ? String(int) : (NAMES[c % NAMES.length] as string);
  } else if (kind === 7) {
    const opset = opsetImport[0];
    if (opset !== undefined) opset.version = int;
  } else graph.node.splice(a % graph.node.length, 1);
}
