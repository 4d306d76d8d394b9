import { fail, messageOf, misuse, UserError } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import { bucketLength } from "../diffusion/layout/buffer.js";
import { bindModel } from "../nn/bind.js";
import { isImported } from "../nn/imported.js";
import { CONTRADICTION_HINT, type Model, usingGraph } from "../nn/model.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import type { Runtime } from "../onnx/session.js";
import { sizeOf } from "../onnx/shapes.js";
import { f32, i64, type NamedTensors } from "../onnx/tensors.js";
import type { Tensor } from "../onnx/types.js";
import { dimensionsOf } from "./graphs.js";

/** Tokens of the trial, and the distance of their positions: large enough for the slow angles of RoPE to matter. */
const [LENGTH, STRIDE] = [12, 29];
/** Largest difference of two outputs relative to the largest output: reordered float32 sums stay below 1e-5. */
const SAME = 1e-3;
/** The same in 16 bits, or in TF32. */
const SAME_ON_DEVICE = 5e-2;
/** A logit that depends on a token moves by more than this share of itself; any other stays the same. */
const MOVED = 1e-6;
const BLOCKED = -1e9;

/**
 * Compares a model's graph with its config.json: rows see later tokens where the config says `bidirectional` and do not
 * where it says `causal`; and a graph that differs from the one this version builds from the config has the same
 * outputs. Free for a graph that this version wrote.
 * @throws UserError that says how they contradict each other.
 */
export async function checkGraph(runtime: Runtime, model: Model): Promise<void> {
  const { graph, described, config, dir } = model;
  const contradiction = (found: string): UserError =>
    new UserError(`config.json and model.onnx of ${dir} contradict each other: ${found}.`, {
      hint: CONTRADICTION_HINT,
    });
  if (described !== undefined) {
    const inputs = trialInputs(model);
    const [forward, other] = [
      await outputOf(runtime, model, graph, inputs),
      await outputOf(runtime, model, described, inputs),
    ];
    const distance = farthest(forward, other);
    if (!(distance <= (runtime.provider === "cpu" ? SAME : SAME_ON_DEVICE)))
      throw contradiction(
        `on the same tokens their outputs differ by ${distance.toPrecision(2)} of the largest (rope_theta, the number of heads and no_rope_layers are not seen in the weights)`,
      );
  }
  if (!isImported(graph)) return;
  const trial = trialInputs(model);
  const before = await outputOf(runtime, model, graph, trial);
  if (before.length !== LENGTH * config.vocab_size)
    throw contradiction(
      `the logits of a token are ${before.length / LENGTH} numbers, vocab_size is ${config.vocab_size}`,
    );
  /** Counts the logits of other tokens, before or behind a token, that a change of this token changes. */
  const seen = async (token: number, [from, to]: readonly [number, number]): Promise<number> => {
    const ids = ((trial.input_ids as Tensor).data as BigInt64Array).slice();
    ids[token] = ((ids[token] as bigint) + 1n) % BigInt(config.vocab_size);
    const after = await outputOf(runtime, model, graph, { ...trial, input_ids: i64([1, LENGTH], ids) });
    const [a, b] = [before, after].map((logits) => logits.subarray(from * config.vocab_size, to * config.vocab_size));
    return (a as Float32Array).filter((x, i) => moved(x, b?.[i] as number)).length;
  };
  const changed = await seen(LENGTH - 1, [0, LENGTH - 1]);
  if (changed > 0 !== (config.attention === "bidirectional"))
    throw contradiction(
      `attention is ${config.attention}, and changing the last token changes ${changed} of the ${(LENGTH - 1) * config.vocab_size} logits of earlier ones`,
    );
  if ((await seen(0, [1, LENGTH])) === 0)
    throw contradiction(
      `attention is ${config.attention}, and changing the first token changes no logit of later ones`,
    );
}

/** Tells whether a logit depends on what was changed; infinite ones that stay do not, however large others are. */
function moved(before: number, after: number): boolean {
  if (Object.is(before, after) || before === after) return false;
  return !(Math.abs(before - after) <= MOVED * Math.max(Math.abs(before), Math.abs(after)));
}

/**
 * Checks that another program's graph takes texts of a length: learned positions, masks and angles stored for fewer
 * would fail in the middle of a run, or read another row on a GPU.
 * @param length of the longest prompt and response, in tokens. @param what names its settings in errors.
 * @throws UserError that says how many tokens it takes.
 */
