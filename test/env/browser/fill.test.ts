import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { closing } from "../../../src/core/closing.js";
import type { Control } from "../../../src/env/browser/controls.js";
import type { Episode } from "../../../src/env/forms/episode.js";
import type { FieldValue } from "../../../src/env/site.js";
import { FIELDS, openRunner, servePages, taskFor } from "../page-site.js";

const PAGES = {
  "/labels": `<form method=post><h2>Sign up</h2>
    <label for=a>First name<span> *</span></label><input id=a name=a>
    <label>Last name: <input name=b></label>
    <input aria-label="Nickname" name=c>
    <span id=p1>Home</span><span id=p2>town</span><input aria-labelledby="p1 p2" name=d>
    <div><h4>Account type</h4><div><select name=e><option value="">Choose</option><option value=s>Savings</option></select></div></div>
    <input placeholder="Promo code" name=f>
    <fieldset><legend>Ticket</legend><label><input type=radio name=g value=1> Day</label><label><input type=radio name=g value=2 checked> Week</label></fieldset>
    <div role=group aria-label="Extras"><label><input type=checkbox name=h value=x> Lunch</label><label><input type=checkbox name=h value=y checked> Tour</label></div>
    <p>Meal</p><div><input type=radio name=i id=i1 value=m><label for=i1>Meat</label><input type=radio name=i id=i2 value=v><label for=i2>Vegan</label></div>
    <p>Pace<br><label><input type=radio name=o value=s> Slow</label> <label><input type=radio name=o value=f> Fast</label></p>
    <label>Same <input name=j></label><label>Same <input name=k></label>
    <label><input type=checkbox name=l> Same</label>
    <input type=hidden name=z value=1><input name=y disabled><label style="display:none">Trap<input name=trap></label>
    <button>Send</button></form>`,
  "/kinds": `<form method=post enctype="multipart/form-data">
    <label>Text <input name=text value=old maxlength=12></label><label>Area <textarea name=area></textarea></label>
    <label>Number <input type=number name=number></label><label>Date <input type=date name=date></label>
    <label>Loose date <input name=loose></label><label>Time <input type=time name=time></label>
    <label>Colour <select name=colour><option value="">-</option><option value=r>Red</option><option value=b>Blue</option></select></label>
    <fieldset><legend>Size</legend><label><input type=radio name=size value=s> Small</label><label><input type=radio name=size value=l> Large</label></fieldset>
    <label><input type=checkbox name=news> News</label><label><input type=checkbox name=ads checked> Ads</label>
    <fieldset><legend>Days</legend><label><input type=checkbox name=days value=1> Mon</label><label><input type=checkbox name=days value=2 checked> Tue</label><label><input type=checkbox name=days value=3> Wed</label></fieldset>
    <label>Tags <select name=tags multiple><option value=t1>One</option><option value=t2>Two</option></select></label>
    <label>Photo <input type=file name=photo></label><label>Fixed <input name=fixed value=x readonly></label>
    <button>Submit</button></form>`,
  "/date-texts": `<form method=post><label>Born <input name=a placeholder="YYYY/MM/DD"></label><label>Due <input name=b placeholder="dd.mm.yyyy"></label>
    <label>Paid <input name=c placeholder="MM-DD-YYYY"></label><label>Text <input name=d placeholder="MM/YY"></label><button>Submit</button></form>
    <script>document.forms[0].a.addEventListener("blur",(e)=>{e.target.value="garbled"})</script>`,
  "/required": `<form method=post><label>Name <input name=n required></label><label>Age <input name=age type=number min=18></label><button>Submit</button></form>`,
  "/file-optional": `<form method=post enctype="multipart/form-data"><label>Name <input name=n></label><label>Scan <input type=file name=scan></label><button>Submit</button></form>`,
  "/file-required": `<form method=post enctype="multipart/form-data"><label>Name <input name=n></label><label>Scan <input type=file name=scan required></label><button>Submit</button></form>`,
  "/get": `<form><label>Query <input name=q></label><button>Search</button></form>`,
  "/json": `<form id=f><label>Name <input id=n></label><label><input type=checkbox id=ok> Fine</label><button>Submit</button></form>
    <script>f.onsubmit=(e)=>{e.preventDefault();setTimeout(()=>fetch("/api",{method:"PUT",headers:{"content-type":"application/json"},body:JSON.stringify({n:n.value,ok:ok.checked?"on":null})}),20)}</script>`,
  "/silent": `<form onsubmit="return false"><label>Name <input name=n></label><button>Submit</button></form>`,
  "/refused": `<form method=post action="/refused"><label>Name <input name=n></label><button>Submit</button></form>`,
  "/redirect": `<form method=post action="/redirect"><label>Name <input name=n></label><button>Submit</button></form>`,
  "/late": `<form id=f method=post></form><script>setTimeout(()=>{f.innerHTML="<label>Name <input name=n></label><button>Submit</button>"},60)</script>`,
  "/no-button": `<form method=post><label>Name <input name=n></label></form>`,
  "/covered": `<form method=post><label>Name <input name=n></label><button>Submit</button></form><div style="position:fixed;inset:0"></div>`,
  "/two-forms": `<form action="/search" method=post><input name=q aria-label=Search><button>Go</button></form>
    <form method=post><label>Name <input name=n></label><label>City <input name=c></label><button type=button>Help</button><button>Send it</button></form>`,
  "/canary": `<script>function canary(){fetch("/canary-hit")}</script><form method=post><label>Name <input name=n onerror="canary()"></label><label>Note <textarea name=note></textarea></label><label>Scan <input type=file name=s></label>
    <label>Colour <select name=c><option>Red</option></select></label><button>Submit</button></form>`,
};

