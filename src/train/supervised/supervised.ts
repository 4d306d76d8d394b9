import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { RunConfig } from "../../config/config.js";
import { optimizerOptions, scheduleOptions } from "../../config/optimizer.js";
import { UserError } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import { adapterConfig, initialParameters } from "../../engine/adapter.js";
import { checkSpaces, openPolicy, tokenizerText } from "../../engine/policy.js";
import { openEnvironment, tasksOf } from "../../env/open.js";
import { saveModel } from "../../nn/model.js";
import { learningRate } from "../../optim/schedule.js";
import type { OptimizerOptions } from "../../optim/update-rule.js";
import type { Objective } from "../../rl/objective.js";
import type { SftOptions } from "../../rl/objectives/sft.js";
import { parameterParts, parametersIn, retainCheckpoints, writeCheckpoint } from "../../runs/checkpoint.js";
import { writeEvaluation } from "../../runs/evaluation.js";
import { stepName } from "../../runs/run-directory.js";
import { reportAtEnd } from "../../watch/report/report.js";
import type { Watch } from "../../watch/watch.js";
import { dryRunSupervised, notBegun } from "../dry-run.js";
import { evaluatePolicy } from "../evaluate.js";
import { rehearse } from "../rehearsal.js";
import { openMetrics, openRun } from "../run.js";
import type { TrainOptions, TrainResult } from "../types.js";
import { withoutLongTasks } from "./skip-long.js";
import { openExamples, supervisedBatch, supervisedExamples } from "./supervision.js";

