import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { within } from "../../../src/core/within.js";
import { CliProcess, type Ending } from "../../support/cli-process.js";
import { ownFolder } from "../../support/own-modules.js";
import type { TestRedis } from "../../support/redis.js";
import { timelessFiles } from "../../support/run-files.js";
import { smallModel } from "../../support/small-model.js";

/** A run takes 20 to 60 s on two cores. */
const LONGEST_RUN_MS = 300_000;

/** Echoes one answer, or asks back twice, after some milliseconds; no browser. */
const ENVIRONMENT = `
import { defineEnvironment } from "refusion-train";
import { z } from "zod";

const sum = (text) => [...text].reduce((n, letter) => n + letter.codePointAt(0), 0);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const environment = defineEnvironment({
  schema: z.strictObject({
    turns: z.int().min(1).default(1),
    least_ms: z.number().default(0).describe("an answer takes so long at least"),
    most_ms: z.number().default(0),
    contexts: z.int().min(1).default(4),
  }),
  async open({ environment: { turns, least_ms, most_ms, contexts } }) {
    const tasks = ["train", "val", "test", "heldout"].flatMap((split) =>
      ["garden", "library", "harbour", "museum"].map((form, i) => ({ id: \`echo/\${split}/\${i}\`, split, form })),
    );
    const shown = (task, turn) => ({ text: \`form: \${task.form} \${turn}\\n Name | \${task.form}\\n\\n\` });
    return {
      name: "echo",
      notes: [],
      tasks,
      splitHash: () => \`echo-\${turns}\`,
      start: async () => undefined,
      started: true,
      ...(turns === 1 ? { oneTurn: true, firstObservation: (task) => shown(task, 0) } : { capacity: contexts }),
      async play(task, act) {
        const turnRewards = [];
        let waited = 0;
        for (let turn = 0; turn < turns; turn++) {
          const { text } = await act(shown(task, turn));
          // as long as the answer says, so that it is the same whoever plays
          await sleep(least_ms + ((sum(text) % 100) / 99) * (most_ms - least_ms));
          turnRewards.push((sum(text) % 8) / 7);
          waited += sum(text) % 3;
        }
        const reward = turnRewards.reduce((a, b) => a + b, 0) / turns;
        return { reward, success: reward > 0.5, turnRewards, metrics: { last_turn: turnRewards.at(-1) }, detail: { waited } };
      },
      fixedPolicies: {},
      close: async () => undefined,
    };
  },
});
`;

export interface ClusterCase {
  readonly objective?: string;
  /** key=value for coordinator and local run. */
  readonly settings?: readonly string[];
  /** Only for the coordinator. */
  readonly distributed?: readonly string[];
}

const CONFIG = `
model: ${await smallModel()}
environment: { kind: ./environment.mjs }
sampler: { kind: unmask, prompt_length: 32, response_length: 16, temperature: 2 }
training:
  { steps: 3, prompts_per_step: 4, group_size: 4, rollout_batch: 4, micro_batch: 2, gradient_slots: 3, learning_rate: 1.0e-3,
  num_iterations: 2 }
evaluation: { splits: [heldout], episodes: 8, batch: 4, every: 2 }
checkpoint: { every: 1, keep_last: 9 }
runtime: { threads: 1, provider: cpu }
tracking: { tensorboard: false }
distributed: { lease_s: 4 }
`;

/** A folder in which coordinators, workers and local runs share an environment without a browser. */
export class ClusterFolder {
  readonly dir = ownFolder({ "environment.mjs": ENVIRONMENT, "run.yaml": CONFIG });
  private readonly processes: CliProcess[] = [];
  private readonly standing: CliProcess[] = [];
  private workers = 0;

  path(name: string): string {
    return join(this.dir, name);
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): CliProcess {
    const child = new CliProcess(args, { cwd: this.dir, env });
    this.processes.push(child);
    return child;
  }

  local(name: string, { objective = "espo", settings = [] }: ClusterCase = {}): CliProcess {
    return this.start([objective, "--config", "run.yaml", "--run-dir", name, "-q", ...settings]);
  }

  coordinator(redis: TestRedis | string, name: string, of: ClusterCase = {}, env: NodeJS.ProcessEnv = {}): CliProcess {
    const { objective = "espo", settings = [], distributed = [] } = of;
    const url = typeof redis === "string" ? redis : redis.url;
    const begun = existsSync(this.path(join(name, "env.json")));
    const base = begun
      ? ["--resume"]
      : ["--config", "run.yaml", `distributed.redis=${url}`, ...settings, ...distributed];
    return this.start([objective, ...base, "--run-dir", name], env);
  }

  worker(redis: TestRedis | string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): CliProcess {
    const url = typeof redis === "string" ? redis : redis.url;
    return this.start(["worker", "--redis", url, "--allow-modules", "--name", `w${this.workers++}`, ...args], env);
  }

  /** So many workers that stay for further runs: starting one costs more than a small run. */
  async crew(redis: TestRedis, count: number): Promise<void> {
    const started: CliProcess[] = [];
    while (this.standing.length < count) {
      const child = this.worker(redis);
      this.processes.pop();
      this.standing.push(child);
      started.push(child);
    }
    for (const child of started) assert.ok(await child.says(/waiting for runs/), child.err);
  }

  /** Ends those workers as a user does. */
  async dismiss(): Promise<void> {
    for (const child of this.standing) child.signal("SIGTERM");
    for (const child of this.standing) assert.equal((await child.ended).code, 0, child.err);
    this.standing.length = 0;
  }

  /** Waits for the end of a run. One that does not end fails here, with what it printed. */
  async done(child: CliProcess): Promise<Ending> {
    assert.ok(await within(child.ended, LONGEST_RUN_MS), `it does not end: ${child.err}`);
    const ending = await child.ended;
    assert.equal(ending.code, 0, ending.err);
    return ending;
  }

  files(name: string): ReturnType<typeof timelessFiles> {
    return timelessFiles(this.path(name));
  }

  /** Ends all that is still running. */
  async end(): Promise<void> {
    for (const child of this.processes) if (child.running) child.killGroup();
    await Promise.all(this.processes.map((child) => child.ended));
    this.processes.length = 0;
  }

  async remove(): Promise<void> {
    await this.end();
    for (const child of this.standing) if (child.running) child.killGroup();
    await Promise.all(this.standing.map((child) => child.ended));
  }
}
