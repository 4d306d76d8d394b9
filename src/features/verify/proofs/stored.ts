import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closing } from "../../../core/closing.js";
import { packageRoot } from "../../../core/files.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { StepLayout } from "../../../diffusion/layout/scorings.js";
import type { UnmaskTrajectory } from "../../../diffusion/samplers/unmask/trajectory.js";
import { sampler, type UnmaskConfig } from "../../../diffusion/samplers/unmask.js";
import { Engine } from "../../../engine/engine.js";
import { sampledModel } from "../../../engine/policy.js";
import { architectureOf } from "../../../nn/architecture.js";
import type { ModelConfig } from "../../../nn/config.js";
import { loadModel, saveModel } from "../../../nn/model.js";
import { Runtime } from "../../../onnx/session.js";
import { sizeOf } from "../../../onnx/shapes.js";
import { f32 } from "../../../onnx/tensors.js";
import type { Tensor } from "../../../onnx/types.js";
import { LENGTH_STEP } from "../../../train/update.js";
import { figures, type Measurement, type Proof, stepsOf } from "../proof.js";
import { replay } from "./on-policy.js";

/** Of float32 sums against PyTorch's in float64. */
const LIMIT = 3e-5;

/** Written by scripts/golden/layouts.py: rollouts of a template whose log-probabilities PyTorch computed. */
interface Stored {
  /** A causal refusion. */
  readonly config: ModelConfig;
  readonly block: number;
  /** A model has one, though no text is tokenized here. */
  readonly tokenizer: object;
  readonly trajectories: Readonly<Record<"causal" | "blocks" | "whole" | "next-token", readonly UnmaskTrajectory[]>>;
  /** Log-probabilities of the causal model's responses, read from left to right at temperature 1. */
  readonly text: readonly (readonly number[])[];
}

/** Layouts of a causal model; others have a sequence per round. */
const CAUSAL: readonly (readonly [name: string, layout: Partial<StepLayout>])[] = [
  ["a shared batch", { share: true }],
  ["packed", {}],
  ["round by round", { packed: false }],
];

const SHIFTED = CAUSAL.map(([name, layout]) => [`next-token, ${name}`, layout] as const);

/**
 * Scores stored rollouts of a micro model, whose weights are a formula: causal, in blocks, bidirectional and without
 * masks, on a template and with two prompts of one length. Rollout and replay share the code of buffers, positions and visibility,
 * so that their agreement shows no fault of it; these values were computed without it.
 */
export async function measureStored(): Promise<Measurement[]> {
  const path = join(packageRoot(), "src", "features", "verify", "stored.json");
  const { config, block, tokenizer, trajectories, text } = JSON.parse(readFileSync(path, "utf8")) as Stored;
  const of = (changes: Partial<ModelConfig>) => ({ config: { ...config, ...changes }, tokenizer });
  const bidirectional = { architecture: "masked_lm", attention: "bidirectional" as const };
  const errors = [
    ...(await compare(of({}), trajectories.causal, CAUSAL, text.flat())),
    ...(await compare(of({}), trajectories["next-token"], SHIFTED)),
    ...(await compare(of({ ...bidirectional, attention_block: block }), trajectories.blocks, [["in blocks", {}]])),
    ...(await compare(of(bidirectional), trajectories.whole, [["bidirectional", {}]])),
  ];
  return figures(
    LIMIT,
    errors.map(([name, error, count]) => [
      `stored log-probabilities, ${name}`,
      error,
      `largest |log p - PyTorch's| of ${count} tokens of a micro model`,
    ]),
  );
}

async function compare(
  { config, tokenizer }: Pick<Stored, "config" | "tokenizer">,
  trajectories: readonly UnmaskTrajectory[],
  layouts: typeof CAUSAL,
  text?: readonly number[],
): Promise<(readonly [name: string, error: number, count: number])[]> {
  const dir = mkdtempSync(join(tmpdir(), "refusion-verify-"));
  try {
    await saveModel(dir, config, await formulaWeights(config), JSON.stringify(tokenizer));
    await using runtime = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
    const model = sampledModel(config);
    const engine = new Engine(runtime, await loadModel(dir), { sampler, about: model, lora: undefined });
    await engine.setParameters("policy", engine.weights());
    const [first] = trajectories as [UnmaskTrajectory];
    const options = {
      ...sampler.options(sampler.schema.parse({}) as UnmaskConfig, model),
      slotSize: first.slotSize,
      rounds: Math.max(...trajectories.map(({ rounds }) => rounds.length)),
      responseLength: 16,
      promptLength: first.prompt.length,
    };
    const sizes = { batch: trajectories.length, lengthStep: LENGTH_STEP, level: "token" } as const;
    const out: (readonly [string, number, number])[] = [];
    for (const [name, layout] of layouts) {
      const errors = await replay(engine, stepsOf(sampler)(trajectories, options, { ...sizes, ...layout }));
      out.push([name, Math.max(...errors), errors.length]);
    }
    if (text === undefined) return out;
    const { value } = await engine.score(sampler.textTerms?.(trajectories, options, sizes) as Batch, "policy");
    out.push(["from left to right", Math.max(...text.map((x, s) => Math.abs(x - (value[s] as number)))), text.length]);
    return out;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Computes entry k of tensor t, by sorted name: .7 sin(1 + 1.7 k + 2.3 t), and 1 + .3 of that sine for vectors. */
async function formulaWeights(config: ModelConfig): Promise<Map<string, Tensor>> {
  const specs = (await architectureOf(config)).weights(config);
  const sorted = [...specs].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    sorted.map(([name, { shape }], t) => {
      const sines = Float64Array.from({ length: sizeOf(shape) }, (_, k) => Math.sin(1 + 1.7 * k + 2.3 * t));
      return [
        name,
        f32(
          shape,
          Float32Array.from(sines, (x) => (shape.length === 1 ? 1 + 0.3 * x : 0.7 * x)),
        ),
      ];
    }),
  );
}

export const proof: Proof = {
  claim: "stored log-probabilities, computed by PyTorch, are what is scored",
  sampler: "unmask",
  run: () => measureStored(),
};
