import * as ort from "onnxruntime-web/wasm";
import { Rng } from "../../src/core/rng.js";
import { bootstrapMean, bootstrapPairedDifference } from "../../src/core/statistics.js";
import type { UnmaskOptions } from "../../src/diffusion/samplers/unmask/options.js";
import { reveals } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import { isRoom, promptOf } from "../../src/diffusion/template.js";
import type { Task } from "../../src/env/site.js";
import { FORMS, formOf } from "../../src/features/embedded/catalog.js";
import { fieldsOf } from "../../src/features/embedded/form.js";
import { fieldHtml } from "../../src/features/embedded/pages.js";
import { PaperEnvironment } from "../../src/features/paper/environments/paper.js";
import type { Value } from "../../src/onnx/types.js";
import { spell } from "../../src/text/token-text.js";
import { Tokenizer } from "../../src/text/tokenizer.js";
import { BrowserRuntime, roundModel } from "./browser-runtime.js";
import type { Answer, Call, Filled, Many, Opened, Rated, Reply, ShownTask } from "./messages.js";
import { shownParts } from "./shown.mjs";

/** The demo's worker: the project's tasks, templates, sampler and reward, on ONNX Runtime for the web. */

interface Manifest {
  readonly weights: string;
  readonly special: readonly number[];
  readonly options: UnmaskOptions;
  readonly adapter: readonly { readonly name: string; readonly shape: readonly number[] }[];
  readonly inputs: readonly Value[];
}

const ADAPTERS = ["before", "after"] as const;

/** The environment of `npm start`, with its evaluation records only. */
const environment = new PaperEnvironment({ style: "page", sizes: { train: 0, test: 0 }, letters: 1 });
const tasks = environment.tasks as readonly Task[];

const fileAt = (name: string): string => new URL(name, self.location.href).href;
let loadedBytes = 0;
/** Fetches a file, and tells the page how much has arrived of all files. */
const bytes = async (name: string): Promise<ArrayBuffer> => {
  const response = await fetch(fileAt(name));
  if (!response.ok || response.body === null) throw new Error(`${name}: the server answers ${response.status}`);
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      loadedBytes += chunk.length;
      self.postMessage({ loadedBytes } satisfies Reply);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counted)).arrayBuffer();
};

async function load() {
  const json = async (name: string) => JSON.parse(new TextDecoder().decode(await bytes(name)));
  const [manifest, tokenizerJson, hidden, head, adapter, wasm] = await Promise.all([
    json("manifest.json") as Promise<Manifest>,
    json("tokenizer.json"),
    bytes("hidden_model.onnx"),
    bytes("head_model.onnx"),
    bytes("adapter.bin"),
    bytes("ort-wasm-simd-threaded.wasm"),
  ]);
  // one thread, since more need HTTP headers that a plain file server does not send
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = wasm;
  const weights = new Uint8Array(await bytes(manifest.weights));
  const open = (graph: ArrayBuffer): Promise<ort.InferenceSession> =>
    ort.InferenceSession.create(graph, {
      executionProviders: ["wasm"],
      externalData: [{ path: manifest.weights, data: weights }],
      enableMemPattern: false,
    });
  const runtime = new BrowserRuntime({ hidden: await open(hidden), head: await open(head) });
  let offset = 0;
  for (const { name, shape } of manifest.adapter) {
    const size = shape.reduce((a, d) => a * d, 1);
    const data = new Float32Array(adapter, offset, size);
    offset += data.byteLength;
    runtime.put(`after/${name}`, { dtype: "float32", shape, data });
    runtime.put(`before/${name}`, { dtype: "float32", shape, data: new Float32Array(size) });
  }
  const parameters = manifest.adapter.map(({ name }) => name);
  return {
    options: manifest.options,
    tokenizer: Tokenizer.fromJson(tokenizerJson, "tokenizer.json", manifest.special),
    models: Object.fromEntries(
      ADAPTERS.map((name) => [name, roundModel(runtime, manifest.inputs, { name, parameters })]),
    ),
  };
}

const loaded = load();

async function open(): Promise<Opened> {
  await loaded;
  return { forms: FORMS.map(({ id, title, heldout }) => ({ id, title, heldout })) };
}

