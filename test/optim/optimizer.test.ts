import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import type { Runtime } from "../../src/onnx/session.js";
import { sizeOf } from "../../src/onnx/shapes.js";
import type { Tensor } from "../../src/onnx/types.js";
import { optimizerGraph, type Parameter, type ParameterGroup, slot } from "../../src/optim/optimizer.js";
import type { OptimizerOptions } from "../../src/optim/update-rule.js";
import { relativeError } from "../support/golden.js";
import { f32 } from "../support/heads.js";
import { cpuRuntime } from "../support/temporary.js";

const runtime = await cpuRuntime();

const BETAS = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };
const ADAMW: OptimizerOptions = { kind: "adamw", ...BETAS, weightDecay: 0.1, gradClip: 1, muonLrScale: 1 };
const MUON: OptimizerOptions = { ...ADAMW, kind: "muon", weightDecay: 0, gradClip: 0, muonLrScale: 10 };
const PARAMETERS: readonly Parameter[] = [
  { name: "w", shape: [3, 2] },
  { name: "gain", shape: [4] },
];

type Arrays = Record<string, number[]>;

/** Names of a parameter and its moments. */
const keys = ({ name }: Parameter): string[] => [name, slot.first(name), slot.second(name)];

/** Plain numbers through the optimizer graph, step by step. */
class Trainer {
  readonly state: Arrays = {};
  private t = 0;

  private constructor(
    private readonly runtime: Runtime,
    private readonly parameters: readonly Parameter[],
    private readonly options: OptimizerOptions,
  ) {}

  static async open(
    runtime: Runtime,
    parameters: readonly Parameter[],
    options: OptimizerOptions,
    start: Arrays,
    groups: readonly ParameterGroup[] = [{ name: "adapter", parameters }],
  ): Promise<Trainer> {
    if (runtime.has("optimizer")) await runtime.unload("optimizer");
    await runtime.load("optimizer", { bytes: encodeModel(optimizerGraph(groups, options)) });
    const trainer = new Trainer(runtime, parameters, options);
    for (const p of parameters)
      for (const key of keys(p)) trainer.state[key] = start[key] ?? Array<number>(sizeOf(p.shape)).fill(0);
    return trainer;
  }

  /** Returns the gradient norm. */
  async step(gradients: Arrays, lr: number): Promise<number> {
    this.t++;
    const [correction1, correction2] = [1 - this.options.beta1 ** this.t, 1 - this.options.beta2 ** this.t];
    const feeds: Record<string, Tensor> = {};
    for (const [name, value] of Object.entries({ lr, correction1, correction2 })) feeds[name] = f32([], [value]);
    for (const p of this.parameters) {
      feeds[slot.gradient(p.name)] = f32(p.shape, gradients[p.name] as number[]);
      for (const key of keys(p)) feeds[key] = f32(p.shape, this.state[key] as number[]);
    }
    const out = await this.runtime.run("optimizer", { feeds });
    for (const key of this.parameters.flatMap(keys))
      this.state[key] = [...((out[slot.next(key)] as Tensor).data as Float32Array)];
    return Number(out.grad_norm?.data[0]);
  }
}

/** torch.optim.AdamW after clip_grad_norm_, in float64. */
function adamwReference(start: Arrays, history: readonly Arrays[], lr: number, o: OptimizerOptions) {
  const state: Arrays = structuredClone(start);
  const zeros = (): Arrays => Object.fromEntries(Object.entries(start).map(([name, x]) => [name, x.map(() => 0)]));
  const [m, v] = [zeros(), zeros()];
  const norms = history.map((gradients, index) => {
    const t = index + 1;
    const norm = Math.hypot(...Object.values(gradients).flat());
    const factor = o.gradClip > 0 ? Math.min(1, o.gradClip / (norm + 1e-6)) : 1;
    for (const [name, gradient] of Object.entries(gradients)) {
      const [p, first, second] = [state[name], m[name], v[name]] as [number[], number[], number[]];
      gradient.forEach((raw, i) => {
        const g = raw * factor;
        first[i] = o.beta1 * (first[i] as number) + (1 - o.beta1) * g;
        second[i] = o.beta2 * (second[i] as number) + (1 - o.beta2) * g * g;
        const mHat = (first[i] as number) / (1 - o.beta1 ** t);
        const vHat = (second[i] as number) / (1 - o.beta2 ** t);
        const decay = name === "gain" ? 1 : 1 - lr * o.weightDecay;
        p[i] = (p[i] as number) * decay - (lr * mHat) / (Math.sqrt(vHat) + o.epsilon);
      });
    }
    return norm;
  });
  for (const name of Object.keys(start)) {
    state[slot.first(name)] = m[name] as number[];
    state[slot.second(name)] = v[name] as number[];
  }
  return { state, norms };
}

