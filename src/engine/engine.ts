import { join } from "node:path";
import { isCausal } from "../diffusion/buffer.js";
import type { CachedRounds, RoundHead, RoundInput, RoundModel, Sampler } from "../diffusion/sampler.js";
import type { Conditions, TermBatch } from "../diffusion/terms.js";
import type { TokenIds } from "../diffusion/tokens.js";
import { loraSites } from "../nn/bind.js";
import { type LoraOptions, loraName } from "../nn/lora.js";
import { graphWithPast, type Model, usingGraph, WEIGHTS_FILE } from "../nn/model.js";
import type { Runtime } from "../onnx/session.js";
import { type Graph, isExternal, type Tensor } from "../onnx/types.js";
import { optimizerGraph, type Parameter, slot } from "../optim/optimizer.js";
import type { OptimizerOptions } from "../optim/update-rule.js";
import type { Objective } from "../rl/objective.js";
import { readSafetensors } from "../weights/safetensors.js";
import { openCachedRounds } from "./cached-rounds.js";
import { drawFeeds, f32, featureFeeds, i64, scalar } from "./feeds.js";
import { accumulator, type GraphShape, rolloutGraph, scoreGraph, type Trainable, trainingGraph } from "./graphs.js";

export type PolicyKey = "policy" | "reference";

export interface EngineOptions {
  /** Says what is drawn in a round and what a term is worth. */
  readonly sampler: Pick<Sampler, "roundHead" | "scoreHeads" | "conditions">;
  readonly lora: LoraOptions | undefined;
  /** Objective, its options, and the optimizer; absent where nothing is trained. */
  readonly training?: {
    readonly objective: Objective;
    readonly options: unknown;
    readonly optimizer: OptimizerOptions;
  };
  /** Gradient checkpointing (training.gradient_checkpointing). */
  readonly checkpoint?: boolean;
}

/** Values [S] of each segment that the loss compares. */
export interface SegmentValues {
  readonly old: Float32Array;
  readonly reference: Float32Array;
  readonly advantage: Float32Array;
  readonly weight: Float32Array;
}

/**
 * A model with its adapters on a runtime: samples rounds, scores trajectories, accumulates gradients, takes steps.
 * Graphs are built and loaded for each static shape at first use. Parameters, gradients and moments stay in the runtime,
 * which belongs to one engine.
 */
export class Engine implements RoundModel<unknown> {
  readonly tokens: TokenIds;
  readonly parameters: readonly Parameter[];
  private readonly trainable: Trainable;
  private accumulated = false;
  private graphWithPast: ReturnType<typeof graphWithPast> | undefined;
  private caches = 0;
  private readonly loading = new Map<string, Promise<void>>();
  /** How a metric of the loss head combines over micro-batches; filled when the training graph is built. */
  private readonly reductions = new Map<string, "sum" | "max">();

  constructor(
    readonly runtime: Runtime,
    readonly model: Model,
    private readonly options: EngineOptions,
  ) {
    const { config, graph } = model;
    this.tokens = { mask: config.mask_token_id, pad: config.pad_token_id, eos: config.eos_token_id };
    this.trainable = {
      lora: options.lora,
      full: options.lora === undefined,
      checkpoint: options.checkpoint ?? false,
    };
    this.parameters =
      options.lora === undefined
        ? [...graph.initializers.values()]
            .filter((i) => isExternal(i.data))
            .map((i) => ({ name: i.value.name, shape: i.value.shape as number[] }))
        : usingGraph(model, () => loraSites(graph, options.lora as LoraOptions)).flatMap((site) => [
            { name: loraName(site.module, "A"), shape: [(options.lora as LoraOptions).rank, site.inFeatures] },
            { name: loraName(site.module, "B"), shape: [site.outFeatures, (options.lora as LoraOptions).rank] },
          ]);
  }

