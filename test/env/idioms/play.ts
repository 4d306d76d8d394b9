import type { ServerResponse } from "node:http";
import type { Task } from "../../../src/env/site.js";
import { type PageSite, type Received, servePages, taskFor } from "../page-site.js";
import type { Idiom, Idioms } from "./idiom.js";

const pathOf = (name: string): string => `/${name.replaceAll(/\W+/g, "-").replaceAll(/^-|-$/g, "")}/`;

/** The task of a page. */
export function idiomTask(name: string, { fields, success, keys }: Idiom): Task {
  return {
    ...taskFor(pathOf(name), fields),
    ...(success === undefined ? {} : { success }),
    ...(keys === undefined ? {} : { keys }),
  };
}

/** Serves all pages, each below its own path. */
export const serveIdioms = (idioms: Idioms): Promise<PageSite> => servePages({}, answerIdioms(idioms));

/** Answers the requests of all pages, each below its own path; false where no page is meant. */
function answerIdioms(idioms: Idioms): (request: Received, response: ServerResponse) => boolean {
  const byPath = new Map(Object.entries(idioms).map(([name, idiom]) => [pathOf(name), idiom]));
  const counts = new Map<string, number>();
  return (request, response) => {
    const base = /^\/[^/]*\//.exec(request.url)?.[0] ?? "";
    const idiom = byPath.get(base);
    if (idiom === undefined) return false;
    const path = request.url.slice(base.length).split("?")[0] ?? "";
    const key = `${request.method} ${base}${path}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (idiom.answer?.({ ...request, path, count: counts.get(key) ?? 1 }, response)) return true;
    if (request.method !== "GET") return false;
    const html = path === "" ? idiom.html : idiom.more?.[path];
    if (html === undefined) response.statusCode = path === "favicon.ico" ? 204 : 404;
    response.setHeader("content-type", path.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8");
    response.end(path.endsWith(".js") ? html : `<!doctype html><title>Form</title>${html ?? "Not found"}`);
    return true;
  };
}
