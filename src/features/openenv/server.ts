/**
 * Any environment of ours as an OpenEnv server (PyPI `openenv` 0.10, core/env_server/http_server.py): a WebSocket a
 * session, and what can be asked without one (docs/openenv.md).
 */
import { randomUUID } from "node:crypto";
import { upgradeWebSocket } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { WebSocketServer } from "ws";
import { messageOf } from "../../core/errors.js";
import { hostsOf, ownHostOnly, type Served, serveApp } from "../../core/serve.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";
import type { Answer, ErrorCode } from "./messages.js";
import { type ChooseTask, RemoteSession, TaskError } from "./session.js";

export interface ServeOptions {
  readonly host: string;
  /** Further names that clients call it by. */
  readonly names?: readonly string[];
  /** 0: any free one. */
  readonly port: number;
  /** Sessions at once. */
  readonly sessions: number;
  /** Seconds without a message after which a session is ended; it may hold a browser page. */
  readonly idleSeconds: number;
  readonly version: string;
}

/** OpenEnv's types of our splits, where it has one. */
const TYPES: Readonly<Record<string, string>> = { train: "train", val: "validation", test: "test" };
const LARGEST_MESSAGE = 2 ** 20;

const metadata = { type: "object", additionalProperties: true, default: {} };
const object = (properties: Record<string, object>, required: readonly string[]): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const observation = object(
  {
    done: { type: "boolean", default: false },
    reward: {
      anyOf: [{ type: "number" }, { type: "null" }],
      default: null,
      description: "of the whole episode, at its end",
    },
    metadata,
    text: { type: "string", description: "what is to be seen, as a prompt; empty at the end" },
  },
  ["text"],
);
const SCHEMAS = {
  action: object({ metadata, text: { type: "string", description: "the plan, an action a line" } }, ["text"]),
  observation,
  reset_observation: observation,
  state: {
    type: "object",
    properties: {
      episode_id: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      step_count: { type: "integer", minimum: 0, default: 0 },
    },
    additionalProperties: true,
  },
};

/** Serves it. @throws UserError where the port is taken. */
export async function serveOpenEnv(environment: Environment, options: ServeOptions): Promise<Served> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST_MESSAGE });
  return serveApp(openEnvApp(environment, options), options.port, "OpenEnv server", { host: options.host, sockets });
}

/** Makes the server of an environment as a Hono application. */
export function openEnvApp(environment: Environment, options: ServeOptions): Hono {
  const { name } = environment;
  const app = new Hono();
  const choose = chooser(environment);
  const about = {
    name,
    description: `${environment.tasks.length} tasks of ${name}: a page as a text, a plan as an answer`,
    readme_content: null,
    version: options.version,
    author: null,
    documentation_url: null,
  };
  app.use(ownHostOnly(hostsOf(options.host, options.names)));
  app.use(bodyLimit({ maxSize: LARGEST_MESSAGE, onError: (c) => c.json({ detail: "at most 1 MiB is read" }, 413) }));
  app.get("/health", (c) => c.json({ status: "healthy" }));
  app.get("/metadata", (c) => c.json(about));
  app.get("/schema", (c) => c.json(SCHEMAS));
  app.get("/state", (c) => c.json(new RemoteSession(environment, choose, "").state()));
  for (const path of ["/reset", "/step"])
    app.post(path, (c) => c.json({ detail: "an episode needs a session: use the WebSocket /ws" }, 501));
  addTaskApi(app, environment);
  addSessions(app, environment, choose, options);
  return app;
}

