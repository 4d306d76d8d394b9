import { Semaphore } from "../../../../src/core/semaphore.js";
import type { Batch } from "../../../../src/diffusion/batch.js";
import type { SamplerOptions } from "../../../../src/diffusion/sampler.js";
import type { TextStart } from "../../../../src/diffusion/template.js";
import type { TokenTrajectory, Trajectory } from "../../../../src/diffusion/trajectory.js";
import type { Engine } from "../../../../src/engine/engine.js";
import { moved, randomDirection } from "../../../../src/features/verify/direction.js";
import { smallCanvas, stepsOf, takeStarts, type VerifyContext } from "../../../../src/features/verify/proof.js";
import { scalar } from "../../../../src/onnx/tensors.js";
import type { Tensor } from "../../../../src/onnx/types.js";
import type { RolloutRecord } from "../../../../src/runs/rollout-record.js";
import type { Sampled } from "../../../../src/train/rollouts/groups.js";
import type { RewardedEpisode } from "./formulas.js";

type Tensors = ReadonlyMap<string, Tensor>;

/** The policies that score a batch: the sampling one, the one before the update, the trained one, the reference. */
export type Who = "sampled" | "before" | "now" | "reference";

/** Standard deviations of the log-probabilities' changes, in nats: large enough for clipping on both sides. */
const BEFORE = 0.1;
const NOW = 0.25;

/** Episodes of three tasks, with the rewards of their turns; one failed environment, one group of equal rewards. */
const EPISODES: readonly (readonly { readonly reward: number | null; readonly turns: readonly (number | null)[] }[])[] =
  [
    [
      { reward: 1, turns: [0.7, 0.3] },
      { reward: 0.25, turns: [0.25] },
      { reward: null, turns: [null] },
      { reward: 0.6, turns: [0.1, 0.5] },
    ],
    [
      { reward: 0, turns: [null] },
      { reward: 0.4, turns: [null] },
      { reward: 0.1, turns: [null] },
    ],
    [
      { reward: 0.5, turns: [null] },
      { reward: 0.5, turns: [null] },
    ],
  ];

/** Rollouts with their rewards, and four different policies. */
export interface OffPolicy {
  readonly options: SamplerOptions;
  readonly rollouts: readonly (readonly Sampled[])[];
  /** The same episodes in the form that the formulas read. */
  readonly episodes: readonly (readonly RewardedEpisode[])[];
  readonly policies: Readonly<Record<Exclude<Who, "reference">, Tensors>>;
  /** Scores a batch [R]; results are cached. @param sharper factor on the inverse temperature. */
  score(batch: Batch, who: Who, sharper?: number): Promise<{ logProbs: Float32Array; value: Float32Array }>;
}

