import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { allowedLogProbs, inverseCdf } from "../../src/diffusion/head.js";
import { draftHead } from "../../src/diffusion/samplers/refusion/head.js";
import { type RowStatistics, roundHead } from "../../src/diffusion/samplers/unmask/round.js";
import { modelHead, policyHead, type ScoreHead } from "../../src/diffusion/score-head.js";
import type { SampledModel, TokenIds } from "../../src/diffusion/tokens.js";
import { Emitter } from "../../src/onnx/emit.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";

const f32 = (shape: readonly number[], data: readonly number[]): Tensor => ({
  dtype: "float32",
  shape,
  data: Float32Array.from(data),
});
const about = (tokens: TokenIds, vocabulary: number): SampledModel => ({ tokens, vocabulary, attention: "causal" });
const i64 = (data: readonly number[]): Tensor => ({
  dtype: "int64",
  shape: [data.length],
  data: BigInt64Array.from(data, BigInt),
});
const numbers = (tensor: Tensor | undefined): number[] => Array.from(tensor?.data as Float32Array, Number);

/** log softmax in float64 over the tokens that are not blocked. */
function logSoftmax(logits: readonly number[], temperature: number, blocked: readonly number[]): number[] {
  const scaled = logits.map((x, v) => (blocked.includes(v) ? Number.NEGATIVE_INFINITY : x / temperature));
  const top = Math.max(...scaled);
  const total = top + Math.log(scaled.reduce((sum, x) => sum + Math.exp(x - top), 0));
  return scaled.map((x) => x - total);
}

const argmax = (xs: readonly number[]): number => xs.indexOf(Math.max(...xs));

function close(actual: readonly number[], expected: readonly number[], tolerance = 2e-5): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((x, i) => {
    const y = expected[i] as number;
    // a blocked token is impossible, not exactly -Infinity
    assert.ok(y === Number.NEGATIVE_INFINITY ? x < -1e6 : Math.abs(x - y) < tolerance, `${i}: ${x} for ${y}`);
  });
}

