import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";

const read = (path: string): string => readFileSync(join(packageRoot(), path), "utf8");
const { rows } = JSON.parse(read("docs/data/promises.json")) as { rows: readonly [string, string, string][] };
const DESCRIPTION = "a description";
const PAGES = ["README.md", ...readdirSync(join(packageRoot(), "docs")).map((file) => `docs/${file}`)].filter((path) =>
  path.endsWith(".md"),
);

/** Returns the sentences and cells of a page that make a promise by one of these words. */
const promisesIn = (path: string): string[] =>
  read(path)
    .replace(/```[\s\S]*?```|<!-- table: promises -->[\s\S]*?<!-- \/table -->/g, "")
    .split("\n")
    .flatMap((line) => line.split(/(?<=[.:;])\s+|\|/))
    .filter((sentence) => /\b(?:never|nothing|nobody)\b/i.test(sentence));

describe("promises of README and docs", () => {
  it("are all listed, each with the test that holds it, or as a description", () => {
    const missing = PAGES.flatMap((path) => {
      const own = rows.filter(([, page]) => page === path);
      const unlisted = promisesIn(path).filter((sentence) => !own.some(([words]) => sentence.includes(words)));
      return unlisted.map((sentence) => `${path}: ${sentence}`);
    });
    assert.deepEqual(missing, []);
  });

  it("stand on their pages, and their tests exist", () => {
    const wrong = rows.filter(([words, page, held]) => {
      if (!read(page).includes(words)) return true;
      const [file = "", ...title] = held.split(": ");
      return held !== DESCRIPTION && !(existsSync(join(packageRoot(), file)) && read(file).includes(title.join(": ")));
    });
    assert.deepEqual(wrong, []);
  });
});
