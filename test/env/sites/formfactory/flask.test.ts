import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../../../src/core/errors.js";
import { serveFlask } from "../../../../src/env/sites/formfactory/flask-front.js";

const dir = mkdtempSync(join(tmpdir(), "flask-test-"));
after(() => rmSync(dir, { recursive: true, force: true }));

/** Stands in for Python: a server that, like app.py, cannot serve two posts at once, and that ends with its stdin. */
function fakePython(name: string, body: string): string {
  const path = join(dir, name);
  writeFileSync(path, `#!${process.execPath}\n${body}`);
  chmodSync(path, 0o755);
  return path;
}
const SERVER = `
const fs = require("node:fs"), http = require("node:http");
const [, , app, port] = process.argv.slice(1);
process.stdin.resume().on("end", () => process.exit(0));
let busy = false;
http.createServer((request, response) => {
  if (request.url === "/die") process.exit(3);
  if (request.method !== "POST") return response.end(JSON.stringify({ pid: process.pid, cwd: process.cwd(), app: process.argv.at(-2) }));
  if (busy) { response.statusCode = 500; return response.end("overlap"); }
  busy = true;
  let body = "";
  request.on("data", (chunk) => { body += chunk; }).on("end", () => {
    fs.appendFileSync("log", body + "\\n");
    setImmediate(() => setImmediate(() => { busy = false; response.setHeader("x-made", "yes"); response.end(body); }));
  });
}).listen(Number(process.argv.at(-1)), "127.0.0.1");
`;

const running = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("each process has a directory of its own and one request at a time; the dead are replaced, all end", async () => {
  const python = fakePython("python3", SERVER);
  const served = await serveFlask({ python, app: "/made/app.py", workers: 2, port: 0 });
  const seen = new Map<number, string>();
  const look = async (): Promise<number> => {
    const about = (await (await fetch(served.baseUrl)).json()) as { pid: number; cwd: string; app: string };
    assert.equal(about.app, "/made/app.py");
    seen.set(about.pid, about.cwd);
    return about.pid;
  };
  await Promise.all(Array.from({ length: 8 }, look));
  assert.equal(seen.size, 2);
  assert.equal(new Set(seen.values()).size, 2);
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const response = await fetch(`${served.baseUrl}/form?x=1`, { method: "POST", body: `post ${i}` });
      return `${response.status} ${response.headers.get("x-made")} ${await response.text()}`;
    }),
  );
  assert.deepEqual(
    answers,
    Array.from({ length: 40 }, (_, i) => `200 yes post ${i}`),
  );
  const written = [...seen.values()].map((cwd) => readFileSync(join(cwd, "log"), "utf8").trim().split("\n").length);
  assert.equal(
    written.reduce((sum, n) => sum + n, 0),
    40,
  );
  assert.equal((await fetch(`${served.baseUrl}/die`)).status, 502, "a fault of the environment, not an answer");
  await Promise.all(Array.from({ length: 8 }, look));
  assert.equal(seen.size, 3, "one new process");
  await served.stop();
  for (const [pid, cwd] of seen) assert.deepEqual([running(pid), existsSync(cwd)], [false, false]);
});

test("what keeps it from starting is said, with the way out", async () => {
  for (const [python, message] of [
    [join(dir, "no-python"), /does not start .*ENOENT/],
    [
      fakePython("no-flask", 'console.error("ModuleNotFoundError: No module named flask"); process.exit(1)'),
      /No module named flask/,
    ],
  ] as const) {
    await assert.rejects(
      serveFlask({ python, app: "app.py", workers: 2, port: 0 }),
      (e) => e instanceof UserError && message.test(e.message) && /pip install flask/.test(e.hint ?? ""),
    );
  }
});
