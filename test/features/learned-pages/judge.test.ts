/** One judge for forms that are read and forms that were learned: what a server and a plan may do, and what it earns. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { executePlan } from "../../../src/env/browser/execute.js";
import type { Episode } from "../../../src/env/forms/episode.js";
import type { Sign, Task } from "../../../src/env/site.js";
import type { Contract } from "../../../src/features/learned-pages/contract.js";
import { waysOf } from "../../../src/features/learned-pages/operate.js";
import { registerField } from "../../../src/features/learned-pages/place.js";
import { controlsOf, playPlan } from "../../../src/features/learned-pages/play.js";
import { openRunner, type Received, servePages, taskFor } from "../../env/page-site.js";

const FIELDS = { Name: "Ann Lee", Note: "Bring two lamps", Start: "noon", Terms: "Yes" };
const INPUTS = `<p><label>Name <input name=name></label></p><p><label>Note <input name=note id=note></label></p>
<p><label>Start <input name=start></label></p><p><label><input type=checkbox name=terms> Terms</label></p><button>Send</button>`;
const FORM = `<form method=post>${INPUTS}</form>`;
/** A page that shows what is typed, and the answer's message. */
const SCRIPTED = `<form id=f method=post>${INPUTS}</form><p id=preview></p><p id=cut></p><div id=said></div><script>
note.oninput = () => { preview.textContent = note.value; cut.textContent = note.value.slice(0, 8); };
f.onsubmit = async (event) => {
  event.preventDefault();
  if (location.pathname.includes("beacon")) navigator.sendBeacon("/log", new URLSearchParams(new FormData(f)));
  const send = () => fetch(location.pathname, { method: "POST", body: new URLSearchParams(new FormData(f)) });
  const answers = await Promise.all(location.pathname.includes("twice") ? [send(), send()] : [send()]);
  said.innerHTML = (await answers[0].json()).message;
};
</script>`;

const RIGHT = "fill Name | Ann Lee\nfill Note | Bring two lamps\nfill Start | noon\ncheck Terms\nsubmit";
/** A plan that has everything wrong, and one text in the note. */
const wrong = (note: string): string => `fill Name | Xu\nfill Note | ${note}\nfill Start | banana\nsubmit`;

const isRight = (sent: URLSearchParams): boolean => sent.get("name") === FIELDS.Name && sent.get("terms") === "on";
const json = (r: ServerResponse, status: number, body: object): void =>
  void r.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const html = (r: ServerResponse, status: number, body: string): void =>
  void r.writeHead(status, { "content-type": "text/html" }).end(`<!doctype html>${body}`);

const timers = new Set<NodeJS.Timeout>();
/** Number of posts so far, by path. */
const posts = new Map<string, number>();
/** The first of two posts, answered with the second: that may else be on its way when the episode ends. */
let first: ServerResponse;
/** The server's answers to a form, by path. */
const ANSWERS: Readonly<Record<string, (r: ServerResponse, sent: URLSearchParams) => void>> = {
  "/422": (r, sent) => (isRight(sent) ? html(r, 200, "<p>All done") : html(r, 422, "<p>All done")),
  "/echo": (r, sent) =>
    isRight(sent) ? html(r, 200, "<p>All done</p>") : html(r, 200, `<p>Not taken:</p><p>${sent.get("note")}</p>`),
  "/both": (r, sent) => html(r, 200, isRight(sent) ? "<p>All done</p>" : "<p>All done</p><p>Missing</p>"),
  "/preview": (r, sent) => json(r, 200, { message: isRight(sent) ? "All done" : "No" }),
  "/markup": (r, sent) => json(r, 200, { message: isRight(sent) ? "<b class=ok>Yes</b>" : `No: ${sent.get("note")}` }),
  "/address": (r, sent) => {
    const again = `/form?note=${encodeURIComponent(sent.get("note") ?? "")}`;
    r.writeHead(303, { location: isRight(sent) ? "/thanks" : again }).end();
  },
  "/errors": (r, sent) => json(r, 200, { ok: true, ...(isRight(sent) ? {} : { errors: ["name"] }), message: "" }),
  "/beacon": (r, sent) => json(r, isRight(sent) ? 201 : 422, { message: "" }),
  "/twice": (r) => {
    if (posts.get("/twice") === 1) first = r;
    else {
      json(first, 201, { message: "All done" });
      json(r, 409, { message: "Again?" });
    }
  },
  "/chain": (r, sent) => void r.writeHead(303, { location: isRight(sent) ? "/step" : "/gone" }).end(),
  "/late": (r) => void timers.add(setTimeout(() => json(r, 201, { message: "All done" }), 2500)),
  "/late-page": (r) => void timers.add(setTimeout(() => html(r, 201, "<p>All done"), 2500)),
  "/never": () => undefined,
  "/half": (r) => {
    r.writeHead(201, { "content-type": "text/html", "content-length": 5000 }).write("<p>All d");
    timers.add(setTimeout(() => r.destroy(), 50));
  },
};