/** Supervised fine-tuning: oracle plans of the training tasks, the model's own loss, the adapter or every weight. */
export async function trainSupervised(
  config: RunConfig,
  objective: Objective,
  options: TrainOptions,
  watch: Watch,
): Promise<TrainResult> {
  const sft = config.objective as unknown as SftOptions;
  const full = sft.trainable === "full";
  if (full && sft.output === null) {
    throw new UserError("objective.trainable=full makes a new model, so it needs a place for it.", {
      hint: "Set objective.output=DIR.",
      exitCode: 2,
    });
  }
  const taken = sft.output !== null && existsSync(sft.output) && readdirSync(sft.output).length > 0;
  // a resumed run may have written it itself
  if (full && taken && !options.resume) {
    throw new UserError(`objective.output: ${sft.output} exists already, and a model is never overwritten.`, {
      hint: "set objective.output to another directory, or remove that one",
      exitCode: 2,
    });
  }
  if (config.training.early_stop.patience > 0) {
    throw new UserError("training.early_stop goes by the validation reward, and sft plays no episodes.", {
      hint: "Remove training.early_stop.",
      exitCode: 2,
    });
  }
  if (config.training.gradient_noise_every > 0) {
    throw new UserError("training.gradient_noise_every measures the noise of rollouts, and sft has none.", {
      hint: "Remove training.gradient_noise_every.",
      exitCode: 2,
    });
  }
  const optimizer: OptimizerOptions = {
    ...optimizerOptions(config),
    kind: sft.optimizer,
    muonLrScale: sft.muon_lr_scale,
  };
  const policy = await openPolicy(config, { objective, options: sft, optimizer }, full);
  const note = (text: string): void => void (options.quiet || process.stderr.write(`${text}\n`));
  const environment = withoutLongTasks(await openEnvironment(config, note), config, policy, note);
  const { engine } = policy;
  // refused before, where the sampler has no such loss
  const supervisedTerms = policy.sampler.supervisedTerms as NonNullable<typeof policy.sampler.supervisedTerms>;
  try {
    engine.checkTrainable();
    checkSpaces(environment, policy);
    const tasks = tasksOf(environment, "train");
    if (!options.resume)
      await rehearse(environment, tasks, (done, all) => watch.phase({ doing: "rehearsal", done, all }));
    const examples = await supervisedExamples(tasks, environment, policy, (done, all) =>
      watch.phase({ doing: "demonstrations", done, all }),
    );
    const start = full ? engine.weights() : initialParameters(config, policy);
    /** Draws the batch of a step. */
    const draw = (step: number) => {
      // every step has a stream of its own, so that a resume needs no state
      const rng = Rng.named(config.seed, `sft/${step}`);
      const open = openExamples(examples, step, sft.shortest_first);
      const drawn = supervisedBatch(open, environment, policy, { size: sft.batch_size, augment: sft.augment }, rng);
      const terms = supervisedTerms(drawn, policy.options, {
        arWeight: sft.ar_weight,
        eosFillWeight: sft.eos_fill_weight,
        draftWeight: sft.draft_weight,
        ...(sft.pack_length === null ? {} : { packLength: sft.pack_length }),
        rng,
      });
      return { drawn, terms };
    };
    // options that the sampler's loss does not know are refused before the run is made
    draw(1);
    /** Takes the update of a step. */
    const learn = async (step: number) => {
      const { drawn, terms } = draw(step);
      const one = (): Float32Array => new Float32Array(1);
      let loss = 0;
      for (const batch of terms) {
        const out = await engine.accumulate(batch, { old: one(), reference: one(), advantage: one(), weight: one() });
        loss += out.loss as number;
      }
      const rate = learningRate(step, scheduleOptions(config));
      const gradNorm = await engine.step(step, rate);
      if (!Number.isFinite(gradNorm) || !Number.isFinite(loss)) {
        throw new UserError(
          `The loss or its gradient is not finite at step ${step} (loss ${loss}, norm ${gradNorm}).`,
          {
            hint: "Lower training.learning_rate, or resume from the last checkpoint with a smaller one.",
          },
        );
      }
      return { loss, gradNorm, rate, drawn };
    };
    if (options.dryRun) {
      await engine.setParameters("policy", start);
      await engine.setOptimizer(undefined);
      return notBegun(config, options, await dryRunSupervised(config, learn));
    }
    const run = await openRun(config, options, policy, environment);
    try {
      await watch.begin(config, options.command, run);
      const { checkpoint, directory } = run;
      await engine.setParameters("policy", checkpoint === undefined ? start : parametersIn(checkpoint));
      await engine.setOptimizer(checkpoint?.optimizer);
      let step = checkpoint?.step ?? 0;
      const metrics = await openMetrics(run, watch);
      const { steps } = config.training;
      const save = async (): Promise<void> => {
        const parameters = await engine.getParameters("policy");
        directory.sync();
        await writeCheckpoint(join(directory.checkpoints, stepName(step)), {
          step,
          ...parameterParts(engine.groups, parameters, adapterConfig(config, policy)),
          optimizer: await engine.getOptimizer(),
          state: {},
        });
        retainCheckpoints(directory.checkpoints, config.checkpoint.keep_last);
      };
      // what the model does by now, in the environment itself
      const validate = async (): Promise<void> => {
        const { every } = config.evaluation;
        if (every === 0 || step % every !== 0) return;
        const evaluation = await evaluatePolicy(policy, environment, config, "val", (done, all) =>
          watch.phase({ doing: "evaluating val", done, all }),
        );
        watch.evaluation(step, evaluation);
        await writeEvaluation(directory.evaluation("val", step), evaluation);
        const { reward, success_rate: success } = evaluation;
        watch.note(`step ${step}: val reward ${reward.mean.toFixed(3)}, success ${(100 * success.mean).toFixed(1)} %`);
      };
      while (step < steps && !options.signal.aborted) {
        const began = performance.now();
        const { loss, gradNorm, rate, drawn } = await learn(step + 1);
        step++;
        const total = (performance.now() - began) / 1000;
        const line = {
          step,
          reward: null,
          reward_std: null,
          success_rate: null,
          frac_reward_zero_std: null,
          faults: 0,
          loss,
          kl: null,
          ratio_mean: null,
          ratio_max: null,
          clip_fraction: null,
          grad_norm: gradNorm,
          lr: rate,
          tokens: drawn.reduce((n, e) => n + e.response.length + 1, 0),
          rollout_tokens_per_s: null,
          time: { rollout: 0, score: 0, update: total, total },
        };
        metrics.append(line);
        watch.step(line);
        await validate();
        if (config.checkpoint.every > 0 && step % config.checkpoint.every === 0 && step < steps) await save();
      }
      await save();
      const output = full && step === steps ? sft.output : null;
      if (output !== null) {
        await saveModel(output, policy.model.config, await engine.getParameters("policy"), tokenizerText(policy.model));
        watch.note(`model written to ${output}`);
      }
      await reportAtEnd(directory, (text) => watch.note(text));
      return {
        runDir: directory.dir,
        steps: step,
        interrupted: step < steps,
        stopped: null,
        best: null,
        before: [],
        after: [],
        ...(output === null ? {} : { model: output }),
      };
    } finally {
      run.unlock();
    }
  } finally {
    await policy.close();
    await environment.close();
  }
}
