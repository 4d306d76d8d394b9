// Writes the files that the demo serves: the two graphs of a round with their weights, the adapter, the tokenizer, and the
// worker with ONNX Runtime for the web.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { fail } from "../../scripts/lib/setup.mjs";
import { compiled, ROOT, SITE } from "./paths.mjs";

/** Config of the run that the demo shows, which sets the sampler; the run's adapter is in the folder `adapter`. */
export const CONFIG = join(ROOT, "configs", "tiny", "letters-flow-grpo.yaml");
export const ADAPTER = join(SITE, "adapter");

/** Reads the directory of the demo's model from the config. */
export async function modelOfDemo() {
  const { loadConfig } = await compiled("config/config.js");
  return join(ROOT, (await loadConfig(CONFIG)).model);
}

/** Ends the program where the demo's adapter was trained on a different version of the model. */
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
    plugins: [withoutTheRest],
  });
}

/** Writes the graphs of the config's rollouts on Node's CPU, with all sizes dynamic, and their weights and manifest. */
async function writeModel(out) {
  const { openPolicy } = await compiled("library/policy.js");
  const { headGraph, hiddenGraph } = await compiled("engine/graphs.js");
  const { graphWithKeys, usingGraph, WEIGHTS_FILE } = await compiled("nn/model.js");
  const { readPeft } = await compiled("nn/peft.js");
  const { writeModelFile } = await compiled("onnx/format/proto.js");

  const { policy, close } = await openPolicy({ config: CONFIG });
  const { model, lora, options, sampler } = policy;
  const graph = await graphWithKeys(model, "past");
  const trained = { graph, lora, about: options.model };
  const [hidden, head] = usingGraph(model, () => [
    hiddenGraph(trained, undefined),
    headGraph(trained, undefined, sampler.roundHead),
  ]);
  await close();
  await writeModelFile(join(out, "hidden_model.onnx"), hidden);
  await writeModelFile(join(out, "head_model.onnx"), head);
  for (const file of [WEIGHTS_FILE, "tokenizer.json"]) copyFileSync(join(model.dir, file), join(out, file));

  const { tensors } = readPeft(ADAPTER);
  const bytes = [...tensors.values()].map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  writeFileSync(join(out, "adapter.bin"), Buffer.concat(bytes));
  const { mask_token_id, pad_token_id, eos_token_id } = model.config;
  const manifest = {
    weights: WEIGHTS_FILE,
    special: [mask_token_id, pad_token_id, eos_token_id],
    options,
    adapter: [...tensors].map(([name, { shape }]) => ({ name, shape: [...shape] })),
    inputs: hidden.inputs.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
  };
  writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest));
}

/** Files that the bundled modules read while they load. */
const READ = ["src/features/embedded/forms.yaml"];

/** Packages that the demo runs on. */
const PACKAGES =
  /^(@huggingface\/tokenizers|@noble\/hashes|fastest-levenshtein|hono\/html|onnxruntime-web|pure-rand|yaml|zod)(\/|$)/;

/**
 * Replaces the packages and Node modules that the sources import but the demo never calls, such as Playwright. Only
 * SHA-256 and the files that are read at load time work; anything else throws when it is called.
 */
const withoutTheRest = {
  name: "without-the-rest",
  setup(bundler) {
    const texts = Object.fromEntries(READ.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
    bundler.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      PACKAGES.test(path) || importer.includes("node_modules") ? undefined : { path, namespace: "absent" },
    );
    const there = {
      "node:crypto": 'require("./demo/sha256.ts")',
      "node:fs": `{ readFileSync: (file) => Object.entries(${JSON.stringify(texts)}).find(([path]) => String(file).endsWith(path))?.[1] ?? absent(file)() }`,
      "node:url": "{ fileURLToPath: String }",
      // the demo's regular expressions are of its own tokenizer, and need no time limit
      "node:vm": "{ createContext: (room) => room, Script: class { runInContext(room) { return room.run(); } } }",
    };
    bundler.onLoad({ filter: /.*/, namespace: "absent" }, ({ path }) => ({
      contents: `
        const absent = (name) => () => { throw new Error("${path} has no " + String(name) + " in a browser"); };
        const rest = new Proxy({}, { get: (_, name) => absent(name) });
        module.exports = Object.assign(Object.create(rest), ${there[path] ?? "{}"});`,
      loader: "js",
      resolveDir: SITE,
    }));
  },
};
