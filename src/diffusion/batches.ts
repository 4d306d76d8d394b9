import { fail } from "../core/errors.js";
import type { Rng } from "../core/rng.js";
import type { SamplerOptions } from "./sampler.js";
import { Canvas, promptOf, type TextStart, type TokenTemplate, templateOf } from "./template.js";

/**
 * Runs rollouts in chunks of `batchSize`, in order: each start begins one rollout, each chunk runs together.
 * @throws UserError where a prompt or a template is longer than the sampler allows, before any rollout runs.
 */
export async function inBatches<State, T>(
  starts: readonly TextStart[],
  options: Pick<SamplerOptions, "promptLength" | "responseLength" | "room" | "paragraphRoom" | "slotSize">,
  batchSize: number,
  begin: (prompt: readonly number[], index: number, template: TokenTemplate | undefined) => State,
  run: (states: readonly State[]) => Promise<readonly T[]>,
): Promise<T[]> {
  if (starts.length > 0 && batchSize < 1) throw new Error(`a batch of ${batchSize} rollouts`);
  const laid = starts.map((start) => ({ prompt: promptOf(start), template: templateOf(start, options) }));
  const { promptLength, responseLength } = options;
  laid.forEach(({ prompt, template }, i) => {
    const canvas = template === undefined ? 0 : Canvas.of(template).length;
    for (const [what, key, length, limit] of [
      ["Prompt", "prompt_length", prompt.length, promptLength],
      ["Template", "response_length", canvas, responseLength],
    ] as const)
      if (length > limit)
        fail(`${what} ${i} has ${length} tokens, ${key} allows ${limit}`, {
          hint: `Raise ${key}, or leave the task out.`,
        });
  });
  const done: T[] = [];
  for (let from = 0; from < laid.length; from += batchSize) {
    const states = laid
      .slice(from, from + batchSize)
      .map(({ prompt, template }, i) => begin(prompt, from + i, template));
    done.push(...(await run(states)));
  }
  return done;
}

/** Checks for one stream per prompt, so that batching does not change the noise. */
export function checkStreams(prompts: readonly unknown[], rngs: readonly Rng[]): void {
  if (rngs.length !== prompts.length)
    throw new Error(`${prompts.length} prompts need as many random streams, got ${rngs.length}`);
}