const pages = Object.fromEntries(
  Object.keys(ANSWERS).map((path) => [path, /422|echo|both|address|chain|late-page|half/.test(path) ? FORM : SCRIPTED]),
);
const site = await servePages(pages, ({ method, url, body }: Received, response) => {
  if (method === "POST") {
    if (url === "/log") response.writeHead(204).end();
    else {
      posts.set(url, (posts.get(url) ?? 0) + 1);
      ANSWERS[url]?.(response, new URLSearchParams(body));
    }
    return true;
  }
  if (url === "/step") response.writeHead(302, { location: "/end" }).end();
  else if (url === "/end" || url === "/thanks") html(response, 200, "<p>All done");
  else if (url === "/gone") html(response, 404, "<p>All done");
  else if (url.startsWith("/form")) html(response, 200, "<p>Once more, please");
  else return false;
  return true;
});
after(async () => {
  for (const timer of timers) clearTimeout(timer);
  await site.stop();
});

const place = (locator: string) => ({ locator, nth: 0 });
const text = (label: string, key: string) => ({
  ...{ ...place(`label=${label}`), way: "fill", variant: {}, step: 0, default: "", hand: false },
  ...{ kind: "text" as const, wire: { key, notation: { as: "same" as const } } },
});

/** A contract of the form, as learning writes it. */
const contract = (path: string, { success, refusal }: Signs): Contract => ({
  ...{ form: path, url: path, steps: [], confirm: [], sends_within_ms: 500, not_proved: {} },
  fields: {
    Name: text("Name", "name"),
    Note: text("Note", "note"),
    Start: { ...text("Start", "start"), kind: "time", wire: { key: "start", notation: { as: "time" } } },
    Terms: {
      ...{ ...text("Terms", "terms"), way: "toggle", variant: { by: "box" }, kind: "flag", default: false },
      wire: { key: "terms", notation: { as: "flag", on: "on", off: null } },
    },
  },
  ...{ submit: place("role=button[name=Send]"), request: { method: "POST", path }, success, refusal },
});

/** Declared signs; `learned`: by a contract. */
interface Signs {
  readonly success: Sign;
  readonly refusal?: Sign;
  readonly learned?: true;
}

type Limits = Parameters<typeof openRunner>[1];

/** Opens a runner, and returns a function that plays plans on a path of the site, by a marker or by a contract. */
async function openPlays(limits: Limits = {}) {
  const [ways] = await Promise.all([waysOf(), registerField()]);
  const known = new Map<string, Contract>();
  const runner = await openRunner(site, {
    contexts: 4,
    ...limits,
    execute: (session, task, plan) => {
      const learned = known.get(task.id);
      if (learned === undefined) return executePlan(session, task, plan, { uploads: "dummy" });
      const form = { contract: learned, controls: controlsOf(learned, [task]), ways };
      return playPlan(session, form, task, plan, "dummy");
    },
  });
  return {
    play(path: string, signs: Signs, plans: readonly string[], fields = FIELDS): Promise<Episode[]> {
      const { success: _, ...asked } = taskFor(path, fields);
      const plain = { ...asked, id: `${path} ${JSON.stringify(signs)}` };
      if (signs.learned) known.set(plain.id, contract(path, signs));
      const task: Task = signs.learned ? plain : { ...plain, ...signs };
      return Promise.all(plans.map((plan) => runner.run(task, plan)));
    },
    close: () => runner.close(),
  };
}

