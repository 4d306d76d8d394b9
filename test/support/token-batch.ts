import { biasOf, biasShape } from "../../src/attention/bias.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import { DRAW_INPUTS } from "../../src/diffusion/sampler.js";
import { TARGETS } from "../../src/diffusion/score-head.js";
import type { NamedTensors } from "../../src/onnx/tensors.js";
import type { Tensor } from "../../src/onnx/types.js";

/** Sequences of tokens as flat arrays. */
export interface TokenArrays {
  readonly batch: number;
  readonly length: number;
  /** [B*N] */
  readonly inputIds: BigInt64Array;
  /** [B*N] */
  readonly positionIds: BigInt64Array;
  /** [B*N*N], or [A*Q*W] where rows are not the sequences. */
  readonly attentionBias: Float32Array;
}

/** A batch of tokens as flat arrays. */
export interface TokenBatch extends TokenArrays {
  /** Rows of the buffers that go through the head, flat b*N+n. */
  readonly rows: BigInt64Array;
  /** [R]; empty in a round. */
  readonly targets: BigInt64Array;
  /** [R]; empty where terms are scored. */
  readonly uniform: Float32Array;
  /** The temperature tau, up to float32's rounding of 1 / tau. */
  readonly temperature: number;
  /** Further inputs of the head for each row, by name. */
  readonly features: Readonly<Record<string, Float32Array | BigInt64Array>>;
  /** [B] inputs of the model's graph other than the tokens, by name. */
  readonly conditions: Readonly<Record<string, Float32Array>>;
}

const MODEL_INPUTS = new Set(["input_ids", "position_ids", "attention_ranges", "keys", "queries", "places", "rows"]);

/** Makes the dense bias of a layout, which a graph on the CPU reads. */
export const denseBias = (inputs: NamedTensors): Tensor =>
  biasOf(inputs.attention_ranges as Tensor, biasShape(inputs) as number[]);

/** Extracts the arrays of a batch of terms, of a round, or of sequences that are laid out. */
export function tokensOf({ inputs, headInputs = {} }: { inputs: NamedTensors; headInputs?: NamedTensors }): TokenBatch {
  const [batch = 0, length = 0] = inputs.input_ids?.shape ?? [];
  const { rows, targets, uniform, inverse_temperature } = { ...inputs, ...headInputs };
  const others = (all: NamedTensors, known: (name: string) => boolean): Record<string, unknown> =>
    Object.fromEntries(Object.entries(all).flatMap(([name, { data }]) => (known(name) ? [] : [[name, data]])));
  const isOfHead = (name: string) => Object.hasOwn(TARGETS, name) || Object.hasOwn(DRAW_INPUTS, name);
  return {
    batch,
    length,
    inputIds: inputs.input_ids?.data as BigInt64Array,
    positionIds: inputs.position_ids?.data as BigInt64Array,
    attentionBias: (inputs.attention_ranges && denseBias(inputs).data) as Float32Array,
    rows: rows?.data as BigInt64Array,
    targets: (targets?.data ?? new BigInt64Array()) as BigInt64Array,
    uniform: (uniform?.data ?? new Float32Array()) as Float32Array,
    temperature: 1 / Number(inverse_temperature?.data[0]),
    features: others(headInputs, isOfHead) as TokenBatch["features"],
    conditions: others(inputs, (name) => MODEL_INPUTS.has(name)) as TokenBatch["conditions"],
  };
}

/** Adds its arrays to a batch for a test's own use; code that takes a {@link Batch} does not read them. */
export const withTokens = (batch: Batch): Batch & TokenBatch => ({ ...batch, ...tokensOf(batch) });

/** Returns the only batch of a layout. */
export function only(batches: readonly Batch[]): Batch {
  const [batch, ...others] = batches;
  if (batch === undefined || others.length > 0) throw new Error(`${batches.length} batches in place of one`);
  return batch;
}