export async function openOffPolicy(context: VerifyContext): Promise<OffPolicy> {
  const { policy, rng } = context;
  const { engine, sampler } = policy;
  const options = smallCanvas(policy);
  const turns = EPISODES.flat().flatMap((episode) => episode.turns);
  const rngs = turns.map((_, i) => rng(`off-policy/${i}`));
  // two lengths: with a single one, different length norms give the same weights
  const short = { ...sampler.shrink(options, 8, 2), temperature: options.temperature };
  const trajectories: Trajectory[] = [];
  for (const [i, rng] of rngs.entries()) {
    const own = i % 2 === 0 ? options : short;
    const start = takeStarts(context, turns.length, own)[i] as TextStart;
    trajectories.push(...(await sampler.rollout(engine, [start], own, [rng])));
  }
  const sampled = await engine.getParameters("policy");
  const batch = stepsOf(sampler)(trajectories, options, { batch: trajectories.length, lengthStep: 16, level: "token" });
  const score = scorer(engine, sampled);
  const away = async (from: Tensors, name: string, spread: number): Promise<Tensors> => {
    const direction = randomDirection(from, rng(`off-policy/${name}`));
    let epsilon = 0.01;
    const start = await score(batch, from);
    for (let i = 0; i < 2; i++) {
      const there = await score(batch, moved(from, direction, epsilon));
      const changes = [...there.logProbs].flatMap((x, r) =>
        batch.coefficient[r] === 0 ? [] : [x - (start.logProbs[r] as number)],
      );
      epsilon *= spread / Math.max(1e-9, Math.sqrt(changes.reduce((a, x) => a + x * x, 0) / changes.length));
    }
    return moved(from, direction, epsilon);
  };
  const before = await away(sampled, "before", BEFORE);
  const policies = { sampled, before, now: await away(before, "now", NOW) };
  const draws = rng("off-policy/drafts");
  const left = [...trajectories];
  const played = EPISODES.map((group) =>
    group.map(({ reward, turns: earned }) => {
      const own = left.splice(0, earned.length);
      const told = own.map((trajectory, n) => ({
        reward: earned[n] as number | null,
        drafts: Array.from({ length: sampler.steps(trajectory) }, () => draws.uniform()),
        parts: partsOf(trajectory, (reward ?? 0) + n),
      }));
      return { trajectories: own, episode: { reward, turns: told } };
    }),
  );
  const seen = new Map<string, Promise<{ logProbs: Float32Array; value: Float32Array }>>();
  return {
    options,
    rollouts: played.map((group) => group.map(({ trajectories, episode }) => recorded(trajectories, episode))),
    episodes: played.map((group) => group.map(({ episode }) => episode)),
    policies,
    score(given, who, sharper = 1) {
      const key = `${who} ${sharper} ${fingerprint(given)}`;
      const found = seen.get(key) ?? score(tempered(given, sharper), who === "reference" ? who : policies[who]);
      seen.set(key, found);
      return found;
    },
  };
}

/** Converts an episode to the form of a rollout file. */
function recorded(trajectories: readonly Trajectory[], { reward, turns }: RewardedEpisode): Sampled {
  const told = turns.map(({ reward: own, parts }) => {
    const placed = parts.map((p) => ({ ...p, start: p.tokens[0], end: (p.tokens.at(-1) ?? 0) + 1 }));
    return { ...(own === null ? {} : { reward: own }), ...(placed.length === 0 ? {} : { parts: placed }) };
  });
  const record = { reward, turns: told } as unknown as RolloutRecord;
  return { trajectories, drafts: turns.map(({ drafts }) => drafts), record };
}

/** Parts of a response: its first third, in some responses also the second; rewards are derived from `seed`. */
function partsOf(trajectory: Trajectory, seed: number): RewardedEpisode["turns"][number]["parts"] {
  const { response } = trajectory as Partial<TokenTrajectory>;
  const third = Math.floor((response?.length ?? 0) / 3);
  if (third === 0) return [];
  const tokens = (from: number): number[] => Array.from({ length: third }, (_, i) => from + i);
  const first = { name: "first", reward: (seed * 7.3) % 1, tokens: tokens(0) };
  return seed % 0.5 === 0 ? [first] : [first, { name: "second", reward: (seed * 3.1) % 1, tokens: tokens(third) }];
}

/** Scores batches under given parameters, one at a time, and restores the engine's policy. */
function scorer(engine: Engine, own: Tensors) {
  const turn = new Semaphore(1);
  return (batch: Batch, of: Tensors | "reference") =>
    turn.run(async () => {
      if (of === "reference") return engine.score(batch, of);
      await engine.setParameters("policy", of);
      try {
        return await engine.score(batch, "policy");
      } finally {
        await engine.setParameters("policy", own);
      }
    });
}

/** Copies a batch with the inverse temperature multiplied by `sharper`. */
export function tempered(batch: Batch, sharper: number): Batch {
  if (sharper === 1) return batch;
  const inverse = Number(batch.headInputs.inverse_temperature?.data[0]);
  return { ...batch, headInputs: { ...batch.headInputs, inverse_temperature: scalar(sharper * inverse) } };
}

function fingerprint({ inputs, headInputs, coefficient, segment }: Batch): string {
  const tensors = [...Object.values(inputs), ...Object.values(headInputs)].map(({ data }) => data);
  return [...tensors, coefficient, segment]
    .map((data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64"))
    .join();
}
