import { selectFeeds, withRanges } from "../attention/bias.js";
import { type KeysOf, pastInputs } from "../attention/keys.js";
import { ALL_LAYERS, findBlocks, type Recomputed } from "../autodiff/recompute.js";
import type { Batch } from "../diffusion/layout/batch.js";
import type { CachedRounds, RoundHead, RoundInput, RoundModel, Sampler } from "../diffusion/sampler.js";
import { HIDDEN } from "../nn/bind.js";
import type { LoraOptions } from "../nn/lora.js";
import { graphWithKeys, type Model, usingGraph } from "../nn/model.js";
import { encodeModel } from "../onnx/format/proto.js";
import type { LoadOptions, RunRequest, Runtime } from "../onnx/session.js";
import { type NamedTensors, scalar, vector } from "../onnx/tensors.js";
import type { Graph, Tensor } from "../onnx/types.js";
import { optimizerGraph } from "../optim/optimizer.js";
import type { OptimizerOptions } from "../optim/update-rule.js";
import type { Critic, Objective } from "../rl/objective.js";
import { type CacheOptions, openCachedRounds } from "./cached-rounds.js";
import {
  dimensionsOf,
  type GraphShape,
  headGraph,
  hiddenGraph,
  openShape,
  rolloutGraph,
  scoreGraph,
  shapeOf,
  type TrainedModel,
  type TrainedObjective,
  trainingGraph,
} from "./graphs.js";
import type { ConvertRollouts, MergedAdapter } from "./int8.js";
import { recomputedWithin, sessionBudget, sessionBytes } from "./memory.js";
import { type Built, Sessions } from "./sessions.js";
import { hasNoEffect, type PolicyKey, TrainedParameters } from "./trained-parameters.js";

export interface EngineOptions {
  /** Provides the heads of rounds and of scores. */
  readonly sampler: Pick<Sampler, "roundHead" | "scoreHeads">;
  /** Facts of the model for the sampler's heads. */
  readonly about: unknown;
  /** Undefined: every weight is trained. */
  readonly lora: LoraOptions | undefined;
  /** Objective, its options, and the optimizer; absent without training. */
  readonly training?: {
    readonly objective: Objective;
    readonly options: unknown;
    readonly optimizer: OptimizerOptions;
  };
  /** Gradient checkpointing (training.gradient_checkpointing). */
  readonly checkpoint?: boolean;
  /** Memory limit of the process or the device for parameters and sessions, in bytes; default: none. */
  readonly memory?: number;
  /** Converts the graphs of rollouts to their precision; default: that of scoring. */
  readonly rollout?: ConvertRollouts | undefined;
}

/** Inputs of the loss: log-probabilities [S] of the segments under other policies, and the objective's own tensors. */
export interface SegmentValues {
  /** Undefined: the policy before this update is the one that is trained, so that every ratio is 1. */
  readonly old?: Float32Array | undefined;
  /** Undefined: as `old`. */
  readonly reference?: Float32Array | undefined;
  readonly advantage: Float32Array;
  readonly weight: Float32Array;
  /** Inputs that the objective declares, by name. */
  readonly extra?: NamedTensors;
}

/** Values with those that a loss compares given. */
export type ComparedValues = SegmentValues & Readonly<Record<"old" | "reference", Float32Array>>;

/** Most attention scores in one piece on a GPU, where starting a small product takes longer than computing it. */
const WHOLE_SCORES = 2 ** 27;

/**
 * A model with its adapters on a runtime: samples rounds, scores batches, accumulates gradients, takes steps. Graphs
 * are built and loaded for each static shape at first use. The runtime belongs to one engine. The engine does not
 * interpret the tensors of a batch.
 */
export class Engine extends TrainedParameters implements RoundModel<unknown> {
  /** The objective's learned value of states, where it has one. */
  readonly critic: Critic | undefined;
  private readonly trained: TrainedModel;
  private readonly sessions: Sessions;
  /** Memory limit of all sessions together, in bytes. */
  private readonly budget: number | undefined;
  private readonly withKeys = new Map<KeysOf, ReturnType<typeof graphWithKeys>>();
  private caches = 0;
  /** A policy that is not trained: the adapter that rollouts have in their weights, or none. */
  private final: MergedAdapter | "base" | undefined;
  /** The tokens of the hidden states in the runtime's store. */
  private lastRead: Tensor | undefined;
  /** The reduction of each metric of the loss head over micro-batches; filled when the training graph is built. */
  private readonly reductions = new Map<string, "sum" | "max">();

