/** Plays the insurer's form of configs/verdict, whose answers are learned from. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { closing } from "../../../src/core/closing.js";
import { packageRoot } from "../../../src/core/files.js";
import type { Act } from "../../../src/core/interaction.js";
import { Rng } from "../../../src/core/rng.js";
import type { EnvironmentTask } from "../../../src/env/environment.js";
import { openEnvironment } from "../../../src/env/open.js";
import { rehearse } from "../../../src/train/rehearsal.js";
import { freePort } from "../../support/redis.js";
import { temporaryFolder } from "../../support/temporary.js";

const folder = temporaryFolder("claim");
const configs = join(packageRoot(), "configs", "verdict");
const port = await freePort();
const baseUrl = `http://127.0.0.1:${port}`;
const server = spawn(process.execPath, [join(configs, "claim.mjs"), folder, String(port)], { stdio: "inherit" });
const answers = (): Promise<boolean> => fetch(`${baseUrl}/claim/0`).then(({ ok }) => ok);
while (!(await answers().catch(() => false)));
after(() => server.kill());

const open = async (file: string, reward: string) => {
  const overrides = [`site.tasks=${join(folder, file)}`, `site.base_url=${baseUrl}`, `reward=${reward}`];
  return openEnvironment(await loadConfig(join(configs, "flow-grpo.yaml"), { command: "flow-grpo", overrides }));
};

test("true values are accepted, and the page's verdict names just the field that is wrong", async () => {
  await using labelled = closing(await open("labelled.jsonl", "default"));
  await using bare = closing(await open("tasks.jsonl", "verdict"));
  assert.equal(labelled.tasks.length, bare.tasks.length);
  const [task] = labelled.tasks.filter(({ split }) => split === "train");
  const same = bare.tasks.find(({ id }) => id === task?.id) as EnvironmentTask & { readonly fields: object };
  assert.deepEqual(same.fields, {});
  const oracle = await labelled.fixedPolicies.oracle?.(task as EnvironmentTask, Rng.named(0, "a"));
  let values: Readonly<Record<string, string>> = {};
  const act: Act = async (seen) => {
    const action = (await oracle?.(seen)) ?? {};
    values = action.values ?? {};
    return action;
  };
  const won = await labelled.play(task as EnvironmentTask, act, new Map());
  assert.deepEqual([won.reward, won.success], [1, true]);
  const played = async (changed: object) =>
    (await bare.play(same, async () => ({ values: { ...values, ...changed } }), new Map())).reward;
  assert.equal(await played({}), 1);
  assert.equal(await played({ "Policy Holder": "Nobody" }), (0.5 * 5) / 6);
});

test("its form is fit to be learned from by its verdict", async () => {
  await using bare = closing(await open("tasks.jsonl", "verdict"));
  const notes: string[] = [];
  const train = bare.tasks.filter(({ split }) => split === "train");
  await rehearse(bare, train.slice(0, 3), (text) => void notes.push(text));
  assert.match(notes.join("\n"), /sent empty: 0 of 3 accepted.*\n.*sent random values: 0 of 3 accepted/);
});