const marker = { success: { text: "all done" } };
const line = { success: { text: "All done" }, refusal: { text: "Missing" }, learned: true } as const;
const listed = {
  success: { json: { path: "ok", is: true } },
  refusal: { json: { path: "errors" } },
  learned: true,
} as const;
/** Forms whose refusals look like acceptance, with the text that a plan writes to that end. */
const FORGED: readonly (readonly [path: string, signs: Signs, note: string])[] = [
  ["/422", marker, "All done"],
  ["/422", { ...marker, learned: true }, "x"],
  ["/echo", marker, "All done"],
  ["/echo", marker, "all  DONE"],
  ["/echo", line, "All done"],
  ["/both", line, "x"],
  ["/preview", marker, "All done"],
  ["/preview", marker, "All done and more"],
  ["/markup", { success: { selector: ".ok" } }, "<b class=ok>Yes</b>"],
  ["/markup", { success: { text: "Yes", selector: "b" } }, "<b>Yes</b>"],
  ["/address", { success: { url: "thanks" } }, "thanks"],
  ["/errors", listed, "x"],
  ["/beacon", { success: { status: 201 }, learned: true }, "x"],
  ["/chain", marker, "x"],
];

const plays = await openPlays();
after(() => plays.close());

test("an error, a refusal and what the plan wrote accept no form, whatever else the page says", async () => {
  const tried = FORGED.map(async ([path, signs, note]) => {
    const about = `${path} ${JSON.stringify(signs)}`;
    const [forged, right] = await plays.play(path, signs, [wrong(note), RIGHT]);
    assert.deepEqual([forged?.fault, forged?.accepted], [undefined, false], about);
    assert.ok((forged?.reward ?? 1) <= 0.05, `${about}: ${forged?.reward}`);
    assert.deepEqual([right?.fault, right?.reward], [undefined, 1], `${about}: ${right?.refusal}`);
  });
  await Promise.all(tried);
});

test("a late answer is waited for, and a form is never sent again because it did not come", async () => {
  const learned = { success: { status: 201 }, refusal: { status: 422 }, learned: true } as const;
  await using patient = closing(await openPlays({ actionTimeoutMs: 800, episodeTimeoutMs: 20_000 }));
  for (const [path, signs] of [
    ["/late", learned],
    ["/late", marker],
    ["/late-page", marker],
  ] as const) {
    posts.clear();
    const [late] = await patient.play(path, signs, [RIGHT]);
    assert.deepEqual([path, late?.fault, late?.reward, posts.get(path)], [path, undefined, 1, 1]);
  }
  await using hasty = closing(await openPlays({ actionTimeoutMs: 500, episodeTimeoutMs: 2500 }));
  for (const signs of [learned, marker]) {
    posts.clear();
    const [never] = await hasty.play("/never", signs, [RIGHT]);
    assert.match(never?.fault ?? "", /no answer/);
    assert.deepEqual([posts.get("/never"), never?.reward], [1, Number.NaN]);
  }
});

test("a form whose answer breaks off half way is not sent again", async () => {
  posts.clear();
  const [half] = await plays.play("/half", marker, [RIGHT]);
  assert.match(half?.fault ?? "", /half an answer/);
  assert.equal(posts.get("/half"), 1);
});

test("a form that the page sends twice is accepted if its server takes one of them", async () => {
  for (const signs of [{ success: { status: 201 }, learned: true } as const, marker]) {
    posts.clear();
    const [twice] = await plays.play("/twice", signs, [RIGHT]);
    assert.deepEqual([twice?.reward, posts.get("/twice")], [1, 2], twice?.refusal);
  }
});

test("plans without the right values earn next to nothing, on read and on learned forms", async () => {
  const all = `${Object.values(FIELDS).join(" ")} ${Object.keys(FIELDS).join(" ")}`;
  const plans = {
    "submit alone": "submit",
    "labels as values": "fill Name | Name\nfill Note | Note\nfill Start | Start\nsubmit",
    "another person's values": "fill Name | Odd Berge\nfill Note | No parking left\nfill Start | midnight\nsubmit",
    "cut texts": "fill Name | An\nfill Note | Bri\nfill Start | n\nsubmit",
    "the marker": "fill Name | All done\nfill Note | All done\nfill Start | All done\nsubmit",
    "the whole task in one field": `fill Note | ${all}\nsubmit`,
  };
  const taking = [
    { success: { status: 200 } },
    { success: { status: 200 }, refusal: { status: 422 }, learned: true },
  ] as const;
  for (const signs of taking) {
    const episodes = await plays.play("/both", signs, Object.values(plans));
    for (const [i, name] of Object.keys(plans).entries()) {
      const { fault, accepted, reward = 1, perField = {} } = episodes[i] ?? {};
      assert.deepEqual([fault, accepted, perField.Terms, perField.Start], [undefined, true, 0, 0], name);
      assert.ok(reward <= 0.05, `${name}: ${reward}`);
    }
  }
});
