import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { allowedLogProbs, inverseCdf } from "../../src/diffusion/head.js";
import { type RowStatistics, roundHead } from "../../src/diffusion/samplers/unmask/round.js";
import { constrainedHead, modelHead, policyHead, type ScoreHead } from "../../src/diffusion/score-head.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import {
  about,
  argmax,
  close,
  type Evaluate,
  evaluateOn,
  f32,
  floats,
  i64,
  logSoftmax,
  normal,
  numbers,
} from "../support/heads.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf, intsOf } from "../support/tensors.js";

const runtime = await cpuRuntime();

const ids = (shape: readonly number[], tokens: readonly number[]): Tensor => intsOf(shape, (i) => tokens[i]);

describe("the distribution on the graph", () => {
  let graphs = 0;
  const evaluate: Evaluate = (feeds, build) => evaluateOn(runtime, `graph ${graphs++}`, feeds, build);

  it("is a softmax at the temperature, without mask and pad, and without EOS where that is forbidden", async () => {
    const rng = Rng.named(1, "allowed");
    for (const [tokens, blocked] of [
      [{ eos: 2, mask: 3, pad: 4 }, [3, 4]],
      // some models pad with EOS, others have no mask in their vocabulary
      [{ eos: 2, mask: 3, pad: 2 }, [3]],
      [{ eos: 4, mask: 5, pad: 1 }, [1]],
    ] as const) {
      const logits = [0, 1].map(() => normal(rng, 5));
      const feeds = { logits: f32([2, 5], logits.flat()), inverse: f32([], [1 / 0.7]), allowed: f32([2], [1, 0]) };
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

  it("counts any of several EOS tokens as the first, in sampling, in scoring, in supervised training", async () => {
    const rng = Rng.named(5, "ends");
    // the padding token is often one of them
    const tokens = { eos: 2, furtherEos: [5, 4], mask: 3, pad: 4 };
    const logits = [0, 1].map(() => normal(rng, 6));
    const together = (row: number[], blocked: readonly number[]): number[] => {
      const p = logSoftmax(row, 0.7, blocked).map(Math.exp);
      const end = [2, 5, 4].reduce((sum, id) => sum + (p[id] as number), 0);
      return p.map((x, id) => (id === 2 ? end : id === 4 || id === 5 ? 0 : x));
    };
    const feeds = { logits: f32([2, 6], logits.flat()), inverse: f32([], [1 / 0.7]), targets: i64([2, 2]) };
    const out = await evaluate(feeds, (e, { logits: l, inverse, targets }) => {
      const given = { inverse_temperature: inverse as Value, targets: targets as Value };
      const all = allowedLogProbs(e, l as Value, inverse as Value, tokens, undefined);
      e.g.output("all", e.exp(all));
      e.g.output("argmax", e.g.op("ArgMax", [all], { axis: -1, keepdims: 0 }));
      e.g.output("model", e.exp(modelHead.emit(e, { logits: l as Value }, given, about(tokens, 6))));
    });
    const expected = logits.flatMap((row) => together(row, [3]));
    close(numbers(out.all), expected);
    const wanted = logits.map((row) => together(row, [])[2] as number);
    close(numbers(out.model), wanted);
    assert.ok(numbers(out.argmax).every((id) => id !== 4 && id !== 5));
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
    const byPolicy = expected((r) => (allowed[r] === 0 ? [2, 3, 4] : [3, 4]));
    close(await score(policyHead), byPolicy);
    const byModel = expected(() => []);
    close(await score(modelHead), byModel);
  });

  for (const vocabulary of [3, 64, 65, 130, 200]) {
    it(`draws each of ${vocabulary} tokens in its own part of [0, 1)`, async () => {
      const rng = Rng.named(3, `cdf ${vocabulary}`);
      // some tokens are impossible, including the first and the last
      const blocked = Array.from({ length: vocabulary }, (_, v) => v).filter(
        (v) => v === 0 || (vocabulary > 3 && (v % 7 === 3 || v >= vocabulary - 2)),
      );
      const logProbs = logSoftmax(normal(rng, vocabulary), 1, blocked).map((x) => Math.max(x, -1e9));
      const possible = logProbs.flatMap((x, v) => (x > -60 ? [v] : []));
      let before = 0;
      const wanted = possible.map((v): [number, number] => {
        const p = Math.exp(logProbs[v] as number);
        before += p;
        return [before - p / 2, v];
      });
      const [first, last] = [possible[0] as number, possible.at(-1) as number];
      // both ends of the range: rounding may lead the largest number to the fallback, never to an impossible token
      const rows: [number, number][] = [...wanted, [0, first], [1 - 2 ** -24, last]];
      const log_probs = floatsOf([rows.length, vocabulary], (i) => logProbs[i % vocabulary]);
      const feeds = { log_probs, uniform: floats(rows.map(([u]) => u)), fallback: intsOf([rows.length], () => last) };
      const out = await evaluate(feeds, (e, { log_probs, uniform, fallback }) => {
        e.g.output("token", inverseCdf(e, log_probs as Value, uniform as Value, fallback as Value));
      });
      const expected = rows.map(([, v]) => v);
      assert.deepEqual(numbers(out.token), expected);
    });
  }

  it("holds a row to the tokens that continue an option, renormalised", async () => {
    const rng = Rng.named(6, "constrained");
    const tokens = { eos: 2, mask: 3, pad: 4 };
    const logits = [0, 1, 2].map(() => normal(rng, 7));
    const feeds = {
      logits: f32([3, 7], logits.flat()),
      targets: ids([3], [2, 5, 1]),
      inverse_temperature: f32([], [1 / 0.9]),
      eos_allowed: f32([3], [1, 1, 0]),
      // the last row is not constrained
      open: f32([3], [0, 0, 1]),
      allowed: ids([3, 2], [0, 2, 5, 5, 6, 6]),
    };
    const out = await evaluate(feeds, (e, { logits: l, ...inputs }) => {
      e.g.output("score", constrainedHead.emit(e, { logits: l as Value }, inputs, about(tokens, 7)));
    });
    const expected = [
      logSoftmax(logits[0] as number[], 0.9, [1, 3, 4, 5, 6])[2],
      0,
      logSoftmax(logits[2] as number[], 0.9, [2, 3, 4])[1],
    ] as number[];
    close(numbers(out.score), expected);
  });

  it("is what a round reports of its rows, with EOS and without", async () => {
    const [vocabulary, tokens] = [70, { eos: 66, mask: 1, pad: 69 }];
    const rng = Rng.named(4, "round");
    const logits = Array.from({ length: 12 }, (_, r) => {
      const row = normal(rng, vocabulary);
      // EOS is the best token of some rows, in one of them by far; mask and pad would be the best of all rows
      row[tokens.eos] = r === 9 ? 300 : r % 3 === 0 ? 15 : r % 3 === 1 ? -3 : 4;
      row[tokens.mask] = 30;
      row[tokens.pad] = 30;
      return row;
    });
    const uniform = logits.map(() => Math.fround(rng.uniform()));
    const temperature = 0.8;
    const feeds = {
      logits: f32([logits.length, vocabulary], logits.flat()),
      inverse_temperature: f32([], [1 / temperature]),
      uniform: f32([logits.length], uniform),
      drawn: ids([logits.length], [...logits.keys()]),
      candidates: intsOf([logits.length, 2], (i) => [tokens.eos, 7][i % 2]),
    };
    const got = await evaluate(feeds, (e, { logits: l, ...inputs }) =>
      roundHead.emit(e, { logits: l as Value }, inputs, about(tokens, vocabulary)),
    );
    const out = roundHead.read(got) as RowStatistics;
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
        close([out.logProb[at], out.argmaxLogProb[at]] as number[], [logProbs[token], logProbs[best]] as number[]);
      });
      const free = variants[0] as number[];
      const [top, second] = free.map(Math.exp).sort((a, b) => b - a) as [number, number];
      const entropy = free.reduce((sum, x) => (x > -1e6 ? sum - x * Math.exp(x) : sum), 0);
      close([out.top[r], out.top2[r], out.entropy[r]] as number[], [top, second, entropy]);
      const asked = [out.candidateLogProb[2 * r], out.candidateLogProb[2 * r + 1]] as number[];
      close(asked, [free[tokens.eos], free[7]] as number[], 1e-4);
      assert.equal(out.eosIsArgmax[r], argmax(free) === tokens.eos ? 1 : 0);
    });
    assert.deepEqual(new Set(out.eosIsArgmax), new Set([0, 1]), "the rows hold both kinds");
  });
});
