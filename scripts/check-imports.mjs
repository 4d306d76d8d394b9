// node scripts/check-imports.mjs [ROOT]: checks that source files import from their own layer (floor) or a lower one,
// without cycles among folders or files, types included; a feature imports those features that its line in
// ARCHITECTURE.md names, as in "- `agent` (on `learned-pages`): ...", which are in no circle and used; and those of PUBLIC
// import only names that src/index.ts exports. Prints file:line of each violation; exits with 1 if any.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Folders of src, lowest floor first. */
const FLOORS = [
  ["core"],
  ["onnx", "text"],
  ["attention", "weights"],
  ["autodiff", "nn", "optim"],
  ["diffusion", "env", "rl"],
  ["config"],
  ["runs"],
  ["engine"],
  ["watch"],
  ["train"],
  ["library"],
  ["cli"],
  // each folder of it can be deleted, and those that are built on it with it
  ["features"],
  // the library's entry is a file beside the folders
  ["index.ts"],
];
/** Folders of one floor that must not import each other: a policy does not depend on the browser. */
const STRANGERS = [["env", "diffusion"]];
/** Features that are written as a user's own environment is: by the library's names. Their commands are the command line's. */
const PUBLIC = ["control", "miniwob", "openenv"];

const STATIC = /^\s*(?:import|export)\s+(?:type\s+)?(?:(?<names>[\w$*{}\s,]+?)\s*from\s*)?["'](?<from>[^"'\n]+)["']/gm;
const DYNAMIC = /\bimport\s*\(\s*["'](?<from>[^"'\n]+)["']/g;

const floorOf = (folder) => FLOORS.findIndex((folders) => folders.includes(folder));
const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
const source = join(root, "src");
const problems = [];
const exported = exportsOf(join(source, "index.ts"));
const builtOn = orderOfFeatures(join(root, "ARCHITECTURE.md"));
/** For every folder, the folders of its floor that it imports, each with the place of one such import. */
const sideways = new Map();
/** For every file, the files that it imports, each with the place of one such import. */
const imports = new Map();

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
      const { from: specifier, names } = match.groups;
      if (!specifier.startsWith(".")) continue;
      const line = text.slice(0, match.index + match[0].lastIndexOf(specifier)).split("\n").length;
      const target = resolve(dirname(file), specifier);
      check(file, line, folder, target);
      checkPublic(file, line, target, namesIn(names));
      note(imports, file, target.replace(/\.js$/, ".ts"), { file, line });
    }
  }
}
problems.push(...cycles(sideways, (folder) => folder), ...cycles(imports, (file) => basename(file)));
if (problems.length === 0) problems.push(...inOrder());

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
  const [feature, used] = [featureOf(file), featureOf(target)];
  if (used !== undefined && feature !== used && from !== "index.ts") {
    if (feature === undefined)
      return add(`imports the feature ${used}: a feature can be deleted, so its entries are found by the registries`);
    if (!builtOn.get(feature)?.has(used))
      return add(`${feature} imports the feature ${used}: its line in ARCHITECTURE.md does not name it`);
    note(sideways, feature, used, { file, line });
  }
  if (to === from) return;
  if (floorOf(to) === -1) return add(`imports "${to}", which is on no floor`);
  if (floorOf(to) > floorOf(from)) return add(`${from} (floor ${floorOf(from)}) imports ${to} (floor ${floorOf(to)})`);
  if (STRANGERS.some((pair) => pair.includes(from) && pair.includes(to)))
    return add(`${from} imports ${to}: they must not know each other`);
  if (floorOf(to) === floorOf(from)) note(sideways, from, to, { file, line });
}

/** Checks that a feature of PUBLIC imports what the library exports, by name. */
function checkPublic(file, line, target, names) {
  const feature = featureOf(file);
  const isCommand = relative(source, file).split(sep).includes("commands");
  if (!PUBLIC.includes(feature) || isCommand || featureOf(target) === feature) return;
  const hidden = names.filter((name) => !exported.get(target.replace(/\.js$/, ".ts"))?.has(name));
  if (hidden.length === 0) return;
  problems.push({ file, line, why: `${feature} imports ${hidden.join(", ")}, which src/index.ts does not export` });
}

/** Lists the names of a clause as `{ a, type B as C }`: a, B; `*` stands for a whole module. */
function namesIn(clause = "*") {
  const inner = /^\{([^}]*)\}$/.exec(clause.trim())?.[1] ?? "*";
  return inner.split(",").flatMap(
    (name) =>
      name
        .replace(/^\s*type\s/, "")
        .trim()
        .split(/\s+as\s+/)[0] || [],
  );
}

/** Reads the names that a file exports of others, by their path. */
function exportsOf(path) {
  const found = new Map();
  const text = existsSync(path) ? withoutComments(readFileSync(path, "utf8")) : "";
  for (const { groups } of text.matchAll(STATIC)) {
    const target = resolve(dirname(path), groups.from).replace(/\.js$/, ".ts");
    found.set(target, new Set([...(found.get(target) ?? []), ...namesIn(groups.names)]));
  }
  return found;
}

function note(arrows, from, to, witness) {
  if (!arrows.has(from)) arrows.set(from, new Map());
  if (!arrows.get(from).has(to)) arrows.get(from).set(to, witness);
}

/** Finds the imports that are part of a cycle. */
function cycles(arrows, nameOf) {
  const reaches = (from, to, seen = new Set()) => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(arrows.get(from)?.keys() ?? [])].some((next) => reaches(next, to, seen));
  };
  const found = [];
  for (const [from, targets] of arrows) {
    for (const [to, witness] of targets) {
      const why = `${nameOf(from)} imports ${nameOf(to)}, which imports ${nameOf(from)} again`;
      if (reaches(to, from)) found.push({ ...witness, why });
    }
  }
  return found;
}

/** Reads which features a feature is built on, each with its line. */
function orderOfFeatures(path) {
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  return new Map(
    lines.flatMap((text, i) => {
      const [, name, list] = /^- `([\w-]+)` \(on ([^)]*)\)/.exec(text) ?? [];
      if (name === undefined) return [];
      const witness = { file: path, line: i + 1 };
      return [[name, new Map([...list.matchAll(/`([\w-]+)`/g)].map(([, used]) => [used, witness]))]];
    }),
  );
}

/** Finds the arrows of the drawn order that are part of a circle, or that no import follows. */
function inOrder() {
  const present = (name) => existsSync(join(source, "features", name));
  const unused = [...builtOn].flatMap(([name, targets]) =>
    [...targets].flatMap(([used, witness]) =>
      present(name) && present(used) && !sideways.get(name)?.has(used)
        ? [{ ...witness, why: `${name} does not import the feature ${used}` }]
        : [],
    ),
  );
  return [...cycles(builtOn, (name) => name), ...unused];
}

/** The name of the feature that a path lies in; undefined outside of features. */
function featureOf(path) {
  const [room, name] = relative(source, path).split(sep);
  return room === "features" ? name : undefined;
}

/** The first part of a path below src. */
function folderOf(path) {
  return relative(source, path).split(sep)[0];
}

/** Replaces comments by blanks, which keeps the line numbers. */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm, (comment) => comment.replace(/[^\n]/g, " "));
}
