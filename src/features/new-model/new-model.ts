import { z } from "zod";
import { closing } from "../../core/closing.js";
import { Rng } from "../../core/rng.js";
import { oracleActions } from "../../env/forms/oracle.js";
import { renderPlan } from "../../env/forms/plan.js";
import { type Architecture, architectureOf, initialise } from "../../nn/architecture.js";
import { type ModelConfig, NO_VOCABULARY } from "../../nn/config.js";
import { saveModel } from "../../nn/model.js";
import type { Tensor } from "../../onnx/types.js";
import { renderPrompt } from "../../text/prompt.js";
import { Tokenizer } from "../../text/tokenizer.js";
import { site as embedded } from "../embedded/sites/embedded.js";
import { letters } from "../embedded/tasks.js";
import { byteLevelBpeJson } from "../export/tokenizer-files.js";
import { trainBpe } from "./bpe.js";

/** Config of `new-model`: the sizes of a model, and the source of its vocabulary. */
export const newModelSchema = z.strictObject({
  seed: z.int().min(0).default(0).describe("of the weights and of the synthetic part of the corpus"),
  vocab_size: z
    .int()
    .min(300)
    .max(1_000_000)
    .default(1024)
    .describe("largest vocabulary of the byte-level BPE, special tokens included"),
  site: z
    .strictObject({ tier: z.enum(["starter", "full"]).default("starter"), letters })
    .prefault({})
    .describe("embedded site whose training tasks, with their letters if any, are the corpus"),
  synthetic_tasks: z.int().min(0).max(1_000_000).default(2000).describe("synthetic tasks in the corpus"),
  model: z
    .looseObject({ architecture: z.string(), attention: z.enum(["causal", "bidirectional"]).default("bidirectional") })
    .describe("config.json but for the vocabulary"),
});

export type NewModelConfig = z.infer<typeof newModelSchema>;

const SPECIAL = { pad: "<|endoftext|>", eos: "<|im_end|>", mask: "<|mask|>" } as const;

/**
 * Makes a new model directory: a tokenizer trained on the embedded site's training tasks, and random weights.
 * A network without tokens gets only weights.
 * @returns number of parameters and of tokens.
 */
export async function newModel(
  config: NewModelConfig,
  out: string,
): Promise<{ parameters: number; vocabulary: number }> {
  // impossible sizes are reported before the corpus is made
  const sizes: ModelConfig = { hidden_size: 0, ...config.model, ...NO_VOCABULARY };
  const architecture = await architectureOf(sizes);
  architecture.weights(sizes);
  if (architecture.readsTokens === false)
    return { parameters: await writeFresh(out, architecture, sizes, config.seed, undefined), vocabulary: 0 };
  const site = await embedded.start(embedded.schema.parse(config.site));
  await using _ = closing({ close: () => site.stop() });
  const style = config.site.letters === "off" ? "compact" : "page";
  const texts: string[] = [];
  const { fieldKinds, augmentedTask } = site;
  if (fieldKinds === undefined || augmentedTask === undefined) throw new Error("the embedded site knows its controls");
  const rng = Rng.named(config.seed, "corpus");
  const tasks = site
    .tasks()
    .filter((task) => task.split === "train")
    .map((task) => ({ task, kinds: fieldKinds(task) }));
  const synthetic = Array.from({ length: config.synthetic_tasks }, () => augmentedTask(rng));
  for (const { task, kinds } of [...tasks, ...synthetic])
    texts.push(renderPrompt(task, style, kinds), renderPlan(oracleActions(task.fields, kinds)));
  const bpe = trainBpe(texts, { vocabSize: config.vocab_size, specialTokens: Object.values(SPECIAL) });
  const json = byteLevelBpeJson(bpe);
  const tokenizer = Tokenizer.fromJson(JSON.parse(json), "the new tokenizer");
  const modelConfig: ModelConfig = {
    ...sizes,
    vocab_size: tokenizer.vocabSize,
    pad_token_id: bpe.vocab[SPECIAL.pad] as number,
    eos_token_id: bpe.vocab[SPECIAL.eos] as number,
    mask_token_id: bpe.vocab[SPECIAL.mask] as number,
  };
  const parameters = await writeFresh(out, architecture, modelConfig, config.seed, json);
  return { parameters, vocabulary: tokenizer.vocabSize };
}

/** Draws the weights and writes the directory. @returns number of parameters. */
async function writeFresh(
  out: string,
  architecture: Architecture,
  config: ModelConfig,
  seed: number,
  tokenizer: string | undefined,
): Promise<number> {
  const weights = new Map<string, Tensor>();
  let parameters = 0;
  for (const [name, { shape, data }] of initialise(architecture.weights(config), Rng.named(seed, "weights"))) {
    weights.set(name, { dtype: "float32", shape, data });
    parameters += data.length;
  }
  await saveModel(out, config, weights, tokenizer);
  return parameters;
}