  constructor(
    runtime: Runtime,
    model: Model,
    private readonly options: EngineOptions,
  ) {
    const { lora, training, about, checkpoint = false, memory } = options;
    const { hidden_size: hiddenSize } = model.config;
    super(runtime, model, lora, training?.objective.parameters?.(training.options, { hiddenSize }) ?? []);
    this.critic = training?.objective.critic?.(training.options, { hiddenSize });
    this.trained = {
      graph: model.graph,
      lora,
      recomputed: checkpoint ? { layers: ALL_LAYERS } : {},
      wholeScores: runtime.provider === "cpu" ? 0 : WHOLE_SCORES,
      about,
    };
    this.budget = memory === undefined ? undefined : sessionBudget(memory, model.graph, this.parameters, this.copies);
    const { budget = Number.POSITIVE_INFINITY } = this;
    this.sessions = new Sessions(runtime, model.dir, budget, (build) => this.made(build), this.copies);
  }

  /** Tells whether each session holds its own copy of the weights. */
  private get copies(): boolean {
    return this.runtime.provider === "cpu" || this.runtime.binding === "npm";
  }

  /**
   * Builds the training graph at a small size and discards it, before anything is run or written.
   * @throws UserError where an op of the model is unknown or has no gradient rule.
   */
  checkTrainable(): void {
    const rows = this.model.config.reads_tokens === false ? undefined : 2;
    const shape: GraphShape = { dims: { B: 1, N: 8 }, rows, terms: 2, segments: 2 };
    for (const head of this.options.sampler.scoreHeads)
      usingGraph(this.model, () => trainingGraph(this.trained, shape, head, this.trainedObjective(), new Map()));
  }

  /** Builds the graphs for batches of one shape, under the names of ONNX Runtime's on-device training. */
  artifacts(batch: Batch, rollout: Pick<GraphShape, "dims" | "rows">): Map<string, Graph> {
    const { trained } = this;
    const shape = shapeOf(this.model.graph, batch);
    const objective = this.trainedObjective();
    return new Map([
      ["rollout_model", rolloutGraph(trained, rollout, this.options.sampler.roundHead)],
      ["eval_model", scoreGraph(trained, shape, batch.head)],
      ["training_model", trainingGraph(trained, shape, batch.head, objective, new Map())],
      ["optimizer_model", optimizerGraph(this.groups, this.training().optimizer)],
    ]);
  }

  /**
   * Stores the parameters of a policy that is not trained: its rollouts have no adapter where it has no effect, and
   * merge it where they have a precision of their own.
   */
  async setFinal(tensors: ReadonlyMap<string, Tensor>): Promise<void> {
    const { lora, rollout } = this.options;
    await this.setParameters("policy", tensors);
    if (lora === undefined) return;
    if (hasNoEffect(tensors)) this.final = "base";
    else if (rollout !== undefined) this.final = { tensors, scale: lora.alpha / lora.rank };
  }

  override async setParameters(key: PolicyKey, tensors: ReadonlyMap<string, Tensor>): Promise<void> {
    if (this.final !== undefined) throw new Error("the parameters were final");
    await super.setParameters(key, tensors);
  }

  /** Runs one round with the current policy. */
  forwardRound(input: RoundInput): Promise<unknown> {
    return this.round("rollout_model", this.options.sampler.roundHead, input);
  }

  cachedRounds(use: true | "auto"): Promise<CachedRounds<unknown> | undefined> {
    return this.openCache("rollout_model", this.options.sampler.roundHead, use);
  }

  /** Runs the current policy with the head of another sampler, for evaluations. */
  roundsOf(kind: string, { roundHead }: Pick<Sampler, "roundHead">): RoundModel<unknown> {
    const name = `rollout_model/${kind}`;
    return {
      forwardRound: (input) => this.round(name, roundHead, input),
      cachedRounds: (use) => this.openCache(name, roundHead, use),
    };
  }

  private async round(
    name: string,
    roundHead: RoundHead<unknown, unknown>,
    { inputs, again, ...of }: RoundInput,
  ): Promise<unknown> {
    const dims = dimensionsOf(this.model.graph, inputs);
    const label = JSON.stringify(dims);
    if (inputs.rows === undefined) {
      const graph = () => rolloutGraph(this.acting, { dims, rows: undefined }, roundHead);
      return roundHead.read(await this.runPolicy(`${name}/${label}`, graph, {}, { ...inputs, ...of.headInputs }));
    }
    if (again !== true || this.lastRead !== inputs.input_ids) {
      this.lastRead = inputs.input_ids;
      const graph = () => hiddenGraph(this.acting, dims);
      await this.runPolicy(`hidden_model/${label}`, graph, {}, inputs, { keep: { [HIDDEN]: HIDDEN } });
    }
    return this.head(name, roundHead, this.acting, dims)(HIDDEN, inputs.rows, of);
  }

