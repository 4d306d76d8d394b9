import * as ort from "onnxruntime-web/wasm";
import type { RoundModel } from "../../src/diffusion/sampler.js";
import { type RowStatistics, roundHead } from "../../src/diffusion/samplers/unmask/round.js";
import { openCachedRounds } from "../../src/engine/cached-rounds.js";
import type { RawModel } from "../../src/onnx/format/raw-model.js";
import type { RunRequest, Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";

/** Parameters of an adapter, keyed by the graph's input names. */
export type Adapter = ReadonlyMap<string, Tensor>;

const toOrt = ({ dtype, data, shape }: Tensor): ort.Tensor =>
  new ort.Tensor(dtype as "float32", data as Float32Array, shape);
const fromOrt = ({ type, data, dims }: ort.Tensor): Tensor => ({ dtype: type, data, shape: dims }) as Tensor;

/** A session of ONNX Runtime for the web with the tensors that it keeps between runs. */
export class BrowserRuntime {
  private readonly store = new Map<string, ort.Tensor>();

  constructor(private readonly session: ort.InferenceSession) {}

  put(key: string, tensor: Tensor): void {
    this.store.set(key, toOrt(tensor));
  }

  async drop(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.store.delete(key);
  }

  async run(_session: string, { feeds, bind = {}, keep = {} }: RunRequest): Promise<Record<string, Tensor>> {
    const given = Object.fromEntries([
      ...Object.entries(feeds).map(([name, tensor]) => [name, toOrt(tensor)]),
      ...Object.entries(bind).map(([name, key]) => [name, this.store.get(key)]),
    ]);
    const outputs = await this.session.run(given);
    for (const [name, key] of Object.entries(keep)) this.store.set(key, outputs[name] as ort.Tensor);
    return Object.fromEntries(
      Object.entries(outputs).flatMap(([name, tensor]) => (name in keep ? [] : [[name, fromOrt(tensor)]])),
    );
  }
}

/** Makes the model that a sampler queries: the demo's network with an adapter and, as in Node on a CPU, a KV cache. */
export function roundModel(
  runtime: BrowserRuntime,
  inputs: readonly Value[],
  adapter: { readonly name: string; readonly parameters: Iterable<string> },
): RoundModel<RowStatistics> {
  const names = new Set(inputs.map(({ name }) => name));
  const bind = Object.fromEntries([...adapter.parameters].map((name) => [name, `${adapter.name}/${name}`]));
  let caches = 0;
  return {
    forwardRound: () => {
      throw new Error("the demo's rounds keep keys and values");
    },
    cachedRounds: async () =>
      openCachedRounds(runtime as unknown as Runtime, { inputs } as unknown as RawModel, {
        id: `${adapter.name}/${caches++}`,
        roundHead,
        use: (_feeds, work) => work("rollout_model", names, bind),
      }) as never,
  };
}
