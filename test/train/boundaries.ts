import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
import { freshAdapter, type LoraOptions, type LoraSite } from "../../src/nn/lora.js";
import { loadModel, type Model } from "../../src/nn/model.js";
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
import { type Boundaries, type Boundary, ofFile } from "../support/boundary.js";
import { microModel } from "../support/micro-model.js";
import { mutatedBytes, mutatedJson, mutatedJsonText, mutatedText } from "../support/mutations.js";
import { plainTrajectory } from "../support/plain-trajectory.js";
import { rolloutRecord } from "../support/rollout-record.js";

const LORA: LoraOptions = { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] };

/** Writes a file that is read as it is. @returns its path. */
function written(root: string, name: string, content: string): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

export const boundaries: Boundaries = async (root) => {
  const dir = join(root, "model");
  cpSync(await microModel(), dir, { recursive: true });
  const model = await loadModel(dir);
  const sites = loraSites(model.graph, LORA);
  return [
    ...(await configs(root)),
    ...(await runFiles(root)),
    ...adapters(root, model, sites),
    ...(await checkpoints(root, sites)),
    ...models(dir),
    ...graphs(dir),
  ];
};

async function configs(root: string): Promise<Boundary[]> {
  const text = readFileSync(join(packageRoot(), "configs", "tiny", "rl.yaml"), "utf8");
  const path = written(root, "config.yaml", text);
  const value = await loadConfig(path, { command: "espo" });
  const read = (): unknown => loadConfig(path, { command: "espo" });
  const either = fc.oneof(mutatedText(text), mutatedJsonText(value));
  const others = ["wizards/sft", "control/sft", "miniwob/sft", "openenv/flow-grpo", "formfactory/smollm2-sft"];
  return [
    ofFile("configs/tiny/rl.yaml", path, either, read, { cases: 40 }),
    ...others.map((name) => {
      const source = readFileSync(join(packageRoot(), "configs", `${name}.yaml`), "utf8");
      const tree = { tracking: {}, ...parse(source), evaluation: { sampler: { temperature: 1 } } };
      const here = written(root, `${name.replace("/", "-")}.yaml`, source);
      const contents = fc.oneof(mutatedJsonText(tree), mutatedText(source));
      return ofFile(`configs/${name}.yaml`, here, contents, () => loadConfig(here), { cases: 8 });
    }),
  ];
}

async function runFiles(root: string): Promise<Boundary[]> {
  const lines = (value: unknown): fc.Arbitrary<string> => mutatedJsonText(value).map((line) => `${line}\n`);
  const step = { step: 1, reward: 0.5, loss: null, time: { rollout: 1, score: 1, update: 1, total: 3 } };
  const metrics = written(root, "metrics.jsonl", `${JSON.stringify(step)}\n`);
  const rollout = rolloutRecord({
    metrics: { fields: 0.5 },
    credit: [1],
    turns: [{ prompt: "p", response: "r", reward: 0.5, trajectory: plainTrajectory([1, 5, 6], [7, 8, 9, 2]) }],
    detail: { truth: { a: 1 }, posted: [["a", "1"]], actions: [{ action: "submit", fate: "done" }] },
  });
  const rollouts = written(root, "rollouts.jsonl", `${JSON.stringify(rollout)}\n`);
  const about = { tokens: { mask: 1, pad: 0, eos: 2 } } as SampledModel;
  const readTurns = (): void =>
    readRollouts(rollouts).forEach(({ turns }) => {
      for (const turn of turns) sampler.parse(turn.trajectory, rollouts, about);
    });
  const interval = { mean: 0.5, low: 0, high: 1 };
  const scores = { episodes: 1, reward: interval, success_rate: interval, metrics: { fields: interval } };
  const one = { task_id: "t", form: "f", reward: 0.5, success: true, metrics: { fields: 1 } };
  const evaluation = {
    ...{ split: "val", policy: "model", faults: 0, seed: 1, split_hash: "x", temperature: null, ...scores },
    ...{ per_form: { f: scores }, per_task: [one], pass_at: { attempts: 2, tasks: 1, rates: [interval] } },
  };
  const evaluated = written(root, "val.json", JSON.stringify(evaluation));
  const shows = (): void => {
    const read = readEvaluation(evaluated);
    formatEvaluations([{ label: "", evaluation: read }]);
    formatForms(read);
    formatPassAt(read);
    compareEvaluations(read, read);
  };
  const run = RunDirectory.create({ name: "run", parent: root });
  await run.writeEnvironment({ command: "sft", config: "c", seeds: { run: 0 }, hashes: { model: "x" } });
  const environment = mutatedJsonText(JSON.parse(readFileSync(run.environment, "utf8")));
  return [
    ofFile("metrics.jsonl", metrics, lines(step), () => readMetrics(metrics)),
    ofFile("rollouts", rollouts, lines(rollout), readTurns, { cases: 50 }),
    ofFile("evaluations", evaluated, mutatedJsonText(evaluation), shows, { cases: 40 }),
    ofFile("env.json", run.environment, environment, () => run.readEnvironment()),
  ];
}

