import { fail } from "../../core/errors.js";
import type { Act, Action, Observation } from "../../core/interaction.js";
import { Rng } from "../../core/rng.js";
import { Semaphore } from "../../core/semaphore.js";
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
      decoding === "training"
        ? { ...policy, options: { ...policy.options, explore: policy.explore } }
        : { ...policy, ...policy.evaluation },
      environment,
      tasks,
      streams.map((name) => Rng.named(seed, name)),
      options,
    );
}

/** Returns the number of episodes whose turns are generated together. */
export const chunkSize = (batch: number, { capacity }: Pick<Environment, "capacity">): number =>
  Math.min(batch, capacity ?? batch);

/** A turn that is to be generated. */
interface PendingTurn {
  readonly observation: Observation;
  readonly rng: Rng;
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
  { batch, temperature, onEpisode }: Pick<Wanted, "batch" | "temperature" | "onEpisode">,
): Promise<{ rollouts: Rollout[]; times: RolloutTimes }> {
  const start = performance.now();
  const sampling = temperature === undefined ? policy.options : { ...policy.options, temperature };
  const oneAtATime = new Semaphore(1);
  let generating = 0;
  let failed = false;
  const generate = (turns: readonly PendingTurn[]): Promise<Trajectory[]> =>
    oneAtATime.run(async () => {
      if (failed) throw new Error("another episode has failed");
      const began = performance.now();
      const starts = turns.map(({ observation }) => policy.startOf(observation));
      const streams = turns.map(({ rng }) => rng);
      const trajectories = await policy.sampler.rollout(policy.rounds, starts, sampling, streams, batch);
      generating += performance.now() - began;
      return trajectories;
    });
  const size = chunkSize(batch, environment);
  const chunks: Lockstep[] = [];
  for (let from = 0; from < tasks.length; from += size)
    chunks.push(new Lockstep(Math.min(size, tasks.length - from), generate));
  const together: PlayedTogether = new Map();
  let done = 0;
  const play = async (task: EnvironmentTask, i: number): Promise<Rollout> => {
    const chunk = chunks[Math.floor(i / size)] as Lockstep;
    const answer = (observation: Observation, turn: number): Promise<Trajectory> => {
      assertShown(policy, observation, sampling.promptLength, `Turn ${turn} of ${task.id}`);
      return chunk.generate(i, { observation, rng: rngs[i] as Rng });
    };
    try {
      const rollout = await playEpisode(policy, environment, task, together, answer);
      onEpisode?.(++done, rollout);
      return rollout;
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      chunk.leave();
    }
  };
  const rollouts = await Promise.all(tasks.map(play));
  const episodes = rollouts.filter(({ outcome }) => outcome.reused !== true).length;
  return { rollouts, times: { generating: generating / 1000, total: (performance.now() - start) / 1000, episodes } };
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
 * Plays one episode.
 * @param answer samples the policy's response to an observation of a turn, counted from 1.
 * @throws UserError where the environment ends the episode before its last answer.
 */
async function playEpisode(
  policy: Pick<Policy, "actionOf">,
  environment: Environment,
  task: EnvironmentTask,
  together: PlayedTogether,
  answer: (observation: Observation, turn: number) => Promise<Trajectory>,
): Promise<Rollout> {
  const turns: Turn[] = [];
  let unanswered = 0;
  const respond: Act = async (observation) => {
    unanswered++;
    try {
      const trajectory = await answer(observation, turns.length + 1);
      const action = policy.actionOf(trajectory);
      turns.push({ observation, trajectory, action });
      return action;
    } finally {
      unanswered--;
    }
  };
  const act: Act = (observation) => {
    const action = respond(observation);
    // a rejection may not count as unhandled: an environment that does not await the answer is reported below
    action.catch(() => undefined);
    return action;
  };
  const outcome = await environment.play(task, act, together);
  if (unanswered > 0)
    fail(`${environment.name} ended an episode of ${task.id} before the policy had answered.`, {
      hint: "let its play await what act(...) gives",
    });
  return { task, turns, outcome };
}

interface Waiting extends PendingTurn {
  /** Index of the episode among all: the order of a batch. */
  readonly place: number;
  readonly resolve: (trajectory: Trajectory) => void;
  readonly reject: (error: unknown) => void;
}

/** Episodes whose turns are generated together, once all running ones wait for one. */
class Lockstep {
  private waiting: Waiting[] = [];

  constructor(
    private running: number,
    private readonly generateAll: (turns: readonly PendingTurn[]) => Promise<Trajectory[]>,
  ) {}

  generate(place: number, turn: PendingTurn): Promise<Trajectory> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...turn, place, resolve, reject });
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
    this.generateAll(waiting).then(
      (trajectories) => waiting.forEach(({ resolve }, i) => void resolve(trajectories[i] as Trajectory)),
      (error: unknown) => waiting.forEach(({ reject }) => void reject(error)),
    );
  }
}
