import * as ort from "onnxruntime-web/wasm";
import type { RoundModel } from "../../src/diffusion/sampler.js";
import { type RowStatistics, roundHead } from "../../src/diffusion/samplers/unmask/round.js";
import { selectFeeds } from "../../src/engine/attention-ranges.js";
import { openCachedRounds } from "../../src/engine/cached-rounds.js";
import { HIDDEN } from "../../src/nn/bind.js";
import type { RawModel } from "../../src/onnx/format/raw-model.js";
import type { RunRequest } from "../../src/onnx/session.js";
import type { NamedTensors } from "../../src/onnx/tensors.js";
import type { Tensor, Value } from "../../src/onnx/types.js";

/** Inputs of the graph up to the hidden states, and of the head's. */
export type Graphs = Readonly<Record<"hidden_model" | "head_model", readonly Value[]>>;

/** Parameters of an adapter, keyed by the graph's input names. */
export type Adapter = ReadonlyMap<string, Tensor>;

const toOrt = ({ dtype, data, shape }: Tensor): ort.Tensor =>
  new ort.Tensor(dtype as "float32", data as Float32Array, shape);
const fromOrt = ({ type, data, dims }: ort.Tensor): Tensor => ({ dtype: type, data, shape: dims }) as Tensor;

/** Sessions of ONNX Runtime for the web with the tensors that they keep between runs. */
export class BrowserRuntime {
  private readonly store = new Map<string, ort.Tensor>();

  constructor(private readonly sessions: ReadonlyMap<string, ort.InferenceSession>) {}

  put(key: string, tensor: Tensor): void {
    this.store.set(key, toOrt(tensor));
  }

  async drop(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.store.delete(key);
  }

  async run(session: string, { feeds, bind = {}, keep = {} }: RunRequest): Promise<Record<string, Tensor>> {
    const given = Object.fromEntries([
      ...Object.entries(feeds).map(([name, tensor]) => [name, toOrt(tensor)]),
      ...Object.entries(bind).map(([name, key]) => [name, this.store.get(key)]),
    ]);
    const outputs = await (this.sessions.get(session) as ort.InferenceSession).run(given);
    for (const [name, key] of Object.entries(keep)) this.store.set(key, outputs[name] as ort.Tensor);
    return Object.fromEntries(
      Object.entries(outputs).flatMap(([name, tensor]) => (name in keep ? [] : [[name, fromOrt(tensor)]])),
    );
  }
}

/** Makes the model that a sampler queries: the demo's network with an adapter and, as in Node on a CPU, a KV cache. */
export function roundModel(
  runtime: BrowserRuntime,
  graphs: Graphs,
  adapter: { readonly name: string; readonly parameters: readonly string[] },
): RoundModel<RowStatistics> {
  const run = (
    graph: keyof Graphs,
    feeds: NamedTensors,
    { bind = {}, keep = {} }: Pick<RunRequest, "bind" | "keep">,
  ): Promise<NamedTensors> => {
    const names = new Set(graphs[graph].map(({ name }) => name));
    const own = adapter.parameters.filter((name) => names.has(name)).map((name) => [name, `${adapter.name}/${name}`]);
    return runtime.run(graph, {
      feeds: selectFeeds(names, feeds),
      bind: { ...Object.fromEntries(own), ...bind },
      keep,
    });
  };
  let caches = 0;
  return {
    forwardRound: () => {
      throw new Error("the demo's rounds keep keys and values");
    },
    cachedRounds: async () =>
      openCachedRounds({ inputs: graphs.hidden_model } as unknown as RawModel, {
        id: `${adapter.name}/${caches++}`,
        read: (feeds, stores) => run("hidden_model", feeds, stores),
        head: async (hidden, rows, headInputs) =>
          roundHead.read(
            await run("head_model", { ...headInputs, rows: rows as Tensor }, { bind: { [HIDDEN]: hidden } }),
          ),
        drop: (keys) => runtime.drop(keys),
      }) as never,
  };
}
