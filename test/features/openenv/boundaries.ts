import assert from "node:assert/strict";
import { on, once } from "node:events";
import fc from "fast-check";
import { WebSocket } from "ws";
import { serveOpenEnv } from "../../../src/features/openenv/server.js";
import type { Boundaries } from "../../support/boundary.js";
import { echoEnvironment } from "../../support/echo.js";
import { mutatedJsonText } from "../../support/mutations.js";

const params = { session_id: "x", name: "a", arguments: { a: 1 } };
const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
const STEPS = [
  { text: "fill Name | library" },
  { type: "list_tools" },
  { type: "call_tool", tool_name: "fill_field", arguments: { label: "Name", value: "library" } },
  { type: "call_tool", tool_name: "submit" },
];
const MESSAGES = [
  { type: "reset", data: { task_id: "echo/val/3", seed: 1 } },
  { type: "state" },
  ...STEPS.map((data) => ({ type: "step", data })),
];

/** Bodies of requests and messages of a socket: each has an answer, and the server goes on. */
export const boundaries: Boundaries = async () => {
  const served = await serveOpenEnv(echoEnvironment(), { host: "127.0.0.1", port: 0, sessions: 2, idle: 600 });
  const socket = new WebSocket(`${served.baseUrl.replace("http", "ws")}/ws`);
  const heard = on(socket, "message", { close: ["close"] });
  await once(socket, "open");
  const bodies = [
    ["/mcp", CALL],
    ["/echo/task", { split: "train", index: 1 }],
    ["/echo/task_range", { split: "train", start: 0, stop: 2 }],
  ] as const;
  const messages = fc.oneof(...MESSAGES.map((message) => mutatedJsonText(message)));
  return [
    ...bodies.map(([path, body]) => ({
      name: `the body of ${path}`,
      cases: 8,
      contents: mutatedJsonText(body),
      where: "",
      async read(text: string | Uint8Array) {
        const { status } = await fetch(`${served.baseUrl}${path}`, { method: "POST", body: String(text) });
        assert.ok([200, 400, 413, 422].includes(status), `${path} ${text}: ${status}`);
      },
    })),
    {
      name: "messages of a socket",
      cases: 50,
      contents: messages,
      where: "",
      async read(text: string | Uint8Array) {
        socket.send(String(text));
        const { value } = await heard.next();
        assert.match(JSON.parse(String(value?.[0] ?? "{}")).type, /^(?:error|observation|state)$/);
      },
      async close() {
        socket.terminate();
        await served.stop();
      },
    },
  ];
};