const site = await servePages(PAGES, ({ url, method }, response) => {
  if (method !== "POST" || (url !== "/refused" && url !== "/redirect")) return false;
  response.writeHead(url === "/refused" ? 422 : 303, { location: "/get" }).end();
  return true;
});
const runner = await openRunner(site, { contexts: 2, actionTimeoutMs: 2000 });
after(() => runner.close());
after(() => site.stop());

type Fields = Parameters<typeof taskFor>[1];
const play = (url: string, lines: readonly string[], fields: Fields = {}): Promise<Episode> =>
  runner.run(taskFor(url, fields), lines.join("\n"));
const enter = (url: string, fields: Fields = FIELDS): Promise<Episode> =>
  play(url, ["fill Name | Ann", "submit"], fields);
const fates = (episode: Episode): string[] => episode.actions.map((record) => record.fate);
const sentBy = ({ posted }: Episode): string => posted.map((pair) => pair.join("=")).join(" ");

/** Plays lines, and asserts what becomes of each. */
async function expectFates(url: string, lines: readonly (readonly [string, string])[], fields: Fields = {}) {
  const wanted = lines.map(([line]) => line);
  const episode = await play(url, wanted, fields);
  assert.deepEqual(
    fates(episode).map((fate, i) => [wanted[i], fate]),
    lines,
  );
  return episode;
}

test("a text field that shows a date's notation is a date, written that way", async () => {
  const fields = { Born: "1957-08-01", Due: "2024/3/5", Paid: "March 5, 2024", Text: "3/5/2024" };
  const lines = Object.entries(fields).map(([label, value]) => `fill ${label} | ${value}`);
  const episode = await play("/date-texts", [...lines, "submit"], fields);
  assert.equal(sentBy(episode), "a=1957/08/01 b=05.03.2024 c=03-05-2024 d=3/5/2024");
  assert.equal(episode.reward, 1);
});

test("reads every control with its accessible name, options and default", async () => {
  const controls = await runner.snapshot(taskFor("/labels"));
  const short = ({ kind, label, name, default: preset, options }: Control): unknown[] => {
    return [kind, label, name, preset, options.map(({ text, value }) => `${text}=${value}`).join(" ")];
  };
  assert.deepEqual(controls.map(short), [
    ["text", "First name *", "a", "", ""],
    ["text", "Last name:", "b", "", ""],
    ["text", "Nickname", "c", "", ""],
    ["text", "Home town", "d", "", ""],
    ["select", "Account type", "e", "", "Choose= Savings=s"],
    ["text", "Promo code", "f", "", ""],
    ["radio", "Ticket", "g", "Week", "Day=1 Week=2"],
    ["checkbox-group", "Extras", "h", ["Tour"], "Lunch=x Tour=y"],
    ["radio", "Meal", "i", "", "Meat=m Vegan=v"],
    ["radio", "Pace", "o", "", "Slow=s Fast=f"],
    ["text", "Same", "j", "", ""],
    ["text", "Same", "k", "", ""],
    ["checkbox", "Same", "l", false, "Same=on"],
  ]);
});

