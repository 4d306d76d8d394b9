import { UserError } from "../core/errors.js";
import type { Rng } from "../core/rng.js";
import type { SupervisedExample } from "../diffusion/supervised.js";
import type { Policy } from "../engine/policy.js";
import { oracleActions } from "../env/forms/oracle.js";
import { renderPlan } from "../env/forms/plan.js";
import type { FieldKind, RunningSite, Task } from "../env/site.js";

type Kinds = Readonly<Record<string, FieldKind>>;

/** A task with its oracle plan as token ids. @throws UserError where it does not fit the canvas. */
function supervisedExample(task: Task, kinds: Kinds, policy: Policy): SupervisedExample {
  const response = policy.model.tokenizer.encode(renderPlan(oracleActions(task.fields, kinds), "compact"));
  const { promptLength, responseLength } = policy.options;
  const prompt = policy.promptOf(task);
  if (prompt.length > promptLength || response.length + 1 > responseLength) {
    throw new UserError(
      `The task ${task.id} does not fit: prompt ${prompt.length} of ${promptLength} tokens, response with EOS ${response.length + 1} of ${responseLength}.`,
      { hint: "Raise sampler.prompt_length or sampler.response_length.", exitCode: 2 },
    );
  }
  return { prompt, response };
}

/**
 * Every task with its oracle plan.
 * @throws UserError where the site cannot tell its controls, or a task does not fit.
 */
export function supervisedExamples(tasks: readonly Task[], site: RunningSite, policy: Policy): SupervisedExample[] {
  const { fieldKinds } = site;
  if (fieldKinds === undefined) {
    throw new UserError(
      `The site ${site.name} cannot tell its fields' controls without a browser, so it gives no supervised examples.`,
      {
        hint: "Use site.kind=embedded for sft.",
      },
    );
  }
  return tasks.map((task) => supervisedExample(task, fieldKinds(task), policy));
}

/** Draws of a synthetic task that came out too long before one is given up on. */
const DRAWS = 50;

/**
 * A batch of supervised training: examples of the tasks, and a share `augment` of synthetic ones (random titles and
 * labels), which is what carries the skill over to forms never seen.
 */
export function supervisedBatch(
  examples: readonly SupervisedExample[],
  site: RunningSite,
  policy: Policy,
  options: { readonly size: number; readonly augment: number },
  rng: Rng,
): SupervisedExample[] {
  const synthetic = (draws = 0): SupervisedExample => {
    const drawn = site.augmentedTask?.(rng);
    if (drawn === undefined)
      throw new UserError(`The site ${site.name} has no synthetic tasks.`, {
        hint: "Set objective.augment=0.",
        exitCode: 2,
      });
    try {
      return supervisedExample(drawn.task, drawn.kinds, policy);
    } catch (error) {
      if (draws === DRAWS) throw error;
      return synthetic(draws + 1);
    }
  };
  return Array.from({ length: options.size }, () =>
    rng.uniform() < options.augment ? synthetic() : rng.pick(examples),
  );
}
