import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { deadLinks, unbackedFigures } from "../support/documents.js";

const root = packageRoot();
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const inFolder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    // packages of the component pages, where they are installed
    .filter((path) => !path.includes("node_modules"))
    .map((path) => `${folder}/${path}`);
const PAGES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...["docs", "models", "scripts"].flatMap(inFolder).filter((path) => path.endsWith(".md")),
];
const PROGRAMS = ["src", "test", "scripts", "configs", "examples", "jobs"]
  .flatMap(inFolder)
  .filter((path) => /\.(ts|mjs|py|yaml)$/.test(path) && !path.includes("/format/gen/"));

/** Lines that speak to people: all of a page's, the comments of a program's. */
function spoken(path: string): string[] {
  const lines = read(path).split("\n");
  if (path.endsWith(".md")) return lines;
  const comment = /\.(ts|mjs)$/.test(path) ? /^\s*(?:\/?\*+|\/\/).*|\s\/\/ .*/ : /(?:^|\s)#.*/;
  return lines.map((line) => comment.exec(line)?.[0] ?? "");
}

describe("documents", () => {
  it("have the tables that scripts/results.mjs writes from docs/data", () => {
    const script = join(root, "scripts", "results.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });

  it("link to pages and headings that exist", () => {
    assert.deepEqual(PAGES.flatMap(deadLinks), []);
  });

  it("name only paths of the repository that exist", (t) => {
    if (!existsSync(join(root, ".git"))) return t.skip("not a git checkout");
    const all = ["ls-files", "--cached", "--others", "--exclude-standard"];
    const listed = execFileSync("git", all, { cwd: root, encoding: "utf8" });
    const paths = new Set<string>();
    for (let path of listed.split("\n")) for (; path !== "" && path !== "."; path = dirname(path)) paths.add(path);
    const made = read(".gitignore")
      .split("\n")
      .filter((line) => line.includes("/"));
    const exists = (name: string): boolean => {
      if (paths.has(name) || made.some((path) => `${name}/`.startsWith(path.replace(/^\//, "")))) return true;
      // capitals, <names>, * and ... stand for something
      const pattern = name
        .replace(/<[\w-]+>|\*+|\.\.\.|(?<![a-z])[A-Z]{2,}(?![a-z])/g, "[\\s\\S]+")
        .replaceAll(".", "[.]");
      return [...paths].some((path) => new RegExp(`^${pattern}$`).test(path));
    };
    const missing = [...PAGES, ...PROGRAMS].flatMap((path) => {
      let fenced = false;
      return spoken(path).flatMap((line, i) => {
        if (line.startsWith("```")) fenced = !fenced;
        const names = line.matchAll(
          /(?<![\w./@-])(src|test|docs|configs|models|scripts|examples|jobs)\/[\w./*<>-]*[\w*>]/g,
        );
        return (
          [...names]
            // a command's model is one that another command makes
            .filter(([name, folder]) => !(fenced && folder === "models") && !exists(name))
            .map(([name]) => `${path}:${i + 1} ${name}`)
        );
      });
    });
    assert.deepEqual(missing, []);
  });

  it("name only files of src that exist, in comments", () => {
    const rooms = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const named = new RegExp(`(?<![\\w./@-])(?:${rooms.map(({ name }) => name).join("|")})/[\\w./-]+\\.ts`, "g");
    const missing = PROGRAMS.filter((path) => path.startsWith("src/")).flatMap((path) =>
      spoken(path).flatMap((line, i) =>
        [...line.matchAll(named)]
          .filter(([name]) => !existsSync(join(root, "src", name)))
          .map(([name]) => `${path}:${i + 1} ${name}`),
      ),
    );
    assert.deepEqual(missing, []);
  });

  it("quote what a shell would expand", () => {
    const bare = [...PAGES, ...PROGRAMS.filter((path) => !path.startsWith("test/"))].flatMap((path) =>
      [...read(path).matchAll(/(?<![\w.'"])[a-z_]+(?:\.[a-z_]+)+=\[.*/g)].map(
        ([text]) => `${path}: ${text.slice(0, 60)}`,
      ),
    );
    assert.deepEqual(bare, []);
  });

  it("say nothing in README that no table of docs holds", () => {
    assert.deepEqual(unbackedFigures(read("README.md")), []);
  });

  it("notice a figure that stands nowhere", () => {
    const readme = read("README.md");
    const faults = ["up to .119", "98.7 %", "in 997 ms", "997 times faster", "2,997 forms", "997x", "1e-7", "997GB"];
    for (const fault of faults) {
      for (const place of ["## Results in short\n\n", "## Speed\n\n", "## Configuration\n\n"]) {
        const sentence = `It was ${fault}, see [results](docs/results.md).\n\n`;
        const said = readme.replace(place, (heading) => `${heading}${sentence}`);
        assert.equal(unbackedFigures(said).length, 1, `${place}${fault}`);
      }
    }
    const count = readme.replace("## Speed\n\n", "## Speed\n\nIt takes 997 rollouts.\n\n");
    assert.equal(unbackedFigures(count).length, 1);
    // both numbers stand in a row of the table, but not side by side
    const pair = readme.replace("| .856 | .925 |", "| .843 | .925 |");
    assert.notEqual(pair, readme);
    assert.deepEqual(unbackedFigures(pair).length, 1);
  });
});
