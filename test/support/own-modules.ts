import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { temporaryFolder } from "./temporary.js";

/**
 * Makes a user's folder of modules, with this package and zod installed in it. It becomes the working directory of a
 * file of tests or a `describe`, since configs name modules relative to that (`./mine.mjs`).
 */
export function ownFolder(files: Readonly<Record<string, string>>): string {
  const before = process.cwd();
  after(() => process.chdir(before));
  const dir = temporaryFolder("own");
  const installed = join(dir, "node_modules");
  mkdirSync(installed);
  symlinkSync(packageRoot(), join(installed, "refusion-train"), "junction");
  symlinkSync(join(packageRoot(), "node_modules", "zod"), join(installed, "zod"), "junction");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  process.chdir(dir);
  return dir;
}

/** An environment of three turns without a browser; with `faulty`, the last turn fails for about a third of answers. */
export const OWN_ENVIRONMENT = `
import { defineEnvironment } from "refusion-train";
import { z } from "zod";

const sum = (text) => [...text].reduce((n, letter) => n + letter.codePointAt(0), 0);

export const environment = defineEnvironment({
  schema: z.strictObject({
    turns: z.int().min(1).default(3).describe("turns of an episode"),
    faulty: z.boolean().default(false).describe("whether the last turn may break off"),
  }),
  async open({ environment: { turns, faulty } }) {
    const tasks = ["train", "val", "test", "heldout"].flatMap((split) =>
      ["garden", "library"].map((form, i) => ({ id: \`echo/\${split}/\${i}\`, split, form })),
    );
    return {
      name: "echo",
      notes: [],
      tasks,
      splitHash: () => \`echo-\${turns}\`,
      start: async () => undefined,
      started: true,
      async play(task, act) {
        const turnRewards = [];
        for (let turn = 0; turn < turns; turn++) {
          const { text } = await act({ text: \`form: \${task.form} \${turn}\\n Name | \${task.form}\\n\\n\` });
          const detail = { turns: turn + 1 };
          if (faulty && turn === turns - 1 && sum(text) % 3 === 0)
            return { reward: null, fault: \`turn \${turn + 1} broke off\`, success: false, metrics: {}, detail };
          turnRewards.push((sum(text) % 8) / 7);
        }
        const reward = turnRewards.reduce((a, b) => a + b, 0) / turns;
        const metrics = { last_turn: turnRewards.at(-1) };
        return { reward, success: reward > 0.5, turnRewards, metrics, detail: { turns } };
      },
      fixedPolicies: {},
      close: async () => undefined,
    };
  },
});
`;
