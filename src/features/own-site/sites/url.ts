import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { fail, messageOf, misuse } from "../../../core/errors.js";
import { ownFunction } from "../../../core/own-module.js";
import { listed } from "../../../core/problems.js";
import { Semaphore } from "../../../core/semaphore.js";
import { refused, sign } from "../../../env/forms/contract.js";
import { splitHash } from "../../../env/forms/split-hash.js";
import type { RunningSite, SiteKind, Task } from "../../../env/site.js";
import { cookiesFor, type StorageState, storageStateOf } from "../login.js";
import { readTasks } from "../tasks-file.js";

const maybe = (description: string): z.ZodDefault<z.ZodNullable<z.ZodString>> =>
  z.string().min(1).nullable().default(null).describe(description);

const schema = z.strictObject({
  tasks: z.string().min(1).describe("JSON Lines file of tasks (docs/sites.md)"),
  base_url: z.string().min(1).describe("where the site runs, as http://127.0.0.1:8080"),
  allow_hosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "hosts that base_url may name besides this machine: what is trained on is filled in and sent, many times",
    ),
  allow_origins: z
    .array(z.string().min(1))
    .default([])
    .describe("other origins that the pages may speak to, as an API on another port: http://127.0.0.1:9000"),
  storage_state: maybe("Playwright's storage state (cookies, local storage) that each episode begins with"),
  login: maybe("a module whose default export logs a Playwright page in, once before the run (docs/sites.md)"),
  reset: maybe(
    "called before each episode, which are then played one at a time: an address that is posted to, as http://127.0.0.1:8080/reset, or a module whose default export is called",
  ),
  decode: maybe(
    "a module whose default export reads the body of a coded request, as base64: ({ method, path, body }) => data; undefined: as it is",
  ),
  rehearse: z
    .int()
    .min(0)
    .max(10_000)
    .default(32)
    .describe("training tasks that the oracle plays before a run, which stops where it wins less than all; 0: none"),
  success: sign
    .nullable()
    .default(null)
    .describe("how the site shows that it took a form, for tasks without `success` of their own (docs/sites.md)"),
  refusal: sign.nullable().default(null).describe("how it shows that it refused one: such an episode ends at once"),
  refused: refused
    .nullable()
    .default(null)
    .describe(
      "where it names the fields that it refuses: selector of controls or texts, as [aria-invalid=true] or .errors li; or json, a path in the answer, as errors",
    ),
  submissions_per_hour: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe("most forms that are sent an hour; null: as many as are played"),
  saves: z
    .array(z.string().min(1))
    .default([])
    .describe("paths of requests that save fields before the form is sent, as /upload or /draft/*"),
  learn: z
    .strictObject({
      contracts: maybe(
        "folder of the forms' contracts (docs/contracts.md); null: beside the tasks file, as tasks.jsonl.contracts",
      ),
      minutes: z.number().positive().max(600).default(10).describe("that one form may be searched"),
      submissions: z
        .int()
        .min(3)
        .max(10_000)
        .default(40)
        .describe("most times that one form is sent while it is learned"),
      modules: z
        .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/i, "expected a SHA-256 in hex"))
        .default({})
        .describe("modules that contracts may name as ways, each with its SHA-256: {./my-way.mjs: 3f2a...}"),
    })
    .nullable()
    .prefault({})
    .describe(
      "forms are learned once, before their first episode, and played by what was found; null: plain HTML forms are read",
    ),
});

export type UrlOptions = z.output<typeof schema>;

/** Most pages that are requested before a run: one for each form, not for each task. */
const MAX_PROBES = 200;
const PROBES_AT_ONCE = 4;
const PROBE_TIMEOUT_MS = 10_000;
const MAX_HOPS = 5;
const MAX_LISTED = 8;

/** Returns the folder of the contracts of a tasks file's forms. @param given the config's own; null: beside the file. */
export const contractsFolder = (tasks: string, given?: string | null): string => resolve(given ?? `${tasks}.contracts`);

/** A user's running site, with a file of tasks. Nothing here starts or stops its server. */
export const site: SiteKind<UrlOptions> = {
  schema,
  splits(options) {
    const file = resolve(options.tasks);
    if (!existsSync(file)) return undefined;
    return [...new Set(readTasks(file, originOf(options.base_url, options.allow_hosts)).map(({ split }) => split))];
  },
  async start(options) {
    const baseUrl = originOf(options.base_url, options.allow_hosts);
    const tasks = readTasks(resolve(options.tasks), baseUrl).map((task) => ({
      ...task,
      ...(task.success === undefined && options.success !== null
        ? { success: options.success, refusal: task.refusal ?? options.refusal ?? undefined }
        : {}),
      ...(task.refused === undefined && options.refused !== null ? { refused: options.refused } : {}),
    }));
    const hash = splitHash(tasks);
    const allowOrigins = options.allow_origins.map((origin) =>
      originOf(origin, options.allow_hosts, "site.allow_origins"),
    );
    const login = { file: options.login ?? undefined, stateFile: options.storage_state ?? undefined };
    const storageState = await storageStateOf(login, { baseUrl, allowOrigins });
    const reset = await resetOf(options, baseUrl);
    const decode =
      options.decode === null ? undefined : await ownFunction<Decode>(options.decode, "site.decode", DECODES);
    await probe(baseUrl, tasks, storageState);
    return {
      name: "url",
      baseUrl,
      ...(allowOrigins.length === 0 ? {} : { allowOrigins }),
      ...(storageState === undefined ? {} : { storageState }),
      ...(reset === undefined ? {} : { reset }),
      ...(decode === undefined ? {} : { decode }),
      rehearse: options.rehearse,
      ...(options.submissions_per_hour === null ? {} : { submissionsPerHour: options.submissions_per_hour }),
      ...(options.learn === null
        ? {}
        : {
            learn: {
              ...options.learn,
              saves: options.saves,
              folder: contractsFolder(options.tasks, options.learn.contracts),
            },
          }),
      tasks: () => tasks,
      source: options.tasks,
      notes: leaks(tasks),
      splitHash: () => hash,
      stop: async () => undefined,
    };
  },
};

