/** One posted name and value; the value of a file is its name. A nested name is a path: `user.address.city`. */
export type PostedPair = readonly [name: string, value: string];

/** Limits on reading a post: a page may send anything, and every value is compared with the truth. */
const POST_LIMITS = { bytes: 16_000_000, pairs: 10_000, text: 8192, depth: 10 };

/**
 * Reads the payload of a request: urlencoded, multipart, JSON (nested, in strings, in frames of a socket), lines of
 * text, XML. A payload beyond the byte limit gives no pairs.
 */
export async function readPosted(body: Uint8Array | null, contentType: string): Promise<PostedPair[]> {
  if (body === null || body.byteLength === 0 || body.byteLength > POST_LIMITS.bytes) return [];
  return limitPairs(await readPairs(body, contentType.toLowerCase(), contentType));
}

/** Reads the pairs of a query, with JSON values expanded. */
export const readQuery = (url: string): PostedPair[] => limitPairs(encodedPairs(new URL(url).searchParams));

/** Cuts the number of pairs and the length of their texts to the limits. */
export function limitPairs(pairs: readonly PostedPair[]): PostedPair[] {
  return pairs
    .slice(0, POST_LIMITS.pairs)
    .map(([name, value]) => [name.slice(0, POST_LIMITS.text), value.slice(0, POST_LIMITS.text)]);
}

async function readPairs(body: Uint8Array, type: string, contentType: string): Promise<PostedPair[]> {
  if (type.includes("form-data") || type.includes("x-www-form-urlencoded")) {
    try {
      // a Response needs a copy of the bytes
      const data = await new Response(Uint8Array.from(body), { headers: { "content-type": contentType } }).formData();
      const parts = await Promise.all([...data].map(async ([name, value]) => partPairs(name, value)));
      return parts.flat();
    } catch {
      return [];
    }
  }
  return readText(Buffer.from(body).toString("utf8"));
}

/** Reads a part of a multipart body: JSON as data, any other file as its name. */
async function partPairs(name: string, value: string | File): Promise<PostedPair[]> {
  if (typeof value === "string") return opened(name, value);
  if (!value.type.includes("json") && value.name !== "blob") return [[name, value.name]];
  return opened(name, await value.text());
}

/** Reads the text of a body or of a socket's frame, whatever its content type. */
export const readText = (text: string): PostedPair[] => limitPairs(textPairs(text));

function textPairs(text: string): PostedPair[] {
  const json = jsonIn(text);
  if (json !== undefined) return flatten(json);
  if (/^\s*</.test(text)) return xmlPairs(text);
  if (isEncoded(text)) return encodedPairs(new URLSearchParams(text));
  const lines = text.split(/\r?\n/).slice(0, POST_LIMITS.pairs);
  return lines.flatMap((line): PostedPair[] => {
    const m = /^\s*([^=:]{1,100}?)\s*[=:]\s*(.*)$/s.exec(line.slice(0, POST_LIMITS.text));
    if (m !== null) return [[m[1] ?? "", m[2] ?? ""]];
    return line.trim() === "" ? [] : line.split(/[,;\t]/).map((cell): PostedPair => ["", cell.trim()]);
  });
}

const encodedPairs = (pairs: URLSearchParams, depth = 0): PostedPair[] =>
  [...pairs].flatMap(([name, value]) => opened(name, value, depth));

/** Parses JSON, also after the few characters that socket protocols put before it (`42["submit",{...}]`). */
function jsonIn(text: string): unknown {
  const start = text.slice(0, 64).search(/[[{]/);
  if (start < 0) return undefined;
  for (const part of start === 0 ? [text] : [text, text.slice(start)]) {
    try {
      const value: unknown = JSON.parse(part.replace(/\0$/, ""));
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // the next part is tried
    }
  }
  return undefined;
}

const isEncoded = (text: string): boolean =>
  /^[^=&\s]{1,200}=[^&\s]*(?:&[^=&\s]{1,200}=[^&\s]*)*$/.test(text.slice(0, 20_000));

const ENTITIES = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", nbsp: " ", "#39": "'" } as const;

/** Replaces the entities of XML and HTML by their characters. */
export const withoutEntities = (text: string): string =>
  text.replace(/&(lt|gt|quot|apos|amp|nbsp|#39);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name]);

function xmlPairs(text: string): PostedPair[] {
  return [...text.matchAll(/<([\w:.-]+)[^<>]*>([^<>]+)<\/\1>/g)].map(
    (m): PostedPair => [m[1] ?? "", withoutEntities(m[2] ?? "")],
  );
}

/** Expands a value that is JSON or an encoded form into its pairs. */
function opened(name: string, value: string, depth = 0): PostedPair[] {
  if (depth > 3 || value.length > 1_000_000) return [[name, value]];
  if (/^\s*[[{]/.test(value)) {
    const json = jsonIn(value);
    if (json !== undefined) return flatten(json, name, depth + 1);
  }
  if (value.includes("&") && isEncoded(value)) return encodedPairs(new URLSearchParams(value), depth + 1);
  return [[name, value]];
}

/** Lists the leaves of posted JSON with the paths of their keys; list items repeat a key. `{name, value}` is a pair. */
function flatten(value: unknown, name = "", depth = 0): PostedPair[] {
  if (depth > POST_LIMITS.depth || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => flatten(item, name, depth + 1));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    const pair = pairOf(value as Record<string, unknown>);
    if (pair !== undefined) return flatten(pair.value, name === "" ? pair.name : `${name}.${pair.name}`, depth + 1);
    return entries.flatMap(([key, inner]) => flatten(inner, name === "" ? key : `${name}.${key}`, depth + 1));
  }
  if (typeof value === "string") return opened(name, value, depth);
  return [[name, value === null ? "" : String(value)]];
}

const NAMES = ["name", "field", "key", "id", "label", "question", "fieldName", "fieldId"];
const VALUES = ["value", "answer", "values", "val", "response", "text"];

/** Recognises `{name: "email", value: "a@b"}` and the like, with at most two further keys. */
function pairOf(value: Record<string, unknown>): { name: string; value: unknown } | undefined {
  const keys = Object.keys(value);
  if (keys.length < 2 || keys.length > 4) return undefined;
  const held = VALUES.find((key) => key in value);
  const name = NAMES.find((key) => key !== held && typeof value[key] === "string" && (value[key] as string) !== "");
  return held === undefined || name === undefined ? undefined : { name: value[name] as string, value: value[held] };
}
