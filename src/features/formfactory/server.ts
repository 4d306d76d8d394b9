import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { messageOf } from "../../core/errors.js";
import { type Served, serveApp } from "../../core/serve.js";
import type { Checkout } from "./checkout.js";
import type { Route } from "./routes.js";

/** Largest body accepted, in bytes: forms with a few small files. */
const BODY_LIMIT = 4 << 20;

/** Makes an application of a checkout's addresses and static files, which tests can call without a socket. */
export function createApp(checkout: Checkout): Hono {
  const app = new Hono();
  app.get("/favicon.ico", (c) => c.body(null, 204));
  app.get("/static/*", (c) => {
    const asset = checkout.asset(decodeURIComponent(c.req.path.slice("/static/".length)));
    return asset === undefined
      ? c.notFound()
      : c.body(new Uint8Array(asset.body), 200, { "content-type": asset.contentType });
  });
  const limit = bodyLimit({ maxSize: BODY_LIMIT, onError: (c) => c.json({ error: "The body is too large" }, 413) });
  for (const route of checkout.routes) {
    app.get(route.path, (c) => answer(c, checkout, route));
    if (route.posts) app.post(route.path, limit, (c) => thank(c, route));
  }
  app.onError((error, c) => c.json({ error: messageOf(error) }, 500));
  return app;
}

export const serveCheckout = (checkout: Checkout, port: number): Promise<Served> =>
  serveApp(createApp(checkout), port, "formfactory site");

function answer(c: Context, checkout: Checkout, route: Route): Response {
  switch (route.answer.kind) {
    case "template":
      return c.html(checkout.page(route));
    case "json":
      return c.json(route.answer.data);
    case "text":
      return c.html(route.answer.text);
    case "unknown":
      return c.json({ error: route.answer.why }, 501);
  }
}

/** Answers a post as app.py does: the first value of each name without files, and a message. Nothing is stored. */
async function thank(c: Context, route: Route): Promise<Response> {
  const body = await c.req.parseBody({ all: true });
  const texts = Object.entries(body).flatMap(([name, value]) => {
    const first = Array.isArray(value) ? value.find((item) => typeof item === "string") : value;
    return typeof first === "string" ? [[name, first] as const] : [];
  });
  return c.json({ data: Object.fromEntries(texts), message: route.message });
}
