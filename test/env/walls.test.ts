import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, before, test } from "node:test";
import type { EpisodeRunner } from "../../src/env/browser/episode.js";
import { openRunner, type PageSite, servePages, taskFor } from "./page-site.js";

/** Contacts with another server of this machine, TCP and UDP on one port, which no page may reach. */
const touched: string[] = [];
const sockets = new Set<Socket>();
const other = createServer((socket) => {
  touched.push("tcp");
  sockets.add(socket);
  socket.on("error", () => undefined);
  socket.on("data", (data) => touched.push(data.subarray(0, 30).toString("latin1")));
});
const datagrams = createSocket("udp4");
let elsewhere = "";
let site: PageSite;
let runner: EpisodeRunner;

/** Pages by path; `outcome` adds one that runs a script and writes its result into the field. */
const pages: Record<string, string> = {};
async function outcome(path: string, script: string, markup = ""): Promise<string> {
  pages[path] = `${markup}<form method=post aria-busy=true><label>Found <input name=f></label>
    <label>Name <input name=n></label><button>Submit</button></form><script>(async () => {
      const settled = (promise, ms = 4000) => Promise.race([Promise.resolve(promise).then(() => "reached", (e) => "refused"),
        new Promise((r) => setTimeout(r, ms, "silent"))]);
      let found; try { found = await (async () => { ${script} })(); } catch (e) { found = "threw " + e; }
      document.querySelector("[name=f]").value = found;
      document.querySelector("form").removeAttribute("aria-busy");
    })()</script>`;
  const [control] = await runner.snapshot(taskFor(path));
  return String(control?.default);
}

before(async () => {
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  await new Promise<void>((resolve) => datagrams.bind(port, "127.0.0.1", resolve));
  datagrams.on("message", () => touched.push("udp"));
  elsewhere = `127.0.0.1:${port}`;
  site = await servePages(pages, ({ url }, response) => {
    if (url !== "/redirect") return false;
    response.writeHead(302, { location: `http://${elsewhere}/redirected` }).end();
    return true;
  });
  runner = await openRunner(site, { contexts: 2 });
});
after(async () => {
  await runner?.close();
  await site?.stop();
  for (const socket of sockets) socket.destroy();
  other.close();
  datagrams.close();
});

test("a page reaches nothing but its own origin, by no protocol", async () => {
  const attempts: Record<string, string> = {
    fetch: `return settled(fetch("http://HOST/f", { mode: "no-cors" }))`,
    redirect: `return settled(fetch("/redirect", { mode: "no-cors" }))`,
    beacon: `navigator.sendBeacon("http://HOST/b", "x"); return "sent"`,
    websocket: `return settled(new Promise((yes, no) => { const w = new WebSocket("ws://HOST/w"); w.onopen = yes; w.onerror = no; }))`,
    "event-source": `return settled(new Promise((yes, no) => { const e = new EventSource("http://HOST/e"); e.onopen = yes; e.onerror = no; }))`,
    worker: `const w = new Worker(URL.createObjectURL(new Blob(["const s = new WebSocket('ws://HOST/w'); s.onopen = () => postMessage(1); s.onerror = () => fetch('http://HOST/f', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage(0))"])));
      return settled(new Promise((yes, no) => { w.onmessage = (m) => m.data ? yes() : no(); }))`,
    webtransport: `return typeof WebTransport === "undefined" ? "none" : settled(new WebTransport("https://HOST/t").ready)`,
    webrtc: `const ended = ["stun:HOST", "turn:HOST?transport=tcp", "turn:HOST?transport=udp"].map((urls) => new Promise((done) => {
        const pc = new RTCPeerConnection({ iceServers: [{ urls, username: "u", credential: "p" }] });
        pc.createDataChannel("x"); pc.createOffer().then((o) => pc.setLocalDescription(o));
        pc.onicecandidate = (e) => e.candidate === null && done(); }));
      return settled(Promise.all(ended).then(() => { throw 0; }))`,
    links: `for (const rel of ["preconnect", "prefetch", "dns-prefetch", "modulepreload", "stylesheet"]) { const l = document.createElement("link"); l.rel = rel; l.href = "http://HOST/l"; document.head.append(l); }
      document.head.insertAdjacentHTML("beforeend", '<script type=speculationrules>{"prefetch":[{"urls":["http://HOST/s"]}]}<\\/script>'); return "asked"`,
    frames: `const done = ["http://HOST/i", "/redirect"].map((src) => new Promise((r) => { const f = document.createElement("iframe"); f.onload = r; f.src = src; document.body.append(f); }));
      return settled(Promise.all(done).then(() => { throw 0; }))`,
    file: `return settled(fetch("file:///etc/hostname"))`,
  };
  for (const [name, script] of Object.entries(attempts)) {
    const found = await outcome(`/by-${name}`, script.replaceAll("HOST", elsewhere));
    assert.notEqual(found, "reached", name);
    assert.doesNotMatch(found, /^threw/, name);
    assert.deepEqual(touched, [], name);
  }
  assert.equal(await outcome("/own", `return settled(fetch("/own").then((r) => r.text()))`), "reached");
});
