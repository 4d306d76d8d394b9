import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { closing } from "../../src/core/closing.js";
import { Rng } from "../../src/core/rng.js";
import type { RoundInput, RoundModel } from "../../src/diffusion/sampler.js";
import type { RowStatistics } from "../../src/diffusion/samplers/unmask/round.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler, type UnmaskConfig } from "../../src/diffusion/samplers/unmask.js";
import { Canvas, type TextStart } from "../../src/diffusion/template.js";
import { Engine } from "../../src/engine/engine.js";
import { sampledModel } from "../../src/engine/policy.js";
import { loraSites } from "../../src/nn/bind.js";
import { freshAdapter } from "../../src/nn/lora.js";
import { loadModel } from "../../src/nn/model.js";
import { Runtime } from "../../src/onnx/session.js";
import { MICRO, microModel } from "../support/micro-model.js";
import { withoutPages } from "../support/paged-attention.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf } from "../support/tensors.js";
import { tokensOf } from "../support/token-batch.js";
import { having, samplerConfig } from "../support/typed.js";

const runtime = await cpuRuntime();
/** A runtime on which rounds leave keys and values in place, as on CUDA. */
const paged = await cpuRuntime();
paged.page = () => 32;
paged.lower = withoutPages;
const TOLERANCE = 1e-5;
const PROMPT = 5;
const lora = { rank: 2, alpha: 4, targets: ["q_proj", "k_proj", "v_proj", "up_proj"] };

/** The size of one forward. */
interface Forward {
  readonly sequences: number;
  /** Tokens of all sequences, with padding. */
  readonly tokens: number;
  /** Keys and values stayed in place. */
  readonly lanes: boolean;
}

interface Drawn {
  readonly trajectories: UnmaskTrajectory[];
  readonly forwards: readonly Forward[];
}

const entriesOf = ({ forwards }: Drawn): number => forwards.reduce((n, { tokens }) => n + tokens, 0);

/** Strips a rollout of the numbers that depend on the order of sums. */
const choices = ({ trajectories }: Drawn): unknown =>
  trajectories.map(({ rounds, ...rest }) => ({ ...rest, rounds: rounds.map(({ logProbs: _, ...round }) => round) }));

const logProbsOf = (trajectory: UnmaskTrajectory): number[] => trajectory.rounds.flatMap(({ logProbs }) => logProbs);

const model = await loadModel(await microModel());