  /**
   * Builds the training graph at a small size and throws it away.
   * @throws UserError where an op of the model is unknown or has no gradient rule: before anything is run or written.
   */
  checkTrainable(): void {
    const { objective, options } = this.training();
    const shape = { batch: 1, length: 8, rows: 2, segments: 2 };
    const { graph } = this.model;
    for (const head of this.options.sampler.scoreHeads) {
      usingGraph(this.model, () =>
        trainingGraph(graph, shape, this.trainable, this.tokens, head, objective, options, new Map()),
      );
    }
  }

  /** The graphs for batches of one shape, by the names of ONNX Runtime's on-device training. */
  artifacts(batch: TermBatch, rollout: { batch: number; length: number; rows: number }): Map<string, Graph> {
    const { objective, options, optimizer } = this.training();
    const { graph } = this.model;
    const shape = shapeOf(batch);
    const { trainable, tokens } = this;
    const { head } = batch;
    return new Map([
      ["rollout_model", rolloutGraph(graph, rollout, trainable, tokens, this.options.sampler.roundHead)],
      ["eval_model", scoreGraph(graph, shape, trainable, tokens, head)],
      ["training_model", trainingGraph(graph, shape, trainable, tokens, head, objective, options, new Map())],
      ["optimizer_model", optimizerGraph(this.parameters, optimizer)],
    ]);
  }

  /** Puts a policy's parameters in place. */
  async setParameters(key: PolicyKey, tensors: ReadonlyMap<string, Tensor>): Promise<void> {
    for (const p of this.parameters) {
      const tensor = tensors.get(p.name);
      if (tensor === undefined) throw new Error(`no value for the parameter ${p.name}`);
      await this.runtime.put(`${key}/${p.name}`, tensor);
    }
  }

  async getParameters(key: PolicyKey): Promise<Map<string, Tensor>> {
    return this.collect(this.parameters.map((p) => [p.name, `${key}/${p.name}`]));
  }

  /** The model's own weights, for training all of them. */
  weights(): Map<string, Tensor> {
    return readSafetensors(join(this.model.dir, WEIGHTS_FILE));
  }

  /** Moments of the optimizer, by the optimizer graph's names. */
  async getOptimizer(): Promise<Map<string, Tensor>> {
    return this.collect(this.moments().map((k) => [k, k]));
  }

  async setOptimizer(tensors: ReadonlyMap<string, Tensor> | undefined): Promise<void> {
    for (const p of this.parameters) {
      const zero = (): Tensor => f32(p.shape, new Float32Array(p.shape.reduce((a, d) => a * d, 1)));
      await this.runtime.put(zeroKey(p.name), zero());
      for (const key of [slot.first(p.name), slot.second(p.name)]) {
        await this.runtime.put(key, tensors?.get(key) ?? zero());
      }
    }
  }

  private moments(): string[] {
    return this.parameters.flatMap((p) => [slot.first(p.name), slot.second(p.name)]);
  }

  private async collect(keys: readonly (readonly [string, string])[]): Promise<Map<string, Tensor>> {
    const out = new Map<string, Tensor>();
    for (const [name, key] of keys) out.set(name, await this.runtime.get(key));
    return out;
  }

  /** One round with the current policy. */
  forwardRound(input: RoundInput): Promise<unknown> {
    return this.round("rollout_model", this.options.sampler.roundHead, input);
  }

  cachedRounds(use: true | "auto"): Promise<CachedRounds<unknown> | undefined> {
    return this.openCache("rollout_model", this.options.sampler.roundHead, use);
  }

  /** The current policy behind the head of another sampler, as evaluations may have one. */
  roundsOf(kind: string, { roundHead }: Pick<Sampler, "roundHead">): RoundModel<unknown> {
    const name = `rollout_model/${kind}`;
    return {
      forwardRound: (input) => this.round(name, roundHead, input),
      cachedRounds: (use) => this.openCache(name, roundHead, use),
    };
  }

