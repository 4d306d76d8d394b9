import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../src/core/closing.js";
import { FIELDS as NAME, openRunner, servePages, taskFor, using } from "./page-site.js";

const FORM = `<form method=post><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
const FIELDS = { ...NAME, Age: "41" };
const PLAN = "fill Name | Ann\nfill Age | 41\nsubmit";
const LOGIN = `<h1>Log in</h1><form method=post action=/session><label>User <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`;

test("a page that is not the task's form is a fault that says what it is", async () => {
  await using(
    {
      "/login": LOGIN,
      "/expired": `<h1>Your session has expired</h1>${LOGIN}`,
      "/home": `<h1>Welcome</h1><form action=/search><input name=q placeholder=Search><button>Go</button></form>`,
      "/plain": "<h1>Moved</h1><p>This form is closed.</p>",
    },
    {
      answer: ({ url }, response) => {
        const to: Record<string, string> = { "/needs-login": "/login", "/moved": "/home" };
        const target = to[url];
        if (target === undefined) return false;
        response.writeHead(302, { location: target }).end();
        return true;
      },
      actionTimeoutMs: 2000,
    },
    async (runner) => {
      for (const [path, fault] of [
        [
          "/needs-login",
          /GET \/needs-login leads to \/login: a login, not the task's form \(site\.storage_state, site\.login\)/,
        ],
        ["/expired", /on \/expired: a login, not the task's form/],
        ["/moved", /GET \/moved leads to \/home: none of the task's labels is there/],
        ["/plain", /no form on \/plain/],
      ] as const) {
        const episode = await runner.run(taskFor(path, FIELDS), PLAN);
        assert.match(episode.fault ?? "none", fault);
        assert.ok(Number.isNaN(episode.reward));
      }
      // the task itself is a login
      const task = taskFor("/login", { User: "ann", Password: "x" });
      const login = await runner.run(task, "fill User | ann\nfill Password | x\nsubmit");
      assert.deepEqual([login.fault, login.reward], [undefined, 1]);
    },
  );
});

test("an API on another origin is reached where the site allows it, and a fault that names it where not", async () => {
  await using api = await servePages({}, (request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "content-type");
    response.setHeader("access-control-allow-methods", "PUT, POST");
    if (request.method !== "OPTIONS") response.setHeader("content-type", "application/json").end('{"ok":true}');
    else response.writeHead(204).end();
    return true;
  });
  const page = `${FORM}<p id=o></p><script>document.forms[0].onsubmit = async (e) => { e.preventDefault();
    const r = await fetch("${api.baseUrl}/people", { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(Object.fromEntries(new FormData(e.target))) });
    o.textContent = (await r.json()).ok ? "Saved" : "Failed"; }</script>`;
  await using site = await servePages({
    "/form": page,
    "/post": FORM.replace("<form", `<form action="${api.baseUrl}/plain"`),
  });
  await using allowed = closing(await openRunner({ ...site, allowOrigins: [api.baseUrl] }));
  await using closed = closing(await openRunner(site, { actionTimeoutMs: 3000 }));
  for (const path of ["/form", "/post"]) {
    // the page does not change except for "Saved"; only the task can state whether that means success
    const task = { ...taskFor(path, FIELDS), success: { status: 200 } };
    const episode = await allowed.run(task, PLAN);
    assert.deepEqual([path, episode.fault, episode.accepted, episode.reward], [path, undefined, true, 1]);
    const refusal = `the form posts to another host: ${api.baseUrl} \\(site\\.allow_origins\\)`;
    assert.match((await closed.run(taskFor(path, FIELDS), PLAN)).fault ?? "none", new RegExp(refusal));
  }
  const posts = api.received
    .filter(({ method }) => method !== "OPTIONS")
    .map(({ method, body }) => `${method} ${body}`);
  assert.deepEqual(posts, ['PUT {"n":"Ann","a":"41"}', "POST n=Ann&a=41"]);
});

test("each episode begins with the site's storage state", async () => {
  await using site = await servePages({}, (request, response) => {
    if (request.method !== "GET") return false;
    const inside = request.cookie?.includes("session=abc") === true;
    response.setHeader("content-type", "text/html").end(inside ? FORM : LOGIN);
    return true;
  });
  const cookie = { name: "session", value: "abc", domain: "127.0.0.1", path: "/", expires: -1, httpOnly: true };
  const storageState = { cookies: [{ ...cookie, secure: false, sameSite: "Lax" as const }], origins: [] };
  await using runner = closing(await openRunner({ ...site, storageState }));
  for (let i = 0; i < 3; i++) {
    const { reward, attempts } = await runner.run(taskFor("/form", FIELDS), PLAN);
    assert.deepEqual([reward, attempts], [1, 1]);
  }
});
