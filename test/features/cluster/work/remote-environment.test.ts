import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { UserError } from "../../../../src/core/errors.js";
import type { Environment } from "../../../../src/env/environment.js";
import {
  playEpisode,
  type Question,
  remoteEnvironment,
} from "../../../../src/features/cluster/work/remote-environment.js";
import { fakeEnvironment, trainTask } from "../../../support/fake-environment.js";

const task = trainTask("echo/train/0");

function environment(turns: number, show = (turn: number): string => `turn ${turn}`): Environment {
  const play: Environment["play"] = async (_task, act) => {
    const said: string[] = [];
    for (let turn = 0; turn < turns; turn++) said.push((await act({ text: show(turn) })).text ?? "");
    return { reward: said.length, success: true, metrics: {}, detail: { said } };
  };
  const start = async () => assert.fail("nothing starts on this machine");
  const one = { oneTurn: true, firstObservation: () => ({ text: show(0) }) };
  return fakeEnvironment([task], play, { start, ...(turns === 1 ? one : {}) });
}

/** A worker in this process, which loses its first attempts after `lose` questions. */
function dispatcher(there: Environment, lose = Number.POSITIVE_INFINITY) {
  let answer: (data: unknown) => Promise<unknown> = async () => undefined;
  const asked: string[] = [];
  const attempt = (payload: unknown, limit: number): Promise<string> => {
    let left = limit;
    return playEpisode(
      payload,
      there,
      () => task,
      async (id, question, read) => {
        if (left-- === 0) throw new Error("the worker was killed");
        asked.push(id);
        return read(await answer(question as Question));
      },
    );
  };
  return {
    asked,
    answer: (process: (data: unknown, later: () => Promise<never>) => Promise<unknown>) => {
      answer = (data) => process(data, async () => assert.fail("its play is known"));
    },
    run: async <T>(
      _kind: string,
      _place: string,
      payload: unknown,
      _blobs: readonly string[],
      read: (bytes: Buffer) => T,
    ) => {
      const text = await attempt(payload, lose)
        .catch((error: Error) => {
          if (!/killed/.test(error.message)) throw error;
          return attempt(payload, Number.POSITIVE_INFINITY);
        })
        // as the dispatcher says it
        .catch((error: Error) => {
          throw new UserError(`The workers failed: ${error.message}`);
        });
      return read(Buffer.from(text));
    },
  };
}

describe("an environment that workers play", () => {
  it("plays the only answer of an episode without asking, once for equal answers", async () => {
    const there = environment(1);
    const play = mock.method(there, "play");
    const workers = dispatcher(there);
    const remote = remoteEnvironment(environment(1), workers);
    await remote.start();
    const together = new Map();
    const act = async ({ text }: { text?: string }) => ({ text: `seen ${text}` });
    const first = await remote.play(task, act, together);
    const second = await remote.play(task, act, together);
    assert.deepEqual(first.detail, { said: ["seen turn 0"] });
    assert.deepEqual(second, { ...first, reused: true });
    assert.equal(play.mock.callCount(), 1);
    assert.deepEqual(workers.asked, []);
  });

  it("asks for every turn, and answers a lost episode's turns as it did before", async () => {
    const workers = dispatcher(environment(3), 2);
    const remote = remoteEnvironment(environment(3), workers);
    let calls = 0;
    const outcome = await remote.play(task, async ({ text }) => ({ text: `${text} #${calls++}` }), new Map());
    assert.deepEqual(outcome.detail, { said: ["turn 0 #0", "turn 1 #1", "turn 2 #2"] });
    assert.equal(calls, 3, "the policy was asked once a turn");
    // the same question has the same name
    assert.deepEqual(workers.asked.slice(0, 2), workers.asked.slice(2, 4));
  });

  it("calls pages that are not the same twice a fault", async () => {
    let shown = 0;
    const changing = environment(3, () => `page ${shown++}`);
    const workers = dispatcher(changing, 1);
    const remote = remoteEnvironment(environment(3), workers);
    const { reward, fault } = await remote.play(task, async () => ({ text: "x" }), new Map());
    assert.equal(reward, null);
    assert.match(fault ?? "", /shows another page/);
  });
});
