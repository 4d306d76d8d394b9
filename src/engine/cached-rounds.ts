import { NOTHING_KEPT } from "../diffusion/layout/prefix-cache.js";
import type { CachedRounds, RoundHead } from "../diffusion/sampler.js";
import { PAST, PRESENT } from "../nn/past.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import type { Runtime } from "../onnx/session.js";
import { sizeOf } from "../onnx/shapes.js";
import { f32, type NamedTensors } from "../onnx/tensors.js";
import { selectFeeds } from "./attention-ranges.js";

export interface CacheOptions {
  /** Prefix of the keys and values in the runtime's store. */
  readonly id: string;
  readonly roundHead: RoundHead<unknown, unknown>;
  /**
   * Runs work on the session for the sizes of `feeds`, one for all sizes. `names`: its graph's inputs; `bind`: store
   * keys of its parameters.
   */
  use<T>(
    feeds: NamedTensors,
    work: (session: string, names: ReadonlySet<string>, bind: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T>;
}

/** Opens rounds of a graph with a past (src/nn/past.ts), whose keys and values stay in the runtime between rounds. */
export function openCachedRounds(
  runtime: Runtime,
  graph: RawModel,
  { id, roundHead, use }: CacheOptions,
): CachedRounds<unknown> {
  const stores = graph.inputs
    .filter((input) => input.name.startsWith(PAST))
    .map(({ name, shape: [, heads, width] }) => ({
      input: name,
      output: `${PRESENT}${name.slice(PAST.length)}`,
      key: `${id}/${name}`,
      shape: [NOTHING_KEPT, heads as number, width as number],
    }));
  const kept = Object.fromEntries(stores.map(({ input, key }) => [input, key]));
  const keep = Object.fromEntries(stores.map(({ output, key }) => [output, key]));
  // one unseen row instead of none: not every provider takes a tensor without elements
  const nothing = Object.fromEntries(
    stores.map(({ input, shape }) => [input, f32(shape, new Float32Array(sizeOf(shape)))]),
  );
  let begun = false;
  return {
    forwardRound: async ({ inputs, headInputs }) => {
      const given = { ...inputs, ...(begun ? {} : nothing), ...headInputs };
      const outputs = await use(given, (session, names, bind) =>
        runtime.run(session, { feeds: selectFeeds(names, given), bind: { ...bind, ...(begun ? kept : {}) }, keep }),
      );
      begun = true;
      return roundHead.read(outputs);
    },
    close: () => void runtime.drop(stores.map(({ key }) => key)).catch(() => undefined),
  };
}