describe("the distribution on the graph", () => {
  let runtime: Runtime;
  let graphs = 0;
  before(async () => {
    runtime = await Runtime.open({ provider: "cpu", threads: 1 });
  });
  after(() => runtime.close());

  /** Runs a graph over these inputs. */
  async function evaluate(
    feeds: Readonly<Record<string, Tensor>>,
    build: (e: Emitter, inputs: Readonly<Record<string, Value>>) => void,
  ): Promise<Record<string, Tensor>> {
    const g = new GraphBuilder("head");
    const inputs = Object.fromEntries(
      Object.entries(feeds).map(([name, { dtype, shape }]) => [name, g.input(name, dtype, shape)]),
    );
    build(new Emitter(g), inputs);
    const session = `graph ${graphs++}`;
    await runtime.load(session, { bytes: encodeModel(g.build()) });
    return runtime.run(session, { feeds });
  }

  const normal = (rng: Rng, count: number): number[] =>
    Array.from({ length: count }, () => Math.fround(3 * rng.normal()));

  it("is a softmax at the temperature, without mask and pad, and without EOS where that is forbidden", async () => {
    const rng = Rng.named(1, "allowed");
    for (const [tokens, blocked] of [
      [{ eos: 2, mask: 3, pad: 4 }, [3, 4]],
      // a model may pad with EOS, or have no mask in its vocabulary
      [{ eos: 2, mask: 3, pad: 2 }, [3]],
      [{ eos: 4, mask: 5, pad: 1 }, [1]],
    ] as const) {
      const logits = [0, 1].map(() => normal(rng, 5));
      const feeds = {
        logits: f32([2, 5], logits.flat()),
        inverse: f32([], [1 / 0.7]),
        allowed: f32([2], [1, 0]),
      };
      const out = await evaluate(feeds, (e, { logits: l, inverse, allowed }) => {
        e.g.output("some", allowedLogProbs(e, l as Value, inverse as Value, tokens, allowed));
        e.g.output("all", allowedLogProbs(e, l as Value, inverse as Value, tokens, undefined));
      });
      const [first, second] = logits as [number[], number[]];
      const free = [logSoftmax(first, 0.7, blocked), logSoftmax(second, 0.7, blocked)];
      close(numbers(out.all), free.flat());
      close(numbers(out.some), [...(free[0] as number[]), ...logSoftmax(second, 0.7, [...blocked, tokens.eos])]);
    }
  });

  it("scores a policy's tokens by what it may sample, a model's by its whole vocabulary", async () => {
    const rng = Rng.named(2, "score");
    const tokens = { eos: 2, mask: 3, pad: 4 };
    const logits = [0, 1, 2].map(() => normal(rng, 5));
    const targets = [0, 1, 2];
    const allowed = [1, 0, 1];
    const score = async (head: ScoreHead): Promise<number[]> => {
      const feeds = {
        logits: f32([3, 5], logits.flat()),
        inverse_temperature: f32([], [1 / 1.5]),
        targets: i64(targets),
        eos_allowed: f32([3], allowed),
      };
      const out = await evaluate(feeds, (e, inputs) => {
        const { logits: l, ...given } = inputs as Record<string, Value>;
        e.g.output("score", head.emit(e, { logits: l as Value }, given, about(tokens, 5)));
      });
      return numbers(out.score);
    };
    const expected = (blockedAt: (row: number) => readonly number[]): number[] =>
      logits.map((row, r) => logSoftmax(row, 1.5, blockedAt(r))[targets[r] as number] as number);
    close(
      await score(policyHead),
      expected((r) => (allowed[r] === 0 ? [2, 3, 4] : [3, 4])),
    );
    close(
      await score(modelHead),
      expected(() => []),
    );
  });

  for (const vocabulary of [3, 64, 65, 130, 200]) {
    it(`draws each of ${vocabulary} tokens in its own part of [0, 1)`, async () => {
      const rng = Rng.named(3, `cdf ${vocabulary}`);
      // some are impossible, the first and the last ones too
      const blocked = Array.from({ length: vocabulary }, (_, v) => v).filter(
        (v) => v === 0 || (vocabulary > 3 && (v % 7 === 3 || v >= vocabulary - 2)),
      );
      const logProbs = logSoftmax(
        Array.from({ length: vocabulary }, () => rng.normal()),
        1,
        blocked,
      ).map((x) => Math.max(x, -1e9));
      const possible = logProbs.flatMap((x, v) => (x > -60 ? [v] : []));
      let before = 0;
      const wanted = possible.map((v): [number, number] => {
        const p = Math.exp(logProbs[v] as number);
        before += p;
        return [before - p / 2, v];
      });
      const [first, last] = [possible[0] as number, possible.at(-1) as number];
      // both ends: rounding may leave the largest number to the fallback, never to an impossible token
      const rows: [number, number][] = [...wanted, [0, first], [1 - 2 ** -24, last]];
      const out = await evaluate(
        {
          log_probs: f32(
            [rows.length, vocabulary],
            rows.flatMap(() => logProbs),
          ),
          uniform: f32(
            [rows.length],
            rows.map(([u]) => u),
          ),
          fallback: i64(rows.map(() => last)),
        },
        (e, { log_probs, uniform, fallback }) => {
          e.g.output("token", inverseCdf(e, log_probs as Value, uniform as Value, fallback as Value));
        },
      );
      assert.deepEqual(
        numbers(out.token),
        rows.map(([, v]) => v),
      );
    });
  }

  it("is what a round reports of its rows, with EOS and without", async () => {
    const [vocabulary, tokens] = [70, { eos: 66, mask: 1, pad: 69 }];
    const rng = Rng.named(4, "round");
    const logits = Array.from({ length: 12 }, (_, r) => {
      const row = normal(rng, vocabulary);
      // EOS is the best token of some rows, and far beyond float32's exponents of one; mask and pad would be of all
      row[tokens.eos] = r === 9 ? 300 : r % 3 === 0 ? 15 : r % 3 === 1 ? -3 : 4;
      row[tokens.mask] = 30;
      row[tokens.pad] = 30;
      return row;
    });
    const uniform = logits.map(() => Math.fround(rng.uniform()));
    const temperature = 0.8;
    const out = roundHead.read(
      await evaluate(
        {
          logits: f32([logits.length, vocabulary], logits.flat()),
          inverse_temperature: f32([], [1 / temperature]),
          uniform: f32([logits.length], uniform),
        },
        (e, { logits: l, ...inputs }) => roundHead.emit(e, { logits: l as Value }, inputs, about(tokens, vocabulary)),
      ),
    ) as RowStatistics;
    const drawn = (logProbs: readonly number[], u: number): number => {
      let sum = 0;
      return logProbs.findIndex((x) => {
        sum += Math.exp(x);
        return u < sum;
      });
    };
    logits.forEach((row, r) => {
      const blocked = [tokens.mask, tokens.pad];
      const variants = [logSoftmax(row, temperature, blocked), logSoftmax(row, temperature, [...blocked, tokens.eos])];
      variants.forEach((logProbs, column) => {
        const at = 2 * r + column;
        const [token, best] = [drawn(logProbs, uniform[r] as number), argmax(logProbs)];
        assert.deepEqual([Number(out.token[at]), Number(out.argmax[at])], [token, best], `row ${r}, ${column}`);
        close(
          [out.logProb[at] as number, out.argmaxLogProb[at] as number],
          [logProbs[token] as number, logProbs[best] as number],
        );
      });
      const free = variants[0] as number[];
      const [top, second] = free.map(Math.exp).sort((a, b) => b - a) as [number, number];
      const entropy = free.reduce((sum, x) => (x > -1e6 ? sum - x * Math.exp(x) : sum), 0);
      close([out.top[r], out.top2[r], out.entropy[r]] as number[], [top, second, entropy]);
      assert.equal(out.eosIsArgmax[r], argmax(free) === tokens.eos ? 1 : 0);
    });
    assert.deepEqual(new Set(out.eosIsArgmax), new Set([0, 1]), "the rows hold both kinds");
  });

  it("drafts the most probable token, and says how probable a given one is", async () => {
    const [vocabulary, tokens] = [9, { eos: 2, mask: 7, pad: 8 }];
    const rng = Rng.named(6, "drafts");
    const logits = [0, 1, 2, 3].map(() => [...normal(rng, 7), 20, 20]);
    const targets = [2, 0, 5, 1];
    const feeds = {
      logits: f32([4, vocabulary], logits.flat()),
      inverse_temperature: f32([], [1]),
      target: i64(targets),
    };
    const out = await evaluate(feeds, (e, { logits: l, ...inputs }) =>
      draftHead.emit(e, { logits: l as Value }, inputs, about(tokens, vocabulary)),
    );
    const drafts = draftHead.read(out);
    const expected = logits.map((row) => logSoftmax(row, 1, [7, 8]));
    assert.deepEqual([...drafts.token].map(Number), expected.map(argmax));
    close(
      [...drafts.logProb],
      expected.map((row) => Math.max(...row)),
    );
    close(
      [...drafts.targetLogProb],
      expected.map((row, r) => row[targets[r] as number] as number),
    );
  });
});
