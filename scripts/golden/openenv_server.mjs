// Records the traffic between the environment `openenv` and a server from PyPI, for test/golden/openenv/server.json:
//   node scripts/golden/openenv_server.mjs URL    (after `npm run build`; URL of a server made from the wheel's template)
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { WebSocket, WebSocketServer } from "ws";
import { environment } from "../../dist/src/features/openenv/environments/openenv.js";

const [target] = process.argv.slice(2);
const http = [];
const frames = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { method, url } = request;
  const headers = { "content-type": "application/json" };
  const answer = await fetch(new URL(url, target), { method, headers, ...(body === "" ? {} : { body }) });
  const text = await answer.text();
  http.push({ method, path: url, status: answer.status, body: JSON.parse(text) });
  response.writeHead(answer.status, headers).end(text);
});
new WebSocketServer({ server, path: "/ws" }).on("connection", (client) => {
  const there = new WebSocket(`${target.replace("http", "ws")}/ws`);
  const opened = new Promise((resolve) => there.once("open", resolve));
  client.on("message", async (data) => {
    frames.push({ sent: JSON.parse(String(data)) });
    await opened;
    there.send(String(data));
  });
  there.on("message", (data) => {
    frames.push({ got: JSON.parse(String(data)) });
    client.send(String(data));
  });
  there.on("close", () => client.close());
  client.on("close", () => there.close());
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const sizes = { train: 2, val: 0, test: 0, heldout: 0 };
const opened = await environment.open({ environment: { kind: "openenv", url, turns: 2, sizes } });
for (const task of opened.tasks) {
  const answers = ["hi", "a longer message"];
  console.log(await opened.play(task, async () => ({ text: answers.shift() }), new Map()));
}
writeFileSync("test/golden/openenv/server.json", `${JSON.stringify({ http, frames }, null, 1)}\n`);
process.exit(0);