function adapters(root: string, model: Model, sites: readonly LoraSite[]): Boundary[] {
  const dir = mkdtempSync(join(root, "adapter-"));
  const path = join(dir, "adapter_model.safetensors");
  const described = { r: LORA.rank, lora_alpha: LORA.alpha, peft_type: "LORA", target_modules: LORA.targets };
  writeSafetensors(path, freshAdapter(sites, LORA, Rng.named(1, "a")));
  const config = written(dir, "adapter_config.json", JSON.stringify(described));
  const read = (): unknown => readAdapter(dir, { lora: LORA, sites, model });
  const bytes = readFileSync(path);
  const contents = fc.oneof(mutatedBytes(bytes.subarray(0)), mutatedHeader(bytes));
  return [
    ofFile("an adapter's tensors", path, contents, read, { cases: 60 }),
    ofFile("adapter_config.json", config, mutatedJsonText(described), read, { where: dir }),
  ];
}

async function checkpoints(root: string, sites: readonly LoraSite[]): Promise<Boundary[]> {
  const dir = join(root, "checkpoints", "step-000001");
  await writeCheckpoint(dir, {
    step: 1,
    adapter: { config: { r: LORA.rank }, tensors: freshAdapter(sites, LORA, Rng.named(2, "a")) },
    weights: null,
    optimizer: new Map(),
    state: { cursor: 1, updates: 2 },
  });
  const good = await readCheckpoint(dir);
  // not one wrong byte may be believed
  const read = async (): Promise<void> => assert.deepEqual(await readCheckpoint(dir), good);
  return readdirSync(dir).map((name) => {
    const path = join(dir, name);
    return ofFile(`a checkpoint's ${name}`, path, mutatedBytes(readFileSync(path)), read, { cases: 12, where: dir });
  });
}

function models(dir: string): Boundary[] {
  const read = (): Promise<unknown> => loadModel(dir);
  const texts = ["config.json", "tokenizer.json"].map((name) => {
    const path = join(dir, name);
    const contents = mutatedJsonText(JSON.parse(readFileSync(path, "utf8")));
    return ofFile(`a model's ${name}`, path, contents, read, { cases: 30, where: dir });
  });
  const weights = join(dir, "model.safetensors");
  const bytes = readFileSync(weights);
  // the loader cannot judge the numbers of the weights, but it must notice missing bytes
  const cut = fc.nat(bytes.length - 1).map((end) => bytes.subarray(0, end));
  return [...texts, ofFile("a model's weights", weights, cut, read, { cases: 5, where: dir })];
}

/** Graphs: bytes, and every part of the protocol buffer, up to the training graph. */
function graphs(dir: string): Boundary[] {
  const path = join(dir, "model.onnx");
  const bytes = readFileSync(path);
  const read = async (): Promise<void> => {
    const opened = await loadModel(dir);
    // a runtime that computes nothing: a fault must be found before it is used
    const engine = new Engine({ provider: "cpu" } as Runtime, opened, {
      sampler,
      about: sampledModel(opened.config),
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
  return [
    ofFile("a graph's bytes", path, mutatedBytes(bytes), read, { cases: 15, where: dir }),
    ofFile("a graph's parts", path, mutatedGraph(bytes), read, { cases: 30, where: dir }),
  ];
}

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
