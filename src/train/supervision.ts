import { UserError } from "../core/errors.js";
import type { Rng } from "../core/rng.js";
import type { SupervisedExample } from "../diffusion/supervised.js";
import type { Policy } from "../engine/policy.js";
import type { FieldKind, FieldValue, RunningSite, Task } from "../env/site.js";
import { oraclePlan } from "./skip-long.js";

type Kinds = Readonly<Record<string, FieldKind>>;

/** A task with its oracle plan as token ids. @throws UserError where it does not fit the canvas. */
function supervisedExample(task: Task, kinds: Kinds, policy: Policy): SupervisedExample {
  const response = policy.model.tokenizer.encode(oraclePlan(task, kinds));
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
export function supervisedExamples(
  tasks: readonly Task[],
  site: RunningSite,
  policy: Policy,
): { examples: SupervisedExample[]; known: KnownTask[] } {
  const { fieldKinds } = site;
  if (fieldKinds === undefined) {
    throw new UserError(
      `The site ${site.name} cannot tell its fields' controls without a browser, so it gives no supervised examples.`,
      {
        hint: "Use site.kind=embedded for sft.",
      },
    );
  }
  const known = tasks.map((task) => ({ task, kinds: fieldKinds(task) }));
  return { examples: known.map(({ task, kinds }) => supervisedExample(task, kinds, policy)), known };
}

/** A task and the controls of its fields. */
export interface KnownTask {
  readonly task: Task;
  readonly kinds: Kinds;
}

/**
 * A task put together anew: some fields of one task, or of two under the title of a third, in random order. What such
 * tasks teach is to read labels and values, not which of them a form has.
 */
export function recombined(known: readonly KnownTask[], rng: Rng): KnownTask {
  const [first, second, third] = [rng.pick(known), rng.pick(known), rng.pick(known)];
  const mixed = rng.uniform() < 0.5;
  const parts = mixed ? [first, second] : [first];
  const fields = new Map(parts.flatMap(({ task }) => Object.entries(task.fields)));
  const labels = rng.shuffle([...fields.keys()]);
  const kept = labels.slice(0, 1 + rng.int(labels.length));
  const title = (mixed ? third : first).task.formTitle;
  return {
    task: {
      ...first.task,
      formTitle: title,
      fields: Object.fromEntries(kept.map((label) => [label, fields.get(label) as FieldValue])),
    },
    kinds: Object.assign({}, ...[...parts].map(({ kinds }) => kinds)),
  };
}

/** Draws of a synthetic task that came out too long before one is given up on. */
const DRAWS = 50;

/**
 * A batch of supervised training: examples of the tasks, and a share `augment` of synthetic ones (random titles and
 * labels, or {@link recombined} fields where the site makes none), which is what carries the skill over to forms never
 * seen.
 */
export function supervisedBatch(
  { examples, known }: ReturnType<typeof supervisedExamples>,
  site: RunningSite,
  policy: Policy,
  options: { readonly size: number; readonly augment: number },
  rng: Rng,
): SupervisedExample[] {
  const synthetic = (draws = 0): SupervisedExample => {
    const drawn = site.augmentedTask?.(rng) ?? recombined(known, rng);
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
