import { z } from "zod";
import { UserError } from "../core/errors.js";
import type { Act, Action, Observation, Spaces } from "../core/interaction.js";
import type { Rng } from "../core/rng.js";

/** `train`, `val` and `test` hold disjoint tasks of one kind; `heldout` holds kinds that are never trained on. */
export const SPLITS = ["train", "val", "test", "heldout"] as const;
export type Split = (typeof SPLITS)[number];
/** `all`: the tasks of every split together. */
export type TaskSet = Split | "all";

/** Something to do once. */
export interface EnvironmentTask {
  /** Unique in its environment; ends in `/<split>/<number>`. */
  readonly id: string;
  readonly split: Split;
  /** Group of results: the form, the game, the region that a robot starts in. */
  readonly form: string;
}

/** A part of a turn's answer: an attempt at something that is scored by itself, as a field of a form. */
export interface AnswerPart {
  /** Name of the part that it attempts: the same in every episode of the task. */
  readonly name: string;
  /** Place in the answer's text, in characters; `end` is behind it. */
  readonly start: number;
  readonly end: number;
  readonly reward: number;
}

/** Outcome of one episode. */
export interface EpisodeOutcome {
  /** Null where the environment failed: nothing is known of the policy then. */
  readonly reward: number | null;
  /** Reason why there is no reward. */
  readonly fault?: string;
  readonly success: boolean;
  /** Reward of each turn by itself, where the environment says. */
  readonly turnRewards?: readonly number[];
  /** Rewards of parts of each turn's answer, where the environment says; they do not overlap. */
  readonly answerParts?: readonly (readonly AnswerPart[])[];
  /** Named measures of the episode, which are averaged. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Named numbers of things, which are added up: pairs that were right. */
  readonly counts?: Readonly<Record<string, number>>;
  /** The right answer that was given, where a task has several and the environment tells them apart. */
  readonly answer?: RightAnswer;
  /** Detail for the rollout file and for `view`: JSON. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** A few words for whoever watches. */
  readonly summary?: string;
  /** The requests that it sent, as an HTTP Archive, where that is asked for. */
  readonly har?: object;
  /** Set where this is another episode's outcome: the same task was answered in the same way. */
  readonly reused?: boolean;
}

/** Index of the right answer that was given, null where it was wrong, and their number. */
export interface RightAnswer {
  readonly is: string | null;
  readonly of: number;
}

/** The observation has more tokens than the policy reads; an environment that cannot know before takes it for a fault. */
export class ObservationTooLong extends UserError {}

/** No reward is larger, nor a sum of them below its negative: further out, float32 has no room for what follows. */
export const LARGEST_REWARD = 1e6;
export const anyReward = z.number().min(-LARGEST_REWARD).max(LARGEST_REWARD);

/** Outcomes of the episodes that are collected together, which an environment may use again. */
export type PlayedTogether = Map<string, Promise<EpisodeOutcome>>;

/** Observation and answer of a perfect policy: an example for supervised training. */
export interface Demonstration {
  /** Of the task that it solves, for messages. */
  readonly id: string;
  readonly observation: Observation;
  readonly action: Action;
}

/** A policy that needs no model: the oracle, or one that a fair reward gives next to nothing. */
export type FixedPolicy = (task: EnvironmentTask, rng: Rng) => Promise<Act>;

/** Tasks of which it is not known that they can be won. */
export interface Unproven {
  /** Number of training tasks that the oracle plays before a run; 0: none. */
  readonly tasks: number;
  /** Says in words what the oracle could not do in an episode. */
  why(outcome: EpisodeOutcome): string;
  /** Answers that ought to be refused, by what is wrong with them: what became of each is told. */
  readonly wrong: Readonly<Record<string, FixedPolicy>>;
  /** Undefined where such an answer was accepted; else why not, in words. */
  refused(outcome: EpisodeOutcome): string | undefined;
  /** Advice, and the way to train all the same. */
  readonly hint: string;
}

