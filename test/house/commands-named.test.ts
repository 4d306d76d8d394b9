import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { callProgram } from "../support/call-program.js";

const root = packageRoot();
const inFolder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => !path.includes("node_modules"))
    .map((path) => `${folder}/${path}`);
const FILES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"],
  ...["src", "docs", "configs", "examples"].flatMap(inFolder).filter((path) => /\.(md|ts|mjs|yaml)$/.test(path)),
];

/** A command as a text names it: the program's word, and what follows up to the end of its code or sentence. */
interface Named {
  readonly place: string;
  readonly program: "train" | "eval";
  readonly words: readonly string[];
}

function namedIn(path: string): Named[] {
  return [
    ...readFileSync(join(root, path), "utf8").matchAll(/(?:\brefusion-|cli\/)(train|eval)(?:\.js)?( [^\n`"';|()]*)/g),
  ].map(([, program, rest = ""]) => ({
    place: `${path}: refusion-${program}${rest}`,
    program: program as Named["program"],
    // a line break of a string, and the rest of a word that the code makes
    words: rest
      .replace(/\\n.*|\$\{.*/s, "")
      .trim()
      .split(/\s+/),
  }));
}

describe("commands that texts name", () => {
  it("exist with the options and files that they are called with", async () => {
    const named = FILES.flatMap(namedIn);
    assert.ok(named.length > 100, `only ${named.length} found`);
    const helps = new Map<string, string>();
    const helpOf = async (program: "train" | "eval", command: readonly string[]): Promise<string> => {
      const key = [program, ...command].join(" ");
      const { code, out } = helps.has(key)
        ? { code: 1, out: "" }
        : await callProgram(program, root, [...command, "--help"]);
      if (code === 0) helps.set(key, out);
      return helps.get(key) ?? assert.fail(`${key} --help failed`);
    };
    const wrong: string[] = [];
    for (const { place, program, words } of named) {
      const overview = await helpOf(program, []);
      const [first = ""] = words;
      const isCommand =
        /^[a-z][\w-]*$/.test(first) && new RegExp(`^ +(?:[\\w-]+ +)*${first}(?: |$)`, "m").test(overview);
      const anyObjective = program === "train" && first === "OBJECTIVE";
      // prose about the program, or another program's argument
      if (!isCommand && !anyObjective && (first === "." || !words.some((word) => word.startsWith("--")))) continue;
      if (!isCommand && !anyObjective && !first.startsWith("--")) wrong.push(place);
      const command = isCommand ? [first] : anyObjective ? ["train"] : [];
      const help = await helpOf(program, command);
      for (const word of words) {
        const [option = ""] = /^--[a-z-]+/.exec(word) ?? [];
        if (option !== "" && !new RegExp(`${option}(?![\\w-])`).test(help)) wrong.push(`${place}: ${option}`);
        const [shipped = ""] = /^(?:configs|examples)\/[\w./-]+/.exec(word.replace(/.*[A-Z].*/, "")) ?? [];
        if (shipped !== "" && !existsSync(join(root, shipped))) wrong.push(`${place}: ${shipped}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
});