describe("optimizerGraph", () => {
  const random = (rng: Rng, n: number, scale = 1): number[] =>
    Array.from({ length: n }, () => Math.fround(rng.normal() * scale));
  const draw = (rng: Rng, scale = 1): Arrays => ({ w: random(rng, 6, scale), gain: random(rng, 4, scale) });

  for (const [title, changes] of [
    ["with clipping and weight decay", {}],
    ["without either", { gradClip: 0, weightDecay: 0 }],
    ["with an epsilon that counts", { epsilon: 0.1 }],
  ] as const) {
    it(`AdamW agrees with the formula in float64 over 5 steps, ${title}`, async () => {
      const options = { ...ADAMW, ...changes };
      const rng = Rng.named(1, "adamw");
      const start = draw(rng);
      // some norms are below the bound of 1, some above
      const history = [0.05, 3, 1, 0.1, 10].map((scale) => draw(rng, scale));
      const { state, norms } = adamwReference(start, history, 0.01, options);
      assert.ok(norms.some((x) => x < 1) && norms.some((x) => x > 1));
      const trainer = await Trainer.open(runtime, PARAMETERS, options, start);
      for (const [i, gradients] of history.entries()) {
        const norm = await trainer.step(gradients, 0.01);
        assert.ok(Math.abs(norm / (norms[i] as number) - 1) < 1e-6, `norm ${i}`);
      }
      for (const [key, expected] of Object.entries(state))
        assert.ok(relativeError(trainer.state[key] as number[], expected) < 1e-5, key);
    });
  }

  it("has a learning rate a group, and one norm over all of them", async () => {
    const rng = Rng.named(3, "groups");
    const start = draw(rng);
    const [w, gain] = PARAMETERS as [Parameter, Parameter];
    const groups: readonly ParameterGroup[] = [
      { name: "adapter", parameters: [w] },
      { name: "critic", parameters: [gain], learningRateScale: 4 },
    ];
    const history = [3, 0.1].map((scale) => draw(rng, scale));
    const trainer = await Trainer.open(runtime, PARAMETERS, ADAMW, start, groups);
    const { norms } = adamwReference(start, history, 0.01, ADAMW);
    for (const [i, gradients] of history.entries()) {
      const norm = await trainer.step(gradients, 0.01);
      assert.ok(Math.abs(norm / (norms[i] as number) - 1) < 1e-6, `norm ${i}`);
    }
    // the global norm is that of both, each value moves at its own group's rate
    for (const [name, rate] of Object.entries({ w: 0.01, gain: 0.04 })) {
      const expected = adamwReference(start, history, rate, ADAMW).state[name] as number[];
      assert.ok(relativeError(trainer.state[name] as number[], expected) < 1e-5, name);
    }
  });

  it("updates parameters of one shape together, each as it would be alone", async () => {
    const rng = Rng.named(4, "stacks");
    const parameters = ["a", "gain", "b", "other gain", "c"].map((name) => {
      return { name, shape: name.endsWith("gain") ? [4] : [3, 2] };
    });
    const drawn = () => Object.fromEntries(parameters.map((p) => [p.name, random(rng, sizeOf(p.shape))]));
    const [start, gradients] = [drawn(), drawn()];
    // without a common norm, parameters do not depend on each other
    const options = { ...ADAMW, gradClip: 0 };
    const ops = optimizerGraph([{ name: "adapter", parameters }], options).nodes.filter(({ op }) => op === "Sqrt");
    assert.equal(ops.length, 3, "the norm, and one update a shape");
    const together = await Trainer.open(runtime, parameters, options, start);
    await together.step(gradients, 0.1);
    const state = { ...together.state };
    for (const p of parameters) {
      const alone = await Trainer.open(runtime, [p], options, start);
      await alone.step(gradients, 0.1);
      for (const key of keys(p)) assert.deepEqual(state[key], alone.state[key], key);
    }
  });

  it("does not decay gains", async () => {
    const start = { w: [1, 1, 1, 1, 1, 1], gain: [1, 1, 1, 1] };
    const trainer = await Trainer.open(runtime, PARAMETERS, ADAMW, start);
    await trainer.step({ w: [0, 0, 0, 0, 0, 0], gain: [0, 0, 0, 0] }, 0.5);
    assert.ok(relativeError(trainer.state.w as number[], Array(6).fill(0.95)) < 1e-6);
    assert.deepEqual(trainer.state.gain, start.gain);
  });

  for (const options of [ADAMW, MUON]) {
    for (const [title, bad] of [
      ["not a number", Number.NaN],
      ["infinite", Number.NEGATIVE_INFINITY],
      ["so large that its norm overflows", 1e30],
    ] as const) {
      it(`${options.kind} leaves everything as it was where a gradient is ${title}`, async () => {
        const rng = Rng.named(2, "bad");
        const trainer = await Trainer.open(runtime, PARAMETERS, options, draw(rng));
        await trainer.step(draw(rng), 0.01);
        const before = structuredClone(trainer.state);
        const gradients = draw(rng);
        (gradients.gain as number[])[2] = bad;
        const norm = await trainer.step(gradients, 0.01);
        assert.ok(!Number.isFinite(norm));
        assert.deepEqual(trainer.state, before);
      });
    }
  }

  for (const [rows = 0, columns = 0] of ["44", "38", "83", "15"].map((sizes) => [...sizes].map(Number))) {
    it(`Muon's step on a [${rows}, ${columns}] matrix is nearly orthogonal`, async () => {
      const rng = Rng.named(3, `muon/${rows}x${columns}`);
      const parameters = [{ name: "w", shape: [rows, columns] }];
      const n = rows * columns;
      const trainer = await Trainer.open(runtime, parameters, MUON, { w: Array<number>(n).fill(0) });
      const lr = 0.02;
      const gradient = random(rng, n);
      await trainer.step({ w: gradient }, lr);
      const scale = lr * MUON.muonLrScale * Math.sqrt(Math.max(1, rows / columns));
      const direction = (trainer.state.w as number[]).map((x) => -x / scale);
      // singular values in (.6, 1.3): no entry of X X^T - I is beyond .69, where a matrix of norm 1 has -.75 or less
      const short = Math.min(rows, columns);
      const entry = (i: number, k: number): number =>
        direction[rows <= columns ? i * columns + k : k * columns + i] as number;
      for (let i = 0; i < short; i++)
        for (let j = 0; j < short; j++) {
          const products = Array.from({ length: n / short }, (_, k) => entry(i, k) * entry(j, k));
          const product = products.reduce((x, y) => x + y);
          assert.ok(Math.abs(product - Number(i === j)) < 0.69, `${i}, ${j}: ${product}`);
        }
      // it goes along the gradient
      assert.ok(direction.reduce((sum, x, i) => sum + x * (gradient[i] as number), 0) > 0);
      assert.deepEqual(trainer.state[slot.second("w")], Array<number>(n).fill(0));
      assert.ok(relativeError(trainer.state[slot.first("w")] as number[], gradient) < 1e-6);
    });
  }

  it("clips as PyTorch does: to bound / (norm + 1e-6)", async () => {
    const options = { ...ADAMW, gradClip: 3e-6 };
    const trainer = await Trainer.open(runtime, PARAMETERS, options, { w: Array(6).fill(0), gain: Array(4).fill(0) });
    await trainer.step({ w: [3e-6, 0, 0, 0, 0, 0], gain: [4e-6, 0, 0, 0] }, 0.01);
    // norm 5e-6: a factor of 3 / 6
    const [w, gain] = [slot.first("w"), slot.first("gain")].map((key) => (trainer.state[key] as number[])[0] as number);
    assert.ok(Math.abs((w as number) / 1.5e-7 - 1) < 1e-5, `${w}`);
    assert.ok(Math.abs((gain as number) / 2e-7 - 1) < 1e-5, `${gain}`);
  });

  it("Muon takes each singular value through the iteration, on its own", async () => {
    for (const rows of [2, 3]) {
      const shape = [rows, 5 - rows] as const;
      const parameters = [{ name: "w", shape }];
      const trainer = await Trainer.open(runtime, parameters, { ...MUON, muonLrScale: 3 }, { w: Array(6).fill(0) });
      const at = (row: number, column: number): number => row * shape[1] + column;
      const gradient = Array<number>(6).fill(0);
      gradient[at(0, 0)] = 3;
      gradient[at(1, 1)] = -4;
      await trainer.step({ w: gradient }, 0.01);
      // the direction of norm 1 is (.6, -.8); five times x -> 3.4445 x - 4.775 x^3 + 2.0315 x^5
      const through = (x: number): number =>
        Array.from({ length: 5 }).reduce((y: number) => 3.4445 * y - 4.775 * y ** 3 + 2.0315 * y ** 5, x);
      const rate = 0.01 * 3 * (shape[0] > shape[1] ? Math.sqrt(1.5) : 1);
      const expected = Array<number>(6).fill(0);
      expected[at(0, 0)] = -rate * through(0.6);
      expected[at(1, 1)] = rate * through(0.8);
      assert.ok(relativeError(trainer.state.w as number[], expected) < 1e-5, `${trainer.state.w} for ${expected}`);
      // momentum: u = g + .95 (g + .95 m), here of a gradient that turns
      const next = Array<number>(6).fill(0);
      next[at(0, 0)] = -3;
      await trainer.step({ w: next }, 0.01);
      const [u0, u1] = [-3 + 0.95 * (-3 + 0.95 * 3), 0.95 * (0 - 0.95 * 4)];
      expected[at(0, 0)] = (expected[at(0, 0)] as number) - rate * through(u0 / Math.hypot(u0, u1));
      expected[at(1, 1)] = (expected[at(1, 1)] as number) - rate * through(u1 / Math.hypot(u0, u1));
      assert.ok(relativeError(trainer.state.w as number[], expected) < 1e-5, `${trainer.state.w} for ${expected}`);
    }
  });

  it("Muon decays by its own learning rate, and keeps momentum", async () => {
    const parameters = [{ name: "w", shape: [2, 2] }];
    const trainer = await Trainer.open(runtime, parameters, { ...MUON, weightDecay: 0.5 }, { w: [1, 0, 0, 1] });
    // the momentum of one gradient goes on in the next step
    await trainer.step({ w: [1, 0, 0, 1] }, 0);
    assert.deepEqual(trainer.state.w, [1, 0, 0, 1]);
    await trainer.step({ w: [0, 0, 0, 0] }, 0);
    assert.ok(relativeError(trainer.state[slot.first("w")] as number[], [0.95, 0, 0, 0.95]) < 1e-6);
    // a direction of zero leaves the decay alone
    const still = await Trainer.open(runtime, parameters, { ...MUON, weightDecay: 0.5 }, { w: [1, 0, 0, 1] });
    await still.step({ w: [0, 0, 0, 0] }, 0.01);
    assert.ok(relativeError(still.state.w as number[], [0.95, 0, 0, 0.95]) < 1e-6);
  });

  it("Muon leaves gains and a group's tables to AdamW", async () => {
    const adamw = ["model.embed_tokens.weight", "lm_head.weight", "blocks.0.adaLN_modulation.weight"];
    const tables = ["embed_tokens", "lm_head", "adaLN_modulation"];
    const weights = ["mlp", "model.layers.0.self_attn.q_proj", "blocks.0.qw", "blocks.0.mlp.2"];
    const hidden = weights.map((name) => `${name}.weight`);
    const parameters = [...adamw, ...hidden].map((name) => ({ name, shape: [2, 2] }));
    parameters.push({ name: "norm", shape: [4] }, { name: "blocks.0.mlp.0.bias", shape: [4] });
    const all = (x: number[]): Arrays => Object.fromEntries(parameters.map((p) => [p.name, x]));
    const groups = [{ name: "weights", parameters, tables }];
    const trainer = await Trainer.open(runtime, parameters, MUON, all([0, 0, 0, 0]), groups);
    await trainer.step(all([1, -2, 3, 4]), 0.01);
    const adam = [-0.01, 0.01, -0.01, -0.01];
    for (const { name } of parameters) {
      const error = relativeError(trainer.state[name] as number[], adam);
      if (hidden.includes(name)) assert.ok(error > 0.1, name);
      else assert.ok(error < 1e-5, name);
    }
  });
});
