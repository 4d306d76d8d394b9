import { z } from "zod";
import { fail, misuse } from "../../core/errors.js";
import { SPLITS, type Split } from "../../env/environment.js";
import { taskSplit } from "./messages.js";

/** A server's description of itself, before anything is played. */
export interface Described {
  readonly name: string;
  /** The one text of an action, and of an observation where it has one alone. */
  readonly actionKey: string | undefined;
  readonly observationKey: string | undefined;
  /** Tasks of each of our splits, by the server's own name of the split; undefined: it has no task API. */
  readonly splits: ReadonlyMap<Split, { readonly name: string; readonly tasks: number }> | undefined;
}

const TIMEOUT_MS = 10_000;
/** Not of the environment's own: the protocol adds these. */
const COMMON = new Set(["done", "reward", "metadata"]);

const schemas = z.looseObject({
  action: z.looseObject({ properties: z.record(z.string(), z.looseObject({})).default({}) }),
  observation: z.looseObject({ properties: z.record(z.string(), z.looseObject({})).default({}) }),
});

/** Asks a server what it is. @throws UserError where nobody answers, or something else does. */
export async function describeServer(baseUrl: string): Promise<Described> {
  const health = await ask(baseUrl, "health");
  const read = schemas.safeParse(await ask(baseUrl, "schema"));
  if (health === undefined || !read.success)
    misuse(`${baseUrl} is no OpenEnv server: it answers /health or /schema with something else.`, {
      hint: "set environment.url to the address that `refusion-train serve` or the server's uvicorn prints",
    });
  const { action, observation } = read.data;
  const listed = z.array(z.string()).safeParse(await ask(baseUrl, "list_environments"));
  const name = listed.success ? listed.data[0] : undefined;
  const about = z.looseObject({ name: z.string() }).safeParse(await ask(baseUrl, "metadata"));
  return {
    name: name ?? (about.success ? about.data.name : "openenv"),
    actionKey: onlyText(action.properties),
    observationKey: onlyText(observation.properties),
    splits: name === undefined ? undefined : await splitsOf(baseUrl, name),
  };
}

/** The one property that is a text; undefined where there are several, or none. */
function onlyText(properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string | undefined {
  const texts = Object.entries(properties).filter(([key, { type }]) => !COMMON.has(key) && type === "string");
  return texts.length === 1 ? texts[0]?.[0] : undefined;
}

/** The server's splits that are ours by name or by type. */
async function splitsOf(baseUrl: string, name: string): Promise<Described["splits"]> {
  const path = encodeURIComponent(name);
  const there = z.array(taskSplit).safeParse(await ask(baseUrl, `${path}/splits`));
  if (!there.success) return undefined;
  const ours = new Map<Split, { name: string; tasks: number }>();
  for (const split of there.data) {
    const own =
      SPLITS.find((one) => one === split.name) ??
      (split.type === "validation" ? "val" : SPLITS.find((one) => one === split.type));
    if (own === undefined || ours.has(own)) continue;
    const count = z
      .looseObject({ num_tasks: z.int().min(0) })
      .safeParse(await ask(baseUrl, `${path}/num_tasks`, { split: split.name }));
    if (count.success) ours.set(own, { name: split.name, tasks: count.data.num_tasks });
  }
  return ours.size === 0 ? undefined : ours;
}

/** @returns the answer's JSON; undefined where there is none. @throws UserError where nobody is there. */
async function ask(baseUrl: string, path: string, body?: object): Promise<unknown> {
  const url = new URL(path, baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined
        ? {}
        : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    return response.ok ? await response.json().catch(() => undefined) : undefined;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    fail(`Nobody answers at ${url}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      hint: "start the server, or set environment.url",
    });
  }
}
