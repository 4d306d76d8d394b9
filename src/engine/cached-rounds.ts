import { NOTHING_KEPT } from "../diffusion/prefix-cache.js";
import type { CachedRounds, RoundHead } from "../diffusion/sampler.js";
import { PAST, PRESENT } from "../nn/past.js";
import type { RawModel } from "../onnx/raw-model.js";
import type { Runtime } from "../onnx/session.js";
import { f32 } from "../onnx/tensors.js";

export interface CacheOptions {
  /** Where the runtime's store keeps keys and values. */
  readonly id: string;
  readonly roundHead: RoundHead<unknown, unknown>;
  /** Graph input -> store key of the parameters that a session reads. */
  bind(session: string): Readonly<Record<string, string>>;
  /** Loads the session at first use: one serves all sizes. */
  session(): Promise<string>;
}

/** Rounds of a graph with a past (src/nn/past.ts), whose keys and values stay in the runtime between them. */
export function openCachedRounds(
  runtime: Runtime,
  graph: RawModel,
  { id, roundHead, bind, session }: CacheOptions,
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
  // rows that nothing sees, and not none: not every provider takes a tensor without elements
  const nothing = Object.fromEntries(
    stores.map(({ input, shape }) => [input, f32(shape, new Float32Array(shape.reduce((a, d) => a * d, 1)))]),
  );
  let begun = false;
  return {
    forwardRound: async ({ inputs, headInputs }) => {
      const feeds = { ...inputs, ...(begun ? {} : nothing), ...headInputs };
      const name = await session();
      const outputs = await runtime.run(name, { feeds, bind: { ...bind(name), ...(begun ? kept : {}) }, keep });
      begun = true;
      return roundHead.read(outputs);
    },
    close: () => void runtime.drop(stores.map(({ key }) => key)).catch(() => undefined),
  };
}
