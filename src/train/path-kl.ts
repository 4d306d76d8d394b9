import type { RunConfig } from "../config/config.js";
import { fail } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import { initialAdapter } from "../engine/adapter.js";
import type { Policy } from "../engine/policy.js";
import type { Environment } from "../env/environment.js";
import { evaluationTasks, tasksOf } from "../env/open.js";
import { objective as flowGrpo } from "../rl/objectives/flow-grpo.js";
import { layOut } from "./update.js";

/**
 * Measures how far the policy has moved from where its run began: E over its own rollouts of log pi - log pi_0 of the
 * sampled path, in nats a response. By the chain rule this is KL(pi || pi_0) over paths, without bias, whatever the
 * objective measures itself. Overwrites the engine's reference.
 * @param count rollouts of first turns on the tasks of a split.
 */
export async function pathKl(
  policy: Policy,
  environment: Environment,
  config: RunConfig,
  split: RunConfig["evaluation"]["splits"][number],
  count: number,
): Promise<number> {
  const first = environment.firstObservation?.bind(environment);
  if (first === undefined)
    fail(`${environment.name} shows nothing before it is played, so that no path can be measured.`);
  const { engine, sampler, options, rounds } = policy;
  const { micro_batch: size, rollout_batch: batch } = config.training;
  const { seed } = config.evaluation;
  const starts = evaluationTasks(tasksOf(environment, split), count, seed, split).map((t) => policy.startOf(first(t)));
  const rngs = starts.map((_, i) => Rng.named(seed, `path-kl/${split}/${i}`));
  const trajectories = await sampler.rollout(rounds, starts as never, options, rngs, batch);
  const samples = trajectories.map((trajectory, i) => ({
    trajectory,
    credit: 0,
    stream: (name: string) => Rng.named(seed, `path-kl/${name}/${i}`),
  }));
  await engine.setParameters("reference", initialAdapter(config, policy));
  let sum = 0;
  const whole = flowGrpo.schema.parse({ ratio_level: "step" }) as never;
  for (const { batch: laid } of layOut({ policy, objective: flowGrpo, options: whole, size }, samples, "layout")) {
    const { value } = await engine.score(laid, "policy");
    const reference = (await engine.score(laid, "reference")).value;
    laid.owner.forEach((owner, s) => {
      if (owner >= 0) sum += (value[s] as number) - (reference[s] as number);
    });
  }
  return sum / count;
}
