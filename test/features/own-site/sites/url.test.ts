import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { oracleActions } from "../../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../../src/env/forms/plan.js";
import { site as url } from "../../../../src/features/own-site/sites/url.js";
import { openRunner, servePages } from "../../../env/page-site.js";
import { temporaryFolder } from "../../../support/temporary.js";
import { userError } from "../../../support/user-error.js";

const dir = temporaryFolder("url-site");
const file = join(dir, "tasks.jsonl");
const ANN = {
  id: "1",
  form: "join",
  url: "/join",
  fields: { Name: "Ann", Day: "2024/3/5", News: true },
  split: "train",
};
const fields = { Name: "Bo", Day: "2024-12-24", News: false };
const TASKS = [ANN, { ...ANN, id: "2", url: "/join?ref=2", fields, split: "heldout" }];
const written = (path: string, tasks: readonly object[]): void =>
  writeFileSync(path, tasks.map((task) => JSON.stringify(task)).join("\n"));
written(file, TASKS);
const pages = await servePages({
  "/join": `<form method=post><label>Name <input name=n></label><label>Day <input type=date name=d></label>
    <label><input type=checkbox name=w> News</label><button>Submit</button></form>`,
});
after(() => pages.stop());

const start = (options: object): ReturnType<typeof url.start> =>
  url.start(url.schema.parse({ tasks: file, base_url: pages.baseUrl, ...options }));

test("the oracle scores 1 on a site of somebody else's, which outlives the run", async () => {
  const site = await start({ success: { status: 200 } });
  assert.match(site.splitHash(), /^[\da-f]{64}$/);
  assert.deepEqual(site.notes, ["Held out and trained on as well: join"]);
  const runner = await openRunner(site);
  try {
    for (const task of site.tasks()) {
      const plan = oracleActions(task.fields, await runner.snapshot(task));
      assert.equal((await runner.run(task, renderPlan(plan))).reward, 1);
    }
  } finally {
    await runner.close();
    await site.stop();
  }
  assert.ok((await fetch(`${pages.baseUrl}/join`)).ok);
  assert.ok(pages.received.some(({ method, body }) => method === "POST" && body === "n=Bo&d=2024-12-24"));
});

test("only this machine, or hosts that the config allows; only an origin", async () => {
  const hosts = ["https://forms.example.org", "http://192.168.1.5:80"];
  const other = userError(/./, { exitCode: 2, hint: /site\.allow_hosts=\[/ });
  for (const base_url of [...hosts, "http://127.0.0.1.example.org", "http://localhost.example.org"])
    await assert.rejects(start({ base_url }), other, base_url);
  const none = [
    "127.0.0.1",
    "ftp://127.0.0.1",
    "http://127.0.0.1/app",
    "http://me:pw@127.0.0.1",
    "http://127.0.0.1/?x",
  ];
  for (const base_url of none)
    await assert.rejects(start({ base_url }), /expected an address without a path/, base_url);
  // an allowed name is asked for, and this one cannot exist
  const gone = { base_url: "http://forms.invalid", allow_hosts: ["Forms.invalid"] };
  await assert.rejects(start(gone), /forms\.invalid does not serve/);
});

test("a page that redirects is followed on its site, and nowhere else", async () => {
  const touched: string[] = [];
  await using other = await servePages({ "/elsewhere": "x" }, ({ url: path }) => {
    touched.push(path);
    return false;
  });
  let to = "/join";
  await using moved = await servePages({ "/join": "x" }, ({ url: path }, response) => {
    if (path === "/join" && to === "/join") return false;
    response.writeHead(302, { location: to }).end();
    return true;
  });
  written(join(dir, "moved.jsonl"), [{ ...ANN, url: "/moved" }]);
  const open = (): ReturnType<typeof start> => start({ tasks: join(dir, "moved.jsonl"), base_url: moved.baseUrl });
  assert.equal((await open()).tasks().length, 1);
  to = `${other.baseUrl}/elsewhere`;
  await assert.rejects(open(), /\/moved: leads to another server, http/);
  to = "/moved";
  await assert.rejects(open(), /\/moved: leads on and on/);
  assert.deepEqual(touched, []);
});

test("a site that is down, or that lacks a page, is told before the run", async () => {
  const gone = await servePages({});
  await gone.stop();
  await assert.rejects(start({ base_url: gone.baseUrl }), /does not serve 2 of 2 pages:\n {2}\/join: .*ECONNREFUSED/);
  const tasks = join(dir, "other.jsonl");
  written(tasks, [...TASKS, { ...ANN, id: "3", url: "/lost" }]);
  await assert.rejects(start({ tasks }), /does not serve 1 of 3 pages:\n {2}\/lost: HTTP 404/);
});
