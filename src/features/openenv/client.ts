import { WebSocket } from "ws";
import { messageOf } from "../../core/errors.js";
import { EnvironmentFault } from "../../env/browser/browser.js";
import { answer, type Result } from "./messages.js";

/** The server said that something failed: its own code, never a reward. */
export class OpenEnvError extends EnvironmentFault {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(`${code}: ${message}`);
  }
}

/** A message may be a whole page with its pictures. */
const LARGEST_MESSAGE = 100 * 2 ** 20;
const CLOSE_PATIENCE_MS = 2000;

/** One connection to an OpenEnv server, which is one environment there. */
export class OpenEnvConnection {
  private readonly heard: string[] = [];
  private ended: string | undefined;
  /** Set once the socket was open: a server without a free place says so and hangs up. */
  private opened = false;
  private wake = (): void => undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly timeoutMs: number,
  ) {
    socket.on("open", () => {
      this.opened = true;
      this.wake();
    });
    socket.on("message", (data) => {
      this.heard.push(String(data));
      this.wake();
    });
    socket.on("close", (code, reason) => {
      this.ended ??= `the connection was closed (${code}${reason.length > 0 ? ` ${reason.toString()}` : ""})`;
      this.wake();
    });
    socket.on("error", (error) => {
      this.ended ??= messageOf(error);
      this.wake();
    });
  }

  /**
   * @param baseUrl of the server, `http:` or `https:`.
   * @param timeoutMs how long an answer may take.
   * @throws EnvironmentFault where nobody answers.
   */
  static async open(baseUrl: string, timeoutMs: number): Promise<OpenEnvConnection> {
    const url = new URL("ws", baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, { handshakeTimeout: timeoutMs, maxPayload: LARGEST_MESSAGE });
    const connection = new OpenEnvConnection(socket, timeoutMs);
    await connection.until(() => connection.opened, "connection");
    return connection;
  }

  /** Begins an episode. @throws OpenEnvError, EnvironmentFault */
  reset(data: Readonly<Record<string, unknown>>): Promise<Result> {
    return this.ask({ type: "reset", data }, "observation") as Promise<Result>;
  }

  /** @throws OpenEnvError, EnvironmentFault */
  step(action: Readonly<Record<string, unknown>>): Promise<Result> {
    return this.ask({ type: "step", data: action }, "observation") as Promise<Result>;
  }

  /** @throws OpenEnvError, EnvironmentFault */
  state(): Promise<Record<string, unknown>> {
    return this.ask({ type: "state" }, "state") as Promise<Record<string, unknown>>;
  }

  /** Says goodbye, and waits for the other side: its place is free for another connection then. */
  async close(): Promise<void> {
    const { socket } = this;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "close" }));
    const closed = new Promise<void>((resolve) => {
      if (socket.readyState === WebSocket.CLOSED) resolve();
      else socket.once("close", () => resolve());
    });
    const timer = setTimeout(() => socket.terminate(), CLOSE_PATIENCE_MS);
    await closed;
    clearTimeout(timer);
  }

  private async ask(message: object, type: "observation" | "state"): Promise<unknown> {
    // an answer that came too late for its question must not be taken for the next one's
    if (this.heard.length === 0 && this.ended === undefined) this.socket.send(JSON.stringify(message));
    await this.until(() => this.heard.length > 0, "answer");
    const text = this.heard.shift() as string;
    const parsed = answer.safeParse(asJson(text));
    if (!parsed.success) throw new EnvironmentFault(`the server's answer is none of OpenEnv's: ${text.slice(0, 200)}`);
    if (parsed.data.type === "error") throw new OpenEnvError(parsed.data.data.code, parsed.data.data.message);
    if (parsed.data.type !== type) throw new EnvironmentFault(`the server answered with ${parsed.data.type}`);
    return parsed.data.data;
  }

  private async until(come: () => boolean, what: string): Promise<void> {
    const end = performance.now() + this.timeoutMs;
    while (!come()) {
      const left = end - performance.now();
      if (this.ended !== undefined || left <= 0) {
        this.socket.terminate();
        throw new EnvironmentFault(this.ended ?? `no ${what} within ${this.timeoutMs / 1000} s`);
      }
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        timer = setTimeout(resolve, left);
      });
      clearTimeout(timer);
    }
  }
}

/** Parses JSON. @returns undefined where it is no JSON. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
