// node scripts/check-imports.mjs [ROOT]: a source file imports from its own floor or a lower one, and folders of one
// floor do not import each other in a circle. Prints file:line of every offender; exit 1 if there is one.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Folders of src, lowest floor first. */
const FLOORS = [
  ["core"],
  ["onnx", "text"],
  ["autodiff", "nn", "optim"],
  ["diffusion", "env", "rl"],
  ["train"],
  ["cli"],
];
/** Folders of one floor that must not know each other: a policy knows no browser. */
const STRANGERS = [["env", "diffusion"]];

const STATIC = /^\s*(?:import|export)\s+(?:type\s+)?(?:[\w$*{}\s,]+?\s*from\s*)?["']([^"'\n]+)["']/gm;
const DYNAMIC = /\bimport\s*\(\s*["']([^"'\n]+)["']/g;

const floorOf = (folder) => FLOORS.findIndex((folders) => folders.includes(folder));
const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
const source = join(root, "src");
const problems = [];
/** For every folder, the folders of its own floor that it imports, each with one place as a witness. */
const sideways = new Map();

for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.[cm]?[jt]s$/.test(entry.name)) continue;
  const file = join(entry.parentPath, entry.name);
  const folder = folderOf(file);
  const text = withoutComments(readFileSync(file, "utf8"));
  if (floorOf(folder) === -1) {
    problems.push({ file, line: 1, why: `"${folder}" is on no floor: add it to FLOORS in scripts/check-imports.mjs` });
    continue;
  }
  for (const pattern of [STATIC, DYNAMIC]) {
    for (const match of text.matchAll(pattern)) {
      const specifier = match[1];
      if (!specifier.startsWith(".")) continue;
      const line = text.slice(0, match.index + match[0].lastIndexOf(specifier)).split("\n").length;
      check(file, line, folder, resolve(dirname(file), specifier));
    }
  }
}
for (const cycle of cycles()) problems.push(cycle);

problems.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
for (const { file, line, why } of problems) console.log(`${relative(root, file).split(sep).join("/")}:${line} ${why}`);
if (problems.length > 0) {
  console.log(
    `${problems.length} import${problems.length === 1 ? "" : "s"} against the floors (lowest first): ${FLOORS.map((f) => f.join(" ")).join(" | ")}`,
  );
  process.exitCode = 1;
}

function check(file, line, from, target) {
  const outside = relative(source, target).startsWith("..");
  const to = folderOf(target);
  const add = (why) => problems.push({ file, line, why });
  if (outside) return add(`imports from outside src`);
  if (to === from) return;
  if (floorOf(to) === -1) return add(`imports "${to}", which is on no floor`);
  if (floorOf(to) > floorOf(from)) return add(`${from} (floor ${floorOf(from)}) imports ${to} (floor ${floorOf(to)})`);
  if (STRANGERS.some((pair) => pair.includes(from) && pair.includes(to)))
    return add(`${from} imports ${to}: they must not know each other`);
  if (floorOf(to) === floorOf(from)) {
    if (!sideways.has(from)) sideways.set(from, new Map());
    if (!sideways.get(from).has(to)) sideways.get(from).set(to, { file, line });
  }
}

/** An import that lies on a circle of folders of one floor, for each such import's folder pair. */
function cycles() {
  const reaches = (from, to, seen = new Set()) => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(sideways.get(from)?.keys() ?? [])].some((next) => reaches(next, to, seen));
  };
  const found = [];
  for (const [from, targets] of sideways) {
    for (const [to, witness] of targets) {
      if (reaches(to, from)) found.push({ ...witness, why: `${from} imports ${to}, which imports ${from} again` });
    }
  }
  return found;
}

/** The first part of a path below src. */
function folderOf(path) {
  return relative(source, path).split(sep)[0];
}

/** Comments become blanks, so that lines keep their numbers. */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm, (comment) => comment.replace(/[^\n]/g, " "));
}
