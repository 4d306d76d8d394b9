import { fail } from "../../core/errors.js";
import type { Act, Action, Observation } from "../../core/interaction.js";
import { Rng } from "../../core/rng.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { Decoding, Policy } from "../../engine/policy.js";
import {
  type Environment,
  type EnvironmentTask,
  type EpisodeOutcome,
  ObservationTooLong,
  type PlayedTogether,
} from "../../env/environment.js";

/** One turn of an episode: its observation, sampled trajectory and action. */
export interface Turn {
  readonly observation: Observation;
  readonly trajectory: Trajectory;
  readonly action: Action;
}

/** One episode of the policy. */
export interface Rollout {
  readonly task: EnvironmentTask;
  readonly turns: readonly Turn[];
  readonly outcome: EpisodeOutcome;
}

export interface RolloutTimes {
  /** Seconds of generation by the model. */
  readonly generating: number;
  /** Seconds from the first generated token to the last scored episode. */
  readonly total: number;
  /** Episodes that the environment played; the others were equal to one of them. */
  readonly episodes: number;
}

/** A request for episodes. */
export interface Wanted {
  readonly tasks: readonly EnvironmentTask[];
  /** Seed, and the name of one stream per episode, from which its turns draw in order. */
  readonly seed: number;
  readonly streams: readonly string[];
  /** The policy's decoding: as in training, or as in evaluations. */
  readonly decoding: "training" | "evaluation";
  readonly batch: number;
  readonly temperature?: number;
  readonly onEpisode?: (done: number, rollout: Rollout) => void;
}

/** Plays episodes, in this process or elsewhere: equal requests give equal rollouts. */
export type Collect = (wanted: Wanted) => Promise<{ rollouts: Rollout[]; times: RolloutTimes }>;

/** Plays episodes in this process. */
export function collectHere(policy: Policy, environment: Environment): Collect {
  return ({ tasks, seed, streams, decoding, ...options }) =>
    collectRollouts(
      decoding === "training" ? policy : { ...policy, ...policy.evaluation },
      environment,
      tasks,
      streams.map((name) => Rng.named(seed, name)),
      options,
    );
}

/** Returns the number of episodes whose turns are generated together. */
export function chunkSize(batch: number, { capacity }: Pick<Environment, "capacity">): number {
  return Math.min(batch, capacity ?? batch);
}

/** @throws ObservationTooLong where an observation has more tokens than a prompt may have. */
function assertShown(
  policy: Pick<Policy, "startOf" | "sampler">,
  observation: Observation,
  most: number,
  what: string,
): void {
  const size = policy.sampler.policy?.length?.(policy.startOf(observation)) ?? 0;
  if (size > most)
    throw new ObservationTooLong(`${what} shows ${size} tokens, sampler.prompt_length allows ${most}.`, {
      hint: `Set sampler.prompt_length=${size}, or let the environment show less.`,
      exitCode: 2,
    });
}

/**
 * Plays every task once with the policy. Episodes run in chunks of `batch`. The turns of a chunk are generated together
 * once each of its unfinished episodes waits for one, so that batches never depend on timing. While one chunk acts in
 * the environment, the model generates for another.
 * @param rngs one stream per episode, from which its turns draw in order.
 */
export async function collectRollouts(
  policy: Pick<Policy, "startOf" | "actionOf"> & Decoding,
  environment: Environment,
  tasks: readonly EnvironmentTask[],
  rngs: readonly Rng[],
  options: {
    readonly batch: number;
    readonly temperature?: number;
    readonly onEpisode?: (done: number, rollout: Rollout) => void;
  },
): Promise<{ rollouts: Rollout[]; times: RolloutTimes }> {
  const start = performance.now();
  const { batch, temperature } = options;
  const sampling = temperature === undefined ? policy.options : { ...policy.options, temperature };
  const together: PlayedTogether = new Map();
  let generating = 0;
  let done = 0;
  let failed = false;
  // one batch at a time, in the order in which chunks became ready
  let model: Promise<unknown> = Promise.resolve();
  const generate = (waiting: readonly Waiting[]): Promise<Trajectory[]> => {
    const generated = model.then(async () => {
      if (failed) throw new Error("another episode has failed");
      const began = performance.now();
      const trajectories = await policy.sampler.rollout(
        policy.rounds,
        waiting.map(({ observation }) => policy.startOf(observation)),
        sampling,
        waiting.map(({ rng }) => rng),
        batch,
      );
      generating += performance.now() - began;
      return trajectories;
    });
    model = generated.catch(() => undefined);
    return generated;
  };
  const play = async (chunk: Lockstep, place: number, task: EnvironmentTask, rng: Rng): Promise<Rollout> => {
    const turns: Turn[] = [];
    let unanswered = 0;
    const answered: Act = async (observation) => {
      assertShown(policy, observation, sampling.promptLength, `Turn ${turns.length + 1} of ${task.id}`);
      unanswered++;
      const trajectory = await chunk.ask({ place, observation, rng }).finally(() => unanswered--);
      const action = policy.actionOf(trajectory);
      turns.push({ observation, trajectory, action });
      return action;
    };
    const act: Act = (observation) => {
      const action = answered(observation);
      action.catch(() => undefined); // where it is not awaited
      return action;
    };
    try {
      const outcome = await environment.play(task, act, together);
      if (unanswered > 0)
        fail(`${environment.name} ended an episode of ${task.id} before the policy had answered.`, {
          hint: "let its play await what act(...) gives",
        });
      const rollout = { task, turns, outcome };
      options.onEpisode?.(++done, rollout);
      return rollout;
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      chunk.leave();
    }
  };
  const playing: Promise<Rollout>[] = [];
  const size = chunkSize(batch, environment);
  for (let from = 0; from < tasks.length; from += size) {
    const members = tasks.slice(from, from + size);
    const chunk = new Lockstep(members.length, generate);
    members.forEach((task, i) => {
      const rollout = play(chunk, i, task, rngs[from + i] as Rng);
      // a failure is reported where all are awaited, not as an unhandled rejection while the next batch generates
      rollout.catch(() => undefined);
      playing.push(rollout);
    });
  }
  const rollouts = await Promise.all(playing);
  return {
    rollouts,
    times: {
      generating: generating / 1000,
      total: (performance.now() - start) / 1000,
      episodes: rollouts.filter(({ outcome }) => outcome.reused !== true).length,
    },
  };
}

interface Question {
  /** Index of the episode in its chunk. */
  readonly place: number;
  readonly observation: Observation;
  readonly rng: Rng;
}

interface Waiting extends Question {
  readonly resolve: (trajectory: Trajectory) => void;
  readonly reject: (error: unknown) => void;
}

/** Episodes whose turns are generated together, once all running ones wait for one. */
class Lockstep {
  private waiting: Waiting[] = [];

  constructor(
    private running: number,
    private readonly generate: (waiting: readonly Waiting[]) => Promise<Trajectory[]>,
  ) {}

  ask(question: Question): Promise<Trajectory> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...question, resolve, reject });
      this.proceed();
    });
  }

  /** Removes an ended episode. */
  leave(): void {
    this.running--;
    this.proceed();
  }

  private proceed(): void {
    if (this.waiting.length === 0 || this.waiting.length < this.running) return;
    const waiting = this.waiting.sort((a, b) => a.place - b.place);
    this.waiting = [];
    this.generate(waiting).then(
      (trajectories) => waiting.forEach(({ resolve }, i) => void resolve(trajectories[i] as Trajectory)),
      (error: unknown) => waiting.forEach(({ reject }) => void reject(error)),
    );
  }
}
