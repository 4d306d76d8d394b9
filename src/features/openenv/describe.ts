import { z } from "zod";
import { fail, messageOf, misuse } from "../../core/errors.js";
import { SPLITS, type Split } from "../../env/environment.js";

/** A server's description, read before any episode. */
export interface Described {
  readonly name: string;
  /** The only text field of an action, and of an observation; undefined if there is none or several. */
  readonly actionKey: string | undefined;
  readonly observationKey: string | undefined;
  /** Numbers of tasks by our split, with the server's name of the split; undefined if it has no task API. */
  readonly splits: ReadonlyMap<Split, { readonly name: string; readonly tasks: number }> | undefined;
}

const TIMEOUT_MS = 10_000;
/** Fields that the protocol adds to the environment's own. */
const COMMON = new Set(["done", "reward", "metadata"]);

/** The only text property of a JSON schema; undefined if there is none or several. */
const onlyText = z.object({ properties: z.record(z.string(), z.looseObject({})).default({}) }).transform((schema) => {
  const texts = Object.entries(schema.properties).filter(([key, { type }]) => !COMMON.has(key) && type === "string");
  return texts.length === 1 ? texts[0]?.[0] : undefined;
});
const splitList = z.array(z.object({ name: z.string(), type: z.string().optional() }));

/** Reads a server's description. @throws UserError if nothing answers, or it is not an OpenEnv server. */
export async function describeServer(baseUrl: string): Promise<Described> {
  const health = await ask(baseUrl, "health", z.looseObject({}));
  const keys = await ask(baseUrl, "schema", z.object({ action: onlyText, observation: onlyText }));
  if (health === undefined || keys === undefined)
    misuse(`${baseUrl} is no OpenEnv server: it answers /health or /schema with something else.`, {
      hint: "set environment.url to the address that `refusion-train serve` or the server's uvicorn prints",
    });
  const [listed] = (await ask(baseUrl, "list_environments", z.array(z.string()))) ?? [];
  const name = listed ?? (await ask(baseUrl, "metadata", z.object({ name: z.string() })))?.name ?? "openenv";
  const splits = listed === undefined ? undefined : await splitsOf(baseUrl, encodeURIComponent(listed));
  return { name, actionKey: keys.action, observationKey: keys.observation, splits };
}

/** Finds the server's splits that match ours by name or by type. */
async function splitsOf(baseUrl: string, path: string): Promise<Described["splits"]> {
  const ours = new Map<Split, { name: string; tasks: number }>();
  for (const { name, type } of (await ask(baseUrl, `${path}/splits`, splitList)) ?? []) {
    const kind = type === "validation" ? "val" : type;
    const split = SPLITS.find((one) => one === name) ?? SPLITS.find((one) => one === kind);
    if (split === undefined || ours.has(split)) continue;
    const counted = await ask(baseUrl, `${path}/num_tasks`, z.object({ num_tasks: z.int().min(0) }), { split: name });
    if (counted !== undefined) ours.set(split, { name, tasks: counted.num_tasks });
  }
  return ours.size === 0 ? undefined : ours;
}

/** @returns the answer; undefined if it has another form. @throws UserError if nothing answers. */
async function ask<T>(baseUrl: string, path: string, form: z.ZodType<T>, body?: object): Promise<T | undefined> {
  const url = new URL(path, baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
  const post = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), ...(body === undefined ? {} : post) });
    return response.ok ? form.safeParse(await response.json().catch(() => undefined)).data : undefined;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    fail(`Nobody answers at ${url}: ${messageOf(cause)}`, { hint: "start the server, or set environment.url" });
  }
}
