import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";

const root = packageRoot();
const LARGEST = 5_000_000;

/** Text files under version control; none outside a checkout (an unpacked archive). */
function trackedFiles(): string[] {
  if (!existsSync(join(root, ".git"))) return [];
  try {
    const listed = execFileSync("git", ["ls-files", "-z"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return listed.split("\0").filter((path) => {
      const stat = path === "" ? undefined : statSync(join(root, path), { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.size < LARGEST;
    });
  } catch {
    return [];
  }
}

/** Folders of people's machines, this one's among them; spelled in parts, as this file is tracked too. */
function machinePaths(): RegExp {
  const quote = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const folders = ["/home/[\\w.-]+/", "/Users/[\\w.-]+/", `/${"root"}/`, "[A-Z]:\\\\+Users\\\\"];
  // one folder deep (/app) is a path of many sites
  for (const path of [root, homedir()]) if (path.split("/").length > 2) folders.push(`${quote(path)}(?![\\w-])`);
  return new RegExp(`(?<![\\w.*~}-])(?:${folders.join("|")})`);
}

describe("repository", () => {
  it("has a lockfile without download addresses", () => {
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      packages: Record<string, object>;
    };
    for (const [path, entry] of Object.entries(lock.packages))
      assert.ok(!("resolved" in entry), `${path} has "resolved"`);
  });

  it("pins every dependency to one version", () => {
    const json = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, Record<string, string>>;
    for (const [name, version] of Object.entries({ ...json.dependencies, ...json.devDependencies }))
      assert.match(version, /^\d+\.\d+\.\d+$/, name);
  });

  it("holds no path of a machine", (t) => {
    const files = trackedFiles();
    if (files.length === 0) return t.skip("not a git checkout");
    const pattern = machinePaths();
    const found: string[] = [];
    for (const path of files) {
      const text = readFileSync(join(root, path), "utf8");
      if (text.includes("\0")) continue;
      text.split("\n").forEach((line, i) => {
        if (pattern.test(line)) found.push(`${path}:${i + 1} ${line.trim().slice(0, 100)}`);
      });
    }
    assert.deepEqual(found, []);
  });
});