  private async round(name: string, roundHead: RoundHead<unknown>, input: RoundInput): Promise<unknown> {
    const { batch, length } = input;
    const rows = input.rows.length;
    const session = await this.session(`${name}/${batch}x${length}x${rows}`, () =>
      rolloutGraph(this.model.graph, { batch, length, rows }, this.trainable, this.tokens, roundHead),
    );
    const out = await this.runtime.run(session, {
      feeds: {
        input_ids: i64([batch, length], input.inputIds),
        position_ids: i64([batch, length], input.positionIds),
        attention_bias: f32([batch, 1, length, length], input.attentionBias),
        ...this.conditionFeeds(input.conditions, batch),
        ...drawFeeds(input),
      },
      bind: this.bindPolicy("policy"),
    });
    return roundHead.read(out);
  }

  private async openCache(
    name: string,
    roundHead: RoundHead<unknown>,
    use: true | "auto",
  ): Promise<CachedRounds<unknown> | undefined> {
    // ONNX Runtime for Node returns what a GPU computes: keys and values would travel there and back in every round
    if (use === "auto" && this.runtime.provider !== "cpu") return undefined;
    this.graphWithPast ??= graphWithPast(this.model);
    const graph = await this.graphWithPast;
    if (graph === undefined) return undefined;
    const { runtime, trainable, tokens } = this;
    return openCachedRounds(runtime, graph, {
      id: `cache/${this.caches++}`,
      roundHead,
      bind: this.bindPolicy("policy"),
      session: () =>
        this.session(`${name}/cached`, () => rolloutGraph(graph, undefined, trainable, tokens, roundHead), {
          memPattern: false,
        }),
    });
  }

  /** Log-probabilities [R] and segment values [S] of a batch under a policy, without gradient. */
  async score(batch: TermBatch, key: PolicyKey): Promise<{ logProbs: Float32Array; value: Float32Array }> {
    const shape = shapeOf(batch);
    const session = await this.session(`eval_model/${label(batch, shape)}`, () =>
      scoreGraph(this.model.graph, shape, this.trainable, this.tokens, batch.head),
    );
    const out = await this.runtime.run(session, { feeds: this.termFeeds(batch), bind: this.bindPolicy(key) });
    return {
      logProbs: (out.log_probs as Tensor).data as Float32Array,
      value: (out.value as Tensor).data as Float32Array,
    };
  }

  /** Adds the gradient of a micro-batch; returns the loss and the objective's metrics. */
  async accumulate(batch: TermBatch, values: SegmentValues): Promise<Record<string, number>> {
    const { objective, options } = this.training();
    const shape = shapeOf(batch);
    const session = await this.session(
      `training_model/${label(batch, shape)}`,
      () =>
        trainingGraph(
          this.model.graph,
          shape,
          this.trainable,
          this.tokens,
          batch.head,
          objective,
          options,
          this.reductions,
        ),
      { memPattern: false },
    );
    const bind = this.bindPolicy("policy");
    const keep: Record<string, string> = {};
    for (const p of this.parameters) {
      bind[accumulator(p.name)] = this.accumulated ? slot.gradient(p.name) : zeroKey(p.name);
      keep[slot.gradient(p.name)] = slot.gradient(p.name);
    }
    const segments = [batch.segments];
    const out = await this.runtime.run(session, {
      feeds: {
        ...this.termFeeds(batch),
        old: f32(segments, values.old),
        reference: f32(segments, values.reference),
        advantage: f32(segments, values.advantage),
        weight: f32(segments, values.weight),
        tokens: f32(
          segments,
          batch.tokens.map((n) => Math.max(1, n)),
        ),
      },
      bind,
      keep,
    });
    this.accumulated = true;
    return Object.fromEntries(Object.entries(out).map(([name, tensor]) => [name, Number(tensor.data[0])]));
  }

  /** Whether a metric adds up over micro-batches, or the largest counts. */
  reduction(metric: string): "sum" | "max" {
    return this.reductions.get(metric) ?? "sum";
  }

  /** Forgets the gradients accumulated so far. */
  discardGradients(): void {
    this.accumulated = false;
  }

