import type { Control } from "../browser/controls.js";
import type { FieldValue } from "../site.js";
import { parseBoolean } from "./normalize.js";

/** One posted name and value; a file is its name. */
export type PostedPair = readonly [name: string, value: string];

/** What is read of a post: a page may send anything, and every value is compared with the truth. */
const POST_LIMITS = { bytes: 16_000_000, pairs: 10_000, text: 8192 };

/** Reads the body of a form post: urlencoded, multipart or JSON. Anything else, or far too much of it, is no pairs. */
export async function readPosted(body: Uint8Array | null, contentType: string): Promise<PostedPair[]> {
  if (body === null || body.byteLength === 0 || body.byteLength > POST_LIMITS.bytes) return [];
  return limitPairs(await readPairs(body, contentType));
}

/** The first pairs, each cut to what a comparison looks at. */
export function limitPairs(pairs: readonly PostedPair[]): PostedPair[] {
  return pairs
    .slice(0, POST_LIMITS.pairs)
    .map(([name, value]) => [name.slice(0, POST_LIMITS.text), value.slice(0, POST_LIMITS.text)]);
}

async function readPairs(body: Uint8Array, contentType: string): Promise<PostedPair[]> {
  const type = contentType.toLowerCase();
  if (type.includes("json")) return flatten(parseJson(body));
  if (!type.includes("form-data") && !type.includes("x-www-form-urlencoded")) return flatten(parseJson(body));
  try {
    // a Response needs plain bytes of its own
    const data = await new Response(Uint8Array.from(body), { headers: { "content-type": contentType } }).formData();
    return [...data].map(([name, value]) => [name, typeof value === "string" ? value : value.name]);
  } catch {
    return [];
  }
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** The leaves of posted JSON under their own keys; list items repeat the key. */
function flatten(value: unknown, name = "", depth = 0): PostedPair[] {
  if (depth > 8 || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => flatten(item, name, depth + 1));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, key, depth + 1));
  }
  return name === "" ? [] : [[name, value === null ? "" : String(value)]];
}

/**
 * The controls' values as the server received them, in the order of `controls`. What was not posted is empty: an
 * unticked box, or a control the page left out.
 */
export function postedValues(controls: readonly Control[], posted: readonly PostedPair[]): FieldValue[] {
  const byName = new Map<string, string[]>();
  for (const [name, value] of posted) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [value]);
    else known.push(value);
  }
  const used = new Map<string, number>();
  return controls.map((control): FieldValue => {
    const key = byName.has(control.name) || control.id === "" ? control.name : control.id;
    const values = byName.get(key) ?? byName.get(key.replace(/\[\]$/, "")) ?? [];
    switch (control.kind) {
      case "checkbox":
        // a scripted form may post false instead of nothing; any other value of a ticked box means ticked
        return values.some((value) => parseBoolean(value) !== false);
      case "checkbox-group":
        return values.slice(0, 2 * control.options.length + 1).flatMap((value) => textsOf(control, value));
      case "select":
      case "radio": {
        const value = values[0] ?? "";
        return control.options.find((option) => option.value === value && value !== "")?.text ?? value;
      }
      default: {
        // text controls that share a name post in page order
        const nth = used.get(key) ?? 0;
        used.set(key, nth + 1);
        return values[nth] ?? "";
      }
    }
  });
}

function textsOf(control: Control, value: string): string[] {
  if (value === "") return [];
  return [control.options.find((option) => option.value === value)?.text ?? value];
}
