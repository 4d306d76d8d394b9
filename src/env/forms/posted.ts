/** One posted name and value; the value of a file is its name. A nested name is a path: `user.address.city`. */
export type PostedPair = readonly [name: string, value: string];

/** Limits on reading a post: a page may send anything, and every value is compared with the truth. */
const POST_LIMITS = { bytes: 16_000_000, pairs: 10_000, text: 32_768, depth: 10 };

/**
 * Reads the payload of a request: urlencoded, multipart, JSON (nested, in strings, in frames of a socket), lines of
 * text, XML. A payload beyond the byte limit gives no pairs.
 */
export async function readPosted(
  body: Uint8Array | null,
  contentType: string,
  charset = "utf-8",
): Promise<PostedPair[]> {
  if (body === null || body.byteLength === 0 || body.byteLength > POST_LIMITS.bytes) return [];
  return limitPairs(await readPairs(body, contentType.toLowerCase(), contentType, charset));
}

/** Reads the pairs of a query, with JSON values expanded. */
export const readQuery = (url: string, charset = "utf-8"): PostedPair[] =>
  limitPairs(encodedPairs(paramsOf(new URL(url).search.slice(1), charset)));

/** Tells whether a body or an address may hold letters outside ASCII, which its page's charset decides about. */
export const isCoded = (text: string): boolean => /%[89a-f]|\P{ASCII}/iu.test(text);

/** Returns the decoder of a charset, and UTF-8's for one that nobody knows. */
export function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** Decodes an encoded form whose letters were written in a charset. */
function paramsOf(text: string, charset: string): URLSearchParams {
  const decoder = decoderOf(charset);
  if (decoder.encoding === "utf-8") return new URLSearchParams(text);
  const decoded = (part: string): string =>
    decoder.decode(
      Buffer.from(
        part
          .replace(/\+/g, " ")
          .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
        "latin1",
      ),
    );
  const pairs = text.split("&").filter((pair) => pair !== "");
  return new URLSearchParams(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [decoded(name), decoded(value.join("="))];
    }),
  );
}

/** Cuts the number of pairs and the length of their texts to the limits. */
export function limitPairs(pairs: readonly PostedPair[]): PostedPair[] {
  return pairs
    .slice(0, POST_LIMITS.pairs)
    .map(([name, value]) => [name.slice(0, POST_LIMITS.text), value.slice(0, POST_LIMITS.text)]);
}

async function readPairs(body: Uint8Array, type: string, contentType: string, charset: string): Promise<PostedPair[]> {
  if (type.includes("x-www-form-urlencoded"))
    return encodedPairs(paramsOf(Buffer.from(body).toString("latin1"), charset));
  if (type.includes("form-data")) {
    try {
      // names and values stand in the page's charset, and a Response reads UTF-8
      const text = new TextEncoder().encode(decoderOf(charset).decode(body));
      const data = await new Response(text, { headers: { "content-type": contentType } }).formData();
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
