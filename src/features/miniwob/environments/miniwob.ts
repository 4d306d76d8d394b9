/**
 * MiniWoB++ (Shi et al. 2017, Liu et al. 2018; PyPI `miniwob`): small task pages by other authors, each with a goal in
 * words. The page computes the score itself: weaker evidence than a server's record (docs/environments.md).
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { z } from "zod";
import { codeHash } from "../../../core/code-hash.js";
import { misuse } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import type { Act } from "../../../core/interaction.js";
import { serveApp } from "../../../core/serve.js";
import { EnvironmentFault } from "../../../env/browser/browser.js";
import { EpisodeRunner } from "../../../env/browser/episode.js";
import { type RecordedAnswer, recordedAnswer } from "../../../env/browser/recorded-answers.js";
import type { Session } from "../../../env/browser/session.js";
import {
  type Environment,
  type EnvironmentKind,
  type EnvironmentTask,
  type EpisodeOutcome,
  SPLITS,
  type Split,
} from "../../../env/environment.js";
import { normalizeLabel } from "../../../env/forms/normalize.js";
import { type Action, parsePlan, renderPlan } from "../../../env/forms/plan.js";
import { SOLVERS } from "../oracle.js";
import { aimAtThing, readThings, setThing, type Thing } from "../page.js";

const whole = (least: number, most: number, otherwise: number): z.ZodDefault<z.ZodInt> =>
  z.int().min(least).max(most).default(otherwise);
const seeds = (otherwise: number): z.ZodDefault<z.ZodInt> => whole(0, 100_000, otherwise);

const schema = z.strictObject({
  path: z
    .string()
    .default("miniwob/html")
    .describe("folder `html` of the package miniwob, or of a checkout: it has core/ and miniwob/"),
  tasks: z
    .array(z.string())
    .min(1)
    .default(["click-button", "click-test-2", "enter-text", "choose-list", "click-checkboxes", "login-user"])
    .describe("task pages to train on"),
  heldout: z.array(z.string()).default([]).describe("task pages that are never trained on"),
  sizes: z
    .strictObject({ train: seeds(64), val: seeds(16), test: seeds(16), heldout: seeds(16) })
    .prefault({})
    .describe("seeds a task page"),
  turns: whole(1, 50, 8).describe("turns of one episode at most"),
  page_characters: whole(100, 100_000, 1000).describe("characters of a prompt that describe the page"),
  headless: z.boolean().default(true).describe("false shows the browser"),
  contexts: whole(1, 1000, 4).describe("episodes at once, one isolated context each"),
});
type Options = z.output<typeof schema>;

export const environment: EnvironmentKind = {
  schema,
  async open(raw) {
    const { kind: _, ...options } = raw.environment as { kind: string };
    return openMiniWob(schema.parse(options));
  },
  view: (detail) => [
    { title: "Goal", rows: [[{ text: String(detail.goal ?? "") }]] },
    {
      title: "Actions",
      rows: (Array.isArray(detail.actions) ? detail.actions : []).map((text) => [{ text: String(text) }]),
    },
  ],
};

interface PageTask extends EnvironmentTask {
  readonly seed: string;
}

/** The content of a turn, for the environment's own policies. */
interface Seen {
  readonly goal: string;
  readonly things: readonly Thing[];
  readonly turn: number;
}

/** Time limit set in the page instead of its own 10 s; the other limits are those of the browser. In milliseconds. */
const EPISODE_MS = 3_600_000;
const EPISODE_TIMEOUT_MS = 30_000;
const ACTION_TIMEOUT_MS = 5000;
/** Time that a page may take to react to a turn, in milliseconds. */
const SETTLE_MS = 100;

/** @throws UserError if the folder is not MiniWoB++'s, or lacks a page. */
function checkFolder({ path, tasks, heldout }: Options): void {
  const pages = join(path, "miniwob");
  if (!existsSync(join(path, "core", "core.js")) || !existsSync(pages))
    misuse(`${path} is not MiniWoB++'s folder: it has no core/core.js and miniwob/.`, {
      hint: "`pip download miniwob==1.1.0 --no-deps`, unpack the wheel, and set environment.path to its miniwob/html.",
    });
  const unknown = [...tasks, ...heldout].filter((name) => !existsSync(join(pages, `${name}.html`)));
  if (unknown.length > 0)
    misuse(`MiniWoB++ has no page ${unknown.join(", ")} in ${pages}.`, {
      hint: "docs/environments.md lists the pages.",
    });
}

