/**
 * Measures the KV cache on ReFusion's decoding and on rollouts of `unmask` as training draws them (groups of 8, 4 and
 * 2): the ratio of CPU times with and without it (in turn, median; one thread), and the share of tokens that is
 * computed. Runs on the shipped model with its own prompts, and on a random model of 8 layers and width 512 with a
 * prompt of 128 tokens: decoding of 384 tokens, about 4 slots of 4 tokens per round; rollouts of 128 tokens.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeRandomModel } from "../gpu/random-model.mjs";
import { load, median, openEngine } from "./support.mjs";

const LARGER = {
  layers: 8,
  hidden: 512,
  heads: 8,
  "kv-heads": 4,
  "head-dim": 64,
  ffn: 1536,
  vocab: 4096,
};

export async function benchDecoding({ runs }) {
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    await writeRandomModel(dir, LARGER, "none");
    const { Rng } = await load("core/rng.js");
    const rng = Rng.named(0, "prompts");
    const random = Array.from({ length: 128 }, () => rng.int(LARGER.vocab - 3));
    const forms = await formPrompts(32);
    const tiny = { prompt_length: 56, response_length: 56 };
    const group = Array(4).fill(random);
    const groups = (count, size) => forms.slice(0, count).flatMap((prompt) => Array(size).fill(prompt));
    const rollout = { prompt_length: 128, response_length: 128 };
    const few = Math.ceil(runs / 3);
    const long = { prompt_length: 128, response_length: 384, slot_threshold: 0.001, token_threshold: 0 };
    return {
      tiny_batch_1: await compare("models/tiny-refusion", "refusion", forms, tiny, 1, runs),
      tiny_batch_16: await compare("models/tiny-refusion", "refusion", forms, tiny, 16, runs),
      larger_batch_1: await compare(dir, "refusion", [random], long, 1, few),
      rollouts_tiny_batch_32: await compare(
        "models/tiny-refusion",
        "unmask",
        groups(4, 8),
        { ...tiny, rounds: 4 },
        32,
        runs,
      ),
      rollouts_tiny_batch_4: await compare(
        "models/tiny-refusion",
        "unmask",
        groups(1, 4),
        { ...tiny, rounds: 4 },
        4,
        runs,
      ),
      rollouts_tiny_apart_32: await compare("models/tiny-refusion", "unmask", forms, { ...tiny, rounds: 4 }, 32, runs),
      rollouts_larger_batch_4: await compare(dir, "unmask", group, { ...rollout, rounds: 16 }, 4, few),
      rollouts_larger_one_slot_a_round: await compare(dir, "unmask", group, { ...rollout, rounds: 32 }, 4, few),
      rollouts_larger_one_round: await compare(
        dir,
        "unmask",
        [random, random.toReversed()],
        { ...rollout, rounds: 1 },
        2,
        few,
      ),
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Prompts of the embedded site, as an evaluation takes them. */
async function formPrompts(count) {
  const { site } = await load("features/embedded/sites/embedded.js");
  const { Rng } = await load("core/rng.js");
  const { Tokenizer } = await load("text/tokenizer.js");
  const { renderPrompt } = await load("text/prompt.js");
  const running = await site.start(site.schema.parse({}));
  const tasks = Rng.named(0, "bench").shuffle([...running.tasks()]);
  await running.stop();
  const tokenizer = Tokenizer.load("models/tiny-refusion");
  return tasks.slice(0, count).map((task) => tokenizer.encode(renderPrompt(task, "compact")));
}

async function compare(dir, kind, prompts, settings, batch, runs) {
  const { Rng } = await load("core/rng.js");
  const { engine, sampler, about, runtime } = await openEngine(dir, kind, { rank: 8 });
  const pad = BigInt(about.tokens.pad);
  const decode = async (kv_cache) => {
    let tokens = 0;
    const counted = (rounds) => ({
      forwardRound: (input) => {
        tokens += input.inputs.input_ids.data.filter((id) => id !== pad).length;
        return rounds.forwardRound(input);
      },
      cachedRounds: async (use) => {
        const cached = await rounds.cachedRounds(use);
        return { ...counted(cached), close: () => cached.close() };
      },
    });
    const options = sampler.options(sampler.schema.parse({ ...settings, kv_cache }), about);
    const rngs = prompts.map((_, i) => Rng.named(0, `rollout/${i}`));
    const before = process.cpuUsage();
    const responses = await sampler.rollout(counted(engine), prompts, options, rngs, batch);
    const { user, system } = process.cpuUsage(before);
    return { ms: (user + system) / 1000, tokens, responses };
  };
  const ratios = [];
  // the first calls also build and load the graphs
  let [plain, cached] = [await decode(false), await decode(true)];
  for (let run = 0; run < runs; run++) {
    plain = await decode(false);
    cached = await decode(true);
    ratios.push(cached.ms / plain.ms);
  }
  await runtime.close();
  const per = (of) => of / prompts.length;
  const tokens = ({ response }) => response;
  return {
    cpu_time_ratio: Number(median(ratios).toFixed(3)),
    token_ratio: Number((cached.tokens / plain.tokens).toFixed(3)),
    cpu_ms_per_response: Number(per(cached.ms).toFixed(2)),
    ...(kind === "refusion"
      ? { forwards_per_response: per(cached.responses.reduce((n, { forwards }) => n + forwards, 0)) }
      : { rounds_per_response: per(cached.responses.reduce((n, { rounds }) => n + rounds.length, 0)) }),
    tokens_per_response: per(cached.responses.reduce((n, { response }) => n + response.length, 0)),
    same_responses: JSON.stringify(cached.responses.map(tokens)) === JSON.stringify(plain.responses.map(tokens)),
  };
}
