import { UserError } from "../core/errors.js";
import type { Rng } from "../core/rng.js";

/**
 * Runs rollouts in chunks of `batchSize`, in order: every prompt begins a rollout, every chunk runs together.
 * @throws UserError where a prompt is longer than the sampler allows: before anything runs.
 */
export async function inBatches<State, T>(
  prompts: readonly (readonly number[])[],
  promptLength: number,
  batchSize: number,
  begin: (prompt: readonly number[], index: number) => State,
  run: (states: readonly State[]) => Promise<readonly T[]>,
): Promise<T[]> {
  if (prompts.length > 0 && batchSize < 1) throw new Error(`a batch of ${batchSize} rollouts`);
  const long = prompts.findIndex((prompt) => prompt.length > promptLength);
  if (long >= 0) {
    throw new UserError(`Prompt ${long} has ${prompts[long]?.length} tokens, prompt_length allows ${promptLength}`, {
      hint: "Raise prompt_length, or leave the task out.",
    });
  }
  const done: T[] = [];
  for (let start = 0; start < prompts.length; start += batchSize) {
    const states = prompts.slice(start, start + batchSize).map((prompt, i) => begin(prompt, start + i));
    done.push(...(await run(states)));
  }
  return done;
}

/** One stream a prompt, so that batching does not change the noise. */
export function checkStreams(prompts: readonly unknown[], rngs: readonly Rng[]): void {
  if (rngs.length !== prompts.length) {
    throw new Error(`${prompts.length} prompts need as many random streams, got ${rngs.length}`);
  }
}
