import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { packageRoot } from "../../src/core/files.js";

/** A table of docs/data. */
interface DataTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly reproduce?: object;
}

const root = packageRoot();
const MARKED = /<!-- table: ([\w-]+) -->[\s\S]*?<!-- \/table -->/g;
const NUMBER = /(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e-?\d+)?/g;

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const numeric = (text: string): number => Number(text.replaceAll(",", ""));
const withoutFences = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, "");
const withoutCode = (text: string): string => text.replace(/`[^`\n]*`/g, "`");

/** Makes the anchors of a page's headings as GitHub does. */
function anchors(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutFences(text).matchAll(/^#+ +(.*)$/gm)].map(([, heading = ""]) => {
    const plain = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .trim()
      .toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

/** Cuts the section of this anchor out of a page, up to the next heading of its level; without an anchor, the page. */
function section(text: string, anchor: string): string {
  if (anchor === "") return text;
  const parts = text.split(/^(?=#+ )/m);
  const begin = parts.findIndex((part) => anchors(part)[0] === anchor);
  const level = (part: string): number => /^#*/.exec(part)?.[0].length ?? 0;
  const found = parts.slice(begin);
  const end = found.findIndex((part, i) => i > 0 && level(part) <= level(found[0] ?? ""));
  return begin < 0 ? "" : found.slice(0, end < 0 ? undefined : end).join("");
}

/** Lists the broken relative links of a page. */
export function deadLinks(page: string): string[] {
  const links = withoutCode(withoutFences(read(page))).matchAll(/\]\(([^)\s]+)[^)]*\)/g);
  return [...links].flatMap(([, target = ""]) => {
    if (/^[a-z][a-z+.-]*:/i.test(target)) return [];
    const [path = "", anchor = ""] = target.split("#");
    const file = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, file))) return [`${page}: ${target} does not exist`];
    return anchor === "" || anchors(read(file)).includes(anchor) ? [] : [`${page}: ${target}: no such heading`];
  });
}

const UNIT =
  /^ ?(?:%|x\b|times\b|points?\b|microseconds?\b|ms\b|s\b|min\b|minutes?\b|h\b|hours?\b|[kMGT]i?B\b|B\b|M\b|k\b|[mb]illion\b|\w+\/s\b)/;
/** Numbers that need no source: those in names (SmolLM2-135M, 4-bit) and versions, and the level of intervals. */
const NAMES =
  /\b[A-Za-z]\w*-\d[\w.]*|\b\d+-[a-z]+|\b[A-Za-z][\w.]*\d[\w.]*|\b(?:Node|PyTorch|CUDA) \d[\d.]*|\b95 %(?= (?:bootstrap )?interval)/g;

/**
 * Lists the figures of README that no table of a linked section contains, as `README's words: the figure`.
 *
 * A figure is a number outside of code with a point, a percent sign, thousands or a unit after it; under "Results in
 * short" and "Speed" every number is one. A figure is backed if its paragraph, list item or row links to a section of
 * docs with a table of docs/data that contains the number; the two numbers of `A → B`, or of two cells side by side, must be neighbours in one row.
 */
export function unbackedFigures(readme: string): string[] {
  const text = withoutFences(readme).replace(MARKED, "");
  return text.split(/^(?=## )/m).flatMap((part) => {
    const every = /^## (?:Results in short|Speed)\n/.test(part);
    return part.split(/\n\n|\n(?=- |\|)/).flatMap((block) => {
      const prose = withoutCode(block)
        .replace(/\]\([^)]*\)/g, "]")
        .replace(NAMES, "");
      const rows = [...block.matchAll(/\]\((docs\/[\w-]+\.md)(?:#([^)]*))?\)/g)].flatMap(([, page = "", anchor = ""]) =>
        rowsOf(page, anchor),
      );
      const known = new Set(rows.flat());
      const found = [...prose.matchAll(NUMBER)].filter(([number], i, all) => {
        const after = prose.slice((all[i]?.index ?? 0) + number.length);
        return (every || /[.,e]/.test(number) || UNIT.test(after)) && !known.has(numeric(number));
      });
      const pairs = [...prose.matchAll(new RegExp(`(${NUMBER.source})(?: → | \\| )(${NUMBER.source})`, "g"))].filter(
        ([, from = "", to = ""]) =>
          !rows.some((row) => row.some((number, i) => number === numeric(from) && row[i + 1] === numeric(to))),
      );
      const said = prose.trim().slice(0, 60);
      return [...found, ...pairs].map(([figure]) => `${said}: ${figure}`);
    });
  });
}

/** Collects the numbers of all tables of a section, one list per row; a table's caption and heads are rows as well. */
function rowsOf(page: string, anchor: string): number[][] {
  return [...section(read(page), anchor).matchAll(MARKED)].flatMap(([, name = ""]) => {
    const { rows, reproduce: _, ...rest } = JSON.parse(read(`docs/data/${name}.json`)) as DataTable;
    return [Object.values(rest).flat(), ...rows].map((row) =>
      row.flatMap((cell) => [...cell.matchAll(NUMBER)].map(([number]) => numeric(number))),
    );
  });
}