async function openMiniWob(options: Options): Promise<Environment> {
  checkFolder(options);
  const app = new Hono();
  app.get("*", serveStatic({ root: options.path }));
  const served = await serveApp(app, 0, "MiniWoB++ pages");
  const tasks = SPLITS.flatMap((split) =>
    (split === "heldout" ? options.heldout : options.tasks).flatMap((form) =>
      Array.from({ length: options.sizes[split] }, (_, i) => taskOf(form, split, i)),
    ),
  );
  let opened: Promise<EpisodeRunner> | undefined;
  const runner = (): Promise<EpisodeRunner> => {
    opened ??= EpisodeRunner.open({
      site: { ...served, name: "miniwob", tasks: () => [], splitHash: () => "" },
      headless: options.headless,
      contexts: options.contexts,
      actionTimeoutMs: ACTION_TIMEOUT_MS,
      episodeTimeoutMs: EPISODE_TIMEOUT_MS,
      uploads: "none",
    });
    return opened;
  };
  const shown = new WeakMap<object, Seen>();
  const planner =
    (plan: (seen: Seen) => readonly Action[]): Act =>
    async (observation) => {
      const seen = shown.get(observation);
      return { text: seen === undefined ? "" : renderPlan(plan(seen)) };
    };
  return {
    name: "miniwob",
    notes: ["miniwob: the score is read from the page itself, not from a server (docs/environments.md)"],
    tasks,
    capacity: options.contexts,
    splitHash: () => sha256(tasks.map(({ id, seed }) => `${id} ${seed}`).join("\n")),
    judge: () => codeHash(import.meta.url),
    start: async () => void (await runner()),
    get started() {
      return opened !== undefined;
    },
    async play(task, act) {
      const recorded: RecordedAnswer[] = [];
      try {
        const ended = await (await runner()).converse((session, idle) =>
          playOnce(session, task as PageTask, options, (observation, seen) => {
            shown.set(observation, seen);
            return idle.during(recordedAnswer(recorded, seen.turn, observation, act));
          }),
        );
        return "fault" in ended ? faulted(ended.fault) : ended.result;
      } catch (error) {
        if (!(error instanceof EnvironmentFault)) throw error;
        return faulted(error.message);
      }
    },
    fixedPolicies: {
      oracle: async ({ form }) => planner(({ goal, things, turn }) => SOLVERS[form]?.(goal, things, turn) ?? []),
      empty: async () => async () => ({ text: "" }),
      random: async (_, rng) =>
        planner(({ things }) => (things.length === 0 ? [] : [{ kind: "click", label: rng.pick(things).name }])),
    },
    async close() {
      // a failure to open was reported where it was requested
      await (await opened?.catch(() => undefined))?.close();
      await served.stop();
    },
  };
}

async function playOnce(
  session: Session,
  task: PageTask,
  { turns, page_characters: limit }: Options,
  ask: (observation: { readonly text: string }, seen: Seen) => Promise<{ readonly text?: string }>,
): Promise<EpisodeOutcome> {
  const world = await session.goto(`/miniwob/${task.form}.html`);
  await session.page.waitForLoadState("load");
  // the page's own objects exist only in its main world
  const goal = await session.page.evaluate(begin, { seed: task.seed, ms: EPISODE_MS });
  if (goal === undefined) throw new EnvironmentFault(`${task.form}: the page does not start`);
  const actions: string[] = [];
  let turn = 0;
  let state = { done: false, raw: 0 };
  let last = "";
  while (turn < turns && !state.done) {
    const things = await world.evaluate(readThings);
    const seen = { goal, things, turn };
    const text = renderThings(seen, limit);
    if (text === last) break;
    last = text;
    const plan = parsePlan((await ask({ text }, seen)).text ?? "");
    turn++;
    if (plan.actions.length === 0) break;
    for (const action of plan.actions) {
      const fate = await carryOut(session, world, action);
      actions.push(`${renderPlan([action])} (${fate})`);
      state = await session.page.evaluate(stateOf);
      if (state.done) break;
    }
    if (state.done) break;
    await session.page.waitForTimeout(SETTLE_MS);
    state = await session.page.evaluate(stateOf);
  }
  const { done, raw } = state;
  // the page's reward is in -1..1; unfinished episodes get 0
  const reward = done ? Math.max(0, Math.min(1, raw)) : 0;
  return {
    reward,
    success: reward === 1,
    metrics: { raw_reward: done ? raw : 0, turns: turn },
    detail: { goal, raw, done, actions },
    summary: goal,
  };
}

