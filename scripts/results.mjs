// npm run results [-- --check]: writes the tables of README.md, CONTRIBUTING.md and docs/*.md from docs/data/*.json, each
// between `<!-- table: NAME -->` and `<!-- /table -->`. --check writes nothing and exits with 1 if a table differs.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, log, ROOT } from "./lib/setup.mjs";

const check = process.argv.includes("--check");
const DATA = join(ROOT, "docs", "data");
const MARKED = /<!-- table: ([\w-]+) -->\n[\s\S]*?<!-- \/table -->/g;

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
for (const page of ["README.md", "CONTRIBUTING.md", ...pages]) {
  const path = join(ROOT, page);
  const text = readFileSync(path, "utf8");
  const next = text.replace(MARKED, (_, name) => {
    unused.delete(name);
    return written(name);
  });
  if (next === text) continue;
  stale.push(page);
  if (!check) writeFileSync(path, next);
}
if (unused.size > 0) fail(`docs/data: no page shows ${[...unused].join(", ")}`);
if (check && stale.length > 0)
  fail(`${stale.join(", ")}: tables differ from docs/data; write them with npm run results`);
log(stale.length === 0 ? "all tables are as their data" : `${check ? "stale" : "written"}: ${stale.join(", ")}`);
