// npm run results [-- --check]: writes the tables of README.md, CONTRIBUTING.md and docs/*.md from docs/data/*.json, each
// between `<!-- table: NAME -->` and `<!-- /table -->`, and the contracts from their sources, each between
// `<!-- api: FILE NAME ... -->` and `<!-- /api -->`. --check writes nothing and exits with 1 if a part differs.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, log, ROOT } from "./lib/setup.mjs";

const check = process.argv.includes("--check");
const DATA = join(ROOT, "docs", "data");
const MARKED = /<!-- table: ([\w-]+) -->\n[\s\S]*?<!-- \/table -->/g;

const API = /<!-- api: (\S+)((?: \w+)*) -->\n[\s\S]*?<!-- \/api -->/g;

/** Writes interfaces as their source has them, a class as its members' signatures, and a file without names as it is. */
function contract(path, names) {
  const text = readFileSync(join(ROOT, path), "utf8");
  const parts = names.map((name) => {
    const [whole, head, body] =
      new RegExp(`^export ((?:interface|class) ${name}\\b[^{]*)\\{\n([\\s\\S]*?)^\\}`, "m").exec(text) ?? [];
    if (whole === undefined) fail(`${path} exports no interface or class ${name}`);
    const members = head.startsWith("class") ? signatures(body) : body;
    return `${head.replace(/\s+/g, " ").replace(/<.*>/, "").trim()} {\n${members.replaceAll("readonly ", "")}}`;
  });
  const code = names.length === 0 ? text.trimEnd() : parts.join("\n\n");
  const language = path.endsWith(".ts") ? "ts" : "js";
  return `<!-- api: ${[path, ...names].join(" ")} -->\n\`\`\`${language}\n${code}\n\`\`\`\n<!-- /api -->`;
}

/** Lists the public members of a class in one line each, with their comments. */
function signatures(body) {
  return body
    .split("\n")
    .flatMap((line) => {
      if (/^ {2}\/\*\*.*\*\/$/.test(line)) return [line];
      const [, name, types] = /^ {2}(?!private|constructor|get )(\w+)(?: = )?(\(.*\): .*?) (?:=>|\{)/.exec(line) ?? [];
      return name === undefined ? [] : [`  ${name}${types};`];
    })
    .map((line) => `${line}\n`)
    .join("");
}

const row = (cells) => `| ${cells.join(" | ")} |`.replaceAll("|  |", "| |").replaceAll("|  |", "| |");

/** Writes a table in Markdown, followed by notes on how it was measured. */
function written(name) {
  const { title, command, measured, note, columns, rows } = JSON.parse(
    readFileSync(join(DATA, `${name}.json`), "utf8"),
  );
  const wrong = rows.find((cells) => cells.length !== columns.length);
  if (wrong) fail(`docs/data/${name}.json: expected ${columns.length} cells a row, got ${wrong.length}: ${row(wrong)}`);
  const said = [command && `\`${command}\``, measured, note].filter(Boolean).join(". ");
  const caption = `*${title}*${said ? `: ${said}.` : ""}`;
  const lines = [row(columns), `|${"---|".repeat(columns.length)}`, ...rows.map(row), "", caption];
  return `<!-- table: ${name} -->\n${lines.join("\n")}\n<!-- /table -->`;
}

const unused = new Set(readdirSync(DATA).map((file) => file.replace(/\.json$/, "")));
const pages = readdirSync(join(ROOT, "docs"))
  .filter((file) => file.endsWith(".md"))
  .map((file) => `docs/${file}`);
const stale = [];
for (const page of ["README.md", "CONTRIBUTING.md", "docs/tables/README.md", ...pages]) {
  const path = join(ROOT, page);
  const text = readFileSync(path, "utf8");
  const next = text
    .replace(MARKED, (_, name) => {
      unused.delete(name);
      return written(name);
    })
    .replace(API, (_, file, names) => contract(file, names.split(" ").filter(Boolean)));
  if (next === text) continue;
  stale.push(page);
  if (!check) writeFileSync(path, next);
}
if (unused.size > 0) fail(`docs/data: no page shows ${[...unused].join(", ")}`);
if (check && stale.length > 0)
  fail(`${stale.join(", ")}: tables differ from docs/data; write them with npm run results`);
log(
  stale.length === 0
    ? "all tables and contracts are as their sources"
    : `${check ? "stale" : "written"}: ${stale.join(", ")}`,
);
