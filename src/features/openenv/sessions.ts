import { randomUUID } from "node:crypto";
import { z } from "zod";
import { messageOf } from "../../core/errors.js";
import type { RemoteSession } from "./session.js";
import { TOOLS, ToolError } from "./tools.js";

export const FULL = "all sessions are in use";

export type Sessions = ReturnType<typeof sessionsOf>;

/**
 * Manages the sessions of a server; idle ones are ended.
 * @param most concurrent sessions.
 */
export function sessionsOf(make: (id: string) => RemoteSession, most: number, idleSeconds: number) {
  const open = new Map<string, { readonly session: RemoteSession; readonly idle: NodeJS.Timeout }>();
  const end = (id: string): void => {
    const found = open.get(id);
    clearTimeout(found?.idle);
    found?.session.close();
    open.delete(id);
  };
  return {
    end,
    /** @returns a new session; undefined if all are in use. */
    create(): RemoteSession | undefined {
      if (open.size >= most) return undefined;
      const session = make(randomUUID());
      const idle = setTimeout(() => {
        session.onIdle(`nothing was asked for ${idleSeconds} s`);
        end(session.id);
      }, idleSeconds * 1000);
      // an open session must not keep the process alive
      open.set(session.id, { session, idle: idle.unref() });
      return session;
    },
    /** Finds a session, and restarts its idle time. */
    find(id: string): RemoteSession | undefined {
      const found = open.get(id);
      found?.idle.refresh();
      return found?.session;
    },
  };
}

const call = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string(),
  params: z
    .object({
      session_id: z.string().default(""),
      name: z.string().default(""),
      arguments: z.record(z.string(), z.unknown()).default({}),
    })
    .prefault({}),
});

/**
 * Answers JSON-RPC at /mcp as OpenEnv's servers do: creates and closes sessions, calls their tools, without rewards.
 * @param given the request's body; undefined if it is malformed JSON.
 */
export async function rpc(given: unknown, sessions: Sessions): Promise<object> {
  const parsed = call.safeParse(given);
  const head = { jsonrpc: "2.0", id: parsed.data?.id ?? null };
  const done = (result: object): object => ({ ...head, result });
  const failed = (code: number, message: string): object => ({ ...head, error: { code, message } });
  if (!parsed.success) return failed(-32600, z.prettifyError(parsed.error));
  const { method, params } = parsed.data;
  if (method === "tools/list")
    return done({ tools: TOOLS.map(({ input_schema: inputSchema, ...tool }) => ({ ...tool, inputSchema })) });
  const creates = method === "openenv/session/create";
  const session = creates ? sessions.create() : sessions.find(params.session_id);
  if (session === undefined)
    return creates ? failed(-32000, FULL) : failed(-32602, `Unknown session_id: ${params.session_id}`);
  if (creates) return done({ session_id: session.id });
  if (method === "openenv/session/close") {
    sessions.end(session.id);
    return done({ session_id: session.id, closed: true });
  }
  if (method !== "tools/call") return failed(-32601, `Method not found: ${method}`);
  try {
    return done(await session.call(params.name, params.arguments));
  } catch (error) {
    return failed(error instanceof ToolError ? -32602 : -32603, messageOf(error));
  }
}
