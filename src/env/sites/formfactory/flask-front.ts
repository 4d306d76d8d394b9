import { type Context, Hono } from "hono";
import { type Served, serveApp } from "../../../core/serve.js";
import { type FlaskOptions, FlaskWorker } from "./flask.js";

export interface FrontOptions extends FlaskOptions {
  /** Flask processes; each serves one request at a time. */
  readonly workers: number;
  readonly port: number;
}

const TIMEOUT_MS = 20_000;
/** Headers that belong to one connection, or to a body that fetch has decoded already. */
const HOP_HEADERS = ["connection", "keep-alive", "host", "content-length", "content-encoding", "transfer-encoding"];

/**
 * One address in front of several Flask processes. Each process gets one request at a time: app.py rewrites a whole file
 * at every post, and answers 500 or loses rows where two overlap.
 */
export async function serveFlask(options: FrontOptions): Promise<Served> {
  const pool = await FlaskPool.start(options);
  const app = new Hono();
  app.all("*", (c) => pool.use((worker) => forward(c, worker)));
  app.onError((error, c) => c.json({ error: `FormFactory's own server: ${error.message}` }, 502));
  try {
    const served = await serveApp(app, options.port, "formfactory site");
    return {
      baseUrl: served.baseUrl,
      stop: async () => {
        await served.stop();
        await pool.stop();
      },
    };
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

async function forward(c: Context, worker: FlaskWorker): Promise<Response> {
  const { pathname, search } = new URL(c.req.url);
  const headers = without(c.req.raw.headers);
  const method = c.req.method;
  const body = method === "GET" || method === "HEAD" ? null : await c.req.arrayBuffer();
  const response = await fetch(`${worker.baseUrl}${pathname}${search}`, {
    method,
    headers,
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return new Response(await response.arrayBuffer(), { status: response.status, headers: without(response.headers) });
}

function without(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of HOP_HEADERS) kept.delete(name);
  return kept;
}

/** Flask processes, each lent to one request at a time; one that has died is replaced when it is next needed. */
class FlaskPool {
  private readonly waiting: ((worker: FlaskWorker) => void)[] = [];
  private stopping = false;

  private constructor(
    private readonly options: FlaskOptions,
    private readonly all: Set<FlaskWorker>,
    private readonly idle: FlaskWorker[],
  ) {}

  static async start(options: FrontOptions): Promise<FlaskPool> {
    const started = await Promise.allSettled(Array.from({ length: options.workers }, () => FlaskWorker.start(options)));
    const workers = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const failed = started.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      await Promise.all(workers.map((worker) => worker.stop()));
      throw failed.reason;
    }
    return new FlaskPool(options, new Set(workers), [...workers]);
  }

  async use(work: (worker: FlaskWorker) => Promise<Response>): Promise<Response> {
    let worker = this.idle.pop() ?? (await new Promise<FlaskWorker>((resolve) => this.waiting.push(resolve)));
    try {
      if (!worker.alive && !this.stopping) worker = await this.replace(worker);
      return await work(worker);
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.idle.push(worker);
      else next(worker);
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all([...this.all].map((worker) => worker.stop()));
  }

  private async replace(dead: FlaskWorker): Promise<FlaskWorker> {
    await dead.stop();
    const fresh = await FlaskWorker.start(this.options);
    this.all.delete(dead);
    this.all.add(fresh);
    if (this.stopping) await fresh.stop();
    return fresh;
  }
}
