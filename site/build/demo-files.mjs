// What the demo serves: the round's graph with its weights, the two adapters, the tokenizer, and the worker with ONNX
// Runtime for the web.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { fail } from "../../scripts/lib/setup.mjs";
import { compiled, ROOT, SITE } from "./paths.mjs";

/** The run that the demo shows: its config says the sampler, and its adapter is in the folder `adapter`. */
export const CONFIG = join(ROOT, "configs", "tiny", "letters-flow-grpo.yaml");
export const ADAPTER = join(SITE, "adapter");

/** The directory of the model that the demo runs. */
export async function modelOfDemo() {
  const { loadConfig } = await compiled("config/config.js");
  return join(ROOT, (await loadConfig(CONFIG)).model);
}

/** Ends where the demo's adapter was trained on another model than the one that is here. */
async function checkAdapter() {
  const { modelHash } = await compiled("nn/model.js");
  const trainedOn = readFileSync(join(ADAPTER, "model.hash"), "utf8").trim();
  if ((await modelHash(await modelOfDemo())) !== trainedOn)
    fail(
      "The demo's adapter (site/adapter) was trained on another model than the one that its config names now.",
      "  Train it anew: npm start, then node site/build/take-run.mjs runs/letters-flow-grpo",
    );
}

/** Writes the files of the demo into a folder. */
export async function writeDemo(out) {
  await checkAdapter();
  mkdirSync(out, { recursive: true });
  await writeModel(out);
  const ort = dirname(createRequire(join(SITE, "package.json")).resolve("onnxruntime-web/wasm"));
  copyFileSync(join(ort, "ort-wasm-simd-threaded.wasm"), join(out, "ort-wasm-simd-threaded.wasm"));
  await build({
    entryPoints: [join(SITE, "demo", "worker.ts")],
    outfile: join(out, "worker.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    logLevel: "warning",
    nodePaths: [join(SITE, "node_modules")],
    plugins: [withoutNode],
  });
}

/** The graph that a rollout of the config runs in Node on the CPU, with all sizes open, and what goes with it. */
async function writeModel(out) {
  const { loadConfig } = await compiled("config/config.js");
  const { loraOptions, sampledModel, samplerOptions } = await compiled("engine/policy.js");
  const { rolloutGraph } = await compiled("engine/graphs.js");
  const { samplerOf } = await compiled("diffusion/kinds.js");
  const { graphWithKeys, loadModel, usingGraph, WEIGHTS_FILE } = await compiled("nn/model.js");
  const { readPeft } = await compiled("nn/peft.js");
  const { writeModelFile } = await compiled("onnx/format/proto.js");

  const config = await loadConfig(CONFIG);
  const model = await loadModel(join(ROOT, config.model));
  const about = sampledModel(model.config);
  const sampler = await samplerOf(config.sampler.kind);
  const graph = await graphWithKeys(model, "past");
  const lora = loraOptions(config, model);
  const rollout = usingGraph(model, () => rolloutGraph({ graph, lora, about }, undefined, sampler.roundHead));
  await writeModelFile(join(out, "rollout_model.onnx"), rollout);
  for (const file of [WEIGHTS_FILE, "tokenizer.json"]) copyFileSync(join(model.dir, file), join(out, file));

  const { tensors } = readPeft(ADAPTER);
  const parts = [...tensors].map(([name, { shape, data }]) => ({ name, shape: [...shape], data }));
  writeFileSync(
    join(out, "adapter.bin"),
    Buffer.concat(parts.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))),
  );
  const manifest = {
    model: config.model,
    weights: WEIGHTS_FILE,
    special: [model.config.mask_token_id, model.config.pad_token_id, model.config.eos_token_id],
    options: samplerOptions(sampler, config.sampler, about),
    adapter: parts.map(({ name, shape }) => ({ name, shape })),
    // the keys and values that a round gives to the next
    inputs: rollout.inputs.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
  };
  writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest));
}

/** Files that the bundled modules read where they are loaded. */
const READ = ["src/env/sites/embedded/forms.yaml"];

/**
 * Modules of Node that the sampler's imports name, and a browser does not have. SHA-256 is there, and the files that are
 * read at once; the rest throws where it is used.
 */
const withoutNode = {
  name: "without-node",
  setup(bundler) {
    const texts = Object.fromEntries(READ.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
    bundler.onResolve({ filter: /^node:crypto$/ }, () => ({ path: join(SITE, "demo", "sha256.ts") }));
    bundler.onResolve({ filter: /^(node:|write-file-atomic$)/ }, ({ path }) => ({ path, namespace: "absent" }));
    bundler.onLoad({ filter: /.*/, namespace: "absent" }, ({ path }) => ({
      contents: `
        const texts = ${path === "node:fs" ? JSON.stringify(texts) : "{}"};
        const absent = (name) => () => { throw new Error("${path} has no " + String(name) + " in a browser"); };
        const readFileSync = (file) => Object.entries(texts).find(([path]) => String(file).endsWith(path))?.[1] ?? absent(file)();
        module.exports = new Proxy({ readFileSync }, { get: (own, name) => own[name] ?? absent(name) });`,
      loader: "js",
    }));
  },
};
