/**
 * Offers any of our environments as an OpenEnv server (PyPI `openenv` 0.10, core/env_server/http_server.py): one
 * WebSocket per session, tools also by JSON-RPC, and routes without a session (docs/environments.md).
 */
import { upgradeWebSocket } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { WebSocketServer } from "ws";
import { failedRequest, hostsOf, ownHostOnly, type Served, serveApp } from "../../core/serve.js";
import type { Environment } from "../../env/environment.js";
import { type ErrorCode, SCHEMAS } from "./messages.js";
import { failure, RemoteSession } from "./session.js";
import { FULL, rpc, type Sessions, sessionsOf } from "./sessions.js";
import { addTaskApi, chooser } from "./tasks.js";

export interface ServeOptions {
  readonly host: string;
  /** Further host names that clients may use. */
  readonly allowHost?: readonly string[];
  /** 0: any free port. */
  readonly port: number;
  /** Most concurrent sessions. */
  readonly sessions: number;
  /** Seconds without a message after which a session is ended, as it may hold a browser page. */
  readonly idle: number;
}

const LARGEST_MESSAGE = 2 ** 20;
/** The version that OpenEnv's own servers name. */
const VERSION = "1.0.0";
const OWNER = "OpenEnv server";

/** Starts the server. @throws UserError if the port is taken. */
export async function serveOpenEnv(
  environment: Environment,
  { host, allowHost, port, sessions: most, idle }: ServeOptions,
): Promise<Served> {
  const { name, tasks } = environment;
  const app = new Hono();
  const choose = chooser(environment);
  const sessions = sessionsOf((id) => new RemoteSession(environment, choose, id), most, idle);
  const description = `${tasks.length} tasks of ${name}: a page as a text, a plan as an answer, or named tools`;
  app.onError(failedRequest(OWNER));
  app.use(ownHostOnly(hostsOf(host, allowHost)));
  app.use(bodyLimit({ maxSize: LARGEST_MESSAGE, onError: (c) => c.json({ detail: "at most 1 MiB is read" }, 413) }));
  app.get("/health", (c) => c.json({ status: "healthy" }));
  app.get("/metadata", (c) => c.json({ name, description, version: VERSION }));
  app.get("/schema", (c) => c.json(SCHEMAS));
  app.get("/state", (c) => c.json({ episode_id: null, step_count: 0 }));
  for (const path of ["/reset", "/step"])
    app.post(path, (c) => c.json({ detail: "an episode needs a session: use the WebSocket /ws" }, 501));
  app.post("/mcp", async (c) => c.json(await rpc(await c.req.json().catch(() => undefined), sessions)));
  addTaskApi(app, environment);
  addSocket(app, sessions);
  app.get("/openapi.json", (c) => c.json(openApi(name, app)));
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST_MESSAGE });
  return serveApp(app, port, OWNER, { host, sockets });
}

/** Describes an application's paths as OpenAPI. */
function openApi(title: string, { routes }: Hono): object {
  const operations = routes.flatMap(({ method, path }) => {
    const operation = { [method.toLowerCase()]: { responses: { 200: { description: "OK" } } } };
    return method === "ALL" ? [] : [[path.replace(/:(\w+)/g, "{$1}"), operation]];
  });
  return { openapi: "3.1.0", info: { title, version: VERSION }, paths: Object.fromEntries(operations) };
}

/** Adds /ws: a socket has its own session, which ends with it, or joins the one named in its address. */
function addSocket(app: Hono, sessions: Sessions): void {
  app.get(
    "/ws",
    upgradeWebSocket((c) => {
      const joined = c.req.query("session_id");
      let session: RemoteSession | undefined;
      const leave = (): void => {
        if (session !== undefined && joined === undefined) sessions.end(session.id);
        session = undefined;
      };
      return {
        onOpen: (_, socket) => {
          const refuse = (code: ErrorCode, message: string, closing: number): void => {
            socket.send(JSON.stringify(failure(code, message)));
            socket.close(closing);
          };
          session = joined === undefined ? sessions.create() : sessions.find(joined);
          if (session !== undefined) session.onIdle = (why) => refuse("SESSION_ERROR", why, 1001);
          else if (joined === undefined) refuse("CAPACITY_REACHED", FULL, 1013);
          else refuse("SESSION_ERROR", `Unknown session_id: ${joined}`, 1008);
        },
        onMessage: async ({ data }, socket) => {
          try {
            const answer = session && (await session.answer(typeof data === "string" ? data : ""));
            if (session === undefined) return;
            sessions.find(session.id);
            if (answer !== undefined) return socket.send(JSON.stringify(answer));
            // the place is freed before the client is answered
            leave();
            socket.close(1000);
          } catch {
            // an answer that JSON cannot hold ends this session, not the server
            leave();
            socket.close(1011);
          }
        },
        onClose: leave,
        onError: leave,
      };
    }),
  );
}
