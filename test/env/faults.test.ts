import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { EnvironmentFault } from "../../src/env/browser/browser.js";
import type { EpisodeRunner } from "../../src/env/browser/episode.js";
import { BROWSER_VARIABLE } from "../../src/env/browser/find-browser.js";
import type { Pace } from "../../src/env/browser/pace.js";
import { temporaryFolder } from "../support/temporary.js";
import { type Answer, type Fail, FIELDS, FORM, faultLog, playFailing, playForm, taskFor, using } from "./page-site.js";
import { allEnded, processTree, stillRunning } from "./processes.js";

const kill = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid !== undefined) process.kill(pid, signal);
};

test("a killed, a frozen and a busy browser leave no process, and touch no other browser", async () => {
  let hangs = 1;
  const answer: Answer = ({ url }, response) => {
    if (url !== "/hang" || hangs-- <= 0) return false;
    response.setHeader("content-type", "text/html").end(`${FORM}<script>onload = () => { for (;;); }</script>`);
    return true;
  };
  const pages = { "/a": FORM, "/hang": FORM };
  await using(pages, {}, async (other) => {
    const bystanders = processTree(await other.browserPid());
    await using(pages, { answer, contexts: 2, actionTimeoutMs: 8000, episodeTimeoutMs: 8000 }, async (runner) => {
      const ended: ReturnType<typeof processTree> = [];
      // the browser is killed while one of its pages is in an endless loop; the next episode uses another browser
      const hung = playForm(runner, "/hang");
      while (hangs > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const first = await runner.browserPid();
      ended.push(...processTree(first));
      kill(first, "SIGKILL");
      const after = await hung;
      assert.deepEqual([after.fault, after.reward], [undefined, 1]);
      assert.notEqual(await runner.browserPid(), first);
      // the browser is frozen: it neither answers nor ends on request
      const second = await runner.browserPid();
      ended.push(...processTree(second));
      kill(second, "SIGSTOP");
      const thawed = await playForm(runner, "/a");
      assert.deepEqual([thawed.fault, thawed.reward], [undefined, 1]);
      ended.push(...processTree(await runner.browserPid()));
      await runner.close();
      assert.ok(await allEnded(ended), "every process of all three browsers has ended");
    });
    assert.deepEqual(stillRunning(bystanders).length, bystanders.length);
    assert.equal((await playForm(other, "/a")).reward, 1);
  });
});

test("a browser that does not start again once is a fault; one that never does is an error that says so", async () => {
  const broken = join(temporaryFolder("no-browser"), "chromium");
  writeFileSync(broken, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const own = process.env[BROWSER_VARIABLE];
  const restore = (): void => {
    if (own === undefined) delete process.env[BROWSER_VARIABLE];
    else process.env[BROWSER_VARIABLE] = own;
  };
  try {
    await using({ "/a": FORM }, { log: faultLog(restore).log }, async (runner) => {
      kill(await runner.browserPid(), "SIGKILL");
      process.env[BROWSER_VARIABLE] = broken;
      // the warning about the first fault makes the browser available again
      const episode = await playForm(runner, "/a");
      assert.equal(episode.reward, 1);
      assert.ok(episode.attempts > 1);
    });
    await using({ "/a": FORM }, {}, async (runner) => {
      kill(await runner.browserPid(), "SIGKILL");
      process.env[BROWSER_VARIABLE] = broken;
      await assert.rejects(playForm(runner, "/a"), /does not start/);
    });
  } finally {
    restore();
  }
});

const status =
  (code: number, body?: string): Fail =>
  (r) =>
    void r.writeHead(code).end(body);
const half: Fail = (r) => {
  r.writeHead(200, { "content-type": "text/html", "content-length": 5000 });
  // the bytes before the reset contain a form, but not the whole page
  r.write(FORM.replace("</form>", ""), () => r.destroy());
};

// (there is no case for a GET that is reset on a kept connection, since the browser itself repeats it)
test("a server that fails once is asked again; the fault is logged, the reward is the plan's own", () =>
  playFailing([
    ["/get-500", status(500, "broken"), /HTTP 500 for GET/],
    ["/get-429", status(429), /HTTP 429 for GET/],
    ["/get-half", half, /ERR_|half an answer|Timeout|did not answer/],
    ["/post-500", status(500, "{}"), /HTTP 500 for POST/],
    ["/post-429", status(429, "{}"), /HTTP 429 for POST/],
    ["/post-reset", (r) => void r.destroy(), /no answer to POST/],
  ]));

test("a server that is too slow for one attempt gets more time in the next", async () => {
  const timers = new Set<NodeJS.Timeout>();
  const answer: Answer = ({ method }, response) => {
    const page = `<!doctype html>${method === "POST" ? "<p>Thank you" : FORM}`;
    timers.add(setTimeout(() => response.setHeader("content-type", "text/html").end(page), 1500));
    return true;
  };
  for (const slow of [false, true])
    await using({}, { answer, actionTimeoutMs: 1000, episodeTimeoutMs: 20_000 }, async (runner) => {
      // after slow episodes, the first attempt already gets more time
      if (slow) (runner as unknown as { pace: Pace }).pace.observe(10_000);
      const { fault, reward, attempts } = await playForm(runner, "/slow");
      assert.deepEqual([slow, fault, reward, slow && attempts], [slow, undefined, 1, slow && 1]);
    });
  for (const timer of timers) clearTimeout(timer);
});

test("a server that closes each connection after one answer, as an idle one is closed, costs no attempt", async () => {
  const seen = new WeakSet<object>();
  let closed = 0;
  const answer = (_: unknown, response: ServerResponse): boolean => {
    const { socket } = response;
    if (socket === null || !seen.has(socket)) {
      if (socket !== null) seen.add(socket);
      return false;
    }
    closed++;
    socket.destroy();
    return true;
  };
  // only a context that is used for several episodes keeps its connections
  await using({ "/a": FORM }, { answer, stateless: true }, async (runner) => {
    for (let i = 0; i < 3; i++) {
      const episode = await playForm(runner, "/a");
      assert.deepEqual([episode.fault, episode.reward, episode.attempts], [undefined, 1, 1]);
    }
  });
  assert.ok(closed > 0, "a page was asked for again on a connection that was kept");
});

test("an answer that is no page is a fault that says so", async () => {
  const answer: Answer = ({ url }, response) => {
    if (url === "/missing") return false;
    if (url === "/nothing") response.writeHead(204).end();
    else response.setHeader("content-disposition", "attachment; filename=form.html").end(FORM);
    return true;
  };
  await using({}, { answer }, async (runner) => {
    const nothing = await playForm(runner, "/nothing");
    assert.deepEqual([nothing.fault, nothing.attempts], ["no page in HTTP 204 for GET /nothing", 3]);
    assert.equal((await playForm(runner, "/file")).fault, "no page in HTTP 200 for GET /file");
    const missing = await playForm(runner, "/missing");
    assert.match(missing.fault ?? "", /HTTP 404 for GET \/missing/);
    await assert.rejects(runner.snapshot(taskFor("/missing")), EnvironmentFault);
  });
});

type Host = { host: { browser(): Promise<never>; discard(browser: never): Promise<void> } };
const discard = async (runner: EpisodeRunner): Promise<void> => {
  const { host } = runner as unknown as Host;
  await host.discard(await host.browser());
};
/** Ends of an episode's browser that the episode did not cause. */
const ENDS: Record<string, { attempts: number; faults: string[]; end(runner: EpisodeRunner): Promise<void> }> = {
  // another episode found the browser frozen and discards it
  discarded: { attempts: 1, faults: [], end: discard },
  killed: { attempts: 2, faults: ["the browser ended"], end: async (r) => kill(await r.browserPid(), "SIGKILL") },
};

for (const [how, { attempts, faults, end }] of Object.entries(ENDS)) {
  test(`a browser that is ${how} is named as the cause, at any moment of an episode`, async () => {
    let stop: string | undefined;
    let reached = (): void => undefined;
    const answer = ({ method }: { method: string }): boolean => {
      if (method !== stop) return false;
      stop = undefined;
      reached();
      return true;
    };
    const { faults: logged, log } = faultLog();
    const patience = { actionTimeoutMs: 30_000, episodeTimeoutMs: 40_000 };
    await using({ "/a": FORM }, { answer, log, ...patience }, async (runner) => {
      for (const moment of ["opening", "GET", "POST"]) {
        const arrived = new Promise<void>((resolve) => {
          reached = resolve;
        });
        stop = moment;
        logged.length = 0;
        const running = playForm(runner, "/a");
        if (moment !== "opening") await arrived;
        await end(runner);
        const episode = await running;
        assert.deepEqual([moment, episode.fault, episode.reward], [moment, undefined, 1]);
        assert.deepEqual([moment, logged, episode.attempts], [moment, faults, attempts]);
      }
    });
  });
}

test("what the policy brings about is scored: a refused form, a button that leads away, a form left unsent", async () => {
  const pages = {
    "/checked": `<form method=post onsubmit="return this.n.value.length > 5"><label>Name <input name=n></label><button>Submit</button></form>`,
    "/away": `${FORM}<button onclick="location = '/elsewhere'">Cancel</button><button onclick="history.back()">Back</button>`,
  };
  await using(pages, {}, async (runner) => {
    const refused = await playForm(runner, "/checked");
    assert.deepEqual([refused.fault, refused.accepted, refused.reward], [undefined, false, 0]);
    const away = await runner.run(taskFor("/away", FIELDS), "click Cancel\nclick Back");
    assert.deepEqual([away.fault, away.reward, away.attempts], [undefined, 0, 1]);
    const unsent = await runner.run(taskFor("/away", FIELDS), "click Cancel\nclick Back\nfill Name | Ann\nsubmit");
    assert.ok(unsent.reward > 0.8 && unsent.reward < 1);
  });
});

test("a page that opens dialog after dialog, hangs, leaves or posts to another host is a fault, without a reward", async () => {
  const pages = {
    "/dialogs": `${FORM}<script>for (;;) alert("again")</script>`,
    "/leaving": `<script>location = "/elsewhere"</script>${FORM}`,
    "/hanging": `${FORM}<script>onload = () => { for (;;); }</script>`,
    "/abroad": FORM.replace("<form", `<form action="http://127.0.0.1:9/"`),
  };
  await using(pages, { actionTimeoutMs: 5000, episodeTimeoutMs: 8000 }, async (runner) => {
    for (const path of Object.keys(pages)) {
      const episode = await playForm(runner, path);
      assert.ok(episode.fault !== undefined && episode.attempts === 3, `${path}: ${episode.reward}`);
      assert.ok(Number.isNaN(episode.reward) && !episode.success, path);
    }
  });
});

test("an answer without end is not read to its end: a fault that says so, for a page's post and a script's", async () => {
  const CHUNK = Buffer.alloc(1 << 20, 32);
  let sent = 0;
  const answer: Answer = ({ method }, response) => {
    if (method !== "POST") return false;
    response.writeHead(200, { "content-type": "application/json" });
    const more = (): void => {
      while (!response.destroyed && response.write(CHUNK)) sent++;
    };
    response.on("drain", more).on("error", () => undefined);
    more();
    return true;
  };
  const script = `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault(); fetch("/api", { method: "POST", body: JSON.stringify({ n: e.target.n.value }) }) }</script>`;
  await using({ "/a": FORM, "/b": script }, { answer }, async (runner) => {
    for (const page of ["/a", "/b"]) {
      sent = 0;
      const { fault } = await playForm(runner, page);
      assert.match(fault ?? "", /an answer of more than 16 MB/);
      assert.ok(sent < 252, `${sent} MB`);
    }
  });
});
