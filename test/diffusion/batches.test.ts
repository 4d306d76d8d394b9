import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { checkStreams, inBatches } from "../../src/diffusion/batches.js";

const SIZES = { promptLength: 2, responseLength: 4 };

/** Runs prompts of one token; the result of each is twice its token. */
async function doubled(prompts: readonly number[][], batch: number): Promise<{ out: number[]; chunks: number[][] }> {
  const chunks: number[][] = [];
  const begin = (prompt: readonly number[], index: number) => ({ prompt, index });
  const out = await inBatches(prompts, SIZES, batch, begin, async (states) => {
    chunks.push(states.map(({ index }) => index));
    return states.map(({ prompt }) => 2 * (prompt[0] as number));
  });
  return { out, chunks };
}

test("rollouts run in chunks, in order, each with its own index", async () => {
  const prompts = [[5], [6], [7], [8], [9]];
  for (const [batch, chunks] of [
    [2, [[0, 1], [2, 3], [4]]],
    [5, [[0, 1, 2, 3, 4]]],
    [9, [[0, 1, 2, 3, 4]]],
  ] as const)
    assert.deepEqual(await doubled(prompts, batch), { out: [10, 12, 14, 16, 18], chunks });
  assert.deepEqual(await doubled([], 0), { out: [], chunks: [] });
  await assert.rejects(doubled(prompts, 0), /a batch of 0/);
});

test("a prompt that is too long is refused before anything runs", async () => {
  let runs = 0;
  const same = <T>(prompt: T): T => prompt;
  const run = inBatches([[1], [1, 2], [1, 2, 3]], SIZES, 1, same, async (states) => {
    runs++;
    return states;
  });
  await assert.rejects(run, { name: "UserError", message: /Prompt 2 has 3 tokens, prompt_length allows 2/ });
  assert.equal(runs, 0);
});

test("there is a stream for each prompt", () => {
  checkStreams([[1]], [Rng.named(1, "a")]);
  assert.throws(() => checkStreams([[1], [2]], [Rng.named(1, "a")]), /2 prompts need as many random streams, got 1/);
});