/** Shows the n-th record of a form; after the last one the first follows. */
function show(form: string, n: number): ShownTask {
  const own = tasks.filter((task) => task.form === form);
  const task = own[n % own.length] as Task;
  const { id, document = "", formTitle, fields } = task;
  const { intro } = formOf(form);
  const html = fieldsOf(formOf(form), "starter")
    .map((field) => String(fieldHtml(field)))
    .join("");
  return { id, letter: document, title: formTitle, intro, html, truth: fields };
}

/** A letter has the same noise alone and among many. */
const noiseOf = (id: string, seed: number): Rng => Rng.named(seed, `answer/${id}`);

async function fill({ id, letter, seed, rounds, greedy }: Extract<Call, { kind: "fill" }>["what"]): Promise<Filled> {
  const { options: own, tokenizer, models } = await loaded;
  const found = tasks.find((task) => task.id === id);
  if (found === undefined) throw new Error(`there is no task ${id}`);
  const task: Task = { ...found, document: letter };
  const start = sampler.policy.begin(environment.firstObservation(task), tokenizer, own.model);
  const length = promptOf(start).length;
  if (length > own.promptLength)
    throw new Error(
      `The letter is too long: page and letter have ${length} tokens, and the model was trained with ${own.promptLength}.`,
    );
  const options: UnmaskOptions = { ...own, rounds, temperature: greedy ? 0 : own.temperature };
  const answers: Record<string, Answer> = {};
  for (const name of ADAPTERS) {
    const began = performance.now();
    const [trajectory] = await sampler.rollout(models[name] as never, [start], options, [noiseOf(id, seed)]);
    if (trajectory === undefined) throw new Error("no rollout");
    const ms = performance.now() - began;
    const action = sampler.policy.action(trajectory, tokenizer, own.model);
    const outcome = await environment.play(task, async () => action);
    answers[name] = {
      trajectory,
      text: action.text ?? "",
      values: action.values ?? {},
      parts: shownParts(trajectory, tokenizer, own.model.tokens.eos, { reveals, isRoom, spell }),
      reward: outcome.reward ?? 0,
      success: outcome.success === true,
      detail: outcome.detail as Answer["detail"],
      ms,
    };
  }
  return { answers };
}

/** Fills in letters that are spread evenly over the forms, all in one pass a round. */
async function many({ count, heldout, seed, rounds, greedy }: Many): Promise<Rated> {
  const { options: own, tokenizer, models } = await loaded;
  const all = tasks.filter(({ form }) => formOf(form).heldout === heldout);
  const chosen = Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)] as Task);
  const options: UnmaskOptions = { ...own, rounds, temperature: greedy ? 0 : own.temperature };
  const starts = chosen.map((task) => sampler.policy.begin(environment.firstObservation(task), tokenizer, own.model));
  const rewards: Record<string, number[]> = {};
  for (const name of ADAPTERS) {
    const rngs = chosen.map(({ id }) => noiseOf(id, seed));
    const drawn = await sampler.rollout(models[name] as never, starts, options, rngs);
    const outcomes = drawn.map((trajectory, i) =>
      environment.play(chosen[i] as Task, async () => sampler.policy.action(trajectory, tokenizer, own.model)),
    );
    rewards[name] = (await Promise.all(outcomes)).map(({ reward }) => reward ?? 0);
  }
  const { before = [], after = [] } = rewards;
  return {
    letters: chosen.map(({ id, form }, i) => ({
      form,
      title: formOf(form).title,
      n: tasks.filter((task) => task.form === form).findIndex((task) => task.id === id),
      before: before[i] as number,
      after: after[i] as number,
    })),
    before: bootstrapMean(before, { seed }),
    after: bootstrapMean(after, { seed }),
    difference: bootstrapPairedDifference(before, after, { seed }),
  };
}

/** Answers a call of the page. */
function answered(call: Call): Promise<Opened | ShownTask | Filled | Rated> | ShownTask {
  if (call.kind === "open") return open();
  if (call.kind === "task") return show(call.form, call.n);
  return call.kind === "many" ? many(call.what) : fill(call.what);
}

self.onmessage = async ({ data: { id, call } }: MessageEvent<{ id: number; call: Call }>) => {
  let reply: Reply;
  try {
    reply = { id, result: await answered(call) };
  } catch (error) {
    reply = { id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(reply);
};
