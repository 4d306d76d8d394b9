import assert from "node:assert/strict";
import { on, once } from "node:events";
import { readFileSync } from "node:fs";
import { type RequestOptions, request } from "node:http";
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, describe, it, mock } from "node:test";
import { WebSocket } from "ws";
import { parse } from "yaml";
import { packageRoot } from "../../../src/core/files.js";
import type { Environment, EpisodeOutcome } from "../../../src/env/environment.js";
import { OpenEnvConnection } from "../../../src/features/openenv/client.js";
import { environment as openenv } from "../../../src/features/openenv/environments/openenv.js";
import type { Result } from "../../../src/features/openenv/messages.js";
import { serveOpenEnv } from "../../../src/features/openenv/server.js";
import { TOOLS } from "../../../src/features/openenv/tools.js";
import { echoEnvironment } from "../../support/echo.js";

type Frame = { readonly sent?: object; readonly got?: unknown };
const OPTIONS = { host: "127.0.0.1", port: 0, sessions: 2, idle: 600 };

const faults: string[] = [];
const local = echoEnvironment((message) => faults.push(message));
const server = await serveOpenEnv(local, OPTIONS);
after(() => server.stop());

describe("our environments as an OpenEnv server", () => {
  const get = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${server.baseUrl}${path}`, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    return response.ok ? response.json() : response.status;
  };
  /** A socket's answers: one a message, in order. */
  const listen = async (path: string, baseUrl = server.baseUrl) => {
    const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/${path}`);
    const heard = on(socket, "message", { close: ["close"] });
    await once(socket, "open");
    const next = async (): Promise<{ type: string; data: Record<string, never> } | undefined> => {
      const { value } = await heard.next();
      return value && JSON.parse(String(value[0]));
    };
    const ask = (type: string, data?: object) => {
      socket.send(JSON.stringify({ type, data }));
      return next();
    };
    return { socket, next, ask };
  };
  const connect = (): Promise<OpenEnvConnection> => OpenEnvConnection.open(server.baseUrl, 10_000);

  it("answers PyPI's client word for word as when the exchange was recorded", async () => {
    const file = join(packageRoot(), "test", "golden", "openenv", "client.json");
    const frames = JSON.parse(readFileSync(file, "utf8")) as Frame[];
    assert.ok(frames.length > 20);
    const { socket, next, ask } = await listen("ws");
    for (const { sent, got } of frames) {
      if (sent !== undefined) socket.send(JSON.stringify(sent));
      if (got !== undefined) assert.deepEqual(await next(), got);
    }
    assert.equal(await ask("close"), undefined);
  });

  it("says what is wrong with a message by OpenEnv's codes, and goes on", async () => {
    const { socket, next } = await listen("ws");
    for (const [raw, expected] of [
      ["{", "INVALID_JSON"],
      ['{"type":"fly"}', "UNKNOWN_TYPE"],
      ['{"type":{"toString":1}}', "UNKNOWN_TYPE"],
      ['{"type":{"toString":1,"toJSON":{}},"__proto__":{"type":"reset"}}', "UNKNOWN_TYPE"],
      [`{"type":${"[".repeat(90_000)}${"]".repeat(90_000)}}`, "EXECUTION_ERROR"],
      ["[]", "UNKNOWN_TYPE"],
      ['{"type":"step"}', "VALIDATION_ERROR"],
      ['{"type":"reset","data":{"seed":-1}}', "VALIDATION_ERROR"],
      ['{"type":"step","data":{"text":"x"}}', "EXECUTION_ERROR"],
      ['{"type":"state"}', "state"],
      ['{"type":"reset","data":{}}', "observation"],
    ] as const) {
      socket.send(raw);
      const { type, data } = (await next()) ?? {};
      assert.equal(type === "error" ? data?.code : type, expected);
    }
    socket.terminate();
  });

  it("says in one line that a client left in the middle of a request", async () => {
    const { port } = new URL(server.baseUrl);
    const lines: string[] = [];
    const write = mock.method(process.stderr, "write", (text: string) => lines.push(text) > 0);
    const traces = mock.method(console, "error", (error: Error) => lines.push(error.stack ?? ""));
    const client = connectTo(Number(port), "127.0.0.1");
    client.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"abc\r\n`);
    while (lines.length === 0) {
      // the server has to have read the beginning
      await get("/health");
      client.destroy();
    }
    write.mock.restore();
    traces.mock.restore();
    assert.deepEqual(lines, ["OpenEnv server: POST /mcp: aborted\n"]);
  });

  it("ends the episode of a client that leaves, and refuses one too many", async () => {
    const [one, two] = await Promise.all([connect(), connect()]);
    await Promise.all([one.ask("reset", { seed: 1 }), two.ask("reset", { seed: 1 })]);
    const third = await connect();
    await assert.rejects(third.ask("reset", {}), /^EnvironmentFault: CAPACITY_REACHED: /);
    faults.length = 0;
    await Promise.all([one.close(), two.close(), third.close()]);
    assert.deepEqual(faults, ["the client has left", "the client has left"]);
    const again = await connect();
    assert.equal((await again.ask("reset", { seed: 5 })).observation.text, "form: library\n Name | library\n\n");
    await again.close();
  });

  it("begins nothing more for a client that has left", async () => {
    let begun = 0;
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const play: Environment["play"] = async (...given) => {
      begun++;
      await gate;
      return local.play(...given);
    };
    const slow: Environment = { ...local, play };
    const other = await serveOpenEnv(slow, { ...OPTIONS, sessions: 1 });
    after(() => other.stop());
    const { socket } = await listen("ws", other.baseUrl);
    for (let i = 0; i < 3; i++) socket.send('{"type":"reset"}');
    socket.close();
    await once(socket, "close");
    // its place is free when the server has taken leave of it
    let next = await listen("ws", other.baseUrl);
    while ((await next.ask("state"))?.type !== "state") next = await listen("ws", other.baseUrl);
    open();
    await next.ask("state");
    assert.equal(begun, 1);
  });

  it("answers under its own name only, to pages of its own only, and reads no large body", async () => {
    const { port } = new URL(server.baseUrl);
    const ask = (path: string, options: RequestOptions, body?: () => Iterable<Buffer>): Promise<number | string> =>
      new Promise((resolve) => {
        const sent = request(new URL(path, server.baseUrl), options, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
        if (body === undefined) sent.end();
        else Readable.from(body()).pipe(sent);
      });
    for (const host of ["evil.example", `evil.example:${port}`, "10.0.0.1:8000"])
      for (const path of ["/health", "/metadata", "/ws", "/echo/splits"])
        assert.equal(await ask(path, { headers: { host } }), 403, `${host}${path}`);
    for (const origin of ["http://evil.example", "null", `http://localhost:${port}`, "http://127.0.0.1:1"])
      assert.equal(await ask("/echo/tasks", { method: "POST", headers: { origin } }), 403, origin);
    const local = { host: `localhost:${port}`, origin: `http://localhost:${port}` };
    assert.equal(await ask("/health", { headers: local }), 200);
    for (const headers of [{ origin: "http://evil.example" }, { host: "evil.example" }]) {
      const socket = new WebSocket(`${server.baseUrl.replace("http", "ws")}/ws`, { headers });
      const code = await new Promise((resolve) => {
        socket.on("unexpected-response", (_, response) => resolve(response.statusCode));
        socket.on("open", () => resolve("open"));
        socket.on("error", () => resolve("error"));
      });
      assert.equal(code, 403);
    }
    let sent = 0;
    function* large(): Iterable<Buffer> {
      for (; sent < 300; sent++) yield Buffer.alloc(2 ** 20, " ");
    }
    assert.equal(await ask("/echo/tasks", { method: "POST" }, large), 413);
    const headers = { "content-length": 300 * 2 ** 20 };
    assert.equal(await ask("/echo/tasks", { method: "POST", headers }, () => []), 413);
    assert.ok(sent < 100, `${sent} MiB were taken`);
  });

  it("offers a page's blanks as named tools, by steps and by JSON-RPC, in one session", async () => {
    const rpc = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
      const answer = await get("/mcp", { jsonrpc: "2.0", id: 7, method, params });
      const { result, error, ...head } = answer as { result?: object; error?: { code: number; message: string } };
      assert.deepEqual(head, { jsonrpc: "2.0", id: 7 });
      return { ...result, ...error };
    };
    const { session_id } = await rpc("openenv/session/create");
    const { tools } = (await rpc("tools/list")) as { tools: { name: string; inputSchema: { required?: string[] } }[] };
    const required = tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]);
    assert.deepEqual(Object.fromEntries(required), { read_form: [], fill_field: ["label", "value"], submit: [] });
    const early = await rpc("tools/call", { session_id, name: "submit" });
    assert.deepEqual([early.code, early.message], [-32603, "there is no episode: reset first"]);
    const call = (name: string, given: object = {}): Promise<Record<string, unknown>> =>
      rpc("tools/call", { session_id, name, arguments: given });

    const joined = await listen(`ws?session_id=${session_id}`);
    await joined.ask("reset", { split: "val", index: 0 });
    for (const [name, given, message] of [
      ["fly", {}, /Expected 'read_form' \| 'fill_field' \| 'submit'/],
      ["fill_field", { label: "Name" }, /expected string/],
      ["fill_field", { label: "Nome", value: "x" }, /^There is no field Nome, but Name\.$/],
      ["fill_field", { label: "Name", value: "attic" }, /^Name has no option attic, but garden, /],
      ["read_form", { label: "Name" }, /Unrecognized key/],
    ] as const) {
      const refused = await call(name, given);
      assert.equal(refused.code, -32602);
      assert.match(refused.message as string, message);
    }
    assert.equal((await call("fill_field", { label: "Name", value: "garden" })).data, "Name: garden");
    const { text, fields } = (await call("read_form")).data as { text: string; fields: object[] };
    assert.match(text, /garden/);
    assert.deepEqual(fields, [
      { label: "Name", kind: "choice", options: ["garden", "library", "museum", "bakery", "wrong"], value: "garden" },
    ]);
    assert.match((await call("submit")).data as string, /library/);
    // what was entered in a turn is gone with it
    assert.match((await call("submit")).data as string, /museum/);
    const step = async (tool_name: string, given: object) =>
      (await joined.ask("step", { type: "call_tool", tool_name, arguments: given }))?.data as unknown as Result;
    const filled = await step("fill_field", { label: "Name", value: "museum" });
    assert.deepEqual([filled.reward, filled.done, filled.observation.error], [null, false, null]);
    const end = await step("submit", {});
    assert.deepEqual([end.reward, end.done, end.metadata?.turn_rewards], [2 / 3, true, [1, 0, 1]]);
    assert.equal((await joined.ask("state"))?.data.step_count, 2);
    assert.equal(await joined.ask("close"), undefined);

    assert.equal((await rpc("fly", { session_id })).code, -32601);
    assert.equal((await rpc("openenv/session/close", { session_id })).closed, true);
    assert.equal((await call("submit")).code, -32602);
    assert.equal(((await get("/mcp", {})) as { error: { code: number } }).error.code, -32600);
    const open = [await rpc("openenv/session/create"), await rpc("openenv/session/create")];
    assert.equal((await rpc("openenv/session/create")).code, -32000);
    for (const { session_id: id } of open) await rpc("openenv/session/close", { session_id: id });
  });

  it("ends a session of which nothing is asked, and knows no other's", async () => {
    const idle = await serveOpenEnv(local, { ...OPTIONS, idle: 0.05 });
    after(() => idle.stop());
    for (const [path, why] of [
      ["ws", "nothing was asked for 0.05 s"],
      ["ws?session_id=none", "Unknown session_id: none"],
    ] as const) {
      const { next } = await listen(path, idle.baseUrl);
      assert.deepEqual(await next(), { type: "error", data: { code: "SESSION_ERROR", message: why } });
      assert.equal(await next(), undefined);
    }
  });

  it("is what the manifest says", () => {
    const root = packageRoot();
    const { version, validation } = parse(readFileSync(join(root, "openenv.yaml"), "utf8"));
    assert.equal(version, JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
    const names = TOOLS.map(({ name }) => name);
    assert.deepEqual(validation.capabilities.declared_tools, names);
    for (const file of [validation.execution.dockerfile, validation.execution.probe_path])
      assert.ok(readFileSync(join(root, file), "utf8").length > 0);
  });

  it("tells what it is, and of its tasks, without a session", async () => {
    assert.deepEqual(await get("/health"), { status: "healthy" });
    assert.equal(((await get("/metadata")) as { name: string }).name, "echo");
    const { action } = (await get("/schema")) as { action: { required: string[] } };
    assert.deepEqual(action.required, ["text"]);
    const { info, paths } = (await get("/openapi.json")) as { info: { version: string }; paths: object };
    assert.equal(info.version, "1.0.0");
    for (const path of ["/reset", "/step", "/state", "/mcp", "/{name}/tasks"]) assert.ok(path in paths, path);
    assert.deepEqual(await get("/list_environments"), ["echo"]);
    const splits = ((await get("/echo/splits")) as { name: string; type: string }[]).map((one) => Object.values(one));
    assert.equal(splits.join(" "), "train,train val,validation test,test heldout,validation");
    assert.deepEqual(await get("/echo/num_tasks", { split: "val" }), { num_tasks: 4 });
    const spec = { id: "echo/val/3", index: 3, form: "bakery" };
    assert.deepEqual(await get("/echo/task", { split: "val", index: 3 }), { task: spec });
    assert.deepEqual(await get("/echo/task_range", { split: "val", start: 3 }), { tasks: [spec] });
    assert.equal(await get("/echo/task", { split: "val", index: 4 }), 400);
    assert.equal(await get("/other/splits"), 404);
    assert.equal(await get("/echo/tasks", {}), 422);
    assert.equal(await get("/step", { action: {} }), 501);
  });

  describe("played from the other side by environment.kind=openenv", async () => {
    const remote = await openenv.open({ environment: { kind: "openenv", url: server.baseUrl, contexts: 2 } });

    const answers = (...texts: string[]) => {
      let turn = 0;
      return async () => ({ text: texts[turn++] ?? "" });
    };
    const reward = ({ reward: r, success, fault }: EpisodeOutcome): unknown[] => [r, success, fault];

    it("has the same tasks, and an answer earns the same as at home", async () => {
      const kept = ({ split }: { split: string }): boolean => split === "val";
      const splitsOf = ({ tasks }: Environment) => tasks.map(({ split }) => split);
      assert.deepEqual([remote.name, splitsOf(remote)], ["echo", splitsOf(local)]);
      const pairs = local.tasks.filter(kept).map((task, i) => [task, remote.tasks.filter(kept)[i]] as const);
      for (const [home, away] of pairs) {
        const texts = ["fill Name | library", "fill Name | museum", "fill Name | bakery"];
        const [a, b] = await Promise.all([
          local.play(home, answers(...texts), new Map()),
          remote.play(away as typeof home, answers(...texts), new Map()),
        ]);
        assert.deepEqual(reward(b), reward(a));
        assert.equal(b.metrics.turns, 3);
      }
    });

    it("takes a fault for a fault: no reward, after it was tried again with the same answers", async () => {
      let asked = 0;
      const [task] = remote.tasks as [Environment["tasks"][number]];
      const act = async () => ({ text: ++asked === 2 ? "break" : "fill Name | x" });
      const outcome = await remote.play(task, act, new Map());
      assert.deepEqual([outcome.reward, outcome.metrics, asked], [null, {}, 2]);
      assert.match(outcome.fault ?? "", /^EXECUTION_ERROR: the environment failed: turn 2 broke off$/);
      assert.equal((outcome.detail.faults as string[]).length, 3);
    });
  });
});
