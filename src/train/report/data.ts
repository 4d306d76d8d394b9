import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parse } from "yaml";
import { messageOf, UserError } from "../../core/errors.js";
import { Tokenizer } from "../../text/tokenizer.js";
import { resolvePath } from "../config.js";
import { type Evaluation, readEvaluation } from "../evaluation-report.js";
import { readMetrics, type StepMetrics } from "../metrics.js";
import { isPlainObject } from "../overrides.js";
import type { RunDirectory, RunEnvironment } from "../run-directory.js";
import { type RolloutSample, sampleRollouts } from "./rollout-sample.js";
import type { Speller } from "./token-text.js";

/** Rollouts in a report, unless asked otherwise. */
export const DEFAULT_ROLLOUTS = 64;

/** Everything a report shows, read from a run directory. */
export interface ReportData {
  readonly name: string;
  readonly config: string;
  readonly environment: RunEnvironment | null;
  readonly metrics: readonly StepMetrics[];
  readonly evaluations: readonly SplitEvaluations[];
  /** Evaluations by step, for the curves: 0 is before training. */
  readonly validations: readonly { readonly step: number; readonly evaluation: Evaluation }[];
  readonly rollouts: RolloutSample;
  /** Null where the model's tokenizer cannot be read: tokens are then shown as numbers. */
  readonly tokenizer: Speller | null;
  /** The screenshot of a rollout as JPEG, where one was taken. */
  readonly screenshot: (place: { step: number; group: number; rollout: number }) => Uint8Array | undefined;
  /** Files that could not be read: a report of a damaged run still shows the rest. */
  readonly problems: readonly string[];
}

export interface SplitEvaluations {
  readonly split: string;
  readonly before: Evaluation | null;
  readonly after: Evaluation | null;
}

export function readReportData(run: RunDirectory, options: { readonly rollouts?: number } = {}): ReportData {
  const problems: string[] = [];
  const attempt = <T>(path: string, read: () => T): T | null => {
    if (!existsSync(path)) return null;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(messageOf(error));
      return null;
    }
  };
  const evaluation = (split: string, when: "before" | "after" | number): Evaluation | null =>
    attempt(run.evaluation(split, when), () => readEvaluation(run.evaluation(split, when)));
  const splits = [...new Set([...run.evaluatedSplits("before"), ...run.evaluatedSplits("after")])].sort();
  const evaluations = splits.map((split) => ({
    split,
    before: evaluation(split, "before"),
    after: evaluation(split, "after"),
  }));
  const metrics = attempt(run.metrics, () => readMetrics(run.metrics)) ?? [];
  const config = readFileSync(run.config, "utf8");
  return {
    name: basename(resolve(run.dir)),
    config,
    environment: attempt(run.environment, () => run.readEnvironment()),
    metrics,
    evaluations,
    validations: validations(run, evaluations, metrics.at(-1)?.step ?? 0, evaluation),
    rollouts: sampleRollouts(run, options.rollouts ?? DEFAULT_ROLLOUTS, (text) => problems.push(text)),
    tokenizer: tokenizerOf(config),
    screenshot: (place) => {
      const path = run.screenshot(place);
      return existsSync(path) ? readFileSync(path) : undefined;
    },
    problems,
  };
}

function validations(
  run: RunDirectory,
  evaluations: readonly SplitEvaluations[],
  lastStep: number,
  read: (split: string, when: number) => Evaluation | null,
): ReportData["validations"] {
  const between = run.evaluatedSteps().flatMap((step) =>
    run.evaluatedSplits(step).flatMap((split) => {
      const evaluation = read(split, step);
      return evaluation === null ? [] : [{ step, evaluation }];
    }),
  );
  const ends = evaluations.flatMap(({ before, after }) => [
    ...(before === null ? [] : [{ step: 0, evaluation: before }]),
    ...(after === null || lastStep === 0 ? [] : [{ step: lastStep, evaluation: after }]),
  ]);
  const taken = new Set(between.map(({ step, evaluation: e }) => `${e.split} ${step}`));
  return [...between, ...ends.filter(({ step, evaluation: e }) => !taken.has(`${e.split} ${step}`))].sort(
    (a, b) => a.step - b.step,
  );
}

/** The tokenizer of the config's model. The model may be gone by now, or the config may be damaged. */
function tokenizerOf(config: string): Speller | null {
  try {
    const tree: unknown = parse(config, { logLevel: "error" });
    const model = isPlainObject(tree) ? tree.model : undefined;
    return typeof model === "string" ? Tokenizer.load(resolvePath(model, "model")) : null;
  } catch {
    return null;
  }
}
