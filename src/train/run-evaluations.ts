import { existsSync } from "node:fs";
import type { RunConfig } from "../config/config.js";
import type { Policy } from "../engine/policy.js";
import type { Split } from "../env/environment.js";
import type { Tensor } from "../onnx/types.js";
import { parametersIn } from "../runs/checkpoint.js";
import { type Evaluation, readEvaluation, writeEvaluation } from "../runs/evaluation.js";
import type { Watch } from "../watch/watch.js";
import type { Phase } from "../watch/watcher.js";
import { evaluatePolicy } from "./evaluate.js";
import type { Executor } from "./executor.js";
import type { Run } from "./run.js";

/** The split of evaluations during training. */
export const VALIDATION = "val" satisfies Split;

/** Shows the current phase with the state of the executor. */
export function phaseShower(watch: Watch, executor: Executor): (phase: Phase) => void {
  return (phase) => {
    const now = [phase.now, executor.status()].filter((text) => text !== undefined).join("; ");
    watch.phase({ ...phase, ...(now === "" ? {} : { now }) });
  };
}

/** A run whose policy is evaluated. */
interface EvaluatedRun {
  readonly config: RunConfig;
  readonly policy: Policy;
  readonly executor: Executor;
  readonly run: Run;
  readonly watch: Watch;
}

/** Evaluates the policy of a run and writes the results to its directory. */
export class RunEvaluations {
  constructor(private readonly evaluated: EvaluatedRun) {}

  /**
   * Evaluates the policy at the start of the run. A resume reads that evaluation from its files, and repeats it if
   * files are lost or splits were added.
   */
  async before(start: ReadonlyMap<string, Tensor>, splits: readonly Split[]): Promise<Evaluation[]> {
    const { run, policy } = this.evaluated;
    const { directory, checkpoint } = run;
    if (checkpoint === undefined) return this.around("before", 0, splits);
    const missing = splits.filter((split) => !existsSync(directory.evaluation(split, "before")));
    if (missing.length > 0) {
      await policy.engine.setParameters("policy", start);
      await this.around("before", 0, missing);
      await policy.engine.setParameters("policy", parametersIn(checkpoint));
    }
    return splits.map((split) => readEvaluation(directory.evaluation(split, "before")));
  }

  /** Evaluates splits before or after the steps. */
  async around(when: "before" | "after", step: number, splits: readonly Split[]): Promise<Evaluation[]> {
    const evaluations: Evaluation[] = [];
    for (const split of splits) evaluations.push(await this.evaluate(split, step, when));
    return evaluations;
  }

  /** Evaluates the whole of a split after a step. */
  during(split: Split, step: number): Promise<Evaluation> {
    return this.evaluate(split, step, step);
  }

  private async evaluate(split: Split, step: number, when: "before" | "after" | number): Promise<Evaluation> {
    const { policy, executor, config, run, watch } = this.evaluated;
    const phase = phaseShower(watch, executor);
    const context = { ...executor, policy, evaluation: config.evaluation };
    const onEpisode = (done: number, all: number): void => phase({ doing: `evaluating ${split}`, done, all });
    const evaluation = await evaluatePolicy(context, split, { onEpisode });
    watch.evaluation(step, evaluation);
    await writeEvaluation(run.directory.evaluation(split, when), evaluation);
    const { reward, success_rate: success, episodes } = evaluation;
    const scores = `reward ${reward.mean.toFixed(3)}, success ${(100 * success.mean).toFixed(1)} %`;
    watch.note(
      typeof when === "number"
        ? `step ${when}: ${split} ${scores}`
        : `${when}: ${split} ${scores} (${episodes} episodes)`,
    );
    return evaluation;
  }
}
