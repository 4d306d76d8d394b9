import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../../../src/autodiff/backward.js";
import { Rng } from "../../../../src/core/rng.js";
import type { ScoreHead } from "../../../../src/diffusion/score-head.js";
import type { SampledModel } from "../../../../src/diffusion/tokens.js";
import { generalisedKlHead, jumpRoundHead, transitionHead } from "../../../../src/features/fsdfm/jump/heads.js";
import { Emitter } from "../../../../src/onnx/emit.js";
import { encodeModel } from "../../../../src/onnx/format/proto.js";
import { GraphBuilder } from "../../../../src/onnx/graph.js";
import type { InputSpecs } from "../../../../src/onnx/tensors.js";
import type { Tensor, Value } from "../../../../src/onnx/types.js";
import { f32, floats, i64 } from "../../../support/heads.js";
import { cpuRuntime } from "../../../support/temporary.js";
import { transition } from "./reference.js";

const runtime = await cpuRuntime();

const VOCAB = 7;
/** Tokens of the model; the last two are never sampled. */
const MODEL: SampledModel = { tokens: { eos: 4, mask: 5, pad: 6 }, vocabulary: VOCAB, attention: "bidirectional" };
const ORDINARY = 5;

interface Row {
  readonly logits: readonly number[];
  readonly current: number;
  readonly hazard: number;
  readonly last: boolean;
}

/** Declares a head's inputs for a number of rows. */
function declared(g: GraphBuilder, inputs: InputSpecs, rows: number): Record<string, Value> {
  const specs = Object.entries(inputs).map(([name, { dtype, shape }]) => [name, dtype, shape.map(() => rows)] as const);
  return Object.fromEntries(specs.map(([name, dtype, shape]) => [name, g.input(name, dtype, shape)]));
}

function feedsOf(batch: readonly Row[], temperature: number): Record<string, Tensor> {
  return {
    logits: f32(
      [batch.length, VOCAB],
      [...batch].flatMap((row) => row.logits),
    ),
    inverse_temperature: f32([], [1 / temperature]),
    current: i64(batch.map((row) => row.current)),
    hazard: floats(batch.map((row) => row.hazard)),
    last: floats(batch.map((row) => Number(row.last))),
  };
}

/** Computes the softmax over the ordinary tokens at a temperature. */
function softmax(logits: readonly number[], temperature: number): number[] {
  const top = Math.max(...logits.slice(0, ORDINARY));
  const p = logits.map((x, v) => (v < ORDINARY ? Math.exp((x - top) / temperature) : 0));
  const total = p.reduce((a, x) => a + x, 0);
  return p.map((x) => x / total);
}

/** Makes rows of all kinds: flat, certain of the current or another token, small and large hazards, the last step. */
function rows(): Row[] {
  const rng = Rng.named(1, "rows");
  const out: Row[] = [];
  for (const scale of [0, 1, 5, 40]) {
    for (const hazard of [1e-3, 0.13, 0.7, 3]) {
      for (const last of [false, true]) {
        const logits = Array.from({ length: VOCAB }, () => scale * rng.normal());
        out.push({ logits, current: rng.int(ORDINARY), hazard, last });
        const sure = logits.map((x, v) => (v === 2 ? x + 30 : x));
        out.push({ logits: sure, current: 2, hazard, last }, { logits: sure, current: 0, hazard, last });
      }
    }
  }
  return out;
}

