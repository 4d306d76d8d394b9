import type { ServerResponse } from "node:http";
import type { Received } from "../page-site.js";

/** A way to bring a text from one episode to the next. */
export interface Way {
  /** IN THE PAGE: body of an async function of `text`; keeps it. `KEY` stands for a name that no other way uses. */
  readonly leave: string;
  /** IN THE PAGE: body of an async function; returns what was kept, or "" . */
  readonly look: string;
  /** A context that serves the next episode too hands it over; the others are stopped by a wall before that. */
  readonly works: boolean;
}

const kept = (leave: string, look: string): Way => ({ leave, look, works: true });
const stopped = (leave: string, look: string): Way => ({ leave, look, works: false });

const DATABASE = `const open = (from) => new Promise((yes, no) => { const r = (from ?? indexedDB).open("KEY"); r.onupgradeneeded = () => r.result.createObjectStore("s"); r.onsuccess = () => yes(r.result); r.onerror = no; });
  const put = async (text, from) => { const t = (await open(from)).transaction("s", "readwrite"); t.objectStore("s").put(text, "k"); await new Promise((r) => { t.oncomplete = r; }); };
  const get = async (from) => { const r = (await open(from)).transaction("s").objectStore("s").get("k"); return new Promise((yes) => { r.onsuccess = () => yes(r.result ?? ""); }); };`;
const local = "return localStorage.KEY ?? ''";
const cookie = "return /\\bKEY=(\\w+)/.exec(document.cookie)?.[1] ?? ''";
const asked = (path: string): string => `return (await fetch("${path}")).text()`;
const worker = (body: string): string =>
  `window.kept = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(body)}]))); kept.postMessage(text); await new Promise((r) => { kept.onmessage = r; })`;
const workerDatabase = worker(
  `${DATABASE} onmessage = async ({ data }) => { for (;;) { await put(data); postMessage(0); } }`,
);
/** Playwright turns `register` off on the object; its prototype still has it. */
const register = `await Promise.race([new Promise((r) => setTimeout(r, 300)),
  ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, "/sw.js").then(() => navigator.serviceWorker.ready)])`;

