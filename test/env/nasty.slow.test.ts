import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../src/core/closing.js";
import { FIELDS, FORM, openRunner, playForm, servePages, taskFor, using } from "./page-site.js";

const onInput = (script: string): string => `${FORM}<script>document.forms[0].n.oninput = () => { ${script} }</script>`;

/** Pages that disturb an episode; the plan must get its full reward on each. */
const HARMLESS: Record<string, string> = {
  "closes itself": `${FORM}<script>window.close(); setTimeout(() => window.close())</script>`,
  "closes itself on input": onInput(`open("", "_self"); window.close()`),
  "changes its address": `${FORM}<script>setInterval(() => { location.hash = Math.random(); }, 2)</script>`,
  "reloads itself": onInput("location.reload()"),
  "writes itself anew": `${FORM}<script>onload = () => document.write(${JSON.stringify(FORM)})</script>`,
  "counts on another base": `<base href="/deep/er/">${FORM.replace("<form", "<form action=x")}`,
  "opens all in new windows": `<base target=_blank>${FORM}`,
  "refreshes itself": `<meta http-equiv=refresh content="0; url=/elsewhere">${FORM}`,
  "stops in a debugger": `${FORM}<script>setInterval(() => { debugger }, 1); print()</script>`,
  "has a second form in a shadow": `${FORM}<div id=h></div><script>h.attachShadow({ mode: "open" }).innerHTML = ${JSON.stringify(FORM)}</script>`,
  "is framed by itself": `${FORM}<iframe src="/is-framed-by-itself"></iframe>`,
  "reports of its own accord": `${FORM}<script>const report = () => fetch("/report", { method: "POST", body: new URLSearchParams({ n: "Bo" }) });
    document.forms[0].setAttribute("aria-busy", true); report().then(() => document.forms[0].removeAttribute("aria-busy"));
    document.addEventListener("click", report, true)</script>`,
};

/** Pages that patch the browser's built-in objects; the environment's scripts run in an isolated world. */
const PATCHED: Record<string, string> = {
  "no array works": `${FORM}<script>for (const k of ["map", "filter", "push", "flatMap", "find", "some"]) Array.prototype[k] = () => { throw 1 }; Array.prototype[Symbol.iterator] = function* () { yield 1 }</script>`,
  "arrays lie": `${FORM}<script>Array.prototype.filter = function () { return this }; Array.prototype.map = () => []</script>`,
  "no element works": `${FORM}<script>for (const k of ["matches", "querySelector", "getAttribute", "checkVisibility", "click", "scrollIntoView", "getBoundingClientRect"]) Element.prototype[k] = HTMLElement.prototype[k] = () => { throw 2 }; document.querySelectorAll = () => []</script>`,
  "JSON lies": `${FORM}<script>JSON.stringify = () => "{}"; JSON.parse = () => ({}); Object.keys = () => []</script>`,
  "every object is a promise": `${FORM}<script>Object.prototype.then = () => undefined; Object.prototype.toJSON = () => { throw 6 }</script>`,
  "time stands still": `${FORM}<script>performance.now = Date.now = () => 0; window.setTimeout = () => 0</script>`,
  "values throw": `${FORM}<script>Object.defineProperty(HTMLInputElement.prototype, "value", { get() { throw 4 }, set() { throw 5 } })</script>`,
  "values lie": `${FORM}<script>Object.defineProperty(HTMLInputElement.prototype, "value", { get() { return "Ann" }, set() {} })</script>`,
  "events are deaf": `${FORM}<script>EventTarget.prototype.addEventListener = () => {}; EventTarget.prototype.dispatchEvent = () => { throw 3 }</script>`,
};

