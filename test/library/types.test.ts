import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { packageRoot, readJson } from "../../src/core/files.js";
import { ownFolder } from "../support/own-modules.js";

const root = packageRoot();

/** What compiles, and behind `@ts-expect-error` what must not: the compiler says where such a line compiles. */
const CALLS = `
import { evaluate, openPolicy, train, type RunConfigInput } from "refusion-train";

const model = "models/tiny-refusion";
const objective = { kind: "./mine.mjs", any: 1 };
export const keys: Record<keyof RunConfigInput, 1> = KEYS;
await train("a.yaml", { overrides: ["training.steps=2"] });
await train({ model, objective, training: { steps: 2 }, site: { kind: "embedded", tier: "full" }, reward: "./r.mjs" });
await train({ model, objective, prompt: { style: "page" }, browser: { contexts: 2 }, plan: "free", sampler: { rounds: 2 } });
await evaluate({ config: { model, evaluation: { sampler: { kind: "unmask" } } } }, { split: "heldout" });

// @ts-expect-error no such key
await train({ modle: 1 });
// @ts-expect-error no such key beside right ones
await train({ model, objective, modle: 1 });
// @ts-expect-error no such key of a section
await train({ model, objective, training: { stpes: 2 } });
// @ts-expect-error another kind of value
await train({ model, objective, training: { steps: "2" } });
// @ts-expect-error no such plan
await train({ model, objective, plan: "blanks" });
// @ts-expect-error no such style
await train({ model, objective, prompt: { style: "pages" } });
// @ts-expect-error no such key of the browser
await train({ model, objective, browser: { context: 2 } });
// @ts-expect-error without an objective
await train({ model });
// @ts-expect-error no such key
await evaluate({ config: { model, evalution: {} } });
// @ts-expect-error no such split
await evaluate({ config: { model } }, { split: "vall" });
// @ts-expect-error neither a run nor a config
await openPolicy({});
`;

const MODULES = `
import { defineEnvironment, defineObjective, defineReward, defineSite, defineTracker, episodeCredit } from "refusion-train";
import type {
  Act, Episode, EnvironmentTask, EpisodeOutcome, FieldValue, GroupEpisode, LayoutContext, Login, Loss, LossInputs, Needs,
  Objective, Outcome, Place, PlayedTogether, RunningSite, SamplerOptions, Task, TrackedRun, Tracker, Trajectory, TurnCredit, Way,
} from "refusion-train";
import { z } from "zod";

export const reward = defineReward({ score: async (episode: Episode, task: Task) => episode.reward / task.id.length });
const schema = z.strictObject({ half: z.boolean().default(false) });
type Options = z.output<typeof schema>;
export const objective: Objective<Options> = defineObjective({
  name: "mine", description: "of my own", schema, learnsFrom: "rollouts", scoring: "steps",
  needs: (): Needs => ({ reference: false }),
  credit: (group: readonly GroupEpisode[]): (readonly TurnCredit[] | null)[] =>
    episodeCredit(group, { advantage: "center", adv_clip_max: 5 }),
  layout: (trajectories: readonly Trajectory[], _: Options, context: LayoutContext) =>
    context.stepTerms(trajectories, { level: "sequence" }),
  loss: ({ e, logProb }: LossInputs): Loss => ({ loss: e.total(logProb), metrics: {} }),
});
const play = async (task: EnvironmentTask, act: Act, _: PlayedTogether): Promise<EpisodeOutcome> => {
  const { text = "" } = await act({ text: task.form });
  return { reward: text.length, success: true, metrics: {}, detail: {} };
};
export const environment = defineEnvironment({
  schema: z.strictObject({}),
  open: async () => ({
    name: "e", notes: [], tasks: [], splitHash: () => "", start: async () => undefined, started: true, play,
    fixedPolicies: {}, close: async () => undefined,
  }),
});
const fields: Record<string, FieldValue> = { Name: "Ann" };
export const site = defineSite({
  schema: z.strictObject({}),
  start: async (): Promise<RunningSite> => ({
    name: "s", baseUrl: "http://127.0.0.1:1", splitHash: () => "", stop: async () => undefined,
    tasks: () => [{ id: "a", form: "a", formTitle: "A", url: "/", instruction: "", fields, split: "train", tier: "starter" }],
  }),
});
export const tracker = defineTracker({
  schema: z.boolean().default(false),
  open: (on: boolean, { dir }: TrackedRun): Tracker | undefined =>
    on ? { log: () => undefined, end: (outcome: Outcome) => console.log(dir, outcome) } : undefined,
});
export const way: Way = { serves: ["text"], operate: async (place: Place, value) => place.pick(String(value)) };
export const login: Login = async (page, { baseUrl }) => void (await page.goto(baseUrl));
export const room = ({ responseLength }: SamplerOptions): number => responseLength;
// @ts-expect-error a reward is a number
export const wrong = defineReward({ score: () => "much" });
`;

const dir = ownFolder({});

it("calls of the library are typed by the schema, and modules of one's own by types of a name", () => {
  const { properties } = readJson(join(root, "docs", "config.schema.json")) as { properties: object };
  const keys = Object.fromEntries(Object.keys(properties).map((key) => [key, 1]));
  writeFileSync("calls.ts", CALLS.replace("KEYS", JSON.stringify(keys)));
  writeFileSync("modules.ts", MODULES);
  writeFileSync("package.json", '{ "type": "module" }');
  const types = ["--typeRoots", join(root, "node_modules", "@types"), "--types", "node"];
  const args = [
    ...[join(root, "node_modules", "typescript", "lib", "tsc.js"), "calls.ts", "modules.ts", "--noEmit"],
    ...["--ignoreConfig", "--module", "nodenext", "--target", "es2023", "--strict", "--exactOptionalPropertyTypes"],
  ];
  const command = [...args, "--skipLibCheck", ...types];
  const { status, stdout } = spawnSync(process.execPath, command, { cwd: dir, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
