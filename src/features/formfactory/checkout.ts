import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { getMimeType } from "hono/utils/mime";
import { z } from "zod";
import { fail, messageOf } from "../../core/errors.js";
import { listed } from "../../core/problems.js";
import type { Asset } from "../../env/site.js";
import type { CatalogRow } from "./catalog.js";
import { type Route, readRoutes } from "./routes.js";
import { renderTemplate } from "./template.js";

/** One gold row: values by label, in some rows by another key. */
export type GoldRow = Readonly<Record<string, unknown>>;

/** The files of a FormFactory checkout that define its forms and tasks. They are read once, and never written. */
export interface Checkout {
  readonly dir: string;
  readonly routes: readonly Route[];
  /** Renders the page of a template's address. @throws TemplateError for unsupported template features. */
  page(route: Route): string;
  /** Reads a file of static/; undefined if there is none. */
  asset(path: string): Asset | undefined;
  readonly gold: ReadonlyMap<CatalogRow, readonly GoldRow[]>;
  /** The source text of each gold row; absent if data2 does not have one for every row. */
  readonly documents: ReadonlyMap<CatalogRow, readonly string[]>;
}

const CLONE = "git clone https://github.com/formfactory-ai/formfactory, then set site.path to that directory.";
/** Largest file that is read; FormFactory has no larger ones. */
const MAX_BYTES = 8 << 20;

/**
 * Opens a checkout for the given forms.
 * @throws UserError that lists every file that is missing or cannot be read, and what to clone.
 */
export function openCheckout(path: string, rows: readonly CatalogRow[]): Checkout {
  const dir = resolve(path);
  if (!existsSync(dir)) fail(`site.path: ${dir} does not exist.`, { hint: CLONE });
  if (!statSync(dir).isDirectory()) fail(`site.path: ${dir} is not a directory.`, { hint: CLONE });
  const missing = ["app.py", "templates", join("data", "data1"), join("data", "data2")].filter(
    (name) => !existsSync(join(dir, name)),
  );
  if (missing.length > 0) fail(`${dir} is no checkout of FormFactory: ${missing.join(", ")} missing.`, { hint: CLONE });

  const problems: string[] = [];
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      problems.push(messageOf(error));
      return undefined;
    }
  };
  const routes = attempt(() => readRoutes(readText(join(dir, "app.py")))) ?? [];
  const pages = new Map<Route, string>();
  const page = (route: Route): string => {
    const rendered = pages.get(route) ?? renderPage(dir, routes, route);
    pages.set(route, rendered);
    return rendered;
  };
  const gold = new Map<CatalogRow, readonly GoldRow[]>();
  const documents = new Map<CatalogRow, readonly string[]>();
  for (const row of rows) {
    const route = routes.find((r) => r.path === row.path);
    if (route === undefined) problems.push(`app.py: nothing is served at ${row.path}`);
    else if (!route.posts) problems.push(`app.py: ${row.path} takes no posts`);
    else if (route.answer.kind === "unknown") problems.push(`app.py: ${row.path}: ${route.answer.why}`);
    else attempt(() => page(route));
    const list = attempt(() => readGold(join(dir, "data", "data1", `${row.gold}.json`)));
    if (list !== undefined) gold.set(row, list);
    const texts = attempt(() => splitDocuments(readText(join(dir, "data", "data2", `${row.gold}.txt`))));
    if (texts !== undefined && texts.length === list?.length) documents.set(row, texts);
  }
  if (problems.length > 0) {
    fail(`${dir} is not the FormFactory that this program knows:${listed(problems)}`, {
      hint: `Use a fresh copy: ${CLONE} 'site.forms=[...]' takes only some of its forms.`,
    });
  }
  return { dir, routes, page, asset: (name) => readAsset(join(dir, "static"), name), gold, documents };
}

function renderPage(dir: string, routes: readonly Route[], route: Route): string {
  if (route.answer.kind !== "template") return "";
  return renderTemplate(route.answer.template, {
    source: (name) => {
      const file = inside(join(dir, "templates"), name);
      return file === undefined ? undefined : readText(file);
    },
    urlFor: (endpoint, filename) =>
      endpoint === "static"
        ? `/static/${(filename ?? "").split("/").map(encodeURIComponent).join("/")}`
        : routes.find((r) => r.endpoint === endpoint)?.path,
  });
}

/** Returns the real path of a file in a folder; undefined if it is not a file, or leads out of the folder. */
function inside(folder: string, name: string): string | undefined {
  const file = join(folder, name);
  if (!existsSync(file)) return undefined;
  const real = realpathSync(file);
  return real.startsWith(realpathSync(folder) + sep) && lstatSync(real).isFile() ? real : undefined;
}

function readAsset(folder: string, name: string): Asset | undefined {
  const file = inside(folder, name);
  if (file === undefined || statSync(file).size > MAX_BYTES) return undefined;
  return { contentType: getMimeType(file) ?? "application/octet-stream", body: readFileSync(file) };
}

function readText(file: string): string {
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes; at most ${MAX_BYTES} are read`);
  return readFileSync(file, "utf8");
}

const goldRows = z.array(z.record(z.string(), z.unknown())).min(1);

function readGold(file: string): readonly GoldRow[] {
  let rows: unknown;
  try {
    rows = JSON.parse(readText(file));
  } catch (error) {
    throw new Error(error instanceof SyntaxError ? `${file} is not valid JSON: ${error.message}` : messageOf(error));
  }
  const { data } = goldRows.safeParse(rows);
  if (data === undefined) throw new Error(`${file}: expected a list of objects`);
  return data;
}

/**
 * Splits a file of data2 into its source texts: `1. ...`, `2. ...` or `1) ...`, `2) ...`. Texts may contain numbered
 * lists, so that only a line with the next number and the mark of the first one begins a text.
 * @returns one text per instance, without its number.
 */
export function splitDocuments(text: string): string[] {
  const mark = /^\s*1([.)])/.exec(text)?.[1];
  if (mark === undefined) return [];
  const starts: { readonly at: number; readonly body: number }[] = [];
  for (const match of text.matchAll(/^[ \t]*(\d+)([.)])/gm)) {
    if (match[2] === mark && match[1] === String(starts.length + 1))
      starts.push({ at: match.index, body: match.index + match[0].length });
  }
  return starts.map(({ body }, i) => text.slice(body, starts[i + 1]?.at).trim());
}
