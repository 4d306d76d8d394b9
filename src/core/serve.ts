import { type AddressInfo, isIP, type Server } from "node:net";
import { hostname } from "node:os";
import { createAdaptorServer, type WebSocketServerLike } from "@hono/node-server";
import type { ErrorHandler, Hono, MiddlewareHandler } from "hono";
import type { WebSocketServer } from "ws";
import { fail, messageOf } from "./errors.js";
import { printable } from "./shown.js";

/** A running server. */
export interface Served {
  /** Origin without a trailing slash. */
  readonly baseUrl: string;
  /** Stops it and its connections; a second call waits for the first. */
  stop(): Promise<void>;
}

/** The address where a server listens, and its WebSocket handler (`upgradeWebSocket` of @hono/node-server). */
export interface ServeOptions {
  readonly host?: string;
  readonly sockets?: WebSocketServer;
}

/**
 * Serves an application, on the loopback interface unless another host is named.
 * @param port 0: any free port.
 * @param what the server's owner, for the error.
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
    fail(`${what}: cannot listen on ${host}:${port}: ${messageOf(error)}`, {
      hint: "Free that port, name another one, or leave port at 0 to take any free one.",
      cause: error,
    });
  }
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets?.clients ?? []) socket.terminate();
      // browsers hold their connections open: without this, close would wait for them
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
  return {
    baseUrl: `http://${host}:${(server.address() as AddressInfo).port}`,
    stop: () => (stopped ??= close()),
  };
}

/**
 * Answers a request that failed, as where its client left in the middle, with status 500 and one line on stderr. A
 * refusal of Hono's, as 401 of its bearer tokens, is answered as it is.
 * @param what the server, for that line.
 */
export function failedRequest(what: string): ErrorHandler {
  return (error, c) => {
    if ("getResponse" in error) return error.getResponse();
    process.stderr.write(`${printable(`${what}: ${c.req.method} ${c.req.path}: ${messageOf(error)}`)}\n`);
    return c.text("The request failed.\n", 500);
  };
}

/**
 * Refuses requests under a foreign host name (DNS rebinding), and those from pages of other origins.
 * @param own tells whether a Host header is the server's.
 */
export function ownHostOnly(own: (host: string) => boolean): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header("host") ?? "";
    const origin = c.req.header("origin");
    if (own(host) && (origin === undefined || origin === `http://${host}`)) return next();
    return c.text(
      `${host === "" ? "A request without Host" : host} is not served here, nor are pages of others.\n`,
      403,
    );
  };
}

/**
 * Returns a test for the Host headers of a server: `localhost` and its addresses; on a public address also any IP
 * address (only a name can be rebound), this machine's name and the address that the server listens on.
 */
export function hostsOf(listensOn: string, others: readonly string[] = []): (host: string) => boolean {
  const names = new Set(["localhost", "127.0.0.1", "::1", listensOn, ...others].map((name) => name.toLowerCase()));
  const local = ["localhost", "127.0.0.1", "::1"].includes(listensOn);
  if (!local) names.add(hostname().toLowerCase());
  return (host) => {
    if (!URL.canParse(`http://${host}`)) return false;
    const name = new URL(`http://${host}`).hostname.replace(/^\[(.*)\]$/, "$1");
    return names.has(name) || (!local && isIP(name) !== 0);
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      // a connection that cannot be accepted (too many open files) must not end the process
      server.on("error", () => undefined);
      resolve();
    });
  });
}
