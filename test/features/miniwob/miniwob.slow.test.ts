import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import type { Act } from "../../../src/core/interaction.js";
import { Rng } from "../../../src/core/rng.js";
import { environment } from "../../../src/features/miniwob/environments/miniwob.js";
import { SOLVERS } from "../../../src/features/miniwob/oracle.js";
import { temporaryFolder } from "../../support/temporary.js";

const VERSION = "1.1.0";

/** The pages: those that MINIWOB_HTML names, else of the wheel, which is fetched into `dir`. @throws where it cannot be. */
async function pagesIn(dir: string): Promise<string> {
  const named = process.env.MINIWOB_HTML;
  if (named !== undefined) return named;
  const run = promisify(execFile);
  const download = ["-m", "pip", "download", `miniwob==${VERSION}`, "--no-deps", "--quiet", "--dest", dir];
  await run("python3", download);
  const wheel = readdirSync(dir).find((file) => file.endsWith(".whl")) as string;
  await run("python3", ["-m", "zipfile", "-e", join(dir, wheel), dir]);
  return join(dir, "miniwob", "html");
}

test("the oracle scores 1 on at least 25 task pages, and a seed is the same goal again", async (t) => {
  const dir = temporaryFolder("miniwob");
  let path: string;
  try {
    path = await pagesIn(dir);
  } catch (error) {
    return t.skip(`miniwob ${VERSION} cannot be had here: ${(error as Error).message.split("\n")[0]}`);
  }
  const sizes = { train: 2, val: 0, test: 0, heldout: 0 };
  const opened = await environment.open({
    environment: { kind: "miniwob", path, tasks: Object.keys(SOLVERS), sizes },
  });
  after(() => opened.close());
  const perfect = new Map<string, boolean>();
  const goals = new Map<string, string>();
  for (const again of [false, true]) {
    await Promise.all(
      opened.tasks.map(async (task) => {
        const act = await opened.fixedPolicies[again ? "empty" : "oracle"]?.(task, Rng.named(1, task.id));
        let first = "";
        const watched: Act = async (observation) => {
          if (first === "") first = /\ngoal: (.*)/.exec(observation.text ?? "")?.[1] ?? "";
          return (act as Act)(observation);
        };
        const { reward, fault } = await opened.play(task, watched, new Map());
        assert.equal(fault, undefined);
        if (again) {
          assert.equal(first, goals.get(task.id));
          assert.equal(reward, 0);
        } else {
          goals.set(task.id, first);
          perfect.set(task.form, (perfect.get(task.form) ?? true) && reward === 1);
        }
      }),
    );
  }
  const solved = [...perfect].filter(([, all]) => all).map(([form]) => form);
  assert.ok(solved.length >= 25, `${solved.length}: ${solved.join(", ")}`);
});
