import type { RunConfig } from "../../config/config.js";
import { Rng } from "../../core/rng.js";
import type { EnvironmentTask } from "../../env/environment.js";

/** A curriculum's state for checkpoints: the remembered success rate of each form. */
export type CurriculumState = Readonly<Record<string, number>>;

/** Share of a form's remembered success rate that a further group leaves in place. */
const MEMORY = 0.7;

/**
 * Prefers the tasks with the most to learn. With p the remembered success rate of its form, a drawn task is played with
 * probability max(least_chance, 4 p (1 - p)), proportional to the variance of a success (the learnability of Foster &
 * Foerster 2025, arXiv 2502.12272; compare DAPO's filter of prompts that are always or never solved, arXiv 2503.14476);
 * else the next one is drawn. A form that was never played counts as p = 1/2.
 */
export class Curriculum {
  private readonly rates: Map<string, number>;

  constructor(
    private readonly options: RunConfig["training"]["curriculum"],
    private readonly seed: number,
    state: CurriculumState = {},
  ) {
    this.rates = new Map(Object.entries(state));
  }

  /** Decides whether a task is played. @param drawn tasks drawn before; each has its own stream, for exact resumes. */
  plays({ form }: Pick<EnvironmentTask, "form">, drawn: number): boolean {
    const { least_chance: least } = this.options;
    if (least >= 1) return true;
    const p = this.rates.get(form) ?? 0.5;
    return Rng.named(this.seed, `curriculum/${drawn}`).uniform() < Math.max(least, 4 * p * (1 - p));
  }

  /** Records the result of a task's group. @param successes of its scored episodes. */
  note({ form }: Pick<EnvironmentTask, "form">, successes: readonly boolean[]): void {
    if (successes.length === 0) return;
    const rate = successes.filter(Boolean).length / successes.length;
    const before = this.rates.get(form);
    this.rates.set(form, before === undefined ? rate : MEMORY * before + (1 - MEMORY) * rate);
  }

  get state(): CurriculumState {
    return Object.fromEntries(this.rates);
  }
}
