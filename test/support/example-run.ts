import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import { Rng } from "../../src/core/rng.js";
import { summarize, writeEvaluation } from "../../src/runs/evaluation.js";
import { MetricsWriter } from "../../src/runs/metrics.js";
import { type RolloutRecord, writeRollouts } from "../../src/runs/rollout-record.js";
import { RunDirectory } from "../../src/runs/run-directory.js";
import { Tokenizer } from "../../src/text/tokenizer.js";
import { rolloutRecord } from "./rollout-record.js";
import { stepMetrics } from "./step-metrics.js";

/** Text that combines markup, a script, a closing tag, the end of an attribute and a direction mark. */
export const HOSTILE = `</pre></script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">\u202e'`;

const CONFIG = "model: models/tiny-refusion\nenvironment: { kind: forms }\n";
const tokenizer = Tokenizer.load(join(packageRoot(), "models", "tiny-refusion"));
export const RESPONSE = "fill Full name | Ada Reed\nfill Visit date | 2025-03-04\ncheck Newsletter\nsubmit";

/** Makes a trajectory of the sampler `unmask` with four rounds of every fourth token; the second token is unlikely. */
export function trajectory(text = RESPONSE): object {
  const response = tokenizer.encode(text);
  const rounds = [0, 1, 2, 3].map((round) => {
    const positions = response.flatMap((_, i) => (i % 4 === round ? [i] : []));
    const logProbs = positions.map((p) => (p === 1 ? -3 : -0.01));
    return { positions, tokens: positions.map((p) => response[p]), logProbs, eosAllowed: positions.map(() => false) };
  });
  const { length: responseLength } = response;
  return { prompt: [1], slotSize: 1, responseLength, temperature: 1, rounds, response, ended: "length" };
}

interface Changes extends Partial<RolloutRecord> {
  /** Prompt of its only turn. */
  readonly prompt?: string;
  readonly response?: string;
  readonly trajectory?: object;
}

/** Details of a forms episode in a rollout record. */
const DETAIL = {
  truth: { "Full name": "Ada Reed", "Visit date": "2025-03-04", Newsletter: true, Topics: ["art", "maps"] },
  posted: Object.entries({ full_name: "Ada Reed", visit_date: "2025-03-04" }),
  actions: [
    { action: "fill Full name | Ada Reed", fate: "done" },
    { action: "check Newsletter", fate: "no-such-control", detail: "no control of that name" },
  ],
  received: { "Full name": "Ada Reed", "Visit date": "2025-03-04", Newsletter: null, Topics: ["art"] },
  field_scores: { "Full name": 1, "Visit date": 1, Newsletter: 0, Topics: 0.5 },
};
const PROMPT = "form: Visitor pass\nFull name | Ada Reed\nVisit date | 2025-03-04\nNewsletter | yes\n";

/** Makes the record of an episode of one turn. */
export function rollout(index: number, changes: Changes = {}): RolloutRecord {
  const reward = index / 8;
  const { prompt = PROMPT, response = RESPONSE, trajectory: sampled = trajectory(), ...others } = changes;
  return rolloutRecord({
    ...{ step: 20, group: Math.floor(index / 4), rollout: index % 4, reward, advantage: reward - 0.5, tokens: 40 },
    task_id: `embedded/starter/library/visitor-pass/train/000${index}`,
    form: index % 2 === 0 ? "library/visitor-pass" : "clinic/intake",
    metrics: { task_completion: reward, field_accuracy: reward, execution_completeness: 0.75 },
    success: index > 6,
    turns: [{ prompt, response, trajectory: sampled }],
    detail: { ...DETAIL, accepted: index > 3 },
    ...others,
  });
}

