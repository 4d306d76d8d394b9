import type { AddressInfo, Server } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import { messageOf, UserError } from "./errors.js";

/** A server on the loopback interface. */
export interface Served {
  /** Origin without a trailing slash. */
  readonly baseUrl: string;
  /** Ends it and its connections; a second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Serves an application on the loopback interface.
 * @param port 0: any free port.
 * @param what whose it is, for the error.
 * @throws UserError where the port is taken or may not be used.
 */
export async function serveApp(app: Hono, port: number, what: string): Promise<Served> {
  const server = createAdaptorServer({ fetch: app.fetch });
  try {
    await listen(server, port);
  } catch (error) {
    throw new UserError(`${what}: cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, {
      hint: "Free that port, name another one, or leave port at 0 to take any free one.",
      cause: error,
    });
  }
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      // a browser keeps its connections open: without this, close would wait for it
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => (stopped ??= close()),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      // a connection that cannot be accepted (too many open files) is no reason to end the process
      server.on("error", () => undefined);
      resolve();
    });
  });
}
