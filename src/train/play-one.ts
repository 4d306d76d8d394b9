import { loadConfig } from "../config/config.js";
import { misuse } from "../core/errors.js";
import type { Action } from "../core/interaction.js";
import { Rng } from "../core/rng.js";
import { checkSpaces, type Policy, roundsOf } from "../engine/policy.js";
import type { Environment, EnvironmentTask } from "../env/environment.js";
import { openEnvironment } from "../env/open.js";
import { RunDirectory } from "../runs/run-directory.js";
import { openEvaluated } from "./evaluate.js";
import type { Played } from "./misses.js";
import { collectRollouts } from "./rollouts/collect.js";
import type { EvaluateOptions } from "./types.js";

export interface PlayOneOptions
  extends Pick<EvaluateOptions, "run" | "config" | "overrides" | "checkpoint" | "policy"> {
  /** Played as it is, in place of a policy's answer. */
  readonly answer?: string | undefined;
  readonly pick: (tasks: readonly EnvironmentTask[]) => EnvironmentTask;
}

export interface PlayedOne extends Played {
  /** The environment's kind, which knows how its detail is shown. */
  readonly kind: string;
  /** The first observation that the policy saw; undefined where none was asked. */
  readonly seen: string | undefined;
  /** The first answer as it stood after each round; empty where the sampler does not tell. */
  readonly rounds: readonly string[];
  /** Pictures (JPEG) of the page after each line of the answer that changes it, the first untouched. */
  readonly frames: readonly { readonly caption: string; readonly image: Uint8Array }[];
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
  const environment = await openEnvironment(config);
  let policy: Policy | undefined;
  try {
    const task = options.pick(environment.tasks);
    await environment.start();
    const rng = Rng.named(config.evaluation.seed, `try/${task.id}`);
    let played: Played;
    let seen: string | undefined;
    let rounds: readonly string[] = [];
    if (options.answer === undefined && options.policy === "model") {
      policy = await openEvaluated(config, options, run);
      checkSpaces(environment, policy);
      const temperature = config.evaluation.temperature ?? policy.evaluation.options.temperature;
      const decoding = { ...policy, ...policy.evaluation };
      const { rollouts } = await collectRollouts(decoding, environment, [task], [rng], { batch: 1, temperature });
      const [rollout] = rollouts;
      if (rollout === undefined) throw new Error("nothing was played");
      played = { task, actions: rollout.turns.map(({ action }) => action), outcome: rollout.outcome };
      const [turn] = rollout.turns;
      seen = turn?.observation.text;
      rounds = turn === undefined ? [] : roundsOf(policy, turn.trajectory);
    } else played = await playFixed(environment, task, options, rng);
    const frames = await framesOf(environment, played);
    return { ...played, kind: config.environment.kind, seen, rounds, frames };
  } finally {
    await policy?.close();
    await environment.close();
  }
}

async function playFixed(
  environment: Environment,
  task: EnvironmentTask,
  { answer, policy }: PlayOneOptions,
  rng: Rng,
): Promise<Played> {
  const fixed = environment.fixedPolicies[policy];
  if (answer === undefined && fixed === undefined) {
    const there = ["model", ...Object.keys(environment.fixedPolicies)].join(", ");
    misuse(`There is no policy ${policy}; there is ${there}.`);
  }
  const act = answer === undefined ? await fixed?.(task, rng) : async () => ({ text: answer });
  const actions: Action[] = [];
  const outcome = await environment.play(
    task,
    async (observation) => {
      const action = (await act?.(observation)) ?? {};
      actions.push(action);
      return action;
    },
    new Map(),
  );
  return { task, actions, outcome };
}

/** The page after none, one, two ... lines of the first answer; lines that change no picture are told together. */
async function framesOf(environment: Environment, { task, actions }: Played): Promise<PlayedOne["frames"]> {
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