describe("rollouts with keys and values used again", async () => {
  const engine = new Engine(runtime, model, { sampler, about: sampledModel(model.config), lora });
  const rng = Rng.named(0, "adapter");
  const fresh = freshAdapter(loraSites(engine.model.graph, lora), lora, rng);
  const drawn = [...fresh].map(([name, { shape }]) => [name, floatsOf(shape, () => rng.normal() * 0.3)] as const);
  const inLanes = new Engine(paged, model, { sampler, about: sampledModel(model.config), lora });
  for (const one of [engine, inLanes]) await one.setParameters("policy", new Map(drawn));

  async function draw(
    config: Partial<UnmaskConfig>,
    prompts: readonly TextStart[],
    { seed = 0, batch = prompts.length, on = engine }: { seed?: number; batch?: number; on?: Engine },
  ): Promise<Drawn> {
    const forwards: Forward[] = [];
    const spied = <R>(forward: (input: RoundInput) => Promise<R>): ((input: RoundInput) => Promise<R>) => {
      return (input) => {
        const { inputIds } = tokensOf(input);
        const { lanes, attention_ranges = lanes } = input.inputs;
        const sequences = attention_ranges?.shape[0] as number;
        forwards.push({ sequences, tokens: inputIds.length, lanes: lanes !== undefined });
        return forward(input);
      };
    };
    const spy: RoundModel<RowStatistics> = {
      forwardRound: spied((input) => on.forwardRound(input) as Promise<RowStatistics>),
      cachedRounds: async (use) => {
        const rounds = await on.cachedRounds(use);
        assert.ok(rounds !== undefined);
        return {
          page: rounds.page,
          forwardRound: spied((input) => rounds.forwardRound(input) as Promise<RowStatistics>),
          close: () => rounds.close(),
        };
      },
    };
    const parsed = samplerConfig(sampler, { prompt_length: PROMPT, response_length: 8, ...config });
    const options = sampler.options(parsed, sampledModel(engine.model.config));
    const rngs = prompts.map((_, i) => Rng.named(seed, `rollout/${i}`));
    return { trajectories: await sampler.rollout(spy, prompts, options, rngs, batch), forwards };
  }

  const prompt = fc.array(fc.nat(12), { minLength: 1, maxLength: PROMPT });
  const anyConfig = fc.record({
    slot_size: fc.constantFrom(1, 2, 4),
    rounds: fc.integer({ min: 1, max: 8 }),
    order: fc.constantFrom("confidence", "margin", "entropy", "random", "left-to-right" as const),
    slot_fill: fc.constantFrom("parallel", "autoregressive", "next-token" as const),
    temperature: fc.constantFrom(0, 0.7, 1, 1.3),
  });

  it("fits into a budget: a session for all sizes is counted at those of its first round", async () => {
    const other = await cpuRuntime();
    const about = sampledModel(engine.model.config);
    const tight = new Engine(other, engine.model, { sampler, about, lora, memory: 1 });
    await tight.setParameters("policy", await engine.getParameters("policy"));
    const prompts = [[1, 2, 3], [4]];
    const free = await draw({ rounds: 3 }, prompts, {});
    assert.deepEqual((await draw({ rounds: 3 }, prompts, { on: tight })).trajectories, free.trajectories);
  });

  it("run a final policy without an adapter that has no effect, to the last bit", async (t) => {
    const fresh = freshAdapter(loraSites(engine.model.graph, lora), lora, Rng.named(0, "fresh"));
    const drawnBy = async (store: "setParameters" | "setFinal") => {
      await using other = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
      const load = t.mock.method(other, "load");
      const on = new Engine(other, engine.model, { sampler, about: sampledModel(engine.model.config), lora });
      await (store === "setFinal" ? on.setFinal(fresh) : on.setParameters("policy", fresh));
      const { trajectories } = await draw({ rounds: 3 }, [[1, 2, 3]], { on });
      return { trajectories, size: load.mock.calls.reduce((n, call) => n + call.arguments[1].bytes.length, 0) };
    };
    const [adapted, base] = [await drawnBy("setParameters"), await drawnBy("setFinal")];
    assert.deepEqual(base.trajectories, adapted.trajectories);
    assert.ok(base.size < adapted.size, `${base.size}, ${adapted.size}`);
  });

  it("draw the same tokens with the same probabilities, whatever the batch", async () => {
    const ends = { eos: 0, length: 0 };
    let [read, whole, kept] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(
        anyConfig,
        // groups of rollouts that share a prompt
        fc.array(fc.tuple(prompt, fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(1, 2, 4),
        fc.nat(1000),
        async (config, groups, batch, seed) => {
          const prompts = groups.flatMap(([ids, size]) => Array.from({ length: size }, () => ids));
          const order = config.slot_fill === "next-token" ? "blanks" : config.order;
          const plain = await draw({ ...config, order, kv_cache: false }, prompts, { seed, batch });
          for (const on of [engine, inLanes]) {
            const cached = await draw({ ...config, order, kv_cache: true }, prompts, { seed, batch, on });
            assert.deepEqual(choices(cached), choices(plain));
            cached.trajectories.forEach((trajectory, i) => {
              const expected = logProbsOf(plain.trajectories[i] as UnmaskTrajectory);
              logProbsOf(trajectory).forEach((logProb, j) => {
                const error = Math.abs(logProb - (expected[j] as number));
                assert.ok(error < TOLERANCE, `${logProb}, expected ${expected[j]}`);
              });
              ends[trajectory.ended]++;
            });
            assert.equal(cached.forwards.length, plain.forwards.length);
            read += entriesOf(cached);
            whole += entriesOf(plain);
            kept += cached.forwards.filter(({ lanes }) => lanes).length;
          }
        },
      ),
      { seed: 5, numRuns: 60 },
    );
    assert.ok(ends.eos > 20 && ends.length > 20, JSON.stringify(ends));
    assert.ok(read < 0.5 * whole, `${read} of ${whole} entries`);
    assert.ok(kept > 50, `${kept} rounds in place`);
  });

  it("give log-probabilities that scoring finds again", async () => {
    const prompts = [[1, 2], [1, 2], [3]];
    const { trajectories } = await draw({ rounds: 4, slot_size: 1, kv_cache: true }, prompts, {});
    const config = samplerConfig(sampler, { prompt_length: PROMPT, response_length: 8, rounds: 4, slot_size: 1 });
    const options = sampler.options(config, sampledModel(engine.model.config));
    const { stepTerms } = having(sampler, "stepTerms");
    const terms = stepTerms(trajectories, options, { batch: 3, lengthStep: 8, level: "token" });
    const { logProbs } = await engine.score(terms, "policy");
    const recorded = terms.logProb as Float32Array;
    let scored = 0;
    logProbs.forEach((logProb, r) => {
      if (terms.coefficient[r] !== 1) return;
      scored++;
      assert.ok(Math.abs(logProb - (recorded[r] as number)) < TOLERANCE);
    });
    const expected = trajectories.reduce((n, { response }) => n + response.length, 0);
    assert.equal(scored, expected);
  });

  it("read a prompt once for all its rollouts, then only what is new, and nothing for those that ended", async () => {
    const prompts = [...Array(3).fill([1, 2, 3]), [4, 5, 6]];
    const config = { rounds: 4, slot_size: 2, order: "left-to-right", temperature: 1.3, kv_cache: true } as const;
    const { trajectories, forwards } = await draw(config, prompts, { seed: 2 });
    const [first, ...others] = forwards;
    // the prompt and the masks of the first slot; no token of a causal model sees the masks after them
    assert.deepEqual(first, { sequences: 2, tokens: 2 * (3 + 2), lanes: false });
    const rounds = trajectories.map((trajectory) => trajectory.rounds.length);
    assert.ok(Math.min(...rounds) < Math.max(...rounds), `all took ${rounds} rounds`);
    others.forEach(({ sequences, tokens }, i) => {
      const round = i + 1;
      const most = rounds.filter((n) => n > round).length;
      assert.ok(sequences <= most, `${sequences} sequences in round ${round} of ${rounds}`);
      // the slot of the last round and the masks of this one
      assert.equal(tokens, 4 * sequences);
    });
  });

  it("read for next-token what is given once, then the token that each open blank got last", async () => {
    const room = { needs: 4, whole: true } as const;
    const start = { prompt: [1, 2, 3], parts: [[4, 5], { name: "a", ...room }, [6], { name: "b", ...room }, [7]] };
    const config = { slot_fill: "next-token", order: "blanks", slot_size: 2, rounds: 4, temperature: 1.3 } as const;
    const sizes = { response_length: 16, kv_cache: true } as const;
    const { trajectories, forwards } = await draw({ ...config, ...sizes }, [start], { seed: 4 });
    const [{ template, response }] = trajectories as [UnmaskTrajectory];
    const canvas = Canvas.of(template);
    const cells = canvas.cellsOf(response, sampledModel(engine.model.config).tokens.eos);
    const lengths = canvas.blanks.map(({ first, end }) => cells.filter((c) => c >= first && c < end).length);
    assert.notEqual(lengths[0], lengths[1], `values of ${lengths} tokens`);
    const passes = Array.from({ length: Math.max(...lengths) }, (_, i) => lengths.filter((n) => n > i).length);
    const actual = forwards.map(({ tokens }) => tokens);
    assert.deepEqual(actual, [3 + 4, ...passes.slice(1)]);
  });

  it("leave no keys and values behind, not even where a forward fails", async () => {
    const keys = new Set<string>();
    let [forwards, fails] = [0, Number.POSITIVE_INFINITY];
    const run = runtime.run.bind(runtime);
    runtime.run = (session, request) => {
      if (++forwards > fails) return Promise.reject(new Error("no more"));
      for (const key of Object.values(request.keep ?? {})) keys.add(key);
      return run(session, request);
    };
    try {
      await draw({ rounds: 2, kv_cache: true }, [[1]], {});
      fails = forwards + 1;
      await assert.rejects(draw({ rounds: 2, kv_cache: true }, [[1]], {}), /no more/);
    } finally {
      runtime.run = run;
    }
    // keys and values of every layer, and hidden states, for each of two rollouts
    assert.equal(keys.size, 2 * (2 * Number(MICRO.num_hidden_layers) + 1));
    for (const key of keys) await assert.rejects(runtime.get(key), /not in the store/);
  });
});
