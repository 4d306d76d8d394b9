import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isPlainObject } from "../../../config/overrides.js";
import { messageOf } from "../../../core/errors.js";
import { writeAtomic } from "../../../core/files.js";
import { withoutPasswords } from "../../../core/shown.js";
import type { TrackedRun, Tracker, TrackerKind } from "../../../watch/tracker.js";
import type { Outcome } from "../../../watch/watcher.js";

export interface MlflowOptions {
  readonly uri: string;
  readonly experiment: string;
  /** Time limit of one request, in milliseconds. */
  readonly timeoutMs?: number;
  /** Pauses between the last attempts, in milliseconds. */
  readonly waitsMs?: readonly number[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface Metric {
  readonly key: string;
  readonly value: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly step: number;
}

/** Limits of `runs/log-batch` (https://mlflow.org/docs/latest/rest-api.html#log-batch). */
const METRICS_A_REQUEST = 1000;
const PARAMS_A_REQUEST = 100;
/** Longest value of a parameter in characters, for servers before 2.9. */
const PARAM_LENGTH = 500;

const STATUS: Readonly<Record<Outcome, string>> = { finished: "FINISHED", interrupted: "KILLED", failed: "FAILED" };

/** A refusal by the server: further attempts would be refused as well. */
class Refusal extends Error {}

/**
 * Sends a run's metrics to an MLflow server in the background. While the server does not answer, values are kept and
 * sent again with every step; the user is warned once. A refusal (4xx) ends tracking. `end` makes the last attempts.
 */
export class MlflowTracker implements Tracker {
  private pending: Metric[] = [];
  private runId: string | undefined;
  private sending: Promise<boolean> | undefined;
  private warned = false;
  private off = false;

  constructor(
    private readonly options: MlflowOptions,
    private readonly run: Pick<TrackedRun, "name" | "command" | "dir" | "done" | "config" | "warn">,
  ) {}

  private warn(text: string): void {
    this.run.warn(withoutPasswords(text));
  }

  log(step: number, values: Readonly<Record<string, number>>): void {
    if (this.off) return;
    const timestamp = Date.now();
    for (const [key, value] of Object.entries(values)) this.pending.push({ key, value, timestamp, step });
    void this.flush();
  }

  async end(outcome: Outcome): Promise<void> {
    await this.sending;
    for (const wait of [0, ...(this.options.waitsMs ?? [500, 2000])]) {
      if (this.off) return;
      if (wait > 0) await sleep(wait);
      if ((await this.flush()) && (await this.close(outcome))) break;
    }
    const missing = this.pending.length;
    if (missing > 0) this.warn(`mlflow: ${missing} values were not delivered; metrics.jsonl has all of them`);
  }

  /** Sends the pending values, one delivery at a time. @returns whether all were sent. */
  private flush(): Promise<boolean> {
    this.sending ??= this.attempt(async () => {
      const run_id = await this.open();
      while (this.pending.length > 0) {
        const metrics = this.pending.slice(0, METRICS_A_REQUEST);
        await this.request("runs/log-batch", { run_id, metrics });
        this.pending.splice(0, metrics.length);
      }
    }).finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private close(outcome: Outcome): Promise<boolean> {
    return this.attempt(async () => {
      await this.request("runs/update", { run_id: await this.open(), status: STATUS[outcome], end_time: Date.now() });
    });
  }

  private async attempt(work: () => Promise<void>): Promise<boolean> {
    if (this.off) return false;
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof Refusal) {
        this.off = true;
        this.warn(`mlflow is off for the rest of this run: ${error.message}`);
      } else if (!this.warned) {
        this.warned = true;
        this.warn(`mlflow does not answer (${causeOf(error)}); values are kept and tried again with every step`);
      }
      return false;
    }
  }

  /** Opens the run on the server: this directory's if it is resumed, else a new one. */
  private async open(): Promise<string> {
    if (this.runId !== undefined) return this.runId;
    const note = join(this.run.dir, "mlflow.json");
    const { uri, experiment } = this.options;
    const known = this.run.done > 0 ? readNote(note) : undefined;
    if (known?.uri === uri && known.experiment === experiment) {
      await this.request("runs/update", { run_id: known.run_id, status: "RUNNING" });
      this.runId = known.run_id;
      return this.runId;
    }
    const created = await this.request("runs/create", {
      experiment_id: await this.experimentId(),
      run_name: this.run.name,
      start_time: Date.now(),
      tags: [
        { key: "mlflow.runName", value: this.run.name },
        { key: "mlflow.source.name", value: `refusion-train ${this.run.command}` },
      ],
    });
    const run_id = idIn("runs/create", createdSchema, created).run.info.run_id;
    const params = flatten(this.run.config);
    for (let i = 0; i < params.length; i += PARAMS_A_REQUEST)
      await this.request("runs/log-batch", { run_id, params: params.slice(i, i + PARAMS_A_REQUEST) });
    await writeAtomic(note, `${JSON.stringify({ uri, experiment, run_id }, undefined, 2)}\n`);
    this.runId = run_id;
    return run_id;
  }

  private async experimentId(): Promise<string> {
    const name = this.options.experiment;
    const path = `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`;
    const get = async (): Promise<string | undefined> => {
      const found = await this.request(path, undefined, "RESOURCE_DOES_NOT_EXIST");
      return found === undefined
        ? undefined
        : idIn("experiments/get-by-name", foundSchema, found).experiment.experiment_id;
    };
    const found = await get();
    if (found !== undefined) return found;
    // another run may create it in the meantime
    const created = await this.request("experiments/create", { name }, "RESOURCE_ALREADY_EXISTS");
    return idIn("experiments/create", experimentSchema, created ?? { experiment_id: await get() }).experiment_id;
  }

  /** Sends a POST with a body, a GET without. @param missing error_code that means "no answer" instead of a failure. */
  private async request(path: string, body?: object, missing?: string): Promise<unknown> {
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(`${this.options.uri.replace(/\/+$/, "")}/api/2.0/mlflow/${path}`, {
      method,
      headers: { ...authorization(this.options.env ?? process.env), "content-type": "application/json" },
      signal: AbortSignal.timeout(this.options.timeoutMs ?? 5000),
      // a redirect could send the credentials to another server
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return parse(text);
    const answer = parse(text) as { error_code?: unknown; message?: unknown } | undefined;
    if (missing !== undefined && answer?.error_code === missing) return undefined;
    const what = typeof answer?.message === "string" ? answer.message.slice(0, 200) : "no message";
    const message = `${method} ${path.split("?")[0]}: HTTP ${response.status}, ${what}`;
    const passing = response.status >= 500 || response.status === 408 || response.status === 429;
    throw passing ? new Error(message) : new Refusal(message);
  }
}

/** Reads credentials from the environment, as MLflow's own client does. */
function authorization(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password } = env;
  if (token !== undefined && token !== "") return { authorization: `Bearer ${token}` };
  if (user === undefined || user === "") return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}` };
}

/** Flattens a config to dotted keys, without passwords. */
function flatten(value: unknown, path = ""): { key: string; value: string }[] {
  if (isPlainObject(value))
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, path === "" ? key : `${path}.${key}`));
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return [{ key: path, value: withoutPasswords(text).slice(0, PARAM_LENGTH) }];
}

const experimentSchema = z.object({ experiment_id: z.string() });
const foundSchema = z.object({ experiment: experimentSchema });
const createdSchema = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) });
const noteSchema = z.object({ uri: z.string(), experiment: z.string(), run_id: z.string() });

/** Validates the server's answer. @throws Refusal if it is malformed. */
function idIn<T>(path: string, schema: z.ZodType<T>, answer: unknown): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw new Refusal(`${path} gave no id; is this an MLflow server?`);
}

const readNote = (path: string): z.infer<typeof noteSchema> | undefined =>
  existsSync(path) ? noteSchema.safeParse(parse(readFileSync(path, "utf8"))).data : undefined;

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the cause of an error: fetch itself says only "fetch failed". */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return messageOf(cause) || String((cause as { code?: unknown }).code ?? cause);
}

const schema = z.strictObject({
  uri: z
    .url({ protocol: /^https?$/, error: "must be an http(s) address" })
    .refine((uri) => !URL.canParse(uri) || new URL(uri).username + new URL(uri).password === "", {
      error: "must not hold a password: set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
    })
    .nullable()
    .default(null)
    .describe("address of an MLflow server, as http://127.0.0.1:5000; null = off"),
  experiment: z.string().min(1).default("refusion-train").describe("experiment that the run belongs to"),
});

/** Tracks runs on an MLflow server through its REST API (https://mlflow.org/docs/latest/rest-api.html). */
export const tracker: TrackerKind<z.infer<typeof schema>> = {
  schema: schema.prefault({}).describe("MLflow over REST"),
  open: ({ uri, experiment }, run) => (uri === null ? undefined : new MlflowTracker({ uri, experiment }, run)),
};
