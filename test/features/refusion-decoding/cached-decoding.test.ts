import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { closing } from "../../../src/core/closing.js";
import { Rng } from "../../../src/core/rng.js";
import type { RoundInput, RoundModel } from "../../../src/diffusion/sampler.js";
import type { TokenTrajectory } from "../../../src/diffusion/trajectory.js";
import { initialAdapter } from "../../../src/engine/adapter.js";
import { Engine } from "../../../src/engine/engine.js";
import { openPolicy, sampledModel } from "../../../src/engine/policy.js";
import type { RowDrafts } from "../../../src/features/refusion-decoding/head.js";
import { type RefusionConfig, sampler } from "../../../src/features/refusion-decoding/samplers/refusion.js";
import { loraSites } from "../../../src/nn/bind.js";
import { freshAdapter } from "../../../src/nn/lora.js";
import { loadModel } from "../../../src/nn/model.js";
import { Runtime } from "../../../src/onnx/session.js";
import { importedModel } from "../../support/imported-model.js";
import { microModel } from "../../support/micro-model.js";
import { tokensOf } from "../../support/token-batch.js";
import { samplerConfig } from "../../support/typed.js";
import { exported, FOUR_BITS } from "../export/exported.js";

const lora = { rank: 2, alpha: 4, targets: ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj"] };
const PROMPTS = 5;
const CPU = ["runtime.provider=cpu", "runtime.threads=1"];

/** What was said of a row: [token, its log-probability, the target's]. */
type Row = readonly [number, number, number];

/** Entries of a forward, padding too. */
function entries(input: RoundInput): number {
  const { batch, length } = tokensOf(input);
  return batch * length;
}

const base = await microModel(FOUR_BITS);

describe("ReFusion's decoding with keys and values used again", () => {
  /** @param scale of an adapter's random weights; 0: none. */
  async function setAdapter(engine: Engine, scale: number): Promise<void> {
    const rng = Rng.named(0, "adapter");
    const fresh = freshAdapter(loraSites(engine.model.graph, lora), lora, rng);
    const drawn = [...fresh].map(([name, tensor]) => {
      const data = (tensor.data as Float32Array).map(() => rng.normal() * scale);
      return [name, { ...tensor, data }] as const;
    });
    await engine.setParameters("policy", new Map(drawn));
  }

  /** @returns the trajectories, every row that was asked for, in order, and the entries of all forwards. */
  async function decode(engine: Engine, batch: number, changes: Partial<RefusionConfig>) {
    const rng = Rng.named(0, "prompts");
    const options = sampler.options(
      samplerConfig(sampler, { prompt_length: 9, response_length: 24, ...changes }),
      sampledModel(engine.model.config),
    );
    const prompts = Array.from({ length: PROMPTS }, () => Array.from({ length: 1 + rng.int(9) }, () => rng.int(13)));
    const rows: Row[] = [];
    let tokens = 0;
    const note = (drafts: RowDrafts, asked: BigInt64Array, isUsed: (row: bigint) => boolean): RowDrafts => {
      asked.forEach((row, r) => {
        if (isUsed(row))
          rows.push([Number(drafts.token[r]), drafts.logProb[r] as number, drafts.targetLogProb[r] as number]);
      });
      return drafts;
    };
    const spy: RoundModel<RowDrafts> = {
      forwardRound: async (input) => {
        tokens += entries(input);
        // 0 is a prompt's first token, which is never asked for: a row that is not used
        return note((await engine.forwardRound(input)) as RowDrafts, tokensOf(input).rows, (row) => row !== 0n);
      },
      cachedRounds: async (use) => {
        const rounds = await engine.cachedRounds(use);
        assert.ok(rounds !== undefined);
        return {
          forwardRound: async (input) => {
            tokens += entries(input);
            return note((await rounds.forwardRound(input)) as RowDrafts, tokensOf(input).rows, () => true);
          },
          close: () => rounds.close(),
        };
      },
    };
    const trajectories = await sampler.rollout(spy, prompts, options, [], batch);
    return { trajectories, rows, tokens };
  }

  const CASES: readonly { name: string; changes: Partial<RefusionConfig> }[] = [
    { name: "slots one at a time", changes: { slot_threshold: 1, token_threshold: 0.9 } },
    { name: "many slots at once", changes: { slot_threshold: 0.1, token_threshold: 0.1 } },
    { name: "slots side by side", changes: { slot_threshold: 0.1, token_threshold: 0.8 } },
    { name: "serial blocks", changes: { serial_blocks: 2, slot_threshold: 0.2, token_threshold: 0.3 } },
    { name: "slots of one token", changes: { slot_size: 1, slot_threshold: 0.2 } },
  ];

  it("reads whole sequences again where the graph was imported, and says so", async () => {
    const dir = importedModel("qwen3-dynamo");
    const note = /kv_cache has no effect: the graph of .* takes no keys and values/;
    for (const [overrides, notes] of [
      [["sampler.kind=refusion", "sampler.kv_cache=true"], 1],
      [["evaluation.sampler.kind=refusion", "evaluation.sampler.kv_cache=true"], 1],
      [["sampler.kv_cache=true"], 1],
      [["sampler.kind=refusion"], 0],
      [["sampler.kind=refusion", "sampler.kv_cache=false"], 0],
    ] as const) {
      const config = await loadConfig("configs/tiny/quickstart.yaml", {
        command: "flow-grpo",
        overrides: [`model=${dir}`, "lora.targets=[q_proj]", "init_adapter=null", ...CPU, ...overrides],
      });
      await using policy = closing(await openPolicy(config, undefined));
      assert.equal(policy.notes.length, notes);
      assert.ok(policy.notes.every((text) => note.test(text)));
      await policy.engine.setParameters("policy", initialAdapter(config, policy));
      const { rounds, options, sampler: search } = policy.evaluation;
      assert.equal(await rounds.cachedRounds?.(true), undefined);
      const [trajectory] = await search.rollout(rounds, [[1, 2, 3]], options, [Rng.named(0, "imported")]);
      assert.ok((trajectory as TokenTrajectory).response.length > 0);
    }
  });

  it("keeps nothing on a GPU from where what is computed comes back, unless it is told to", async () => {
    const model = await loadModel(base);
    const kept = async (binding: Runtime["binding"], use: true | "auto"): Promise<boolean> => {
      const onGpu = { provider: "cuda", binding, page: () => undefined } as unknown as Runtime;
      const engine = new Engine(onGpu, model, { sampler, about: sampledModel(model.config), lora });
      return (await engine.cachedRounds(use)) !== undefined;
    };
    assert.deepEqual([await kept("npm", "auto"), await kept("npm", true)], [false, true]);
    assert.deepEqual([await kept("c-api", "auto"), await kept("c-api", true)], [true, true]);
  });

  const [, ...SOME] = CASES.slice(0, 3);
  for (const [form, open, cases] of [
    ["float32", () => loadModel(base), CASES],
    ["nf4 with nested scales", () => exported(base, { precision: "nf4", doubleQuant: true }), SOME],
  ] as const) {
    it(`gives the same tokens and log-probabilities: ${form}`, async () => {
      await using runtime = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
      const model = await open();
      const engine = new Engine(runtime, model, { sampler, about: sampledModel(model.config), lora });
      let [ended, full] = [0, 0];
      for (const scale of [0, 0.3]) {
        await setAdapter(engine, scale);
        for (const { name, changes } of cases) {
          for (const batch of [1, PROMPTS]) {
            const label = `${name}, adapter ${scale}, batch ${batch}`;
            const plain = await decode(engine, batch, { ...changes, kv_cache: false });
            const cached = await decode(engine, batch, { ...changes, kv_cache: true });
            assert.deepEqual(cached.trajectories, plain.trajectories, label);
            assert.equal(cached.rows.length, plain.rows.length, label);
            cached.rows.forEach((row, r) => {
              const expected = plain.rows[r] as Row;
              assert.equal(row[0], expected[0], label);
              for (const i of [1, 2] as const)
                assert.ok(Math.abs(row[i] - expected[i]) < 1e-5, `${label}: ${row[i]} against ${expected[i]}`);
            });
            assert.ok(cached.tokens < plain.tokens, `${label}: ${cached.tokens} of ${plain.tokens} tokens`);
            ended += plain.trajectories.filter((t) => t.ended === "eos").length;
            full += plain.trajectories.filter((t) => t.ended === "length").length;
          }
        }
      }
      assert.ok(ended > 0 && full > 0, `${ended} responses ended in EOS, ${full} filled the canvas`);
    });
  }
});
