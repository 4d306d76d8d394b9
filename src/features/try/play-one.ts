import { loadConfig } from "../../config/config.js";
import { closing } from "../../core/closing.js";
import { misuse } from "../../core/errors.js";
import type { Act } from "../../core/interaction.js";
import { Rng } from "../../core/rng.js";
import { checkSpaces, type Policy, roundsOf } from "../../engine/policy.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";
import { openEnvironment } from "../../env/open.js";
import { RunDirectory } from "../../runs/run-directory.js";
import { openEvaluated } from "../../train/evaluate.js";
import type { PlayedEpisode } from "../../train/misses.js";
import { playFixed } from "../../train/play-fixed.js";
import { collectRollouts, type Rollout } from "../../train/rollouts/collect.js";
import type { EvaluateOptions } from "../../train/types.js";
import type { Frame } from "./film.js";

export interface PlayOneOptions
  extends Pick<EvaluateOptions, "run" | "config" | "overrides" | "checkpoint" | "policy"> {
  /** A fixed answer, instead of a policy's. */
  readonly answer?: string | undefined;
  readonly pick: (tasks: readonly EnvironmentTask[]) => EnvironmentTask;
}

export interface PlayedOne extends PlayedEpisode {
  /** The environment's kind, which formats the outcome's detail. */
  readonly kind: string;
  /** The policy's first observation; undefined if no model was used. */
  readonly seen: string | undefined;
  /** The first answer after each round; empty if the sampler does not record it. */
  readonly rounds: readonly string[];
  /** Pictures (JPEG) of the page after each line of the answer that changes it, the first untouched. */
  readonly frames: readonly Frame[];
}

/** Plays one task by a run's checkpoint, a config's model, the environment's own policy or a given answer. */
export async function playOne(options: PlayOneOptions): Promise<PlayedOne> {
  if ((options.run === undefined) === (options.config === undefined))
    misuse("Give --run DIR or --config FILE, one of the two.");
  const run = options.run === undefined ? undefined : RunDirectory.open(options.run);
  const config = await loadConfig(run?.config ?? (options.config as string), {
    command: run?.readEnvironment().command,
    overrides: options.overrides,
  });
  await using environment = closing(await openEnvironment(config));
  const task = options.pick(environment.tasks);
  await environment.start();
  const rng = Rng.named(config.evaluation.seed, `try/${task.id}`);
  const isModel = options.answer === undefined && options.policy === "model";
  await using policy = isModel ? closing(await openEvaluated(config, options, run)) : undefined;
  const rollout = policy && (await playModel(policy, environment, task, config.evaluation.temperature, rng));
  const { turns, outcome } =
    rollout ?? (await playFixed(environment, task, await fixedAct(environment, task, options, rng)));
  const played = { task, actions: turns.map(({ action }) => action), outcome };
  const [first] = rollout?.turns ?? [];
  return {
    ...played,
    kind: config.environment.kind,
    seen: first?.observation.text,
    rounds: policy && first ? roundsOf(policy, first.trajectory) : [],
    frames: await framesOf(environment, played),
  };
}

async function playModel(
  policy: Policy,
  environment: Environment,
  task: EnvironmentTask,
  wanted: number | null,
  rng: Rng,
): Promise<Rollout> {
  checkSpaces(environment, policy);
  const decoding = { ...policy, ...policy.evaluation };
  const temperature = wanted ?? decoding.options.temperature;
  const { rollouts } = await collectRollouts(decoding, environment, [task], [rng], { batch: 1, temperature });
  return rollouts[0] as Rollout;
}

/** Makes the fixed answer's or a fixed policy's actions. @throws UserError for an unknown policy. */
async function fixedAct(
  { fixedPolicies }: Environment,
  task: EnvironmentTask,
  { answer, policy }: PlayOneOptions,
  rng: Rng,
): Promise<Act> {
  if (answer !== undefined) return async () => ({ text: answer });
  const fixed = fixedPolicies[policy];
  if (fixed !== undefined) return fixed(task, rng);
  misuse(`There is no policy ${policy}; there is ${["model", ...Object.keys(fixedPolicies)].join(", ")}.`);
}

/** Photographs the page after 0, 1, 2 ... lines of the first answer; lines without a visible change share a picture. */
async function framesOf(environment: Environment, { task, actions }: PlayedEpisode): Promise<PlayedOne["frames"]> {
  const lines = (actions[0]?.text ?? "").split("\n").filter((line) => line.trim() !== "");
  const frames: { caption: string; image: Uint8Array }[] = [];
  for (let n = 0; n <= lines.length; n++) {
    const image = await environment.photograph?.(task, [{ text: lines.slice(0, n).join("\n") }]);
    if (image === undefined) continue;
    const caption = n === 0 ? "the page" : (lines[n - 1] as string);
    const last = frames.at(-1);
    if (last !== undefined && Buffer.from(last.image).equals(image)) last.caption += `\n${caption}`;
    else frames.push({ caption, image });
  }
  return frames;
}
