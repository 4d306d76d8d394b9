import { fail } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import type { Control } from "./browser/controls.js";
import type { EpisodeRunner } from "./browser/episode.js";
import type { Session } from "./browser/session.js";
import type { Contract } from "./forms/contract.js";
import type { Played } from "./forms/episode.js";
import type { Plan } from "./forms/plan.js";
import type { RunningSite, Task } from "./site.js";

/** A form whose controls are known without reading its page, with the contract by which it is played and judged. */
export interface KnownForm {
  readonly contract: Contract;
  readonly controls: readonly Control[];
  /** Carries a plan out on an open page. @param uploads what a file field gets. */
  play(session: Session, task: Task, plan: Plan, uploads: "dummy" | "none"): Promise<Played>;
}

/** The known forms of a site, one contract each. */
export interface KnownForms {
  /** Prepares the browser's driver; called before the browser opens. */
  prepare(): Promise<void>;
  /** Returns the form of a task, and learns it first if it is not known. @throws UserError if that fails. */
  of(task: Task, runner: () => Promise<EpisodeRunner>): Promise<KnownForm>;
  /** Returns the form of a task if `of` has returned it before. */
  knownForm(task: Task): KnownForm | undefined;
  /** Reads the contract of a task's form; undefined if there is none. Nothing is learned. */
  kept(task: Pick<Task, "form">): Contract | undefined;
  /** Returns the controls of a contract's fields, for the values that these tasks have. */
  controlsOf(contract: Contract, tasks: readonly Task[]): Control[];
  /** Path of a form's contract. */
  fileOf(form: string): string;
  /** Set by `learn`: a contract that does not fit is set aside and learned again, not refused. */
  mends: boolean;
}

/** Opens the known forms of a site. @param tell shows progress. */
export type OpenKnownForms = (
  options: NonNullable<RunningSite["learn"]>,
  tasks: readonly Task[],
  tell: (text: string) => void,
) => KnownForms;

let open: OpenKnownForms | undefined;

/** Loads the feature that learns forms; called before an environment of a site with `learn` is made. */
export async function loadKnownForms(): Promise<void> {
  open = await calledFeature<OpenKnownForms>("openContracts");
}

/** Opens the known forms of a site. @throws UserError where no feature knows how forms become known. */
export const openKnownForms: OpenKnownForms = (...given) =>
  open?.(...given) ?? fail("No feature of this installation learns forms.", { hint: "Set site.learn=null." });
