import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { packageRoot } from "../../../src/core/files.js";
import type { Observation } from "../../../src/core/interaction.js";
import { type Environment, type EpisodeOutcome, ObservationTooLong } from "../../../src/env/environment.js";
import { environment as openenv } from "../../../src/features/openenv/environments/openenv.js";

interface Recorded {
  readonly http: readonly { method: string; path: string; status: number; body: unknown }[];
  readonly frames: readonly { sent?: unknown; got?: unknown }[];
}

const recorded = JSON.parse(
  readFileSync(join(packageRoot(), "test", "golden", "openenv", "server.json"), "utf8"),
) as Recorded;

/** A server that answers `/health` and so on as the recorded one, and each message as `speak` does, to the end of the tests. */
async function serve(speak: (message: unknown, socket: WebSocket) => void): Promise<{ url: string; server: Server }> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const found = recorded.http.find(({ path }) => path === request.url);
    response
      .writeHead(found?.status ?? 404, { "content-type": "application/json" })
      .end(JSON.stringify(found?.body ?? {}));
  });
  new WebSocketServer({ server, path: "/ws" }).on("connection", (socket) =>
    socket.on("message", (data) => speak(JSON.parse(String(data)), socket)),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const servers: Server[] = [];
const stop = (server: Server): void => {
  server.close();
  server.closeAllConnections();
};
after(() => servers.forEach(stop));
const open = (url: string, options: object = {}): Promise<Environment> =>
  openenv.open({ environment: { kind: "openenv", url, sizes: { train: 2, val: 0, test: 0, heldout: 0 }, ...options } });
const firstOf = ({ tasks }: Environment): Environment["tasks"][number] => tasks[0] as Environment["tasks"][number];
const play = (environment: Environment, answer: string): Promise<EpisodeOutcome> =>
  environment.play(firstOf(environment), async () => ({ text: answer }), new Map());

describe("a server made from the wheel's template, as it was recorded", () => {
  it("is asked word for word what it was asked then; rewards of steps are summed", async () => {
    const left = [...recorded.frames];
    const { url } = await serve((message, socket) => {
      assert.deepEqual(message, left.shift()?.sent);
      if (left[0]?.got !== undefined) socket.send(JSON.stringify(left.shift()?.got));
      else socket.close();
    });
    const environment = await open(url, { turns: 2 });
    assert.equal(environment.name, "echo_env");
    assert.match(environment.notes[0] ?? "", /no tasks/);
    for (const task of environment.tasks) {
      const answers = ["hi", "a longer message"];
      const seen: string[] = [];
      const act = async ({ text = "" }: Observation) => {
        seen.push(text);
        return { text: answers.shift() ?? "" };
      };
      const outcome = await environment.play(task, act, new Map());
      assert.deepEqual(seen, ["Echo environment ready!", "hi"]);
      assert.ok(Math.abs((outcome.reward as number) - 1.2) < 1e-12);
      assert.deepEqual([outcome.turnRewards, outcome.metrics], [[0.2, 1], { turns: 2, finished: 0 }]);
    }
    assert.equal(left.length, 0);
  });
});

it("fields of the config go into every action and reset, and name the texts", async () => {
  const asked: unknown[] = [];
  const { url } = await serve((message, socket) => {
    const { type, data } = message as { type: string; data?: object };
    if (type === "close") return socket.close();
    asked.push(data);
    const observation = { page: "a page", hint: "a hint" };
    socket.send(JSON.stringify({ type: "observation", data: { observation, reward: 1, done: type === "step" } }));
  });
  const keys = { action_key: "text", action: { by: "policy" }, observation_key: "page", reset: { level: 2 } };
  const environment = await open(url, keys);
  const task = firstOf(environment);
  const outcome = await environment.play(task, async ({ text }) => ({ text: `read ${text}` }), new Map());
  assert.deepEqual([outcome.reward, outcome.success], [1, true]);
  assert.deepEqual(asked, [
    { level: 2, seed: 0, episode_id: task.id },
    { by: "policy", text: "read a page" },
  ]);
});

describe("an OpenEnv server that does not answer as it should", () => {
  const observation = (reward: unknown, done = true): object => ({
    type: "observation",
    data: { observation: { echoed_message: "x".repeat(4020) }, reward, done },
  });
  type Speak = (isStep: boolean, socket: WebSocket) => void;
  /** Answers with text or JSON. */
  const says =
    (answer: (isStep: boolean) => unknown): Speak =>
    (isStep, socket) => {
      const said = answer(isStep);
      socket.send(typeof said === "string" ? said : JSON.stringify(said));
    };
  /** A server that closes as it is asked to, and else speaks. */
  const serving = (speak: Speak) =>
    serve((message, socket) => {
      const { type } = message as { type: string };
      if (type === "close") socket.close();
      else speak(type === "step", socket);
    });
  const boom = '{"type":"error","data":{"message":"boom","code":"EXECUTION_ERROR"}}';
  const huge = says((isStep) => observation(isStep ? 1e308 : null, isStep));
  const cases: [string, Speak, RegExp][] = [
    ["hangs up", (_, socket) => socket.terminate(), /closed/],
    ["says nothing", () => undefined, /no answer within 1 s/],
    ["says something else", says(() => "<html>"), /none of OpenEnv's/],
    ["fails", says(() => boom), /^EXECUTION_ERROR: boom$/],
    ["never gives a reward", says((isStep) => observation(null, isStep)), /no reward/],
    ["gives a reward that no number has room for", huge, /reward is 1e\+308/],
  ];
  for (const [what, speak, fault] of cases)
    it(`${what}: a fault, no reward of 0`, async () => {
      const { url } = await serving(speak);
      const outcome = await play(await open(url, { timeout_s: 1 }), "hi");
      assert.deepEqual([outcome.reward, outcome.metrics], [null, {}]);
      assert.match(outcome.fault ?? "", fault);
    });

  it("shows more than the policy reads: that episode's fault", async () => {
    const { url } = await serving(says(() => observation(null, false)));
    const environment = await open(url);
    const act = async (): Promise<never> => {
      throw new ObservationTooLong("Turn 1 shows 120 tokens");
    };
    const outcome = await environment.play(firstOf(environment), act, new Map());
    assert.deepEqual([outcome.reward, outcome.fault], [null, "Turn 1 shows 120 tokens"]);
  });

  it("has no free place: it is asked again until it has one", async () => {
    let full = 2;
    const { url } = await serving((isStep, socket) => {
      if (full-- <= 0) return socket.send(JSON.stringify(observation(isStep ? 0 : null, isStep)));
      socket.send('{"type":"error","data":{"message":"all taken","code":"CAPACITY_REACHED"}}');
      socket.close();
    });
    // an honest 0 is one
    const outcome = await play(await open(url), "hi");
    assert.deepEqual([outcome.reward, outcome.fault, outcome.success], [0, undefined, false]);
    assert.equal(outcome.detail.cut, 20);
  });

  it("is none: it is said before a run begins", async () => {
    const { url, server } = await serve(() => undefined);
    stop(server);
    await assert.rejects(open(url), { name: "UserError", message: /Nobody answers/ });
  });
});
