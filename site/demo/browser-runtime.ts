import * as ort from "onnxruntime-web/wasm";
import { selectFeeds } from "../../src/attention/bias.js";
import type { CachedRounds, RoundModel } from "../../src/diffusion/sampler.js";
import { type RowStatistics, roundHead } from "../../src/diffusion/samplers/unmask/round.js";
import { openCachedRounds } from "../../src/engine/cached-rounds.js";
import { HIDDEN } from "../../src/nn/bind.js";
import type { RunRequest } from "../../src/onnx/session.js";
import type { NamedTensors } from "../../src/onnx/tensors.js";
import type { Tensor, Value } from "../../src/onnx/types.js";

const toOrt = ({ dtype, data, shape }: Tensor): ort.Tensor =>
  new ort.Tensor(dtype as "float32", data as Float32Array, shape);
const fromOrt = ({ type, data, dims }: ort.Tensor): Tensor => ({ dtype: type, data, shape: dims }) as Tensor;

/** The two graphs of a round: the network up to the hidden states, and the head. */
export interface Sessions {
  readonly hidden: ort.InferenceSession;
  readonly head: ort.InferenceSession;
}

/** Sessions of ONNX Runtime for the web with the tensors that they keep between runs. */
export class BrowserRuntime {
  private readonly store = new Map<string, ort.Tensor>();

  constructor(private readonly sessions: Sessions) {}

  put(key: string, tensor: Tensor): void {
    this.store.set(key, toOrt(tensor));
  }

  async drop(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.store.delete(key);
  }

  async run(name: keyof Sessions, { feeds, bind = {}, keep = {} }: RunRequest): Promise<NamedTensors> {
    const session = this.sessions[name];
    const fed = selectFeeds(new Set(session.inputNames), feeds);
    const given = Object.fromEntries(
      session.inputNames.map((input) => {
        const [tensor, key] = [fed[input], bind[input]];
        const value = tensor === undefined ? this.store.get(key ?? "") : toOrt(tensor);
        if (value === undefined) throw new Error(`${name}: nothing is given for ${input}`);
        return [input, value];
      }),
    );
    const outputs = await session.run(given);
    for (const [output, key] of Object.entries(keep)) this.store.set(key, outputs[output] as ort.Tensor);
    return Object.fromEntries(
      Object.entries(outputs).flatMap(([output, tensor]) => (output in keep ? [] : [[output, fromOrt(tensor)]])),
    );
  }
}

/** Makes the model that a sampler queries: the demo's network with an adapter and, as in Node on a CPU, a KV cache. */
export function roundModel(
  runtime: BrowserRuntime,
  inputs: readonly Value[],
  adapter: { readonly name: string; readonly parameters: Iterable<string> },
): RoundModel<RowStatistics> {
  const adapted = Object.fromEntries([...adapter.parameters].map((name) => [name, `${adapter.name}/${name}`]));
  let caches = 0;
  return {
    forwardRound: () => {
      throw new Error("the demo's rounds keep keys and values");
    },
    cachedRounds: async () =>
      openCachedRounds(
        { inputs },
        {
          id: `${adapter.name}/${caches++}`,
          read: (feeds, stores) => runtime.run("hidden", { feeds, ...stores, bind: { ...adapted, ...stores.bind } }),
          head: async (hidden, rows, { headInputs }) =>
            roundHead.read(
              await runtime.run("head", {
                feeds: { ...headInputs, ...(rows === undefined ? {} : { rows }) },
                bind: { ...adapted, [HIDDEN]: hidden },
              }),
            ),
          drop: (keys) => runtime.drop(keys),
        },
      ) as CachedRounds<RowStatistics>,
  };
}
