import type { AddressInfo, Server } from "node:net";
import { createAdaptorServer, type WebSocketServerLike } from "@hono/node-server";
import type { Hono } from "hono";
import type { WebSocketServer } from "ws";
import { messageOf, UserError } from "./errors.js";

/** A server that is up. */
export interface Served {
  /** Origin without a trailing slash. */
  readonly baseUrl: string;
  /** Ends it and its connections; a second call waits for the first. */
  stop(): Promise<void>;
}

/** Where a server listens, and what takes its WebSockets (`upgradeWebSocket` of @hono/node-server). */
export interface ServeOptions {
  readonly host?: string;
  readonly sockets?: WebSocketServer;
}

/**
 * Serves an application, on the loopback interface unless another host is named.
 * @param port 0: any free port.
 * @param what whose it is, for the error.
 * @throws UserError where the port is taken or may not be used.
 */
export async function serveApp(
  app: Hono,
  port: number,
  what: string,
  { host = "127.0.0.1", sockets }: ServeOptions = {},
): Promise<Served> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    ...(sockets === undefined ? {} : { websocket: { server: sockets as WebSocketServer & WebSocketServerLike } }),
  });
  try {
    await listen(server, port, host);
  } catch (error) {
    throw new UserError(`${what}: cannot listen on ${host}:${port}: ${messageOf(error)}`, {
      hint: "Free that port, name another one, or leave port at 0 to take any free one.",
      cause: error,
    });
  }
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets?.clients ?? []) socket.terminate();
      // a browser keeps its connections open: without this, close would wait for it
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
  return {
    baseUrl: `http://${host}:${(server.address() as AddressInfo).port}`,
    stop: () => (stopped ??= close()),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      // a connection that cannot be accepted (too many open files) is no reason to end the process
      server.on("error", () => undefined);
      resolve();
    });
  });
}
