import { Rng } from "../../core/rng.js";
import type { EnvironmentTask } from "../../env/environment.js";

/** A curriculum's state for checkpoints: the success rate of each form, as it is remembered. */
export type CurriculumState = Readonly<Record<string, number>>;

export interface CurriculumOptions {
  /** Chance that a task is played whose form always or never succeeds; 1: all tasks alike. */
  readonly least_chance: number;
  /** Share of the remembered rate that a further group leaves in place. */
  readonly memory: number;
}

/**
 * Draws more of the tasks that there is most to learn from. With p the remembered success rate of a task's form, a task that
 * comes up is played with the chance max(least_chance, 4 p (1 - p)), which is in proportion to the variance of a success
 * (the learnability of Foster & Foerster 2025, arXiv 2502.12272; as DAPO's filter of prompts that are solved always or
 * never, arXiv 2503.14476); else the next one comes up. A form that was never played counts as p = 1/2.
 */
export class Curriculum {
  private readonly rates: Map<string, number>;

  constructor(
    private readonly options: CurriculumOptions,
    private readonly seed: number,
    state: CurriculumState = {},
  ) {
    this.rates = new Map(Object.entries(state));
  }

  /** @param drawn how many tasks came up before: each has a draw of its own, so that a resume goes on alike. */
  plays({ form }: Pick<EnvironmentTask, "form">, drawn: number): boolean {
    const { least_chance: least } = this.options;
    if (least >= 1) return true;
    const p = this.rates.get(form) ?? 0.5;
    return Rng.named(this.seed, `curriculum/${drawn}`).uniform() < Math.max(least, 4 * p * (1 - p));
  }

  /** Notes how a group of one task went. @param successes of its episodes that were scored. */
  note({ form }: Pick<EnvironmentTask, "form">, successes: readonly boolean[]): void {
    if (successes.length === 0) return;
    const rate = successes.filter(Boolean).length / successes.length;
    const before = this.rates.get(form);
    const { memory } = this.options;
    this.rates.set(form, before === undefined ? rate : memory * before + (1 - memory) * rate);
  }

  get state(): CurriculumState {
    return Object.fromEntries(this.rates);
  }
}
