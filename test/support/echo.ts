import type { Observation, Template } from "../../src/core/interaction.js";
import { type Environment, SPLITS } from "../../src/env/environment.js";

const WORDS = ["garden", "library", "museum", "bakery"];

/** Opens an environment of three turns without a browser: filling in the shown word earns 1/3; `break` is a fault. */
export function echoEnvironment(onFault: (message: string) => void = () => undefined): Environment {
  const tasks = SPLITS.flatMap((split) => WORDS.map((form, i) => ({ id: `echo/${split}/${i}`, split, form })));
  const template: Template = {
    parts: ["fill Name | ", { name: "Name", kind: "choice", options: [...WORDS, "wrong"] }],
  };
  const show = (word: string): Observation => ({ text: `form: ${word}\n Name | ${word}\n\n`, template });
  return {
    name: "echo",
    notes: [],
    tasks,
    splitHash: () => "echo",
    start: async () => undefined,
    started: true,
    capacity: 2,
    async play(task, act) {
      const turnRewards: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const word = WORDS[(WORDS.indexOf(task.form) + turn) % WORDS.length] as string;
        let text: string | undefined;
        try {
          ({ text } = await act(show(word)));
        } catch (error) {
          onFault((error as Error).message);
          text = "break";
        }
        if (text === "break")
          return { reward: null, fault: `turn ${turn + 1} broke off`, success: false, metrics: {}, detail: {} };
        turnRewards.push(Number(text === `fill Name | ${word}`));
      }
      const reward = turnRewards.reduce((sum, one) => sum + one, 0) / 3;
      return { reward, success: reward === 1, turnRewards, metrics: { echoed: reward }, detail: {} };
    },
    fixedPolicies: {
      oracle:
        async () =>
        async ({ text = "" }) => ({ text: `fill ${text.split("\n")[1]?.trim()}` }),
    },
    close: async () => undefined,
  };
}