test("labels are matched without case, stars and punctuation; options by their own label; the verb parts namesakes", async () => {
  const episode = await expectFates("/labels", [
    ["fill FIRST NAME | 1", "done"],
    ["fill Last-name | 2", "done"],
    ["fill First | 3", "no-such-control"],
    ["fill Same | 4", "ambiguous"],
    ["check Same", "done"],
    ["check Lunch", "done"],
    ["uncheck Tour", "done"],
    ["click Vegan", "done"],
    ["submit", "done"],
    ["fill Nickname | 5", "after-submit"],
  ]);
  const posted = new Map(episode.posted);
  const actual = ["a", "b", "h", "i", "l", "j"].map((name) => posted.get(name));
  assert.deepEqual(actual, ["1", "2", "x", "v", "on", ""]);
});

test("every kind of control takes its value in any common notation", async () => {
  const given: readonly (readonly [label: string, line: string, value: FieldValue])[] = [
    ["Text", "fill Text | new value", "new  value"],
    ["Area", "fill Area | two lines", "two lines"],
    ["Number", "fill Number | 1,200", 1200],
    ["Date", "fill Date | March 5, 2024", "2024/03/05"],
    ["Loose date", "fill Loose date | 2024-03-05", "2024-03-05"],
    ["Time", "fill Time | 3:30 pm", "15:30"],
    ["Colour", "fill Colour | r", "Red"],
    ["Size", "fill Size | large", "Large"],
    ["News", "fill News | yes", true],
    ["Ads", "select Ads | no", false],
    ["Days", "select Days | Mon, Wed", ["Mon", "Wed"]],
    ["Tags", "select Tags | Two", ["Two"]],
    ["Photo", "fill Photo | ../me.png", "me.png"],
  ];
  const fields = Object.fromEntries(given.map(([label, , value]) => [label, value]));
  const episode = await play("/kinds", [...given.map(([, line]) => line), "submit"], fields);
  assert.deepEqual(new Set(fates(episode)), new Set(["done"]));
  assert.deepEqual([episode.reward, episode.success], [1, true]);
  const posted = new Map(episode.posted);
  const actual = ["number", "date", "time", "colour", "size", "news", "ads", "photo"].map((n) => posted.get(n));
  assert.deepEqual(actual, ["1200", "2024-03-05", "15:30", "r", "l", "on", undefined, "me.png"]);
  const found = episode.posted.filter(([name]) => name === "days").map(([, value]) => value);
  assert.deepEqual(found, ["1", "3"]);
});

test("what a control cannot take is a fate, not an error", async () => {
  const rejected: readonly (readonly [string, string])[] = [
    ["fill Number | seven", "rejected"],
    ["fill Date | tomorrow", "rejected"],
    ["select Colour | Green", "no-such-option"],
    ["fill Size | Tiny", "no-such-option"],
    ["fill News | perhaps", "no-such-option"],
    ["select Days | Mon, Sun", "no-such-option"],
    ["check Colour", "rejected"],
    ["fill Fixed | y", "rejected"],
    ["goto /elsewhere", "rejected"],
    ["fill Text | much too long a text", "done"],
    ["submit", "done"],
  ];
  const episode = await expectFates("/kinds", rejected, { Text: "much too lon" });
  assert.equal(episode.fieldAccuracy, 1, "typed into a control, a text ends at its maxlength");
});

test("the documents' sentences do the same, and neutral steps cost nothing", async () => {
  const sentences = [
    "Step 1: Navigate to http://127.0.0.1:5000/kinds",
    "Step 2: Click on the 'Text' input field",
    "Step 3: Type 'O'Neil' into the 'Text' field",
    "Step 4: Select 'Blue' from the 'Colour' field",
    "Step 5: Click on the 'News' checkbox to enable it",
    "Step 6: Click the Submit button",
  ];
  assert.equal((await play("/kinds", sentences, { Text: "O'Neil", Colour: "Blue", News: true })).reward, 1);
});

test("the page's own validation stops a submit: nothing is posted, and nothing is earned", async () => {
  const before = site.received.length;
  const episode = await play("/required", ["fill Age | 20", "submit"], { Name: "Ann", Age: 20 });
  assert.equal(site.received.slice(before).filter((r) => r.method === "POST").length, 0);
  const { accepted, fault, fieldAccuracy, posted } = episode;
  assert.deepEqual([accepted, fault, fieldAccuracy, posted], [false, undefined, 0, []]);
  assert.equal(episode.actions[1]?.fate, "rejected");
  assert.match(episode.actions[1]?.detail ?? "", /^n: /);
  const second = await play("/required", ["submit", "fill Name | Ann", "submit"], { Name: "Ann" });
  assert.deepEqual([fates(second), second.accepted], [["rejected", "done", "done"], true]);
});