/** Tasks, and a way to play them. Nothing outside knows what is played. */
export interface Environment {
  readonly name: string;
  /** Notes for the user before a run: what was left out of the tasks, and why. */
  readonly notes: readonly string[];
  /** All tasks of all splits, in a fixed order. */
  readonly tasks: readonly EnvironmentTask[];
  /** SHA-256 over what the tasks are and which split they are in. */
  splitHash(): string;
  /**
   * SHA-256 over what decides about rewards, code and contracts, for these tasks; absent: it is not known, as on another
   * machine.
   */
  judge?(tasks: readonly EnvironmentTask[]): string;
  /** Of vectors; absent: what is seen and answered are texts. */
  readonly spaces?: Spaces;
  /** Starts what plays (a browser, a simulator): before the first episode, so that a failure is said early. */
  start(): Promise<void>;
  readonly started: boolean;
  /** Episodes that can be between two turns at once (each holds a page then); absent: any number. */
  readonly capacity?: number;
  /**
   * Set where an episode is one answer to `firstObservation`, and the same answer has the same outcome: such an answer
   * can be played anywhere, without asking back.
   */
  readonly oneTurn?: boolean;
  /**
   * Plays a task from a fresh start: calls the policy back with what is to be seen, once or many times.
   * Never throws for what the policy does, nor for what the environment fails at: that is a fault.
   */
  play(task: EnvironmentTask, act: Act, together: PlayedTogether): Promise<EpisodeOutcome>;
  /** The first observation of a task, where it is known without playing. */
  firstObservation?(task: EnvironmentTask): Observation;
  /** Between which an episode's reward lies, where that is known: a recorded one outside of it is none of its. */
  readonly rewardRange?: readonly [least: number, most: number];
  /** Policies that need no model, by name. */
  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>>;
  /** Set where nobody has shown that the tasks can be won, as on somebody else's site: the oracle plays some before a run. */
  readonly unproven?: Unproven;
  /** Absent where they are not known without playing: the oracle plays them then. */
  demonstrations?(tasks: readonly EnvironmentTask[]): Demonstration[];
  /** A demonstration of a task that does not exist, for augmentation. */
  syntheticDemonstration?(rng: Rng): Demonstration;
  /**
   * Judges an episode again by the detail that its record keeps; a text says what the record lacks. Absent: an episode
   * has to be played to be judged.
   */
  rejudge?(task: EnvironmentTask, detail: Readonly<Record<string, unknown>>): Promise<EpisodeOutcome | string>;
  /** A picture (JPEG) of an episode that was played before, from what the rollout file has of it. */
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
  /** Its own options, in the section `environment`. */
  readonly schema: z.ZodObject;
  /** Further top-level sections of the config that it reads, by name; how each of them is looked up, if by `kind`. */
  readonly sections?: Readonly<Record<string, EnvironmentSection>>;
  /** @param config the run's config, its own sections included. @throws UserError where it cannot be opened. */
  open(config: Readonly<Record<string, unknown>>): Promise<Environment>;
  /** Memory that it takes beside this process, by what takes it; bytes. */
  memory?(config: Readonly<Record<string, unknown>>): readonly { readonly name: string; readonly bytes: number }[];
  /** Checks that what it plays in is here; says so in a few words. @throws where it is not. */
  check?(config: Readonly<Record<string, unknown>>, environment: Environment): Promise<string>;
  /** Tables of an episode's detail, for people. */
  view?(detail: Readonly<Record<string, unknown>>): DetailTable[];
  /**
   * A drawing of what an episode's detail records, for the report: SVG of its own making, since it is put into the page
   * as it is.
   */
  drawing?(detail: Readonly<Record<string, unknown>>): { readonly title: string; readonly svg: string } | undefined;
  /** One word for how an episode ended, where success and failure say too little. */
  verdict?(detail: Readonly<Record<string, unknown>>): string | undefined;
}

/** A section of the config that belongs to an environment. */
export type EnvironmentSection =
  | { readonly schema: z.ZodType; readonly description: string }
  /** Its options depend on its `kind`: a file in a folder that exports a `schema` under `exportName`. */
  | { readonly folder: URL; readonly exportName: string; readonly default: string; readonly description: string };
