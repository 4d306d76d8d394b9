import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isPlainObject } from "../config/overrides.js";
import { messageOf } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import type { TrackedRun, Tracker } from "./tracker.js";
import type { Outcome } from "./watcher.js";

export interface MlflowOptions {
  readonly uri: string;
  readonly experiment: string;
  /** Limit of one request, in milliseconds. */
  readonly timeoutMs?: number;
  /** Waits between the attempts of the last delivery, in milliseconds. */
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
/** Servers before 2.9 take no longer values. */
const PARAM_LENGTH = 500;
/** Values kept while the server does not answer; the oldest go first. */
const MOST_PENDING = 50_000;

const STATUS: Readonly<Record<Outcome, string>> = { finished: "FINISHED", interrupted: "KILLED", failed: "FAILED" };

/** The server said no: another attempt would be refused as well. */
class Refusal extends Error {}

/**
 * Sends a run's metrics to an MLflow server in the background. While the server does not answer, values are kept and
 * tried again with every step; the user is warned once. A refusal (4xx) turns it off. `end` makes the last attempts.
 */
export class MlflowTracker implements Tracker {
  private pending: Metric[] = [];
  private lost = 0;
  private runId: string | undefined;
  private sending: Promise<boolean> | undefined;
  private warned = false;
  private off = false;

  constructor(
    private readonly options: MlflowOptions,
    private readonly run: Pick<TrackedRun, "name" | "command" | "dir" | "done" | "config" | "warn">,
  ) {}

  log(step: number, values: Readonly<Record<string, number>>): void {
    if (this.off) return;
    const timestamp = Date.now();
    for (const [key, value] of Object.entries(values)) this.pending.push({ key, value, timestamp, step });
    const surplus = this.pending.length - MOST_PENDING;
    if (surplus > 0) {
      this.pending.splice(0, surplus);
      this.lost += surplus;
    }
    void this.flush();
  }

  async end(outcome: Outcome): Promise<void> {
    await this.sending;
    for (const wait of [0, ...(this.options.waitsMs ?? [500, 2000])]) {
      if (this.off) return;
      if (wait > 0) await sleep(wait);
      if ((await this.flush()) && (await this.close(outcome))) break;
    }
    const missing = this.pending.length + this.lost;
    if (missing > 0) this.run.warn(`mlflow: ${missing} values were not delivered; metrics.jsonl has all of them`);
  }