/** Returns the function that resets the server before an episode. @throws UserError if there is no such function. */
async function resetOf({ reset, allow_hosts }: UrlOptions, baseUrl: string): Promise<RunningSite["reset"]> {
  if (reset === null) return undefined;
  if (!URL.canParse(reset) || !/^https?:/.test(reset)) {
    const run = await ownFunction<Reset>(reset, "site.reset", "export default async ({ baseUrl }) => { ... }");
    return async () => run({ baseUrl });
  }
  originOf(new URL(reset).origin, allow_hosts, "site.reset");
  return async () => {
    const problem = await ask(reset, {}, "POST");
    if (problem !== undefined) throw new Error(`POST ${new URL(reset).pathname}: ${problem}`);
  };
}

type Decode = NonNullable<RunningSite["decode"]>;
const DECODES = "export default ({ body }) => JSON.parse(atob(body))";
type Reset = (site: { readonly baseUrl: string }) => void | Promise<void>;

/** @throws UserError if it is no origin, or the config does not allow its host. */
function originOf(baseUrl: string, allowed: readonly string[], key = "site.base_url"): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (
    url === undefined ||
    !["http:", "https:"].includes(url.protocol) ||
    url.username !== "" ||
    url.pathname + url.search !== "/"
  ) {
    misuse(`${key}: expected an address without a path, as http://127.0.0.1:8080; got ${baseUrl}`, {
      hint: "Paths belong into the tasks' url.",
    });
  }
  if (!isLoopback(url.hostname) && !allowed.some((host) => host.toLowerCase() === url.hostname)) {
    misuse(`${key}: ${url.hostname} is not this machine, and site.allow_hosts does not name it.`, {
      hint: `A run fills in and sends its forms thousands of times. If that is what you want: 'site.allow_hosts=[${url.hostname}]'`,
    });
  }
  return url.origin;
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Reports forms that are both held out and trained on: no error, but their heldout figures say little. */
function leaks(tasks: readonly Task[]): string[] {
  const trained = new Set(tasks.filter((task) => task.split === "train").map((task) => task.form));
  const both = new Set(tasks.flatMap(({ split, form }) => (split === "heldout" && trained.has(form) ? [form] : [])));
  return both.size === 0 ? [] : [`Held out and trained on as well: ${[...both].slice(0, MAX_LISTED).join(", ")}`];
}

/** Requests each form's page once. @throws UserError if the site does not answer, or does not serve a page. */
async function probe(baseUrl: string, tasks: readonly Task[], state: StorageState | undefined): Promise<void> {
  const headers = cookiesFor(state, baseUrl);
  const paths = [...new Set(tasks.map((task) => task.url))].slice(0, MAX_PROBES);
  const slots = new Semaphore(PROBES_AT_ONCE);
  const answers = await Promise.all(paths.map((path) => slots.run(() => ask(`${baseUrl}${path}`, headers))));
  const problems = paths.flatMap((path, i) => (answers[i] === undefined ? [] : [`${path}: ${answers[i]}`]));
  if (problems.length === 0) return;
  fail(`${baseUrl} does not serve ${problems.length} of ${paths.length} pages:${listed(problems.sort())}`, {
    hint: "Start the site first, and check site.base_url and the tasks' url.",
  });
}

/** Requests one page; follows redirects of the same origin only. @returns its problem; undefined if there is none. */
async function ask(address: string, headers: HeadersInit, method = "GET"): Promise<string | undefined> {
  let at = new URL(address);
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    const options: RequestInit = { method, headers, redirect: "manual", signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
    const answer = await fetch(at, options).catch(reasonOf);
    if (typeof answer === "string") return answer;
    await answer.body?.cancel();
    const location = answer.headers.get("location");
    if (answer.status < 300 || answer.status > 399 || location === null)
      return answer.ok ? undefined : `HTTP ${answer.status}`;
    if (!URL.canParse(location, at)) return `HTTP ${answer.status} to ${location.slice(0, 100)}`;
    const next = new URL(location, at);
    if (next.origin !== at.origin) return `leads to another server, ${next.origin}`;
    at = next;
  }
  return `leads on and on (${MAX_HOPS} redirects)`;
}

/** Returns the reason of a failed fetch, which is the error's cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return messageOf(cause instanceof Error && cause.message !== "" ? cause : error);
}
