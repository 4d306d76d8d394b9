import { messageOf } from "../../core/errors.js";

/** Answer to a GET request of an address of app.py. */
export type RouteAnswer =
  | { readonly kind: "template"; readonly template: string }
  | { readonly kind: "json"; readonly data: Literal }
  | { readonly kind: "text"; readonly text: string }
  /** Code that only Python can run. */
  | { readonly kind: "unknown"; readonly why: string };

/** One decorated function of app.py. */
export interface Route {
  readonly path: string;
  /** The function's name, by which templates refer to the address. */
  readonly endpoint: string;
  readonly posts: boolean;
  readonly answer: RouteAnswer;
  /** Message of the answer to a post, or a default. */
  readonly message: string;
}

const STRING = String.raw`(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")`;
const DECORATOR = new RegExp(String.raw`^@app\.(?:route|get|post)\(\s*${STRING}([^\n]*)\)\s*$`);

/**
 * Reads the addresses from a Flask application's source text without running it: supported are functions that return a
 * template without variables, a literal by jsonify, or a plain string.
 */
export function readRoutes(source: string): Route[] {
  const routes: Route[] = [];
  const lines = source.split(/\r\n|\n/);
  for (let i = 0; i < lines.length; i++) {
    const paths: { path: string; posts: boolean }[] = [];
    for (; DECORATOR.test(lines[i] ?? ""); i++) {
      const [line, single, double, rest] = DECORATOR.exec(lines[i] ?? "") ?? [];
      paths.push({ path: single ?? double ?? "", posts: /^@app\.post/.test(line ?? "") || /POST/.test(rest ?? "") });
    }
    const endpoint = /^def\s+(\w+)\s*\(/.exec(lines[i] ?? "")?.[1];
    if (paths.length === 0 || endpoint === undefined) continue;
    let end = i + 1;
    while (end < lines.length && !/^\S/.test(lines[end] ?? "")) end++;
    const body = lines.slice(i + 1, end).join("\n");
    for (const { path, posts } of paths)
      routes.push({ path, endpoint, posts, answer: answerOf(body), message: messageIn(body) });
    i = end - 1;
  }
  return routes;
}

function answerOf(body: string): RouteAnswer {
  // the last return answers GET: posts return inside an `if`
  const last = [...body.matchAll(/^\s*return\s+(.*)$/gm)].at(-1)?.[1]?.trim() ?? "";
  let m = new RegExp(String.raw`^render_template\(\s*${STRING}\s*\)`).exec(last);
  if (m !== null) return { kind: "template", template: m[1] ?? m[2] ?? "" };
  m = /^jsonify\((\w+)\)/.exec(last);
  if (m !== null) {
    const assigned = new RegExp(String.raw`^\s*${m[1]}\s*=\s*`, "m").exec(body);
    if (assigned === null) return { kind: "unknown", why: `${m[1]} is no literal` };
    try {
      return { kind: "json", data: readLiteral(body.slice(assigned.index + assigned[0].length)) };
    } catch (error) {
      return { kind: "unknown", why: `${m[1]}: ${messageOf(error)}` };
    }
  }
  m = new RegExp(`^${STRING}$`).exec(last);
  if (m !== null) return { kind: "text", text: m[1] ?? m[2] ?? "" };
  return { kind: "unknown", why: last === "" ? "nothing is returned" : `return ${last}` };
}

function messageIn(body: string): string {
  const m = new RegExp(String.raw`["']message["']\s*:\s*${STRING}`).exec(body);
  return m?.[1] ?? m?.[2] ?? "Submitted";
}

/** Value of a Python literal of dicts, lists, strings, numbers, True, False and None. */
type Literal = string | number | boolean | null | Literal[] | { [key: string]: Literal };

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"' };
const TOKEN =
  /(?:\s|#[^\n]*)*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|(?:True|False|None)\b|[[\]{}:,])/y;
const WORDS: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };

/** Converts a token of a Python literal to JSON. */
function asJson(token: string): string {
  if (/^['"]/.test(token)) {
    const unescaped = (whole: string, hex: string | undefined, char = ""): string =>
      hex === undefined ? (ESCAPES[char] ?? whole) : String.fromCharCode(Number.parseInt(hex, 16));
    return JSON.stringify(token.slice(1, -1).replace(/\\u([\da-fA-F]{4})|\\(.)/g, unescaped));
  }
  return WORDS[token] ?? (/\d/.test(token) ? String(Number(token)) : token);
}

/**
 * Reads one literal at the start of a source text, token by token, as JSON; the following text is ignored.
 * @throws Error with the offset of anything else (a name, a call, an operator).
 */
export function readLiteral(source: string): Literal {
  const next = new RegExp(TOKEN);
  const json: string[] = [];
  let [depth, at] = [0, 0];
  const refuse = (): never => {
    throw new Error(`no literal at offset ${at}: ${JSON.stringify(source.slice(at, at + 30))}`);
  };
  do {
    const token = next.exec(source)?.[1] ?? refuse();
    at = next.lastIndex;
    if (/[[{]/.test(token[0] as string)) depth++;
    if (/[\]}]/.test(token[0] as string)) {
      depth--;
      // Python allows a trailing comma
      if (json.at(-1) === ",") json.pop();
    }
    json.push(asJson(token));
  } while (depth > 0);
  try {
    return JSON.parse(json.join("")) as Literal;
  } catch {
    return refuse();
  }
}
