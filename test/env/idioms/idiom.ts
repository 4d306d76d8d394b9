import type { ServerResponse } from "node:http";
import type { FieldValue, Sign } from "../../../src/env/site.js";
import type { Received } from "../page-site.js";

/** One page that a person would recognise, and how its server answers. */
export interface Idiom {
  readonly html: string;
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Further pages and files below the page's own path. */
  readonly more?: Readonly<Record<string, string>>;
  /** Answers a request below the page's own path itself; `path` is what comes after it. */
  readonly answer?: (
    request: Received & { readonly path: string; readonly count: number },
    response: ServerResponse,
  ) => boolean | undefined;
  /** False where the server does not take what the oracle sends. */
  readonly accepted?: false;
  readonly success?: Sign;
  readonly keys?: Readonly<Record<string, string>>;
}

export type Idioms = Readonly<Record<string, Idiom>>;

export const json = (response: ServerResponse, value: unknown, status = 200): true => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  return true;
};
export const page = (response: ServerResponse, html: string, status = 200): true => {
  response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>${html}`);
  return true;
};
export const redirect = (response: ServerResponse, to: string, status = 303): true => {
  response.writeHead(status, { location: to }).end();
  return true;
};