  /**
   * Returns the head of rounds, which works for all sizes. Where sessions share the weights, a head of its own ranks
   * rows. @param dims with which its graph is built.
   */
  private head(
    name: string,
    roundHead: RoundHead<unknown, unknown>,
    model: TrainedModel,
    dims: GraphShape["dims"],
  ): CacheOptions["head"] {
    return async (hidden, rows, { headInputs, ranks = false }) => {
      const feeds = { ...headInputs, rows: rows as Tensor };
      const bind = { [HIDDEN]: hidden };
      const ranking = ranks && !this.copies ? roundHead.emitRanking : undefined;
      const label = `${name}/${ranking === undefined ? "head" : "ranking"}`;
      const graph = () => headGraph(model, dims, { ...roundHead, emit: ranking ?? roundHead.emit });
      return roundHead.read(await this.runPolicy(label, graph, { memPattern: false }, feeds, { bind }));
    };
  }

  /** Runs a graph of rollouts with the current policy. */
  private runPolicy(
    label: string,
    build: () => Graph,
    options: LoadOptions,
    feeds: NamedTensors,
    { bind = {}, keep = {} }: Pick<RunRequest, "bind" | "keep"> = {},
  ): Promise<NamedTensors> {
    const rounded = () => this.rounded(build());
    return this.sessions.use(label, rounded, options, feeds, (session, names) =>
      this.runtime.run(session, {
        feeds: selectFeeds(names, feeds),
        bind: { ...this.bindPolicy("policy", names), ...bind },
        keep,
      }),
    );
  }

  private async openCache(
    name: string,
    roundHead: RoundHead<unknown, unknown>,
    use: true | "auto",
  ): Promise<CachedRounds<unknown> | undefined> {
    // npm's binding returns a GPU's outputs to the host: keys and values would be copied there and back in every round
    if (use === "auto" && this.runtime.provider !== "cpu" && this.runtime.binding === "npm") return undefined;
    const graph = await this.graphWithKeys("past");
    if (graph === undefined) return undefined;
    const gathered = { ...this.acting, graph };
    const [kept] = pastInputs(graph.inputs);
    const page = kept && this.runtime.page(kept.width);
    const lanes = page === undefined ? undefined : await this.graphWithKeys("lanes");
    return openCachedRounds(graph, {
      id: `cache/${this.caches++}`,
      page: lanes && page,
      read: (feeds, stores) => {
        const inLanes = feeds.lanes === undefined ? undefined : lanes;
        const build = () => hiddenGraph({ ...gathered, graph: inLanes ?? graph }, undefined);
        const label = `hidden_model/${inLanes === undefined ? "cached" : "lanes"}`;
        return this.runPolicy(label, build, { memPattern: false }, feeds, stores);
      },
      head: this.head(name, roundHead, gathered, undefined),
      drop: (keys) => this.runtime.drop(keys),
    });
  }

  /** Converts a rollout's graph to the precision of rollouts. */
  private rounded(graph: Graph): Graph {
    return this.options.rollout?.(graph, this.final === "base" ? undefined : this.final) ?? graph;
  }

  /** The model of rollouts: without the projections' adapters, where they are merged or have no effect. */
  private get acting(): TrainedModel {
    const { trained, final } = this;
    if (final === "base") return { ...trained, unadapted: true };
    return final && trained.lora ? { ...trained, lora: { ...trained.lora, targets: [] } } : trained;
  }

  private graphWithKeys(of: KeysOf): ReturnType<typeof graphWithKeys> {
    const graph = this.withKeys.get(of) ?? graphWithKeys(this.model, of);
    this.withKeys.set(of, graph);
    return graph;
  }

  /** Tells whether sequences of a batch can share their starts. */
  async sharesStarts(): Promise<boolean> {
    return (await this.graphWithKeys("shared")) !== undefined;
  }

  /** Returns the model for a batch's layout: sequences that share their starts have keys of their own. */
  private async laidOutFor({ inputs }: Batch): Promise<TrainedModel> {
    const graph = inputs.keys === undefined ? undefined : await this.graphWithKeys("shared");
    return graph === undefined ? this.trained : { ...this.trained, graph };
  }

  /** Returns the log-probabilities of a batch, of its terms [R] and its segments [S], under a policy, without gradient. */
  async score(batch: Batch, key: PolicyKey): Promise<{ logProbs: Float32Array; logProb: Float32Array }> {
    const unadapted = key === "reference" && this.referenceIsBase;
    const model = { ...(await this.laidOutFor(batch)), unadapted };
    const shape = openShape(shapeOf(model.graph, batch), batch);
    const feeds = batchFeeds(batch);
    const out = await this.sessions.use(
      `${unadapted ? "base_model" : "eval_model"}/${label(batch, shape)}`,
      () => scoreGraph(model, shape, batch.head),
      { memPattern: false },
      feeds,
      (session, names) =>
        this.runtime.run(session, { feeds: selectFeeds(names, feeds), bind: this.bindPolicy(key, names) }),
    );
    return {
      logProbs: (out.logProbs as Tensor).data as Float32Array,
      logProb: (out.logProb as Tensor).data as Float32Array,
    };
  }