export function checkLength({ graph, dir, config }: Model, length: number, what: string): void {
  const { longest = Infinity } = config;
  if (length > longest)
    misuse(`${what} is ${length} tokens, and ${dir} is computed right for ${longest} only (its config's longest).`, {
      hint: `Set the two to at most ${longest} together.`,
    });
  if (!isImported(graph)) return;
  const refusal = (positions: number): unknown => {
    try {
      // batches are padded to the length of a bucket
      bindModel(graph, "length_check", { dims: { B: 1, N: bucketLength(positions) }, positions });
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const found = refusal(length);
  if (found === undefined) return;
  let [fits, fails] = [0, length];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (refusal(middle) === undefined) fits = middle;
    else fails = middle;
  }
  // one token does not fit either: the length is not the cause, and this call throws the error that names it
  if (fits === 0) usingGraph({ dir }, () => bindModel(graph, "length_check", { dims: { B: 1, N: bucketLength(1) } }));
  misuse(
    `${what} is ${length} tokens, and the graph of ${dir} takes ${fits} (batches are padded to ${bucketLength(length)}): ${messageOf(found)}.`,
    { hint: `Set the two to at most ${fits} together, or export a model with more positions.`, cause: found },
  );
}

/** Returns random inputs of one sequence, with the attention that the config names. */
function trialInputs({ graph, config }: Model): NamedTensors {
  const rng = Rng.named(0, "graph-check");
  const causal = config.attention === "causal";
  const tokens: NamedTensors = {
    input_ids: i64(
      [1, LENGTH],
      // every other token is a mask: some graphs compute nothing where there is none
      BigInt64Array.from({ length: LENGTH }, (_, i) =>
        BigInt(i % 2 === 1 && i < LENGTH - 1 ? config.mask_token_id : rng.int(config.vocab_size)),
      ),
    ),
    position_ids: i64(
      [1, LENGTH],
      BigInt64Array.from({ length: LENGTH }, (_, i) => BigInt(isImported(graph) ? i : i * STRIDE)),
    ),
    attention_bias: f32(
      [1, 1, LENGTH, LENGTH],
      Float32Array.from({ length: LENGTH ** 2 }, (_, i) =>
        causal && i % LENGTH > Math.floor(i / LENGTH) ? BLOCKED : 0,
      ),
    ),
  };
  const inputs = graph.inputs.flatMap(({ name, dtype, shape }) => {
    if (dtype !== "float32" || name in tokens || name === "attention_mask") return [];
    const sizes = shape.map((d) => (typeof d === "number" ? d : d === "N" ? LENGTH : 1));
    return [
      [
        name,
        f32(
          sizes,
          Float32Array.from({ length: sizeOf(sizes) }, () => rng.uniform()),
        ),
      ] as const,
    ];
  });
  return config.reads_tokens === false ? Object.fromEntries(inputs) : { ...tokens, ...Object.fromEntries(inputs) };
}

/** Returns the first output of a graph, in a session of its own. */
async function outputOf(runtime: Runtime, model: Model, graph: RawModel, inputs: NamedTensors): Promise<Float32Array> {
  const session = "graph_check";
  const { bytes, names } = usingGraph(model, () => {
    const { g, outputs } = bindModel(graph, session, { dims: dimensionsOf(graph, inputs) });
    const [output] = Object.values(outputs);
    if (output === undefined) fail(`The graph ${graph.name} has no output.`);
    g.output("checked", output);
    const built = g.build();
    return { bytes: runtime.encode(built), names: built.inputs.map(({ name }) => name) };
  });
  try {
    await runtime.load(session, { bytes, weightsDir: model.dir }, { prepack: false, optimization: "disabled" });
    const feeds = Object.fromEntries(names.map((name) => [name, inputs[name] as Tensor]));
    return (await runtime.run(session, { feeds })).checked?.data as Float32Array;
  } catch (error) {
    return fail(`The graph of ${model.dir} cannot be run: ${messageOf(error)}`, {
      hint: CONTRADICTION_HINT,
      cause: error,
    });
  } finally {
    if (runtime.has(session)) await runtime.unload(session);
  }
}

/** Returns the largest difference relative to the largest value; NaN where one is not finite. */
function farthest(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let [difference, largest] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    difference = Math.max(difference, Math.abs((a[i] as number) - (b[i] as number)));
    largest = Math.max(largest, Math.abs(a[i] as number));
  }
  return difference === 0 ? 0 : difference / largest;
}
