import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { FIELDS, FORM, PLAN, playForm, servePages, taskFor, using } from "../page-site.js";

/** Tests whether a process with this id runs; a zombie does not count. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("an episode leaves nothing behind for the next one in its context", async () => {
  // the page shows stored data as the field's default, and stores data in all ways: at load, in a timer, and on leaving
  const page = `${FORM}<script>
    const found = [localStorage.k, sessionStorage.k, document.cookie, window.name].filter(Boolean);
    const n = document.querySelector("input");
    document.querySelector("form").setAttribute("aria-busy", "true");
    // many cookies: some are still on their way to the browser when the episode ends
    const save = () => { localStorage.k = "local"; sessionStorage.k = "session"; window.name = "name"; for (let i = 0; i < 20; i++) document.cookie = "k=cookie; max-age=999"; };
    const open = indexedDB.open("db");
    let fresh = false;
    open.onupgradeneeded = () => { fresh = true; open.result.createObjectStore("s"); };
    open.onsuccess = async () => {
      if (!fresh) found.push("indexeddb");
      n.value = found.join();
      save(); setInterval(save, 1);
      for (const kind of ["pagehide", "beforeunload", "unload", "visibilitychange"]) { addEventListener(kind, save); document.addEventListener(kind, save); }
      document.querySelector("form").removeAttribute("aria-busy");
    };</script>`;
  const answer = (_: unknown, response: ServerResponse): boolean => {
    response.setHeader("set-cookie", "h=1; HttpOnly; Path=/");
    return false;
  };
  await using({ "/a": page, "/b": page }, { answer }, async (runner, site) => {
    for (const url of ["/a", "/b", "/a", "/a"]) {
      const controls = await runner.snapshot(taskFor(url));
      assert.equal(controls[0]?.default, "");
      assert.equal((await playForm(runner, url)).reward, 1);
    }
    const cookies = site.received.filter((r) => r.method === "GET").map((r) => r.cookie);
    assert.deepEqual(new Set(cookies), new Set([undefined]));
  });
});

test("only the site can be reached; foreign assets come from the site's own copies", async () => {
  await using other = await servePages({});
  const cdn = "https://cdn.example/lib.js";
  const body = Buffer.from(`document.querySelector("input").value = "from the copy"`);
  const assets = new Map([[cdn, { contentType: "text/javascript", body }]]);
  const page = `${FORM}<img src="${other.baseUrl}/x.png"><script src="https://blocked.example/y.js"></script><script src="${cdn}"></script>
    <script>fetch("${other.baseUrl}/z").catch(() => undefined); navigator.sendBeacon("${other.baseUrl}/b", "x")</script>`;
  await using({ "/a": page }, { assets }, async (runner) => {
    const controls = await runner.snapshot(taskFor("/a"));
    assert.equal(controls[0]?.default, "from the copy");
    assert.equal((await playForm(runner, "/a")).reward, 1);
    assert.deepEqual(other.received, []);
  });
});

test("dialogs are answered, popups and downloads refused, a flood of messages is harmless", async () => {
  const noisy = `<form method=post onsubmit="return confirm('Sure?')"><label>Name <input name=n oninput="window.open('/a');alert(1)"></label><button>Submit</button></form>
    <a download=x href="data:text/plain,x" id=d></a>
    <script>alert("Welcome"); d.click(); open("/a"); for (let i = 0; i < 2000; i++) console.log("noise", i); addEventListener("beforeunload", (e) => e.preventDefault())</script>`;
  const blank = `<form method=post target=_blank><label>Name <input name=n></label><button>Submit</button></form>`;
  await using({ "/a": noisy, "/blank": blank }, {}, async (runner) => {
    for (const url of ["/a", "/blank", "/a"]) {
      const episode = await playForm(runner, url);
      assert.deepEqual([url, episode.fault, episode.reward, episode.attempts], [url, undefined, 1, 1]);
    }
  });
});

test("a server that does not answer is a fault", async () => {
  const answer = (request: { method: string }): boolean => request.method === "POST";
  await using({ "/a": FORM }, { answer, actionTimeoutMs: 1000, episodeTimeoutMs: 4000 }, async (runner) => {
    const episode = await playForm(runner, "/a");
    assert.deepEqual([episode.fault, episode.attempts], ["no answer to POST /a: timed out", 1]);
  });
});

test("episodes run side by side without mixing, and close leaves no process", async () => {
  await using({ "/a": FORM }, { contexts: 3 }, async (runner, site) => {
    const names = Array.from({ length: 12 }, (_, i) => `Person ${i}`);
    const episodes = await Promise.all(
      names.map((Name) => runner.run(taskFor("/a", { Name }), `fill Name | ${Name}\nsubmit`)),
    );
    assert.deepEqual(
      episodes.map((e) => [e.reward, e.posted[0]?.[1]]),
      names.map((name) => [1, name]),
    );
    assert.equal(site.received.filter((r) => r.method === "POST").length, 12);
    const pid = await runner.browserPid();
    assert.ok(pid !== undefined && runs(pid));
    await runner.close();
    assert.equal(runs(pid), false);
    const late = await runner.run(taskFor("/a", FIELDS), PLAN);
    assert.match(late.fault ?? "", /closed/);
  });
});