  /** Sends what is pending, one delivery at a time. @returns whether nothing is left. */
  private flush(): Promise<boolean> {
    this.sending ??= this.deliver().finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private async deliver(): Promise<boolean> {
    return this.attempt(async () => {
      const runId = await this.open();
      while (this.pending.length > 0) {
        const metrics = this.pending.slice(0, METRICS_A_REQUEST);
        await this.post("runs/log-batch", { run_id: runId, metrics });
        const sent = new Set(metrics);
        this.pending = this.pending.filter((metric) => !sent.has(metric));
      }
    });
  }

  private close(outcome: Outcome): Promise<boolean> {
    return this.attempt(async () => {
      await this.post("runs/update", { run_id: await this.open(), status: STATUS[outcome], end_time: Date.now() });
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
        this.run.warn(`mlflow is off for the rest of this run: ${error.message}`);
      } else if (!this.warned) {
        this.warned = true;
        this.run.warn(`mlflow does not answer (${causeOf(error)}); values are kept and tried again with every step`);
      }
      return false;
    }
  }

  /** The run on the server: the one of this directory where it is resumed, else a new one. */
  private async open(): Promise<string> {
    if (this.runId !== undefined) return this.runId;
    const note = join(this.run.dir, "mlflow.json");
    const { uri, experiment } = this.options;
    const known = this.run.done > 0 ? readNote(note) : undefined;
    if (known !== undefined && known.uri === splitCredentials(uri).address && known.experiment === experiment) {
      await this.post("runs/update", { run_id: known.run_id, status: "RUNNING" });
      this.runId = known.run_id;
      return this.runId;
    }
    const created = (await this.post("runs/create", {
      experiment_id: await this.experimentId(),
      run_name: this.run.name,
      start_time: Date.now(),
      tags: [
        { key: "mlflow.runName", value: this.run.name },
        { key: "mlflow.source.name", value: `refusion-train ${this.run.command}` },
      ],
    })) as { run?: { info?: { run_id?: unknown } } };
    const runId = created.run?.info?.run_id;
    if (typeof runId !== "string") throw new Refusal("runs/create gave no run_id; is this an MLflow server?");
    const params = flatten(this.run.config);
    for (let i = 0; i < params.length; i += PARAMS_A_REQUEST) {
      await this.post("runs/log-batch", { run_id: runId, params: params.slice(i, i + PARAMS_A_REQUEST) });
    }
    await writeAtomic(
      note,
      `${JSON.stringify({ uri: splitCredentials(uri).address, experiment, run_id: runId }, undefined, 2)}\n`,
    );
    this.runId = runId;
    return runId;
  }

  private async experimentId(): Promise<string> {
    const name = this.options.experiment;
    const get = async (): Promise<string | undefined> => {
      const found = (await this.request("GET", `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`, {
        missing: "RESOURCE_DOES_NOT_EXIST",
      })) as { experiment?: { experiment_id?: unknown } } | undefined;
      const id = found?.experiment?.experiment_id;
      return typeof id === "string" ? id : undefined;
    };
    const found = await get();
    if (found !== undefined) return found;
    const created = (await this.request("POST", "experiments/create", {
      body: { name },
      // another run made it in the meantime
      missing: "RESOURCE_ALREADY_EXISTS",
    })) as { experiment_id?: unknown } | undefined;
    const id = created?.experiment_id ?? (await get());
    if (typeof id !== "string")
      throw new Refusal("experiments/create gave no experiment_id; is this an MLflow server?");
    return id;
  }

  private post(path: string, body: object): Promise<unknown> {
    return this.request("POST", path, { body });
  }

  /** @param options.missing an error_code that means "no answer" instead of a failure. */
  private async request(
    method: "GET" | "POST",
    path: string,
    options: { readonly body?: object; readonly missing?: string },
  ): Promise<unknown> {
    const { address, credentials } = splitCredentials(this.options.uri);
    const response = await fetch(`${address}/api/2.0/mlflow/${path}`, {
      method,
      headers: {
        ...(credentials ?? authorization(this.options.env ?? process.env)),
        "content-type": "application/json",
      },
      signal: AbortSignal.timeout(this.options.timeoutMs ?? 5000),
      // a redirect could carry the credentials elsewhere
      redirect: "error",
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await response.text();
    if (response.ok) return parse(text);
    const answer = parse(text) as { error_code?: unknown; message?: unknown } | undefined;
    if (options.missing !== undefined && answer?.error_code === options.missing) return undefined;
    const what = typeof answer?.message === "string" ? answer.message.slice(0, 200) : "no message";
    const message = `${method} ${path.split("?")[0]}: HTTP ${response.status}, ${what}`;
    const passing = response.status >= 500 || response.status === 408 || response.status === 429;
    throw passing ? new Error(message) : new Refusal(message);
  }
}

/** fetch refuses an address with a name and a password, and prints both. */
function splitCredentials(uri: string): { address: string; credentials?: Record<string, string> } {
  const address = uri.replace(/\/+$/, "");
  if (!URL.canParse(address)) return { address };
  const url = new URL(address);
  const { username, password } = url;
  if (username === "" && password === "") return { address };
  url.username = url.password = "";
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  return { address: url.href.replace(/\/+$/, ""), credentials: { authorization } };
}

/** What MLflow's own client reads from the environment. */
function authorization(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password } = env;
  if (token !== undefined && token !== "") return { authorization: `Bearer ${token}` };
  if (user === undefined || user === "") return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}` };
}

/** A config as dotted keys. */
function flatten(value: unknown, path = ""): { key: string; value: string }[] {
  if (isPlainObject(value)) {
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, path === "" ? key : `${path}.${key}`));
  }
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return [{ key: path, value: text.slice(0, PARAM_LENGTH) }];
}

function readNote(path: string): { uri: string; experiment: string; run_id: string } | undefined {
  try {
    const note = parse(readFileSync(path, "utf8")) as Record<string, unknown> | undefined;
    const { uri, experiment, run_id } = note ?? {};
    if (typeof uri !== "string" || typeof experiment !== "string" || typeof run_id !== "string") return undefined;
    return { uri, experiment, run_id };
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** fetch says only "fetch failed": its cause says why. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return messageOf(cause) || String((cause as { code?: unknown }).code ?? cause);
}
