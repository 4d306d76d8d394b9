/**
 * Measures the CPU time of a form of FormFactory's documents, `batch` forms at once, one thread, greedy: blanks in
 * parallel, left to right, and llama.cpp (`npm install --no-save node-llama-cpp@3.22.1`), which reads the same given
 * tokens and writes the same blanks from left to right, a sequence a form. All read the model that `export` merges with
 * the adapter. The ways take turns. Fields: equal to the record's up to case, llama.cpp without limits to a choice's
 * options.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, ROOT, run } from "../lib/setup.mjs";
import { load, median } from "./support.mjs";
import { cpuMs } from "./work.mjs";

const CONFIG = "configs/formfactory/smollm2-documents-sft.yaml";
const ADAPTER = "models/smollm2-documents";
const PROMPT = 480;
const GUESSES = ["sampler.slot_size=8", "sampler.speculate=8"];
const INT8 = ["runtime.rollout_precision=int8"];
const WAYS = {
  "blanks, float32": [],
  "blanks with guesses, float32": GUESSES,
  "blanks, int8": INT8,
  "blanks with guesses, int8": [...GUESSES, ...INT8],
  "left to right, float32": ["sampler.kind=autoregressive"],
  "left to right, int8": ["sampler.kind=autoregressive", ...INT8],
};
const FILES = { float32: "none", bfloat16: "bf16", q8_0: "q8_0" };

/**
 * @param site FormFactory's clone. @param count records of unseen forms, as many of each. @param batch forms at once.
 * @param only part of the names of the ways that are run.
 */
export async function benchDocuments({ runs, site, count = 8, batch = 1, only = "" }) {
  const { loadConfig } = await load("config/config.js");
  const { openEnvironment } = await load("env/open.js");
  const { openPolicy } = await load("library/policy.js");
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  const model = join(dir, "model");
  exported(["--merge", ADAPTER, "--model", "models/smollm2", "--out", model]);
  const common = [`site.path=${site}`, `model=${model}`];
  const configOf = (...more) => loadConfig(CONFIG, { overrides: [...common, "runtime.threads=1", ...more] });
  const environment = await openEnvironment(await configOf());
  const open = await openPolicy({ config: await configOf() });
  const records = recordsOf(environment, open, count);
  const ways = [];
  for (const [name, overrides] of Object.entries(WAYS).filter(([name]) => name.includes(only))) {
    const policy = await openPolicy({ config: await configOf(...overrides) });
    ways.push({
      name,
      fill: async (some) => (await policy.act(some.map(({ observation }) => observation))).map(({ values }) => values),
      close: () => policy.close(),
    });
  }
  try {
    ways.push(...(await llamaWays(dir, model, open, batch, only)));
    return await measured(ways, records, runs, batch);
  } finally {
    for (const opened of [...ways, open, environment]) await opened.close();
    rmSync(dir, { recursive: true });
  }
}

function exported(args) {
  const program = join(ROOT, "dist", "src", "cli", "train.js");
  if (!run(process.execPath, [program, "export", "--quiet", ...args])) fail("The model could not be exported.");
}

/** Returns the first records of every unseen form that fit, in turn. */
function recordsOf(environment, { policy }, count) {
  const unseen = environment.tasks.filter(({ split }) => split === "heldout");
  const forms = [...new Set(unseen.map(({ form }) => form))];
  const fitting = forms.map((form) =>
    environment.demonstrations(unseen.filter((task) => task.form === form)).flatMap(({ observation, action }) => {
      const start = policy.startOf(observation);
      return start.prompt.length <= PROMPT ? [{ observation, start, values: action.values }] : [];
    }),
  );
  return Array.from({ length: count }, (_, i) => fitting[i % fitting.length][Math.floor(i / fitting.length)]);
}

async function measured(ways, records, runs, batch) {
  const times = ways.map(() => []);
  const right = ways.map(() => 0);
  // the first records also build and load the graphs
  for (const { fill } of ways) await fill(records.slice(0, batch));
  for (let run = 0; run < runs; run++)
    for (const [i, { fill }] of ways.entries()) {
      const filled = [];
      const ms = await cpuMs(async () => {
        for (let i = 0; i < records.length; i += batch) filled.push(...(await fill(records.slice(i, i + batch))));
      });
      times[i].push(ms / 1000 / records.length);
      right[i] = filled.reduce((sum, values, r) => sum + equal(values, records[r].values), 0);
    }
  const fields = records.reduce((sum, { values }) => sum + Object.keys(values).length, 0);
  return Object.fromEntries(
    ways.map(({ name }, i) => [name, { cpu_s: Number(median(times[i]).toFixed(3)), right: right[i], fields }]),
  );
}

const plain = (value) =>
  String(value ?? "")
    .trim()
    .toLowerCase();
const equal = (values, truth) =>
  Object.entries(truth).filter(([name, value]) => plain(values?.[name]) === plain(value)).length;

/** Opens llama.cpp on the merged model in each precision; none where node-llama-cpp is not installed. */
async function llamaWays(dir, merged, { policy }, batch, only) {
  const { getLlama } = await import("node-llama-cpp").catch(() => ({}));
  if (getLlama === undefined) return [];
  const llama = await getLlama({ gpu: false, build: "never", maxThreads: 1 });
  const { tokenizer } = policy.model;
  const { eos } = policy.options.model.tokens;
  const { room, paragraphRoom } = policy.options;
  const open = async ([precision, quantize]) => {
    const file = join(dir, `${precision}.gguf`);
    exported(["--model", merged, "--out", file, "--quantize", quantize]);
    const model = await llama.loadModel({ modelPath: file });
    // flash attention reads prompts 1.2 times as fast in float32, and 1.6 times in q8_0
    const context = await model.createContext({
      contextSize: 2048,
      batchSize: 512,
      sequences: batch,
      threads: 1,
      flashAttention: true,
    });
    const sequences = Array.from({ length: batch }, () => context.getSequence());
    const fillOne = async ({ start: { prompt, parts } }, sequence, turns) => {
      await sequence.clearHistory();
      const values = {};
      let given = [...prompt];
      for (const part of parts) {
        if (Array.isArray(part)) {
          given.push(...part);
          continue;
        }
        const drawn = [];
        await turns.next();
        for await (const token of sequence.evaluate(given, { temperature: 0, yieldEogToken: true })) {
          if (token === eos || drawn.length + 1 >= (part.long ? paragraphRoom : room)) break;
          drawn.push(token);
          await turns.next();
        }
        given = [];
        values[part.name] = tokenizer.decode(drawn);
      }
      return values;
    };
    const fill = (some) => {
      const turns = inTurns(some.length);
      return Promise.all(some.map((record, i) => fillOne(record, sequences[i], turns).finally(turns.leave)));
    };
    return { name: `llama.cpp, ${precision}`, fill, close: () => model.dispose() };
  };
  const ways = [];
  for (const file of Object.entries(FILES).filter(([name]) => name.includes(only))) ways.push(await open(file));
  return ways;
}

/**
 * Lets `count` sequences ask for their next tokens together. Left to themselves they come to ask one after the other,
 * and llama.cpp computes small batches: 8 of them took 1.2 times as long.
 */
function inTurns(count) {
  let waiting = [];
  const goOn = () => {
    if (waiting.length < count) return;
    const all = waiting;
    waiting = [];
    for (const go of all) go();
  };
  return {
    next: () =>
      new Promise((go) => {
        waiting.push(go);
        goOn();
      }),
    leave: () => {
      count--;
      goOn();
    },
  };
}