  /** Adds the gradient of a micro-batch; returns the loss and the objective's metrics. */
  async accumulate(batch: Batch, values: SegmentValues): Promise<Record<string, number>> {
    const model = await this.laidOutFor(batch);
    const compared = (["old", "reference"] as const).map((name) => [name, values[name]] as const);
    const onPolicy = compared.flatMap(([name, value]) => (value === undefined ? [name] : []));
    const shape = { ...openShape(shapeOf(model.graph, batch), batch), ...(onPolicy.length === 0 ? {} : { onPolicy }) };
    const given = {
      ...batchFeeds(batch),
      ...Object.fromEntries(compared.flatMap(([name, value]) => (value ? [[name, vector(value)]] : []))),
      advantage: vector(values.advantage),
      weight: vector(values.weight),
      ...values.extra,
    };
    const build = (recomputed: Recomputed) => (): Graph =>
      trainingGraph({ ...model, recomputed }, shape, batch.head, this.trainedObjective(), this.reductions);
    const name = (recomputed: Recomputed): string =>
      `training_model/${label(batch, shape)}${JSON.stringify(recomputed)}`;
    const { recomputed: least = {} } = this.trained;
    const recomputed =
      this.budget === undefined
        ? least
        : recomputedWithin(this.budget, findBlocks(model.graph.nodes).size, least, (way) =>
            this.sessions.graph(name(way), build(way)).size(given),
          );
    const out = await this.sessions.use(
      name(recomputed),
      build(recomputed),
      { memPattern: false },
      given,
      (session, names) => {
        const { bind, keep } = this.bindGradients();
        const bound = { ...this.bindPolicy("policy", names), ...bind };
        return this.runtime.run(session, { feeds: selectFeeds(names, given), bind: bound, keep });
      },
    );
    this.accumulated = true;
    return Object.fromEntries(Object.entries(out).map(([name, tensor]) => [name, Number(tensor.data[0])]));
  }

  /** Tells whether a metric is summed over micro-batches, or its maximum taken. */
  reduction(metric: string): "sum" | "max" {
    return this.reductions.get(metric) ?? "sum";
  }

  /**
   * Updates the policy from the accumulated gradients and clears them.
   * @param t number of this update, from 1 (bias correction).
   * @returns the gradient norm before clipping; where it is not finite the parameters are unchanged.
   */
  async step(t: number, learningRate: number): Promise<number> {
    const { optimizer } = this.training();
    const feeds = {
      lr: scalar(learningRate),
      correction1: scalar(1 - optimizer.beta1 ** t),
      correction2: scalar(1 - optimizer.beta2 ** t),
    };
    const out = await this.sessions.use(
      "optimizer_model",
      () => optimizerGraph(this.groups, optimizer),
      {},
      feeds,
      (session) => this.runtime.run(session, { feeds, ...this.bindUpdate(), fetch: ["grad_norm"] }),
    );
    this.discardGradients();
    return Number((out.grad_norm as Tensor).data[0]);
  }

  private training(): NonNullable<EngineOptions["training"]> {
    if (this.options.training === undefined) throw new Error("this engine was opened without an objective");
    return this.options.training;
  }

  private trainedObjective(): TrainedObjective {
    const { objective, options } = this.training();
    const parameters = this.groups.slice(1).flatMap((group) => group.parameters);
    return { objective, options, parameters, critic: this.critic };
  }

  private made(build: () => Graph): Built {
    return usingGraph(this.model, () => {
      const graph = this.runtime.lower(this.runtime.provider === "cuda" ? withRanges(build()) : build());
      const inputs = new Set(graph.inputs.map(({ name }) => name));
      const sizes = new Map<string, number>();
      const size = (feeds: NamedTensors): number => {
        const dimensions = dimensionsOf(graph, feeds);
        const key = JSON.stringify(dimensions);
        const bytes = sizes.get(key) ?? sessionBytes(graph, this.copies, dimensions);
        sizes.set(key, bytes);
        return bytes;
      };
      return { bytes: encodeModel(graph, true), inputs, size };
    });
  }
}

function batchFeeds({ inputs, headInputs, coefficient, segment, units }: Batch): NamedTensors {
  return {
    ...inputs,
    ...headInputs,
    coefficient: vector(coefficient),
    segment: vector(segment),
    units: vector(units.map((n) => Math.max(1, n))),
  };
}

const label = ({ head }: Batch, shape: GraphShape): string => `${head.name}/${JSON.stringify(shape)}`;
