// An environment of your own, without a browser: refusion-train flow-grpo --config FILE environment.kind=./examples/environment.mjs
import { defineEnvironment } from "refusion-train";
import { z } from "zod";

const WORDS = ["fern", "Shrub", "Hall", "attic"];

/** Three turns: the policy is shown a word each time, and earns the share of turns in which it fills that word in. */
export const environment = defineEnvironment({
  schema: z.strictObject({ turns: z.int().min(1).default(3).describe("turns of an episode") }),
  async open({ environment: { turns } }) {
    const tasks = ["train", "val", "test", "heldout"].flatMap((split) =>
      WORDS.map((word, i) => ({ id: `echo/${split}/${i}`, split, form: word })),
    );
    // the answer's lines, with a blank for the policy; left out, or with plan=free, it writes whole lines
    const template = { parts: ["fill Name | ", { name: "Name", kind: "text" }, "\n"] };
    const show = (word) => ({ text: `form: ${word}\n Name | ${word}\n\n`, template });
    return {
      name: "echo",
      notes: [],
      tasks,
      splitHash: () => `echo-${turns}`,
      start: async () => undefined,
      started: true,
      firstObservation: (task) => show(task.form),
      async play(task, act) {
        const turnRewards = [];
        for (let turn = 0; turn < turns; turn++) {
          const word = WORDS[(WORDS.indexOf(task.form) + turn) % WORDS.length];
          const { text } = await act(show(word));
          turnRewards.push(Number(text.includes(`fill Name | ${word}`)));
        }
        const reward = turnRewards.reduce((a, b) => a + b, 0) / turns;
        return { reward, success: reward === 1, turnRewards, metrics: { echoed: reward }, detail: {} };
      },
      fixedPolicies: {},
      close: async () => undefined,
    };
  },
});
