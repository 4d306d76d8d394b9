import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface Stored {
  readonly experiment: string;
  readonly name: string;
  status: string;
  endTime: number | undefined;
  readonly params: Map<string, string>;
  readonly metrics: { key: string; value: number; timestamp: number; step: number }[];
}

/** An HTTP server with the part of MLflow's REST contract that a tracker uses, limits and error codes included. */
export interface MlflowServer {
  readonly uri: string;
  readonly runs: Map<string, Stored>;
  readonly experiments: Map<string, string>;
  /** Authorization headers, as they came. */
  readonly authorizations: (string | undefined)[];
  /** Answers the next requests with this status and no other effect. */
  fail(status: number, times: number): void;
  requests: number;
  stop(): Promise<void>;
}

class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

type Body = Record<string, unknown>;

export async function serveMlflow(): Promise<MlflowServer> {
  const runs = new Map<string, Stored>();
  const experiments = new Map<string, string>();
  const authorizations: (string | undefined)[] = [];
  let failing = { status: 500, times: 0 };

  const text = (body: Body, key: string): string => {
    const value = body[key];
    if (typeof value !== "string" || value === "")
      throw new ApiError(400, "INVALID_PARAMETER_VALUE", `Missing value for required parameter '${key}'`);
    return value;
  };
  const list = (body: Body, key: string, limit: number): Body[] => {
    const value = body[key] ?? [];
    if (!Array.isArray(value) || value.length > limit)
      throw new ApiError(400, "INVALID_PARAMETER_VALUE", `'${key}' may hold ${limit}`);
    return value as Body[];
  };
  const runOf = (body: Body): Stored => {
    const run = runs.get(text(body, "run_id"));
    if (run === undefined) throw new ApiError(404, "RESOURCE_DOES_NOT_EXIST", "Run not found");
    return run;
  };

  const routes: Record<string, (body: Body, query: URLSearchParams) => unknown> = {
    "GET experiments/get-by-name": (_, query) => {
      const id = experiments.get(query.get("experiment_name") ?? "");
      if (id === undefined) throw new ApiError(404, "RESOURCE_DOES_NOT_EXIST", "Could not find experiment");
      return { experiment: { experiment_id: id, name: query.get("experiment_name") } };
    },
    "POST experiments/create": (body) => {
      const name = text(body, "name");
      if (experiments.has(name)) throw new ApiError(400, "RESOURCE_ALREADY_EXISTS", "Experiment exists");
      experiments.set(name, String(experiments.size + 1));
      return { experiment_id: experiments.get(name) };
    },
    "POST runs/create": (body) => {
      const experiment = text(body, "experiment_id");
      if (![...experiments.values()].includes(experiment))
        throw new ApiError(404, "RESOURCE_DOES_NOT_EXIST", "No experiment");
      const id = `run${runs.size + 1}`;
      const name = text(body, "run_name");
      runs.set(id, { experiment, name, status: "RUNNING", endTime: undefined, params: new Map(), metrics: [] });
      return { run: { info: { run_id: id, experiment_id: experiment, status: "RUNNING" }, data: {} } };
    },
    "POST runs/log-batch": (body) => {
      const run = runOf(body);
      const [metrics, params] = [list(body, "metrics", 1000), list(body, "params", 100)];
      for (const { key, value, timestamp, step } of metrics) {
        if (typeof key !== "string" || !/^[\w\-./: ]{1,250}$/.test(key))
          throw new ApiError(400, "INVALID_PARAMETER_VALUE", "Invalid metric name");
        if (typeof value !== "number" || !Number.isInteger(timestamp) || !Number.isInteger(step))
          throw new ApiError(400, "INVALID_PARAMETER_VALUE", "Got invalid value for metric");
        run.metrics.push({ key, value, timestamp: timestamp as number, step: step as number });
      }
      for (const { key, value } of params) {
        if (typeof key !== "string" || typeof value !== "string" || value.length > 500)
          throw new ApiError(400, "INVALID_PARAMETER_VALUE", "Invalid param");
        if ((run.params.get(key) ?? value) !== value)
          throw new ApiError(400, "INVALID_PARAMETER_VALUE", "Changing param values is not allowed");
        run.params.set(key, value);
      }
      return {};
    },
    "POST runs/update": (body) => {
      const run = runOf(body);
      const status = text(body, "status");
      if (!["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"].includes(status))
        throw new ApiError(400, "INVALID_PARAMETER_VALUE", "Invalid status");
      run.status = status;
      run.endTime = body.end_time as number | undefined;
      return { run_info: { run_id: body.run_id, status } };
    },
  };

  const answer = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    state.requests++;
    authorizations.push(request.headers.authorization);
    if (failing.times > 0) {
      failing.times--;
      return { status: failing.status, body: { error_code: "PERMISSION_DENIED", message: "not now" } };
    }
    const url = new URL(request.url ?? "/", "http://localhost");
    const route = routes[`${request.method} ${url.pathname.replace("/api/2.0/mlflow/", "")}`];
    if (route === undefined) return { status: 404, body: { error_code: "ENDPOINT_NOT_FOUND" } };
    try {
      const raw = Buffer.concat(chunks).toString("utf8");
      return { status: 200, body: route(raw === "" ? {} : (JSON.parse(raw) as Body), url.searchParams) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, body: { error_code: error.code, message: error.message } };
    }
  };
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const state: MlflowServer = {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    experiments,
    authorizations,
    fail: (status, times) => {
      failing = { status, times };
    },
    requests: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return state;
}
