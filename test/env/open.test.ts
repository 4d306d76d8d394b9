import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { UserError } from "../../src/core/errors.js";
import { packageRoot } from "../../src/core/files.js";
import { ownFrame } from "../../src/core/own-module.js";
import { FormsEnvironment } from "../../src/env/environments/forms.js";
import { openEnvironment } from "../../src/env/open.js";
import { temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";
import { FORMS_OPTIONS, servePages, taskFor } from "./page-site.js";

const dir = temporaryFolder("open");

/** Opens a user's site module. @returns the reason of its refusal. */
async function refusal(name: string, start: string): Promise<string> {
  const module = join(dir, `${name}.mjs`);
  const zod = join(packageRoot(), "node_modules", "zod", "index.js");
  writeFileSync(
    module,
    `import { z } from ${JSON.stringify(zod)}; export const site = { schema: z.strictObject({}), async start() { ${start} } };`,
  );
  const file = join(dir, `${name}.yaml`);
  writeFileSync(file, `model: models/tiny-refusion\nsite: {kind: ${module}}\n`);
  try {
    const environment = await openEnvironment(await loadConfig(file, { command: "flow-grpo" }), () => undefined);
    await environment.close();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    assert.ok(error.hint);
    return error.message;
  }
  return "";
}

const site = (tasks: string): string =>
  `return { name: "own", baseUrl: "http://127.0.0.1:1", tasks: () => ${tasks}, splitHash: () => "", stop: async () => undefined };`;

test("a site of one's own that does not start, or gives no tasks, is refused by name", async () => {
  const task = (split: string): string => JSON.stringify({ ...taskFor("/f", { Name: "Ann" }), split });
  assert.equal(await refusal("good", site(`[${task("train")}]`)), "");
  const twice = await refusal("twice", site(`[${task("train")}, ${task("test")}]`));
  assert.match(twice, /own has two tasks of the id pages\/f/);
  assert.match(await refusal("none", site("undefined")), /none\.mjs:\d+: tasks gave what it may not:\n {2}is missing/);
  assert.match(await refusal("split", site(`[${task("dev")}]`)), /split/);
  const thrown = refusal("throws", "throw new Error('no port')");
  await assert.rejects(thrown, (error) => ownFrame(error)?.endsWith("throws.mjs:1") === true);
});

test("a selector that the browser cannot read is refused with its file and task before the first episode", async () => {
  const pages = await servePages({ "/f": "<form><label>Name <input></label><button>Send</button></form>" });
  const tasks = ["p:nope(", ".thanks > a"].map((selector, i) => {
    return { ...taskFor("/f", { Name: "Ann" }), id: `f/${i}`, success: { selector } };
  });
  const environment = new FormsEnvironment({ ...pages, tasks: () => tasks, source: "club.jsonl" }, FORMS_OPTIONS);
  const refused = /^club\.jsonl: success\.selector of 1 tasks is no CSS selector:\n {2}f\/0: "p:nope\("$/;
  await assert.rejects(environment.start(), userError(refused));
  await pages.stop();
});
