import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Rng } from "../../../src/core/rng.js";
import { environment, FormsEnvironment } from "../../../src/env/environments/forms.js";
import type { Task } from "../../../src/env/site.js";
import { readContract } from "../../../src/features/learned-pages/contract.js";
import { servePages } from "../../env/page-site.js";
import { temporaryFolder } from "../../support/temporary.js";

interface FormSiteOptions {
  readonly answersInMs?: number | undefined;
  readonly urlOf?: (i: number) => string;
  readonly [option: string]: unknown;
}

/**
 * Serves a page, and opens an environment with one task per person; the posts that it received are kept, oldest first.
 * @param answer returns the page that answers a post, after `answersInMs` milliseconds. @param urlOf the page of a
 * person's task. @param more options of `site`.
 */
export async function openForm(
  form: string,
  people: readonly object[],
  page: string | (() => string),
  answer: (sent: URLSearchParams) => string | { readonly status: number; readonly html: string },
  { answersInMs = 0, urlOf = () => "/", ...more }: FormSiteOptions = {},
) {
  const received: URLSearchParams[] = [];
  const server = await servePages({}, ({ method, body }, response) => {
    response.setHeader("content-type", "text/html");
    if (method !== "POST") return Boolean(response.end(typeof page === "string" ? page : page()));
    const sent = new URLSearchParams(body);
    received.push(sent);
    setTimeout(() => {
      const said = answer(sent);
      const { status, html } = typeof said === "string" ? { status: 200, html: said } : said;
      response.writeHead(status).end(html);
    }, answersInMs);
    return true;
  });
  const folder = temporaryFolder("learn");
  const tasks = join(folder, "tasks.jsonl");
  const lines = people.map((fields, i) => ({ id: `${form}/${i}`, form, url: urlOf(i), fields, split: "train" }));
  writeFileSync(tasks, lines.map((line) => JSON.stringify(line)).join("\n"));
  const env = await environment.open({
    site: { kind: "url", tasks, base_url: server.baseUrl, learn: {}, success: { status: 200 }, ...more },
    browser: { contexts: 2, action_timeout_s: 20, rollout_timeout_s: 120 },
    prompt: {},
  });
  assert.ok(env instanceof FormsEnvironment);
  const task = (i: number): Task => env.tasks[i] as Task;
  const file = join(folder, "tasks.jsonl.contracts", `${form}.yaml`);
  return {
    env,
    received,
    task,
    file,
    contract: () => readContract(readFileSync(file, "utf8"), file),
    async policy(name: string, i: number) {
      const act = await env.fixedPolicies[name]?.(task(i), Rng.named(0, name));
      assert.ok(act !== undefined);
      return env.play(task(i), act, new Map());
    },
    async close() {
      await env.close();
      await server.stop();
    },
  };
}
