import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseYaml } from "../../config/yaml.js";
import { messageOf, UserError } from "../../core/errors.js";
import { type Evaluation, readEvaluation } from "../../runs/evaluation.js";
import { readMetrics, type StepMetrics } from "../../runs/metrics.js";
import type { RunDirectory, RunEnvironment } from "../../runs/run-directory.js";
import type { Speller } from "../../text/token-text.js";
import { type Look, lookOf } from "./look.js";
import { type Attempt, type RolloutSample, sampleRollouts } from "./rollout-sample.js";

/** Default of the config's report.rollouts, for run directories of older releases. */
const DEFAULT_ROLLOUTS = 64;

/** All data of a report, read from a run directory. */
export interface ReportData {
  readonly name: string;
  readonly config: string;
  readonly environment: RunEnvironment | null;
  readonly metrics: readonly StepMetrics[];
  readonly evaluations: readonly SplitEvaluations[];
  /** Evaluations by step, for the curves: 0 is before training. */
  readonly validations: readonly { readonly step: number; readonly evaluation: Evaluation }[];
  readonly rollouts: RolloutSample;
  readonly look: Look;
  /** Reads the screenshot of a rollout as JPEG, if one was taken. */
  readonly screenshot: (place: { step: number; group: number; rollout: number }) => Uint8Array | undefined;
  /** Errors of files that could not be read; the report shows the rest. */
  readonly problems: readonly string[];
}

export interface SplitEvaluations {
  readonly split: string;
  readonly before: Evaluation | null;
  readonly after: Evaluation | null;
}

export async function readReportData(
  run: RunDirectory,
  options: { readonly rollouts?: number; readonly tokenizer?: Speller | undefined } = {},
): Promise<ReportData> {
  const problems: string[] = [];
  const problem = (text: string): void => void problems.push(text);
  const config = readFileSync(run.config, "utf8");
  return {
    name: basename(resolve(run.dir)),
    config,
    environment: attempting(problem)(run.environment, () => run.readEnvironment()),
    ...readCourse(run, options.rollouts ?? DEFAULT_ROLLOUTS, problem),
    look: await lookOf(parseYaml(config).tree, options.tokenizer),
    screenshot: (place) => {
      const path = run.screenshot(place);
      return existsSync(path) ? readFileSync(path) : undefined;
    },
    problems,
  };
}

/**
 * Reads the course of a run so far: metrics, evaluations, rollouts.
 * @param problem is called for files that could not be read.
 */
export function readCourse(
  run: RunDirectory,
  rollouts: number,
  problem: (text: string) => void,
): Pick<ReportData, "metrics" | "evaluations" | "validations" | "rollouts"> {
  const attempt = attempting(problem);
  const evaluation = (split: string, when: "before" | "after" | number): Evaluation | null => {
    const path = when === "after" ? run.finalEvaluation(split) : run.evaluation(split, when);
    return attempt(path, () => readEvaluation(path));
  };
  const splits = [...new Set([...run.evaluatedSplits("before"), ...run.evaluatedSplits("after")])].sort();
  const evaluations = splits.map((split) => ({
    split,
    before: evaluation(split, "before"),
    after: evaluation(split, "after"),
  }));
  const metrics = attempt(run.metrics, () => readMetrics(run.metrics)) ?? [];
  return {
    metrics,
    evaluations,
    validations: validations(run, evaluations, metrics.at(-1)?.step ?? 0, evaluation),
    rollouts: sampleRollouts(run, rollouts, attempt),
  };
}

/** Reads a file; null if it is missing or damaged. */
function attempting(problem: (text: string) => void): Attempt {
  return (path, read) => {
    try {
      return existsSync(path) ? read() : null;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problem(messageOf(error));
      return null;
    }
  };
}

function validations(
  run: RunDirectory,
  evaluations: readonly SplitEvaluations[],
  lastStep: number,
  read: (split: string, when: number) => Evaluation | null,
): ReportData["validations"] {
  const known = new Map<string, ReportData["validations"][number]>();
  const add = (step: number, evaluation: Evaluation | null): void => {
    if (evaluation !== null) known.set(`${evaluation.split} ${step}`, { step, evaluation });
  };
  for (const { before, after } of evaluations) {
    add(0, before);
    if (lastStep > 0) add(lastStep, after);
  }
  // evaluations during training replace those at the end of the same step
  for (const step of run.evaluatedSteps()) for (const split of run.evaluatedSplits(step)) add(step, read(split, step));
  return [...known.values()].sort((a, b) => a.step - b.step);
}
