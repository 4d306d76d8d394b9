import assert from "node:assert/strict";
import { test } from "node:test";
import { openForm } from "./form-site.js";

type Answer = Parameters<typeof openForm>[3];
const TASKS = [
  { Name: "Jonah Reed", Plan: "Silver" },
  { Name: "Ada Quist", Plan: "Gold" },
  { Name: "Nils Oja", Plan: "Bronze" },
];
const FIELDS =
  "<p><label>Name <input name=n id=n></label></p><p><label>Plan <select name=p id=p><option value=''>-</option><option value=s1>Silver</option><option value=g1>Gold</option><option value=b1>Bronze</option></select></label></p>";

/** Learns a form, and plays its first task. @param tasks three persons. */
async function learned(page: string, answer: Answer, tasks: readonly object[] = TASKS, learn: object = {}) {
  const site = await openForm("trial", tasks, `<!doctype html><title>Trial</title>${page}`, answer, 0, learn);
  try {
    const { reward, detail } = await site.policy("oracle", 0).catch((error: Error) => {
      throw new Error(`${error.message}`, { cause: error });
    });
    const sent = site.received.length;
    const empty = (await site.policy("submit-only", 0)).reward ?? 0;
    return { reward: reward ?? 0, accepted: detail.accepted, empty, sent, contract: site.contract(), site };
  } finally {
    await site.close();
  }
}

/** A form that its script sends as JSON in a text, after what `first` does; `path` is where it goes. */
const scripted = (first: string): string =>
  `<form id=f>${FIELDS}<button>Send</button></form><p id=say></p><script>
const post = (path, more) => fetch(path, { method: "POST", body: new URLSearchParams({ n: n.value, p: p.value, ...more }) });
f.onsubmit = async (e) => { e.preventDefault(); ${first} };</script>`;

const isFull = (sent: URLSearchParams): boolean => !!(sent.get("n") && sent.get("p"));

test("the form's request is the one whose answer differs, not the analytics that carries the same values", async () => {
  for (const first of [
    "await post('/track', { t: 1 }); await post('/send'); say.textContent = 'ok'",
    "post('/send').then(() => { say.textContent = 'ok'; }); post('/track', { t: 1 })",
  ]) {
    const { contract, reward, empty } = await learned(scripted(first), (sent) =>
      sent.get("t") === null && !isFull(sent) ? { status: 422, html: "no" } : { status: 200, html: "yes" },
    );
    assert.deepEqual([contract.request?.path, reward], ["/send", 1], first);
    assert.ok(empty <= 0.05);
  }
});

test("a text that the page cuts is not learned, and its contract says what arrived", async () => {
  const tasks = ["Queen of the Fjords", "Little Grey Seal", "Estrela da Manha"].map((Boat, i) => ({
    Owner: TASKS[i]?.Name,
    Boat,
  }));
  const page =
    "<form method=post action=/send><p><label>Owner <input name=o></label></p><p><label>Boat <input name=b maxlength=12></label></p><button>Send</button></form>";
  const { contract, reward, sent } = await learned(
    page,
    (got) => (got.get("b") ? "<h1>Registered</h1>" : { status: 400, html: "<h1>Incomplete</h1>" }),
    tasks,
    { submissions: 12 },
  );
  assert.ok(reward < 1);
  assert.match(contract.not_learned.Boat ?? "", /only a part of its value arrived, "Queen of the" under b/);
  // 12 while it was learned, a page that was sent early may hold one more, and the task itself
  assert.ok(sent <= 20, String(sent));
});

test("a value that the page changes back is entered again after a pause", async () => {
  const tasks = TASKS.map((task, i) => ({ ...task, Hour: ["Noon", "Evening", "Noon"][i] }));
  const page = `<form method=post action=/send>${FIELDS}<p><label>Hour <select name=h id=h><option value=a>Morning</option><option value=b>Noon</option><option value=c>Evening</option></select></label></p><button>Send</button></form><script>
let due = false; p.onchange = () => { due = true; };
h.onchange = () => { if (due) setTimeout(() => { h.value = "a"; }, 900); due = false; };</script>`;
  const { contract, reward } = await learned(
    page,
    (sent) => (isFull(sent) ? "<h1>Kept</h1>" : { status: 400, html: "no" }),
    tasks,
  );
  assert.deepEqual([contract.rests_ms, reward], [1500, 1]);
});

test("a page that sends each field by itself is refused in words", async () => {
  const page = `<form id=f>${FIELDS}<p><label>Town <input id=t></label></p><button>Close</button></form><script>
for (const e of [n, t]) { let w; e.oninput = () => { clearTimeout(w); w = setTimeout(() => fetch("/draft" + Math.random(), { method: "POST", body: new URLSearchParams({ [e.id]: e.value }) }), 300); }; }
f.onsubmit = (e) => { e.preventDefault(); fetch("/close", { method: "POST", body: new URLSearchParams({ ok: 1 }) }); };</script>`;
  const tasks = TASKS.map((task, i) => ({ ...task, Town: ["Bath", "Kent", "York"][i] }));
  await assert.rejects(
    learned(page, () => "ok", tasks, { minutes: 4 }),
    /sends each field by itself .*POST \/draft/,
  );
});

test("the page's words say which field it means, and an endless loop ends the search in words", async () => {
  const page = `<form id=f><p><label>Phone <input id=ph></label></p>${FIELDS}<button>Send</button></form><p id=say></p><script>
let keys = ""; ph.onkeydown = (e) => { if (e.key.length === 1) keys += e.key; };
f.onsubmit = async (e) => { e.preventDefault(); if (keys.length < 4) { say.textContent = "The phone number is incomplete"; return; }
await fetch("/send", { method: "POST", body: new URLSearchParams({ t: ph.value, n: n.value, p: p.value }) }); say.textContent = "ok"; };</script>`;
  const tasks = TASKS.map((task, i) => ({ Phone: `0170 55${i}9 812`, ...task }));
  const { contract, reward } = await learned(page, () => "ok", tasks);
  assert.deepEqual([contract.not_learned, reward], [{}, 1]);
  assert.notEqual(contract.fields.Phone?.way, "fill");
  const loop = `<form method=post action=/send>${FIELDS}<button>Send</button></form><script>n.oninput = () => { for (;;); };</script>`;
  await assert.rejects(
    learned(loop, () => "ok", TASKS, { minutes: 0.2 }),
    /no end after .* after Name was entered/,
  );
});