export const WAYS: Readonly<Record<string, Way>> = {
  // storage
  "local storage": kept("localStorage.KEY = text", local),
  "session storage": kept("sessionStorage.KEY = text", "return sessionStorage.KEY ?? ''"),
  "a frame's local storage": kept(
    `const f = document.createElement("iframe"); document.body.append(f); f.contentWindow.localStorage.KEY = text`,
    local,
  ),
  "a cookie": kept("document.cookie = 'KEY=' + text + '; max-age=9999'", cookie),
  "a cookie of the cookie store": kept("await cookieStore.set('KEY', text)", cookie),
  "a partitioned cookie": kept("document.cookie = 'KEY=' + text + '; secure; partitioned; samesite=none'", cookie),
  "a cookie of the server's": kept("await fetch('/set-cookie?KEY=' + text)", asked("/cookie?KEY")),
  "a database": kept(`${DATABASE} await put(text)`, `${DATABASE} return get()`),
  "a cache": kept(
    "await (await caches.open('KEY')).put('/k', new Response(text))",
    "return (await (await caches.open('KEY')).match('/k'))?.text() ?? ''",
  ),
  "a private file": kept(
    `const f = await (await navigator.storage.getDirectory()).getFileHandle("KEY", { create: true }); const w = await f.createWritable(); await w.write(text); await w.close()`,
    `const f = await (await navigator.storage.getDirectory()).getFileHandle("KEY", { create: true }); return (await f.getFile()).text()`,
  ),
  "a storage bucket": kept(
    `${DATABASE} await put(text, (await navigator.storageBuckets.open("key")).indexedDB)`,
    `${DATABASE} return get((await navigator.storageBuckets.open("key")).indexedDB)`,
  ),
  "a bucket's name": kept(
    "await navigator.storageBuckets.open(text.toLowerCase())",
    "return (await navigator.storageBuckets.keys()).includes('ann') ? 'Ann' : ''",
  ),
  // the tab
  "the window's name": kept("window.name = text", "return window.name"),
  "the history's length": kept(
    "for (let i = 0; i < 20; i++) history.pushState(i, '')",
    "return history.length > 20 ? 'Ann' : ''",
  ),
  "the navigation's entries": kept(
    "history.pushState(0, '', '#' + text)",
    "return navigation.entries().some((e) => e.url.endsWith('#Ann')) ? 'Ann' : ''",
  ),
  // HTTP
  "a cached answer": stopped(
    "await fetch('/cacheable?' + text, { cache: 'reload' })",
    "return fetch('/cacheable?Ann', { cache: 'only-if-cached', mode: 'same-origin' }).then((r) => r.ok ? r.text() : '', () => '')",
  ),
  "an entity tag": stopped("await fetch('/tagged?' + text, { cache: 'reload' })", asked("/tagged")),
  "a permanent redirect": stopped("await fetch('/moving?' + text)", asked("/moving?")),
  "a password that was given": kept(
    "await new Promise((r) => { const x = new XMLHttpRequest(); x.onload = r; x.open('GET', '/private', true, 'user', text); x.send(); })",
    asked("/private-or-not"),
  ),
  "hints that the server asked for": stopped("await fetch('/hints')", asked("/hinted")),
  // workers
  "a service worker": stopped(
    register,
    "return (await navigator.serviceWorker.getRegistrations()).length > 0 ? 'Ann' : ''",
  ),
  "a service worker's answers": stopped(register, asked("/from-worker")),
  "a shared worker": stopped(
    "",
    `return !globalThis.SharedWorker ? "" : new Promise((yes) => { const w = new SharedWorker("/shared.js", "w"); w.port.onmessage = ({ data }) => yes(data); w.onerror = () => yes(""); setTimeout(yes, 300, ""); })`,
  ),
  "a worker that writes on and on": kept(workerDatabase, `${DATABASE} return get()`),
  // loops that go on after the episode, in as many ways as a document can wait
  ...Object.fromEntries(
    Object.entries({
      "a timer": "setInterval(save, 1)",
      "animation frames": "(function again() { save(); requestAnimationFrame(again); })()",
      "a message channel":
        "const c = new MessageChannel(); c.port1.onmessage = () => { save(); c.port2.postMessage(0); }; c.port2.postMessage(0); window.kept = c",
      "idle time": "(function again() { save(); requestIdleCallback(again); })()",
      "an observer":
        "const o = new MutationObserver(() => { save(); setTimeout(() => { document.body.dataset.t = Math.random(); }); }); o.observe(document.body, { attributes: true }); document.body.dataset.t = 1; await 0",
      "the scheduler": "(function again() { save(); scheduler.postTask(again, { delay: 1 }); })()",
      "the end of the page":
        "for (const kind of ['pagehide', 'beforeunload', 'unload', 'visibilitychange', 'freeze']) { addEventListener(kind, save); document.addEventListener(kind, save); } save()",
    }).map(([name, start]): [string, Way] => [
      `a loop: ${name}`,
      kept(`const save = () => { localStorage.KEY = text; document.cookie = "KEY=" + text; }; ${start}`, local),
    ]),
  ),
  // requests that outlive the page, whose answers set a cookie
  "a request kept alive": kept(
    "addEventListener('pagehide', () => fetch('/set-cookie?KEY=' + text, { method: 'POST', keepalive: true })); fetch('/set-cookie?KEY=' + text, { keepalive: true })",
    asked("/cookie?KEY"),
  ),
  "a beacon": kept(
    "addEventListener('pagehide', () => navigator.sendBeacon('/set-cookie?KEY=' + text)); navigator.sendBeacon('/set-cookie?KEY=' + text)",
    asked("/cookie?KEY"),
  ),
  // what a browser keeps beside
  "a lock": stopped(
    "navigator.locks.request('k', () => new Promise(() => undefined)); await navigator.locks.query()",
    "return (await navigator.locks.query()).held.length > 0 ? 'Ann' : ''",
  ),
  "a window that stays and answers": stopped(
    "open('/answering', '_blank', 'noopener')",
    "return new Promise((yes) => { const c = new BroadcastChannel('k'); c.onmessage = ({ data }) => yes(data); c.postMessage('?'); setTimeout(yes, 300, ''); })",
  ),
  "the clipboard": stopped(
    "await navigator.clipboard.writeText(text).catch(() => undefined)",
    "return navigator.clipboard.readText().catch(() => '')",
  ),
  "a saved password": stopped(
    "await navigator.credentials.store(new PasswordCredential({ id: 'ann', password: text })).catch(() => undefined)",
    "return navigator.credentials.get({ password: true, mediation: 'silent' }).then((c) => c?.password ?? '', () => '')",
  ),
};

