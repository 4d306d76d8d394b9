import { on, once } from "node:events";
import { WebSocket } from "ws";
import { messageOf } from "../../core/errors.js";
import { within } from "../../core/within.js";
import { EnvironmentFault } from "../../env/browser/browser.js";
import { answer, type Result } from "./messages.js";

/** Largest message in bytes: it may be a whole page with pictures. */
const LARGEST_MESSAGE = 100 * 2 ** 20;
const CLOSE_PATIENCE_MS = 2000;

/** One connection to an OpenEnv server, which gives it one environment. */
export class OpenEnvConnection {
  /** Received messages, unrequested ones included, such as those of a server at its capacity. */
  private readonly messages: AsyncIterator<unknown[]>;

  private constructor(
    private readonly socket: WebSocket,
    private readonly timeoutMs: number,
  ) {
    this.messages = on(socket, "message", { close: ["close"] });
  }

  /**
   * @param baseUrl of the server, `http:` or `https:`.
   * @param timeoutMs time limit of an answer, in milliseconds.
   * @throws EnvironmentFault if the server does not answer.
   */
  static async open(baseUrl: string, timeoutMs: number): Promise<OpenEnvConnection> {
    const url = new URL("ws", baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, { handshakeTimeout: timeoutMs, maxPayload: LARGEST_MESSAGE });
    const connection = new OpenEnvConnection(socket, timeoutMs);
    await connection.soon(once(socket, "open"), "connection");
    return connection;
  }

  /** Closes the connection, and waits for the server, so that its place is free for another connection. */
  async close(): Promise<void> {
    const { socket } = this;
    if (socket.readyState === WebSocket.CLOSED) return;
    const closed = once(socket, "close");
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "close" }));
    if (!(await within(closed, CLOSE_PATIENCE_MS))) socket.terminate();
  }

  /**
   * Sends a reset or a step, and waits for its result.
   * @throws EnvironmentFault, with the server's error code if it reports one.
   */
  async ask(type: "reset" | "step", data: Readonly<Record<string, unknown>>): Promise<Result> {
    this.socket.send(JSON.stringify({ type, data }));
    const { value, done } = await this.soon(this.messages.next(), "answer");
    if (done === true) throw new EnvironmentFault("the connection was closed");
    const text = String(value[0]);
    const parsed = answer.safeParse(asJson(text));
    if (!parsed.success) throw new EnvironmentFault(`the server's answer is none of OpenEnv's: ${text.slice(0, 200)}`);
    const { data: given } = parsed;
    if (given.type === "observation") return given.data;
    throw new EnvironmentFault(given.type === "error" ? `${given.data.code}: ${given.data.message}` : "no observation");
  }

  /** Waits for the server. A timeout ends the connection: a late message would be taken for the next answer. */
  private async soon<T>(coming: Promise<T>, what: string): Promise<T> {
    const settled = await within(coming, this.timeoutMs);
    try {
      if (!settled) throw new Error(`no ${what} within ${this.timeoutMs / 1000} s`);
      return await coming;
    } catch (error) {
      this.socket.terminate();
      throw new EnvironmentFault(messageOf(error));
    }
  }
}

/** Parses JSON. @returns undefined for malformed JSON. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