const taskOf = (form: string, split: Split, i: number): PageTask => {
  const id = `miniwob/${form}/${split}/${String(i).padStart(4, "0")}`;
  return { id, form, split, seed: id };
};

const faulted = (fault: string): EpisodeOutcome => ({ reward: null, fault, success: false, metrics: {}, detail: {} });

/** Makes the prompt of a turn: the elements, one per line, then the goal. Omitted elements are counted. */
function renderThings({ goal, things }: Seen, limit: number): string {
  let room = limit;
  const lines: string[] = [];
  for (const { kind, name, options, value } of things) {
    const line = ` ${kind} ${name}${options.length === 0 ? "" : `: ${options.join("; ")}`}${value === "" ? "" : ` = ${value}`}`;
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  if (lines.length < things.length) lines.push(` (+${things.length - lines.length} more)`);
  return `page:\n${lines.join("\n")}\ngoal: ${goal}\n\n`;
}

/** Performs an action with real clicks and the page's own events. @returns its result. */
async function carryOut(
  session: Session,
  world: Awaited<ReturnType<Session["goto"]>>,
  action: Action,
): Promise<string> {
  const things = await world.evaluate(readThings);
  const label = action.kind === "submit" ? "Submit" : action.kind === "goto" ? "" : action.label;
  const fits = FITTING[action.kind];
  const named = things.filter(({ name }) => name === label);
  const loose = things.filter(({ name }) => normalizeLabel(name) === normalizeLabel(label));
  const found = named.length > 0 ? named : loose;
  const thing = found.find(({ kind }) => fits.includes(kind)) ?? found[0];
  if (thing === undefined || action.kind === "goto") return "no-such-control";
  if (action.kind === "fill" || action.kind === "select")
    return (await world.evaluate(setThing, { index: thing.index, value: action.value })) ? "done" : "rejected";
  const ticked = thing.value === "yes";
  if ((action.kind === "check" && ticked) || (action.kind === "uncheck" && !ticked)) return "done";
  const aim = await world.evaluate(aimAtThing, thing.index);
  if (aim === undefined || !aim.hit) return "rejected";
  await session.page.mouse.click(aim.x, aim.y);
  return "done";
}

const FITTING: Readonly<Record<Action["kind"], readonly Thing["kind"][]>> = {
  fill: ["text", "date", "time", "number"],
  select: ["select", "list", "radio"],
  check: ["checkbox", "radio"],
  uncheck: ["checkbox"],
  click: ["button", "link", "checkbox", "radio", "text"],
  submit: ["button"],
  goto: [],
};

interface Core {
  core: { EPISODE_MAX_TIME: number; startEpisodeReal(): void; getUtterance(): string };
  WOB_DONE_GLOBAL: boolean;
  WOB_RAW_REWARD_GLOBAL: number;
}

/** Runs IN THE PAGE: starts the episode of a seed. @returns its goal. */
function begin({ seed, ms }: { seed: string; ms: number }): string | undefined {
  const page = globalThis as unknown as Core;
  if (page.core?.startEpisodeReal === undefined) return undefined;
  (Math as unknown as { seedrandom(seed: string): void }).seedrandom(seed);
  page.core.EPISODE_MAX_TIME = ms;
  page.core.startEpisodeReal();
  return page.core.getUtterance();
}

/** Runs IN THE PAGE: reads whether the episode has ended, and its raw reward. */
function stateOf(): { done: boolean; raw: number } {
  const { WOB_DONE_GLOBAL: done, WOB_RAW_REWARD_GLOBAL: raw } = globalThis as unknown as Core;
  return { done, raw };
}