/** The page of a way: shows what it finds as its field's default, and leaves the right answer for the next. */
export const pageOf = ({ leave, look }: Way, key: string): string =>
  `<form method=post aria-busy=true>
  <label>Name <input name=n></label><button>Submit</button></form><script>(async () => {
    const form = document.querySelector("form"), look = async () => { ${look} }, leave = async (text) => { ${leave} };
    const soon = (p) => Promise.race([p, new Promise((r) => setTimeout(r, 3000, "late"))]);
    form.n.value = await soon(look()).catch((e) => "look: " + e) ?? "";
    await soon(leave("Ann")).catch((e) => { form.n.value = "leave: " + e; });
    form.removeAttribute("aria-busy");
  })()</script>`
    .replaceAll("KEY", key)
    .replaceAll('"key"', `"${key}"`);

/** What the ways ask the server for. */
export function answer({ url, headers, cookie = "" }: Received, response: ServerResponse): boolean {
  const [path = "", query = ""] = url.split("?");
  const text = (body: string, more: Record<string, string> = {}, status = 200): true => {
    response.writeHead(status, { "content-type": "text/plain", "cache-control": "no-store", ...more }).end(body);
    return true;
  };
  switch (path) {
    case "/set-cookie":
      return text("", { "set-cookie": `${query}; HttpOnly; Max-Age=9999` });
    case "/cookie":
      return text(new RegExp(`(?:^|; )${query}=([^;]*)`).exec(cookie)?.[1] ?? "");
    case "/cacheable":
      return text(query, { "cache-control": "max-age=9999" });
    case "/tagged":
      return text(query === "" ? (headers["if-none-match"] ?? "").replaceAll('"', "") : query, {
        ...{ "cache-control": "no-cache", etag: `"${query}"` },
      });
    case "/moving":
      if (query === "") return text("");
      return text("", { location: `/cacheable?${query}`, "cache-control": "max-age=9999" }, 301);
    case "/private":
      return headers.authorization === undefined ? text("", { "www-authenticate": "Basic realm=r" }, 401) : text("");
    case "/private-or-not": {
      const given = Buffer.from((headers.authorization ?? "").replace("Basic ", ""), "base64").toString();
      return text(given.replace("user:", ""));
    }
    case "/hints":
      return text("", { "accept-ch": "Sec-CH-UA-Arch, Device-Memory" });
    case "/hinted":
      return text(headers["sec-ch-ua-arch"] === undefined && headers["device-memory"] === undefined ? "" : "Ann");
    case "/sw.js":
      return text(
        `addEventListener("activate", (e) => e.waitUntil(clients.claim())); addEventListener("fetch", (e) => { if (e.request.url.endsWith("/from-worker")) e.respondWith(new Response("Ann")); })`,
        { "content-type": "text/javascript" },
      );
    case "/from-worker":
      return text("");
    case "/shared.js":
      return text(`let kept = ""; onconnect = ({ ports: [p] }) => { p.postMessage(kept); kept = "Ann"; }`, {
        "content-type": "text/javascript",
      });
    case "/answering":
      return text(`<script>const c = new BroadcastChannel("k"); c.onmessage = () => c.postMessage("Ann")</script>`, {
        "content-type": "text/html",
      });
    default:
      return false;
  }
}
