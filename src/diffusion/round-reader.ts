import { PrefixCache, type Reading } from "../attention/prefix-cache.js";
import { type LaidOut, layBuffers, type TokenBuffer } from "../attention/rows.js";
import { scalar, vector } from "../onnx/tensors.js";
import type { Tensor } from "../onnx/types.js";
import { tokenTable } from "./constrained.js";
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

/** Results of a forward, and the index of each requested row, [rollout][R], in its arrays; -1 where none was asked. */
export interface Replies<Round> {
  readonly round: Round;
  readonly places: readonly (readonly number[])[];
}

/** The rows of requests that go through the head. */
export interface AskedRows {
  /** Tells whether row r of a rollout's request is asked; default: all are. */
  readonly isAsked?: (rollout: number, r: number) => boolean;
  readonly again?: boolean;
  /** Draws at every row of a head with the size Q (default), or only at the first. */
  readonly drawn?: boolean;
}

export interface ReaderOptions {
  readonly roundHead: RoundHead<unknown>;
  /** Rollouts that run together. */
  readonly batch: number;
  /** N of a rollout's buffer. */
  readonly shapes: { readonly length: number };
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
  private readonly cache: PrefixCache;
  private read: LaidOut | undefined;

  private constructor(
    private readonly model: RoundModel<Round>,
    private readonly cached: CachedRounds<Round> | undefined,
    private readonly options: ReaderOptions,
  ) {
    this.cache = new PrefixCache(cached?.page);
  }

  static async open<Round>(model: RoundModel<Round>, options: ReaderOptions): Promise<RoundReader<Round>> {
    const { kvCache } = options;
    return new RoundReader(model, kvCache === false ? undefined : await model.cachedRounds?.(kvCache), options);
  }

  /**
   * Runs a forward and its head.
   * @param requests one per rollout, undefined where it has ended.
   * @param asked rows for the head, and whether tokens are drawn there; with `again` the last requests are asked again,
   *   about other rows of the same forward.
   */
  async ask(requests: readonly (RowRequest | undefined)[], asked: AskedRows = {}): Promise<Replies<Round>> {
    const { isAsked = () => true, again = false, drawn = true } = asked;
    if (!again || this.read === undefined)
      this.read = this.cached === undefined ? this.readWhole(requests) : this.readNew(requests);
    const { inputs, row } = this.read;
    let size = 0;
    const all = requests.map((request) => request ?? EMPTY_REQUEST);
    const places = all.map(({ rows }, b) => rows.map((n, r) => (n >= 0 && isAsked(b, r) ? size++ : -1)));
    const { rows, headInputs } = this.draws(all, places, size, row, drawn);
    const how = { ...(again ? { again } : {}), ...(drawn ? {} : { ranks: true }) };
    const round = { inputs: { ...inputs, rows }, headInputs, ...how };
    return { round: await (this.cached ?? this.model).forwardRound(round), places };
  }

  /** Frees cached keys and values. Never fails. */
  close(): void {
    this.cached?.close();
  }

  private readWhole(requests: readonly (RowRequest | undefined)[]): LaidOut {
    const { batch, shapes, pad } = this.options;
    const buffers = requests.map((request) => (request ?? EMPTY_REQUEST).buffer);
    return layBuffers(buffers, { batch, length: shapes.length, pad });
  }

  private readNew(requests: readonly (RowRequest | undefined)[]): LaidOut {
    const readings = new Map<number, Reading>();
    requests.forEach((request, b) => {
      if (request === undefined) return;
      const { buffer, rows } = request;
      readings.set(b, { buffer, rows: rows.filter((row) => row >= 0) });
    });
    return this.cache.next(readings);
  }

  /** @param size rows of the head. @param row maps an entry of a rollout's buffer to its row in the forward. */
  private draws(
    requests: readonly RowRequest[],
    places: readonly (readonly number[])[],
    size: number,
    row: LaidOut["row"],
    drawn: boolean,
  ): { rows: Tensor; headInputs: RoundInput["headInputs"] } {
    const { inputs } = this.options.roundHead;
    const rows = new BigInt64Array(size);
    // one row instead of none: not every provider takes a tensor without elements
    const sizeOf = (name: string): number => (inputs[name]?.shape[0] === "Q" && !drawn ? Math.min(1, size) : size);
    const uniform = new Float32Array(sizeOf("uniform"));
    const candidates = new Array<readonly number[] | undefined>(sizeOf("candidates")).fill(undefined);
    const features = Object.fromEntries(
      Object.entries(inputs)
        .filter(([name]) => !Object.hasOwn(DRAW_INPUTS, name) && name !== "candidates" && name !== "drawn")
        .map(([name, { dtype }]) => [name, dtype === "int64" ? new BigInt64Array(size) : new Float32Array(size)]),
    );
    requests.forEach((request, b) => {
      request.rows.forEach((n, r) => {
        const place = places[b]?.[r] as number;
        if (place < 0) return;
        rows[place] = BigInt(row(b, n));
        if (place < uniform.length) uniform[place] = request.uniform?.[r] ?? 0;
        if (place < candidates.length) candidates[place] = request.candidates?.[r];
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
        ...(Object.hasOwn(inputs, "drawn") ? { drawn: vector(BigInt64Array.from(uniform, (_, q) => BigInt(q))) } : {}),
      },
    };
  }
}
