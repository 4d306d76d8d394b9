import { z } from "zod";
import { UserError } from "../core/errors.js";
import type { Act, Action, Observation, Spaces } from "../core/interaction.js";
import type { Rng } from "../core/rng.js";

/** `train`, `val` and `test` hold disjoint tasks of one kind; `heldout` holds kinds that are never trained on. */
export const SPLITS = ["train", "val", "test", "heldout"] as const;
export type Split = (typeof SPLITS)[number];
/** `all`: the tasks of every split together. */
export type TaskSet = Split | "all";

/** One task of an environment. */
export interface EnvironmentTask {
  /** Unique in its environment; ends in `/<split>/<number>`. */
  readonly id: string;
  readonly split: Split;
  /** Group of results: the form, the game, the start region of a robot. */
  readonly form: string;
}

/** A part of a turn's answer that is scored by itself, such as the attempt at one field of a form. */
export interface AnswerPart {
  /** Name of the part, the same in every episode of the task. */
  readonly name: string;
  /** Place in the answer's text, in characters; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly reward: number;
}

/** Outcome of one episode. */
export interface EpisodeOutcome {
  /** Null if the environment failed: the episode then says nothing about the policy. */
  readonly reward: number | null;
  /** The reason why there is no reward. */
  readonly fault?: string;
  readonly success: boolean;
  /** Reward of each single turn, if the environment gives it. */
  readonly turnRewards?: readonly number[];
  /** Rewards of parts of each turn's answer, if the environment gives them; the parts do not overlap. */
  readonly answerParts?: readonly (readonly AnswerPart[])[];
  /** Named measures of the episode, to be averaged. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Named counts, to be added up: pairs that were right. */
  readonly counts?: Readonly<Record<string, number>>;
  /** Detail for the rollout file and for `view`, as JSON. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** A few words for the user. */
  readonly summary?: string;
  /** The requests that the episode sent, as an HTTP Archive, if that is wanted. */
  readonly har?: object;
  /** Set if this is the outcome of another episode with the same task and the same answer. */
  readonly reused?: boolean;
}

/** The error of an observation with more tokens than the policy reads; an environment may take it for a fault. */
export class ObservationTooLong extends UserError {}

/** Limit of rewards and of their sums, above and below zero: float32 is too coarse for larger numbers. */
export const LARGEST_REWARD = 1e6;
export const anyReward = z.number().min(-LARGEST_REWARD).max(LARGEST_REWARD);

/** Outcomes of episodes that are collected together; an environment may use them again. */
export type PlayedTogether = Map<string, Promise<EpisodeOutcome>>;

/** Observation and answer of a perfect policy, as an example for supervised training. */
export interface Demonstration {
  /** Id of the task that it solves, for messages. */
  readonly id: string;
  readonly observation: Observation;
  /** The blanks that `values` does not name are not trained on. */
  readonly action: Action;
}

/** A policy without a model: the oracle, or a null policy, which earns almost nothing under a fair reward. */
export type FixedPolicy = (task: EnvironmentTask, rng: Rng) => Promise<Act>;

/** Tests of tasks of which it is not known that they can be solved. */
export interface Unproven {
  /** Number of training tasks that the oracle plays before a run. */
  readonly tasks: number;
  /** Describes how the oracle failed in an episode. */
  why(outcome: EpisodeOutcome): string;
  /** Policies with wrong answers, named by the mistake: their answers should be refused. */
  readonly wrong: Readonly<Record<string, FixedPolicy>>;
  /** Returns the reason why such an answer was refused; undefined if it was accepted. */
  refused(outcome: EpisodeOutcome): string | undefined;
  /** Set if nothing but the verdict is learned from: a run needs these answers refused, and no oracle plays. */
  readonly mustRefuse?: boolean;
  /** Advice, and how to train all the same. */
  readonly hint: string;
}

/** Tasks and the means to play them. The other parts of the program do not know the kind of task. */
export interface Environment {
  readonly name: string;
  /** Notes for the user before a run, such as the reason why tasks were left out. */
  readonly notes: readonly string[];
  /** All tasks of all splits, in a fixed order. */
  readonly tasks: readonly EnvironmentTask[];
  /** SHA-256 over the tasks and their splits. */
  splitHash(): string;
  /**
   * SHA-256 over the code and the contracts that decide about the rewards of these tasks; absent: unknown, as on
   * another machine.
   */
  judge?(tasks: readonly EnvironmentTask[]): string;
  /** Spaces of vectors; absent: observations and answers are texts. */
  readonly spaces?: Spaces;
  /** Starts the browser or the simulator before the first episode, so that a failure is reported early. */
  start(): Promise<void>;
  readonly started: boolean;
  /** Most episodes that can be between two turns at once, as each holds a page; absent: any number. */
  readonly capacity?: number;
  /**
   * Set if an episode is one answer to `firstObservation`, and the same answer has the same outcome: such an answer can
   * be played anywhere, without the policy.
   */
  readonly oneTurn?: boolean;
  /**
   * Plays a task from a fresh start: calls the policy with an observation, once or many times.
   * Never throws for mistakes of the policy; failures of the environment become faults.
   */
  play(task: EnvironmentTask, act: Act, together: PlayedTogether): Promise<EpisodeOutcome>;
  /** Returns the first observation of a task, if it is known without playing. */
  firstObservation?(task: EnvironmentTask): Observation;
  /** Range of an episode's reward, if it is known: a recorded reward outside it comes from another environment. */
  readonly rewardRange?: readonly [least: number, most: number];
  /** Policies without a model, by name. */
  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>>;
  /** Returns the reason why reinforcement cannot learn from these tasks; undefined if it can. */
  untrainable?(tasks: readonly EnvironmentTask[]): string | undefined;
  /** Set if the tasks may be impossible, as on a user's site: the oracle plays some before a run. */
  readonly unproven?: Unproven | undefined;
  /** Returns demonstrations of tasks; absent if they are not known without playing: then the oracle plays. */
  demonstrations?(tasks: readonly EnvironmentTask[]): Demonstration[];
  /** Returns a demonstration of an invented task, for augmentation. */
  syntheticDemonstration?(rng: Rng): Demonstration;
  /**
   * Judges an episode again by the detail in its record. Absent: an episode has to be played to be judged.
   * @returns a text that names the missing part if the record is incomplete.
   */
  rejudge?(task: EnvironmentTask, detail: Readonly<Record<string, unknown>>): Promise<EpisodeOutcome | string>;
  /** Takes a picture (JPEG) of an earlier episode, from its actions in the rollout file. */
  photograph?(task: EnvironmentTask, actions: readonly Action[]): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** A part of an episode's detail as a table, for the report. */
export interface DetailTable {
  readonly title: string;
  readonly head?: readonly string[];
  readonly rows: readonly (readonly DetailCell[])[];
}
export interface DetailCell {
  readonly text: string;
  readonly tone?: "good" | "bad" | "dim";
}

/** A file of environments/ exports one of these as `environment`; its name is its `kind`. */
export interface EnvironmentKind {
  /** Its options, in the section `environment`. */
  readonly schema: z.ZodObject;
  /** Further top-level sections of the config that it reads, by name. */
  readonly sections?: Readonly<Record<string, EnvironmentSection>>;
  /** @param config the run's config, with the sections above. @throws UserError if it cannot be opened. */
  open(config: Readonly<Record<string, unknown>>): Promise<Environment>;
  /** Lists the memory that it takes beside this process, by program, in bytes. */
  memory?(config: Readonly<Record<string, unknown>>): readonly { readonly name: string; readonly bytes: number }[];
  /** Checks that the environment can run. @returns a few words about it. @throws Error if it cannot run. */
  check?(config: Readonly<Record<string, unknown>>, environment: Environment): Promise<string>;
  /** Returns readable tables of an episode's detail. */
  view?(detail: Readonly<Record<string, unknown>>): DetailTable[];
  /**
   * Draws an episode's detail for the report. The SVG must not contain foreign markup, since it is put into the page
   * unchanged.
   */
  drawing?(detail: Readonly<Record<string, unknown>>): { readonly title: string; readonly svg: string } | undefined;
  /** Returns one word for the end of an episode, if success and failure say too little. */
  verdict?(detail: Readonly<Record<string, unknown>>): string | undefined;
}

/** A section of the config that belongs to an environment. */
export type EnvironmentSection =
  | { readonly schema: z.ZodType; readonly description: string }
  /** Its options depend on its `kind`: a file in a folder, which exports a `schema` under `exportName`. */
  | { readonly folder: URL; readonly exportName: string; readonly default: string; readonly description: string };
