import { type Context, Hono } from "hono";
import { serveApp } from "../../../src/core/serve.js";

interface Stored {
  readonly experiment: string;
  readonly name: string;
  status: string;
  endTime: number | undefined;
  readonly params: Map<string, string>;
  readonly metrics: { key: string; value: number; timestamp: number; step: number }[];
}

export type MlflowServer = Awaited<ReturnType<typeof serveMlflow>>;

class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const invalid = (message: string): never => {
  throw new ApiError(400, "INVALID_PARAMETER_VALUE", message);
};
const missing = (what: string): never => {
  throw new ApiError(404, "RESOURCE_DOES_NOT_EXIST", `${what} not found`);
};

type Body = Record<string, unknown>;

const text = (body: Body, key: string): string => {
  const value = body[key];
  return typeof value === "string" && value !== "" ? value : invalid(`Missing value for required parameter '${key}'`);
};
const list = (body: Body, key: string, limit: number): Body[] => {
  const value = body[key] ?? [];
  return Array.isArray(value) && value.length <= limit ? value : invalid(`'${key}' may hold ${limit}`);
};

/** An HTTP server with the part of MLflow's REST contract that a tracker uses, limits and error codes included. */
export async function serveMlflow() {
  const [runs, experiments] = [new Map<string, Stored>(), new Map<string, string>()];
  /** Headers, as they came. */
  const authorizations: (string | undefined)[] = [];
  let failing = { status: 500, times: 0 };
  const runOf = (body: Body): Stored => runs.get(text(body, "run_id")) ?? missing("Run");
  const error = (c: Context, status: number, error_code: string, message: string): Response =>
    c.json({ error_code, message }, status as 400);

  const app = new Hono().basePath("/api/2.0/mlflow");
  app.onError((thrown, c) => {
    if (!(thrown instanceof ApiError)) throw thrown;
    return error(c, thrown.status, thrown.code, thrown.message);
  });
  app.use(async (c, next) => {
    state.requests++;
    authorizations.push(c.req.header("authorization"));
    if (failing.times-- > 0) return error(c, failing.status, "PERMISSION_DENIED", "not now");
    return next();
  });
  const post = (path: string, answer: (body: Body) => object): void =>
    void app.post(path, async (c) => c.json(answer(await c.req.json())));

  app.get("/experiments/get-by-name", (c) => {
    const name = c.req.query("experiment_name") ?? "";
    return c.json({ experiment: { experiment_id: experiments.get(name) ?? missing("Experiment"), name } });
  });
  post("/experiments/create", (body) => {
    const name = text(body, "name");
    if (experiments.has(name)) throw new ApiError(400, "RESOURCE_ALREADY_EXISTS", "Experiment exists");
    experiments.set(name, String(experiments.size + 1));
    return { experiment_id: experiments.get(name) };
  });
  post("/runs/create", (body) => {
    const [experiment, name] = [text(body, "experiment_id"), text(body, "run_name")];
    if (![...experiments.values()].includes(experiment)) missing("Experiment");
    const run_id = `run${runs.size + 1}`;
    runs.set(run_id, { experiment, name, status: "RUNNING", endTime: undefined, params: new Map(), metrics: [] });
    return { run: { info: { run_id, experiment_id: experiment, status: "RUNNING" }, data: {} } };
  });
  post("/runs/log-batch", (body) => {
    const run = runOf(body);
    for (const { key, value, timestamp, step } of list(body, "metrics", 1000)) {
      if (typeof key !== "string" || !/^[\w\-./: ]{1,250}$/.test(key)) return invalid("Invalid metric name");
      if (typeof value !== "number" || !Number.isInteger(timestamp) || !Number.isInteger(step))
        return invalid("Got invalid value for metric");
      run.metrics.push({ key, value, timestamp: timestamp as number, step: step as number });
    }
    for (const { key, value } of list(body, "params", 100)) {
      if (typeof key !== "string" || typeof value !== "string" || value.length > 500) return invalid("Invalid param");
      if ((run.params.get(key) ?? value) !== value) invalid("Changing param values is not allowed");
      run.params.set(key, value);
    }
    return {};
  });
  post("/runs/update", (body) => {
    const [run, status] = [runOf(body), text(body, "status")];
    if (!["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"].includes(status)) invalid("Invalid status");
    Object.assign(run, { status, endTime: body.end_time });
    return { run_info: { run_id: body.run_id, status } };
  });

  const served = await serveApp(app, 0, "MLflow");
  const state = {
    ...{ uri: served.baseUrl, stop: served.stop, runs, experiments, authorizations, requests: 0 },
    /** Answers the next requests with this status and no other effect. */
    fail: (status: number, times: number): void => {
      failing = { status, times };
    },
  };
  return state;
}
