import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ReaderOptions, type Replies, RoundReader, type RowRequest } from "../../src/diffusion/round-reader.js";
import { DRAW_INPUTS, type RoundInput, type RoundModel } from "../../src/diffusion/sampler.js";
import { tokensOf } from "../support/token-batch.js";

const PAD = 9;
const inputs: ReaderOptions["roundHead"]["inputs"] = {
  ...{ ...DRAW_INPUTS, target: { dtype: "int64", shape: ["R"] }, weight: { dtype: "float32", shape: ["R"] } },
};
const roundHead = { inputs, emit: () => undefined, read: () => undefined };
const sizes = { batch: 3, shapes: { length: 5 } };
const options: ReaderOptions = { roundHead, ...sizes, pad: PAD, temperature: 0.5, kvCache: false };

/** The token, noise and features of a row that a forward was asked about. */
type Row = readonly [number, number, number, number];

const rowsOf = (input: RoundInput): Row[] => {
  const { rows, inputIds, uniform, features } = tokensOf(input);
  return Array.from(rows, (row, r) => {
    const [id, target] = [inputIds[Number(row)], features.target?.[r]].map(Number) as [number, number];
    return [id, uniform[r] as number, target, features.weight?.[r] as number];
  });
};

/** A model that returns its inputs. */
class Echo implements RoundModel<Row[]> {
  readonly whole: RoundInput[] = [];
  readonly cached: RoundInput[] = [];
  readonly uses: unknown[] = [];
  closed = 0;

  constructor(private readonly keeps = true) {}

  async forwardRound(input: RoundInput): Promise<Row[]> {
    this.whole.push(input);
    return rowsOf(input);
  }

  async cachedRounds(use: true | "auto"): ReturnType<NonNullable<RoundModel<Row[]>["cachedRounds"]>> {
    this.uses.push(use);
    if (!this.keeps) return undefined;
    return {
      forwardRound: async (input) => {
        this.cached.push(input);
        return rowsOf(input);
      },
      close: () => void this.closed++,
    };
  }
}

const buffer = (...ids: number[]): RowRequest["buffer"] => ({ ids, positions: ids.map((_, i) => i) });
const first: RowRequest = {
  buffer: buffer(1, 2, 3, 4),
  rows: [2, -1, 3],
  uniform: Float32Array.of(0.25, 0.5, 0.75),
  features: { target: BigInt64Array.of(5n, 6n, 7n), weight: Float32Array.of(1, 2, 3) },
};
const second: RowRequest = {
  buffer: buffer(6, 7, 8),
  rows: [1],
  features: { target: BigInt64Array.of(8n), weight: Float32Array.of(4) },
};
const EXPECTED = [
  [
    [3, 0.25, 5, 1],
    [4, 0.75, 7, 3],
  ],
  [],
  [[7, 0, 8, 4]],
];

/** Collects the replies to the rows that each rollout asked for. */
const said = ({ round, places }: Replies<Row[]>, requests: readonly (RowRequest | undefined)[]): Row[][] =>
  requests.map((request, b) =>
    (request?.rows ?? []).flatMap((row, r) => (row < 0 ? [] : [round[places[b]?.[r] as number] as Row])),
  );

describe("a reader of rounds", () => {
  it("reads whole sequences of one size, whoever asks", async () => {
    const model = new Echo();
    const reader = await RoundReader.open(model, options);
    const all = [first, undefined, second];
    assert.deepEqual(said(await reader.ask(all), all), EXPECTED);
    const last = all.slice(1);
    assert.deepEqual(said(await reader.ask(last), last), EXPECTED.slice(1));
    model.whole.map(tokensOf).forEach(({ batch, length, inputIds, rows, uniform, temperature }, i) => {
      const asked = [3, 1][i];
      assert.deepEqual([batch, length, inputIds.length, rows.length, uniform.length], [3, 5, 15, asked, asked]);
      assert.equal(temperature, 0.5);
    });
    const ids = [...tokensOf(model.whole[1] as RoundInput).inputIds].map(Number);
    assert.deepEqual(ids, [...Array(5).fill(PAD), 6, 7, 8, ...Array(7).fill(PAD)]);
    assert.deepEqual(model.uses, []);
    reader.close();
  });

  it("reads what is new of those that ask, where keys and values are kept", async () => {
    const model = new Echo();
    const reader = await RoundReader.open(model, { ...options, kvCache: "auto" });
    const requests = [first, undefined, second];
    assert.deepEqual(said(await reader.ask(requests), requests), EXPECTED);
    assert.deepEqual(said(await reader.ask([first]), [first]), [EXPECTED[0]]);
    assert.deepEqual(
      model.cached.map((input) => {
        const { batch, length, rows } = tokensOf(input);
        const { attention_ranges, queries, places, keys } = input.inputs;
        const [sequences, most] = attention_ranges?.shape ?? [];
        assert.deepEqual(attention_ranges?.shape, [sequences, most, 4]);
        assert.deepEqual(queries?.shape, [sequences, most]);
        assert.deepEqual(keys?.shape, [sequences, 32]);
        assert.deepEqual([batch, places?.shape], [1, [1, length]]);
        return [sequences, most, length, rows.length];
      }),
      [
        // four and three tokens without padding
        [2, 4, 7, 3],
        // reads from the first requested row on
        [1, 2, 2, 2],
      ],
    );
    assert.deepEqual([model.uses, model.whole, model.closed], [["auto"], [], 0]);
    reader.close();
    assert.equal(model.closed, 1);
  });

  it("reads whole sequences where none can be kept", async () => {
    const model = new Echo(false);
    const reader = await RoundReader.open(model, { ...options, kvCache: true });
    await reader.ask([first]);
    assert.deepEqual([model.uses, model.whole.length], [[true], 1]);
    reader.close();
  });
});
