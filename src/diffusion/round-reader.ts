import { f32, i64, scalar, vector } from "../onnx/tensors.js";
import type { Tensor } from "../onnx/types.js";
import { tokenTable } from "./constrained.js";
import { batchBuffers, type TokenBuffer, tokenInputs } from "./layout/buffer.js";
import { PrefixCache, type Reading } from "./layout/prefix-cache.js";
import {
  type CachedRounds,
  type CacheUse,
  DRAW_INPUTS,
  type RoundHead,
  type RoundInput,
  type RoundModel,
} from "./sampler.js";

/** One rollout's request to a forward: a sequence, and R of its rows. */
export interface RowRequest {
  readonly buffer: TokenBuffer;
  /** [R] buffer indices; -1 for an unused row. */
  readonly rows: readonly number[];
  /** [R] noise; default 0. */
  readonly uniform?: Float32Array;
  /** [R] the candidate tokens of each row, where their log-probabilities are requested. */
  readonly candidates?: readonly (readonly number[] | undefined)[];
  /** [R] further inputs of the sampler's {@link RoundHead} for each row, by name. */
  readonly features?: Readonly<Record<string, Float32Array | BigInt64Array>>;
}

/** Results of a forward, and the index of each requested row, [rollout][R], in its arrays. */
export interface Replies<Round> {
  readonly round: Round;
  readonly places: readonly (readonly number[])[];
}

export interface ReaderOptions {
  readonly roundHead: RoundHead<unknown>;
  /** Rollouts that run together. */
  readonly batch: number;
  /** N of a rollout's buffer, and its rows per round. */
  readonly shapes: { readonly length: number; readonly rows: number };
  readonly pad: number;
  /** Positive. */
  readonly temperature: number;
  readonly kvCache: CacheUse;
}

const EMPTY_REQUEST: RowRequest = { buffer: { ids: [], positions: [] }, rows: [] };

/**
 * Runs the forwards of rollouts in lockstep. Each reads whole sequences, always of the same sizes; with cached keys and
 * values it reads only the new tokens of the unfinished rollouts. Both give the same results, up to the order of
 * floating-point sums.
 */
export class RoundReader<Round> {
  private readonly cache = new PrefixCache();

  private constructor(
    private readonly model: RoundModel<Round>,
    private readonly cached: CachedRounds<Round> | undefined,
    private readonly options: ReaderOptions,
  ) {}

  static async open<Round>(model: RoundModel<Round>, options: ReaderOptions): Promise<RoundReader<Round>> {
    const { kvCache } = options;
    return new RoundReader(model, kvCache === false ? undefined : await model.cachedRounds?.(kvCache), options);
  }

  /** @param requests one per rollout, undefined where it has ended. */
  async ask(requests: readonly (RowRequest | undefined)[]): Promise<Replies<Round>> {
    return this.cached === undefined ? this.askWhole(requests) : this.askNew(this.cached, requests);
  }

  /** Frees cached keys and values. Never fails. */
  close(): void {
    this.cached?.close();
  }

  private async askWhole(requests: readonly (RowRequest | undefined)[]): Promise<Replies<Round>> {
    const { batch, shapes, pad } = this.options;
    const { length, rows: each } = shapes;
    const all = requests.map((request) => request ?? EMPTY_REQUEST);
    const buffers = batchBuffers(
      all.map(({ buffer }) => buffer),
      { batch, length, pad },
    );
    const places = all.map(({ rows }, b) => rows.map((_, r) => b * each + r));
    const { rows, headInputs } = this.draws(all, places, batch * each, (b, n) => b * length + n);
    const inputs = { ...tokenInputs(buffers), rows };
    return { round: await this.model.forwardRound({ inputs, headInputs }), places };
  }

  private async askNew(
    cached: CachedRounds<Round>,
    requests: readonly (RowRequest | undefined)[],
  ): Promise<Replies<Round>> {
    const readings = new Map<number, Reading>();
    requests.forEach((request, b) => {
      if (request === undefined) return;
      const { buffer, rows } = request;
      readings.set(b, { buffer, rows: rows.filter((row) => row >= 0) });
    });
    const { tokens, row } = this.cache.next(readings);
    let size = 0;
    const all = requests.map((request) => request ?? EMPTY_REQUEST);
    const places = all.map(({ rows }) => rows.map((n) => (n < 0 ? -1 : size++)));
    const { rows: wanted, headInputs } = this.draws(all, places, size, row);
    const [sequences, queries, width] = tokens.rows;
    const count = tokens.inputIds.length;
    const inputs = {
      input_ids: i64([1, count], tokens.inputIds),
      position_ids: i64([1, count], tokens.positionIds),
      attention_bias: f32([sequences, 1, queries, width], tokens.attentionBias),
      keys: i64([sequences, width], tokens.keys),
      queries: i64([sequences, queries], tokens.queries),
      places: i64([1, count], tokens.places),
      rows: wanted,
    };
    return { round: await cached.forwardRound({ inputs, headInputs }), places };
  }

  /** @param size rows of the forward. @param flat maps an entry of a rollout's buffer to its row in the forward. */
  private draws(
    requests: readonly RowRequest[],
    places: readonly (readonly number[])[],
    size: number,
    flat: (rollout: number, n: number) => number,
  ): { rows: Tensor; headInputs: RoundInput["headInputs"] } {
    const rows = new BigInt64Array(size);
    const uniform = new Float32Array(size);
    const { inputs } = this.options.roundHead;
    const candidates = new Array<readonly number[] | undefined>(size).fill(undefined);
    const features = Object.fromEntries(
      Object.entries(inputs)
        .filter(([name]) => !Object.hasOwn(DRAW_INPUTS, name) && name !== "candidates")
        .map(([name, { dtype }]) => [name, dtype === "int64" ? new BigInt64Array(size) : new Float32Array(size)]),
    );
    requests.forEach((request, b) => {
      request.rows.forEach((n, r) => {
        if (n < 0) return;
        const place = places[b]?.[r] as number;
        rows[place] = BigInt(flat(b, n));
        uniform[place] = request.uniform?.[r] ?? 0;
        candidates[place] = request.candidates?.[r];
        for (const [name, values] of Object.entries(features)) values[place] = request.features?.[name]?.[r] as never;
      });
    });
    return {
      rows: vector(rows),
      headInputs: {
        inverse_temperature: scalar(1 / this.options.temperature),
        uniform: vector(uniform),
        ...Object.fromEntries(Object.entries(features).map(([name, values]) => [name, vector(values)])),
        ...(Object.hasOwn(inputs, "candidates") ? { candidates: tokenTable(candidates) } : {}),
      },
    };
  }
}