/** Pages that break themselves or browser tools: the episode faults, or its score matches the server's post. */
const BREAKING: Record<string, string> = {
  "submit does nothing": `${FORM}<script>HTMLFormElement.prototype.submit = () => {}; document.forms[0].onsubmit = (e) => { e.preventDefault(); document.forms[0].submit(); }</script>`,
  "a frame posts by itself": `${FORM}<iframe srcdoc="<form method=post action=/x><input name=n value=Bo></form><script>setInterval(() => document.forms[0].submit(), 20)</script>"></iframe>`,
  "leaves by a timer": `${FORM}<script>setInterval(() => { location = "/elsewhere" }, 5)</script>`,
  "the form is in a frame": `<iframe srcdoc='${FORM}'></iframe>`,
  "the form is in a shadow": `<div id=h></div><script>h.attachShadow({ mode: "closed" }).innerHTML = ${JSON.stringify(FORM)}</script>`,
  "the base is elsewhere": `<base href="http://127.0.0.1:9/">${FORM.replace("<form", "<form action=x")}`,
  "gone on input": onInput(`location = "about:blank"`),
  "a script address on input": onInput(`location = "javascript:'gone'"`),
  "written anew on input": onInput(`document.open(); document.write("gone"); document.close()`),
  "asks again and again": onInput("while (confirm(1));"),
  "waits for ever": onInput(`const x = new XMLHttpRequest(); x.open("GET", "/never", false); x.send()`),
  "never ends a microtask": `${FORM}<script>onload = () => { const f = () => Promise.resolve().then(f); f(); }</script>`,
};

const pathOf = (name: string): string => `/${name.replaceAll(" ", "-")}`;
const paths = (pages: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(pages).map(([name, page]) => [pathOf(name), page]));

test("a page that patches what the browser gives it is read and filled in as any other", async () => {
  const box = `<label>Fine <input type=checkbox name=b></label><label>Colour <select name=c><option value="">-</option><option>Red</option></select></label>`;
  const file = `<label>File <input type=file name=f></label>`;
  const page = (script: string): string =>
    script.replace("<form method=post>", `<form method=post enctype="multipart/form-data">${box}${file}`);
  const patched = Object.fromEntries(Object.entries(PATCHED).map(([name, script]) => [name, page(script)]));
  const fields = { ...FIELDS, Fine: true, Colour: "Red", File: "a.txt" };
  const fill = "fill Name | Ann\ncheck Fine\nselect Colour | Red\nfill File | a.txt";
  await using(paths(patched), {}, async (runner) => {
    for (const name of Object.keys(PATCHED)) {
      const { fault, actions, received } = await runner.run(taskFor(pathOf(name), fields), fill);
      assert.deepEqual([name, fault, actions[0]?.fate, received.Name], [name, undefined, "done", ""]);
      const episode = await runner.run(taskFor(pathOf(name), fields), `${fill}\nsubmit`);
      assert.deepEqual([name, episode.fault, episode.reward, episode.attempts], [name, undefined, 1, 1]);
    }
  });
});

test("pages that get in the way change nothing about a plan's worth", async () => {
  await using(paths(HARMLESS), {}, async (runner) => {
    for (const name of Object.keys(HARMLESS)) {
      const episode = await playForm(runner, pathOf(name));
      assert.deepEqual([name, episode.fault, episode.reward, episode.attempts], [name, undefined, 1, 1]);
    }
  });
});

test("pages that break what they can end as faults, or as what the server received; the next page is as ever", async () => {
  await using site = await servePages({ ...paths(BREAKING), "/plain": FORM }, ({ url }) => url === "/never");
  await using runner = closing(await openRunner(site, { contexts: 4, actionTimeoutMs: 1000, episodeTimeoutMs: 2000 }));
  const play = async (name: string): Promise<void> => {
    const episode = await playForm(runner, pathOf(name));
    const { fault, reward, accepted, posted } = episode;
    if (fault !== undefined) {
      assert.ok(Number.isNaN(reward) && !accepted, name);
      return;
    }
    const bodies = site.received.filter((r) => r.method === "POST" && r.url === pathOf(name)).map((r) => r.body);
    if (accepted) assert.equal(reward > 0.5, JSON.stringify(posted).includes("Ann"), name);
    if (accepted && reward > 0) assert.ok(bodies.includes("n=Ann"), name);
    // a right value that is not sent is worth at most about half
    if (!accepted) assert.ok(reward <= 0.6, name);
  };
  await Promise.all(Object.keys(BREAKING).map(play));
  await runner.close();
  await using next = closing(await openRunner(site));
  assert.equal((await playForm(next, "/plain")).reward, 1);
});
