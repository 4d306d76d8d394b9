import { PAST, PRESENT, pastInputs } from "../attention/keys.js";
import { NOTHING_KEPT } from "../attention/prefix-cache.js";
import type { CachedRounds, RoundInput } from "../diffusion/sampler.js";
import { HIDDEN } from "../nn/bind.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import type { RunRequest } from "../onnx/session.js";
import { sizeOf } from "../onnx/shapes.js";
import { f32, type NamedTensors } from "../onnx/tensors.js";
import type { Tensor } from "../onnx/types.js";

export interface CacheOptions {
  /** Prefix of the keys and values in the runtime's store. */
  readonly id: string;
  /** Keys of a page, where rounds may leave what is kept in place; default: they are gathered. */
  readonly page?: number | undefined;
  /** Runs the graph up to the hidden states. */
  read(feeds: NamedTensors, stores: Pick<RunRequest, "bind" | "keep">): Promise<unknown>;
  /** Runs the head on rows of the hidden states under a store key. */
  head(hidden: string, rows: Tensor | undefined, round: Pick<RoundInput, "headInputs" | "ranks">): Promise<unknown>;
  drop(keys: readonly string[]): Promise<void>;
}

/** Opens rounds of a graph with a past (attention/keys.ts), whose keys and values stay in the runtime between rounds. */
export function openCachedRounds(
  graph: Pick<RawModel, "inputs">,
  { id, page, read, head, drop }: CacheOptions,
): CachedRounds<unknown> {
  const stores = pastInputs(graph.inputs).map(({ name, heads, width }) => ({
    input: name,
    output: `${PRESENT}${name.slice(PAST.length)}`,
    key: `${id}/${name}`,
    shape: [1, NOTHING_KEPT, heads, width],
  }));
  const hidden = `${id}/${HIDDEN}`;
  const kept = Object.fromEntries(stores.map(({ input, key }) => [input, key]));
  const keep = { ...Object.fromEntries(stores.map(({ output, key }) => [output, key])), [HIDDEN]: hidden };
  // one unseen row instead of none: not every provider takes a tensor without elements
  const nothing = Object.fromEntries(
    stores.map(({ input, shape }) => [input, f32(shape, new Float32Array(sizeOf(shape)))]),
  );
  let begun = false;
  return {
    page,
    forwardRound: async ({ inputs, again, ...round }) => {
      if (again !== true) await read({ ...inputs, ...(begun ? {} : nothing) }, { bind: begun ? kept : {}, keep });
      begun = true;
      return head(hidden, inputs.rows, round);
    },
    close: () => void drop(Object.values(keep)).catch(() => undefined),
  };
}