/** Gives what there is to do, by split: reset({split, index}) begins it. */
function addTaskApi(app: Hono, environment: Environment): void {
  const { name, tasks } = environment;
  const spec = (task: EnvironmentTask, index: number): object => ({ id: task.id, index, form: task.form });
  /** Answers with what is made of the tasks of the split that the request names. */
  const ofSplit =
    (make: (specs: object[], body: Record<string, unknown>) => object | undefined) =>
    async (c: Context): Promise<Response> => {
      if (c.req.param("name")?.toLowerCase() !== name.toLowerCase())
        return c.json({ detail: `unknown environment '${c.req.param("name")}'` }, 404);
      const body: unknown = await c.req.json().catch(() => undefined);
      if (body === null || typeof body !== "object" || typeof (body as { split?: unknown }).split !== "string")
        return c.json({ detail: "split: expected a text" }, 422);
      const { split } = body as { split: string };
      const made = make(tasks.filter((task) => task.split === split).map(spec), body as Record<string, unknown>);
      return made === undefined ? c.json({ detail: "Invalid task index" }, 400) : c.json(made);
    };
  const bound = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
  app.get("/list_environments", (c) => c.json([name]));
  app.get("/:name/splits", (c) =>
    c.req.param("name").toLowerCase() === name.toLowerCase()
      ? c.json(
          [...new Set(tasks.map(({ split }) => split))].map((split) => ({
            name: split,
            type: TYPES[split] ?? "validation",
          })),
        )
      : c.json({ detail: `unknown environment '${c.req.param("name")}'` }, 404),
  );
  app.post(
    "/:name/tasks",
    ofSplit((specs) => ({ tasks: specs, env_name: name })),
  );
  app.post(
    "/:name/num_tasks",
    ofSplit((specs) => ({ num_tasks: specs.length })),
  );
  app.post(
    "/:name/task",
    ofSplit((specs, { index }) => {
      const task = typeof index === "number" ? specs.at(index) : undefined;
      return task === undefined ? undefined : { task };
    }),
  );
  app.post(
    "/:name/task_range",
    ofSplit((specs, { start, stop }) => ({ tasks: specs.slice(bound(start), bound(stop)) })),
  );
}

/** By id; by split and index; by split (`train` where none is named) and seed, or the next one. */
function chooser({ tasks }: Environment): ChooseTask {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  let next = 0;
  return ({ task_id: id, split: named, index, seed }) => {
    if (typeof id === "string") {
      const task = byId.get(id);
      if (task === undefined) throw new TaskError("VALIDATION_ERROR", `task_id: there is no task ${id}`);
      return task;
    }
    for (const [key, value] of Object.entries({ index, seed }))
      if (value !== undefined && value !== null && (!Number.isInteger(value) || Number(value) < 0))
        throw new TaskError("VALIDATION_ERROR", `${key}: expected an integer of at least 0`);
    const split = named ?? "train";
    const there = tasks.filter((task) => task.split === split);
    const task =
      typeof index === "number" ? there[index] : there[(typeof seed === "number" ? seed : next++) % there.length];
    if (task === undefined)
      throw new TaskError("VALIDATION_ERROR", `there is no task ${index ?? ""} in the split ${String(split)}`);
    return task;
  };
}

function addSessions(app: Hono, environment: Environment, choose: ChooseTask, options: ServeOptions): void {
  let open = 0;
  const failure = (code: ErrorCode, message: string): string =>
    JSON.stringify({ type: "error", data: { code, message } } satisfies Answer);
  app.get(
    "/ws",
    upgradeWebSocket(() => {
      let session: RemoteSession | undefined;
      let idle: NodeJS.Timeout | undefined;
      let busy: Promise<unknown> = Promise.resolve();
      const end = (): void => {
        clearTimeout(idle);
        if (session === undefined) return;
        session.end();
        session = undefined;
        open--;
      };
      return {
        onOpen: (_, socket) => {
          if (open >= options.sessions) {
            socket.send(failure("CAPACITY_REACHED", `all ${options.sessions} sessions are in use`));
            return socket.close(1013);
          }
          session = new RemoteSession(environment, choose, randomUUID());
          open++;
          idle = setTimeout(() => {
            socket.send(failure("SESSION_ERROR", `nothing was asked for ${options.idleSeconds} s`));
            socket.close(1001);
          }, options.idleSeconds * 1000);
        },
        onMessage: ({ data }, socket) => {
          const text = typeof data === "string" ? data : undefined;
          // one after the other, as they came
          busy = busy.then(async () => {
            if (session === undefined) return;
            idle?.refresh();
            const answer =
              text === undefined
                ? failure("INVALID_JSON", "the message is no text")
                : await session.answer(text).then(
                    (given) => given && JSON.stringify(given),
                    (error: unknown) => failure("EXECUTION_ERROR", messageOf(error)),
                  );
            idle?.refresh();
            if (answer !== undefined) return socket.send(answer);
            // its place is free before the client hears that it is
            end();
            socket.close(1000);
          });
        },
        onClose: end,
        onError: end,
      };
    }),
  );
}