/** Writes a run of 20 steps with evaluations and the rollouts of two steps. */
export async function exampleRun(parent: string, name: string): Promise<RunDirectory> {
  const run = RunDirectory.create({ name, parent });
  writeFileSync(run.config, CONFIG);
  const began = { command: "flow-grpo", config: "c.yaml", provider: "cpu" };
  await run.writeEnvironment({ ...began, seeds: { run: 0 }, hashes: {} });
  const rng = Rng.named(1, name);
  const writer = await MetricsWriter.open(run.metrics);
  for (let step = 1; step <= 20; step++) {
    const reward = 0.5 + step / 80 + 0.03 * rng.normal();
    writer.append(
      stepMetrics(step, {
        reward,
        success_rate: reward / 2,
        frac_reward_zero_std: rng.int(4) / 4,
        faults: step === 7 ? 2 : 0,
        loss: step === 9 ? null : 0.02 * rng.normal(),
        kl: 0.0002 * step,
        ratio_mean: 1 + 0.001 * rng.normal(),
        ratio_max: 1.1 + 0.1 * rng.uniform(),
        clip_fraction: 0.02 * rng.uniform(),
        grad_norm: 0.6 + 0.2 * rng.uniform(),
        extra: { field_accuracy: reward + 0.1, clamped_share: 0 },
      }),
    );
  }
  for (const [when, gain] of [
    ["before", 0],
    [10, 0.06],
    ["after", 0.12],
  ] as const) {
    const scores = Array.from({ length: 60 }, (_, i) => {
      const reward = Math.min(1, 0.2 + ((i * 7) % 10) / 12 + gain);
      const form = ["clinic/intake", "garden/plot", "music/lesson"][i % 3] as string;
      return { task_id: `t${i}`, form, reward, success: reward > 0.8, metrics: { field_accuracy: reward } };
    });
    const about = { split: "heldout", policy: "model", seed: 1, split_hash: "h", temperature: 1 };
    await writeEvaluation(run.evaluation("heldout", when), summarize(scores, about));
  }
  await writeRollouts(run.rollouts(10), [rollout(1, { step: 10, task_id: "an older task" })]);
  await writeRollouts(run.rollouts(20), [
    ...Array.from({ length: 8 }, (_, i) => rollout(7 - i)),
    rollout(3, { reward: null, metrics: null, advantage: null, fault: "browser closed", task_id: "the faulted one" }),
  ]);
  return run;
}

/** Writes a supervised run of 40 steps with the evaluation of its last checkpoint by refusion-eval. */
export async function supervisedRun(parent: string, name: string): Promise<RunDirectory> {
  const run = RunDirectory.create({ name, parent });
  writeFileSync(run.config, CONFIG);
  const facts = { command: "sft", config: "c.yaml", provider: "cpu", seeds: { run: 0 }, hashes: {} };
  await run.writeEnvironment(facts);
  const rng = Rng.named(1, name);
  const writer = await MetricsWriter.open(run.metrics);
  const nothing = {
    ...{ reward: null, reward_std: null, success_rate: null, frac_reward_zero_std: null },
    ...{ kl: null, ratio_mean: null, ratio_max: null, clip_fraction: null, rollout_tokens_per_s: null },
    extra: {},
  };
  for (let step = 1; step <= 40; step++) {
    const loss = 4 * Math.exp(-step / 15) + 0.3 + 0.1 * rng.normal();
    const time = { rollout: 0, score: 0, update: 0.2, total: 0.2 };
    writer.append(stepMetrics(step, { ...nothing, loss, grad_norm: 1 + 0.2 * rng.uniform(), lr: 1e-3, time }));
  }
  const scores = Array.from({ length: 20 }, (_, i) => {
    const reward = ((i * 7) % 10) / 10;
    const metrics = { field_accuracy: reward };
    return { task_id: `t${i}`, form: "garden/plot", reward, success: reward > 0.8, metrics };
  });
  const about = { split: "heldout", policy: "model", seed: 1, split_hash: "h", temperature: 1 };
  await writeEvaluation(join(run.dir, "eval", "last", "heldout.json"), summarize(scores, about));
  return run;
}

/** Writes a run in which every text is hostile. */
export async function hostileRun(parent: string, name: string): Promise<RunDirectory> {
  const run = await exampleRun(parent, name);
  await writeRollouts(run.rollouts(21), [
    rollout(0, {
      step: 21,
      prompt: HOSTILE,
      response: HOSTILE,
      task_id: HOSTILE,
      form: HOSTILE,
      detail: {
        posted: [[HOSTILE, HOSTILE]],
        truth: { [HOSTILE]: HOSTILE },
        received: { [HOSTILE]: HOSTILE },
        actions: [{ action: HOSTILE, fate: HOSTILE, detail: HOSTILE }],
      },
      trajectory: trajectory(HOSTILE),
    }),
    rollout(1, { step: 21, fault: HOSTILE, reward: null, metrics: null }),
    rollout(2, { step: 21, trajectory: { rounds: HOSTILE, response: [HOSTILE] } }),
  ]);
  writeFileSync(run.config, `# ${HOSTILE}\n${CONFIG}`);
  return run;
}