  /** The gradients accumulated so far. */
  async getGradients(): Promise<Map<string, Tensor>> {
    return this.collect(this.parameters.map((p) => [p.name, slot.gradient(p.name)]));
  }

  /**
   * Updates the policy from the accumulated gradients and clears them.
   * @param t number of this update, from 1 (bias correction).
   * @returns the gradient norm before clipping; where it is not finite nothing was changed.
   */
  async step(t: number, learningRate: number): Promise<number> {
    const { optimizer } = this.training();
    const session = await this.session("optimizer_model", () => optimizerGraph(this.parameters, optimizer));
    const bind: Record<string, string> = {};
    const keep: Record<string, string> = {};
    for (const p of this.parameters) {
      bind[p.name] = `policy/${p.name}`;
      keep[slot.next(p.name)] = `policy/${p.name}`;
      bind[slot.gradient(p.name)] = slot.gradient(p.name);
      for (const key of [slot.first(p.name), slot.second(p.name)]) {
        bind[key] = key;
        keep[slot.next(key)] = key;
      }
    }
    const out = await this.runtime.run(session, {
      feeds: {
        lr: scalar(learningRate),
        correction1: scalar(1 - optimizer.beta1 ** t),
        correction2: scalar(1 - optimizer.beta2 ** t),
      },
      bind,
      keep,
      fetch: ["grad_norm"],
    });
    this.accumulated = false;
    return Number((out.grad_norm as Tensor).data[0]);
  }

  private training(): NonNullable<EngineOptions["training"]> {
    if (this.options.training === undefined) throw new Error("this engine was opened without an objective");
    return this.options.training;
  }

  private bindPolicy(key: PolicyKey): Record<string, string> {
    return Object.fromEntries(this.parameters.map((p) => [p.name, `${key}/${p.name}`]));
  }

  /** Inputs of the model's own graph, of those that a layout gives. */
  private conditionFeeds(conditions: Conditions, batch: number): Record<string, Tensor> {
    const known = new Set(this.model.graph.inputs.map((input) => input.name));
    return Object.fromEntries(
      Object.entries(conditions)
        .filter(([name]) => known.has(name))
        .map(([name, values]) => [name, f32([batch], values)]),
    );
  }

  private termFeeds(b: TermBatch): Record<string, Tensor> {
    const terms = [b.rows.length];
    return {
      input_ids: i64([b.batch, b.length], b.inputIds),
      position_ids: i64([b.batch, b.length], b.positionIds),
      attention_bias: f32([b.batch, 1, b.length, b.length], b.attentionBias),
      ...this.conditionFeeds(b.conditions, b.batch),
      inverse_temperature: scalar(1 / b.temperature),
      rows: i64(terms, b.rows),
      targets: i64(terms, b.targets),
      ...featureFeeds(b.features),
      coefficient: f32(terms, b.coefficient),
      segment: i64(terms, b.segment),
    };
  }

  private async session(name: string, build: () => Graph, options: { memPattern?: boolean } = {}): Promise<string> {
    if (this.runtime.has(name)) return name;
    // a call may come while the session of an earlier one is still on its way
    let loading = this.loading.get(name);
    if (loading === undefined) {
      const bytes = usingGraph(this.model, () => this.runtime.encode(build()));
      loading = this.runtime
        .load(name, { bytes, weightsDir: this.model.dir }, options)
        .finally(() => this.loading.delete(name));
      this.loading.set(name, loading);
    }
    await loading;
    return name;
  }
}

function zeroKey(parameter: string): string {
  return `zero/${parameter}`;
}

function shapeOf(b: TermBatch): GraphShape & { causal: boolean } {
  return { batch: b.batch, length: b.length, rows: b.rows.length, segments: b.segments, causal: isCausal(b) };
}

function label(b: TermBatch, { batch, length, rows, segments, causal }: GraphShape): string {
  return `${b.head.name}/${batch}x${length}x${rows}x${segments}${causal ? "/causal" : ""}`;
}