describe("jump heads on the graph", () => {
  /** Computes the scores of targets, and the gradient of their sum with respect to the logits. */
  async function scored(
    head: ScoreHead,
    batch: readonly Row[],
    targets: readonly number[],
    temperature: number,
  ): Promise<{ scores: Float32Array; gradient: Float32Array }> {
    const name = `${head.name}/${batch.length}`;
    const count = batch.length;
    if (!runtime.has(name)) {
      const g = new GraphBuilder(name);
      const e = new Emitter(g);
      const logits = g.input("logits", "float32", [count, VOCAB]);
      const scores = head.emit(e, { logits }, declared(g, head.inputs, count), MODEL);
      const [gradient] = backward(g, e.total(scores), [logits], new Map());
      g.output("scores", scores);
      g.output("gradient", gradient as Value);
      await runtime.load(name, { bytes: encodeModel(g.build()) });
    }
    const wanted = new Set(["logits", ...Object.keys(head.inputs)]);
    const given = Object.entries({ ...feedsOf(batch, temperature), targets: i64(targets) });
    const out = await runtime.run(name, { feeds: Object.fromEntries(given.filter(([key]) => wanted.has(key))) });
    return {
      scores: (out.scores as Tensor).data as Float32Array,
      gradient: (out.gradient as Tensor).data as Float32Array,
    };
  }

  for (const temperature of [1, 0.7]) {
    it(`a row's transitions are the paper's and add up to 1 (temperature ${temperature})`, async () => {
      const batch = rows();
      const totals = batch.map(() => 0);
      for (let target = 0; target < ORDINARY; target++) {
        const targets = batch.map(() => target);
        const { scores } = await scored(transitionHead, batch, targets, temperature);
        batch.forEach((row, r) => {
          const p = softmax(row.logits, temperature);
          const expected = transition(p, row.current, row.hazard, row.last)[target] as number;
          totals[r] = (totals[r] as number) + Math.exp(scores[r] as number);
          assert.ok(Math.abs(Math.exp(scores[r] as number) - expected) < 2e-6, `row ${r}, token ${target}`);
          // the relative error must be small as well where 1 - p_z keeps its digits in float64
          if (expected > 1e-12 && 1 - (p[row.current] as number) > 1e-9)
            assert.ok(Math.abs((scores[r] as number) - Math.log(expected)) < 1e-4, `log of row ${r}, token ${target}`);
        });
      }
      totals.forEach((total, r) => {
        assert.ok(Math.abs(total - 1) < 1e-5, `row ${r}: ${total}`);
      });
    });
  }

  it("jumps keep their digits where the model is sure to stay", async () => {
    // p_z is 1 - 4e-9 in float64 but 1 in float32
    const row: Row = { logits: [20, 0, 0, 0, 0, 0, 0], current: 0, hazard: 0.5, last: false };
    const { scores } = await scored(transitionHead, [row], [1], 1);
    const p = softmax(row.logits, 1);
    // for q -> 0 a jump to j has probability hazard * p_j
    assert.ok(Math.abs((scores[0] as number) - Math.log(0.5 * (p[1] as number))) < 1e-5, `${scores[0]}`);
  });

  it("jumps keep their digits on both sides of where the series ends", async () => {
    // flat logits: p_z = 1/5, so that hazard * q is .02, .0996, .1004 and .4
    const batch = [0.025, 0.1245, 0.1255, 0.5].map((hazard): Row => {
      return { logits: [0, 0, 0, 0, 0, 0, 0], current: 0, hazard, last: false };
    });
    const { scores } = await scored(transitionHead, batch, [1, 1, 1, 1], 1);
    batch.forEach(({ hazard }, r) => {
      const expected = Math.log(-Math.expm1(-0.8 * hazard) / 4);
      assert.ok(Math.abs((scores[r] as number) - expected) < 2e-6, `hazard ${hazard}: ${scores[r]} for ${expected}`);
    });
  });

  const logTransition = (row: Row, target: number, p: readonly number[]): number =>
    Math.log(transition(p, row.current, row.hazard, row.last)[target] as number);
  const minusGkl = ({ current }: Row, target: number, p: readonly number[]): number =>
    (p[current] as number) + (current === target ? -1 : Math.log(p[target] as number));
  for (const [head, of] of [
    [transitionHead, logTransition],
    [generalisedKlHead, minusGkl],
  ] as const) {
    const value = (row: Row, target: number, logits: readonly number[]): number => of(row, target, softmax(logits, 1));
    it(`${head.name}: values and gradients agree with finite differences in float64`, async () => {
      const batch = rows().filter((row) => Math.max(...row.logits.map(Math.abs)) < 15);
      const targets = batch.map((row, r) => (r % 3 === 0 ? row.current : r % ORDINARY));
      const { scores, gradient } = await scored(head, batch, targets, 1);
      batch.forEach((row, r) => {
        const target = targets[r] as number;
        assert.ok(Math.abs((scores[r] as number) - value(row, target, row.logits)) < 2e-5, `row ${r}`);
        for (let v = 0; v < ORDINARY; v++) {
          const at = (x: number): number => value(row, target, row.logits.with(v, (row.logits[v] as number) + x));
          const slope = (at(1e-5) - at(-1e-5)) / 2e-5;
          const error = Math.abs((gradient[r * VOCAB + v] as number) - slope);
          assert.ok(error < 1e-4 * Math.max(1, Math.abs(slope)), `row ${r}, logit ${v}: ${error}`);
        }
      });
    });
  }

  it("draws with the probabilities that it reports, which are the score's", async () => {
    const kinds = rows().filter((_, r) => r % 5 === 0);
    const each = 2000;
    const count = kinds.length * each;
    const g = new GraphBuilder("round");
    const e = new Emitter(g);
    const logits = g.input("logits", "float32", [count, VOCAB]);
    jumpRoundHead.emit(e, { logits }, declared(g, jumpRoundHead.inputs, count), MODEL);
    await runtime.load("round", { bytes: encodeModel(g.build()) });
    const batch = kinds.flatMap((row) => Array<Row>(each).fill(row));
    // with stratified noise, frequencies equal probabilities within 1 in 2000
    const uniform = floats(batch.map((_, i) => ((i % each) + 0.5) / each));
    const out = await runtime.run("round", { feeds: { ...feedsOf(batch, 1), uniform } });
    const { token, logProb } = jumpRoundHead.read(out);
    kinds.forEach((row, k) => {
      const expected = transition(softmax(row.logits, 1), row.current, row.hazard, row.last);
      const seen = new Array<number>(VOCAB).fill(0);
      for (let i = k * each; i < (k + 1) * each; i++) {
        const drawn = Number(token[i]);
        seen[drawn] = (seen[drawn] as number) + 1 / each;
        assert.ok(Math.abs(Math.exp(logProb[i] as number) - (expected[drawn] as number)) < 2e-6);
      }
      seen.forEach((share, v) => {
        assert.ok(Math.abs(share - (expected[v] as number)) < 2 / each, `row ${k}, token ${v}: ${share}`);
      });
    });
  });
});