test("a required file that the task does not name is attached, and earns nothing", async () => {
  const none = await enter("/file-required", { Name: "Ann", Scan: "None" });
  assert.deepEqual([none.reward, none.success], [1, true]);
  const named = await enter("/file-required", { Name: "Ann", Scan: "a.png" });
  assert.deepEqual([named.accepted, named.fieldAccuracy, named.success], [true, 0.5, false]);
});

test("where uploads are off a file costs and earns nothing, and a form that requires one cannot be sent", async () => {
  await using off = closing(await openRunner(site, { uploads: "none" }));
  const fields = { Name: "Ann", Scan: "a.png" };
  for (const plan of ["fill Name | Ann\nfill Scan | a.png\nsubmit", "fill Name | Ann\nsubmit"]) {
    const optional = await off.run(taskFor("/file-optional", fields), plan);
    assert.deepEqual([optional.reward, optional.success], [1, true]);
    const required = await off.run(taskFor("/file-required", fields), plan);
    assert.deepEqual([required.accepted, required.reward, required.success], [false, 0, false]);
  }
});

test("forms by GET, by script as JSON, with a redirect, refused, silent, without a button", async () => {
  const get = await play("/get", ["fill Query | a b", "submit"], { Query: "a b" });
  assert.deepEqual([get.reward, sentBy(get)], [1, "q=a b"]);
  const json = await play("/json", ["fill Name | Ann", "check Fine", "submit"], { Name: "Ann", Fine: true });
  assert.deepEqual([json.reward, sentBy(json)], [1, "n=Ann ok=on"]);
  const redirect = await enter("/redirect");
  assert.deepEqual([redirect.reward, redirect.status], [1, 303]);
  const { fault, accepted, status, fieldAccuracy } = await enter("/refused");
  assert.deepEqual([fault, accepted, status, fieldAccuracy], [undefined, false, 422, 1]);
  const silent = await enter("/silent");
  assert.deepEqual([silent.accepted, fates(silent)[1]], [false, "rejected"]);
  const none = await enter("/no-button");
  assert.deepEqual([none.accepted, fates(none)[1]], [false, "no-such-control"]);
});

test("a form that a script builds is waited for; a covered button times out", async () => {
  assert.equal((await enter("/late")).reward, 1);
  const covered = await enter("/covered");
  assert.deepEqual([covered.fault, fates(covered)], [undefined, ["done", "timeout"]]);
});

test("the form with the most controls is the one to submit; other buttons are clicked by name", async () => {
  const fields = { Name: "Ann", City: "Oslo" };
  const episode = await play("/two-forms", ["fill Name | Ann", "fill City | Oslo", "submit"], fields);
  assert.deepEqual([episode.reward, sentBy(episode)], [1, "n=Ann c=Oslo"]);
  assert.equal(sentBy(await play("/two-forms", ["click Help", "fill Search | x", "click Go"])), "q=x");
});

test("labels and values are data: no text of a plan ever runs", async () => {
  const before = site.received.length;
  const payloads = [
    `<img src=x onerror=canary()>`,
    `"><script>canary()</script>`,
    `');canary();('`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the page must receive it as text
    "${canary()}",
    "`+canary()+`",
    `javascript:canary()`,
    `*/canary();/*`,
    "\\');canary()//",
    "x]);canary();([",
    "text=Name >> xpath=//*",
    "#n, [name=n]:has(*)",
    "../../etc/passwd",
    "$(touch /tmp/x); `id`",
    "\u0000\u0007\u001b[2J\u2028\u202e\ufeff",
    "__proto__",
  ];
  const strange = fc.sample(fc.string({ unit: "grapheme", maxLength: 40 }), { seed: 3, numRuns: 8 });
  const hostile = [...payloads, ...strange].map((text) => text.replace(/[\r\n|]/g, " ").trim());
  const verbs = ["fill", "select", "check", "uncheck", "click", "goto", "Step 1: Type '"];
  // all as labels and values in one episode, and each as what is posted in its last line
  for (const note of [hostile[0], hostile[7], hostile.at(-1)] as string[]) {
    const lines = hostile.flatMap((text) => [
      ...verbs.map((verb) => `${verb} ${text} | ${text}`),
      ...["Colour", "Scan"].map((label) => `fill ${label} | ${text}`),
    ]);
    const episode = await play("/canary", [...lines, `fill Note | ${note}`, "submit"], { Note: note });
    assert.equal(episode.fault, undefined);
    assert.equal(new Map(episode.posted).get("note"), note);
  }
  assert.deepEqual(new Set(site.received.slice(before).map((r) => r.url)), new Set(["/canary"]));
});
