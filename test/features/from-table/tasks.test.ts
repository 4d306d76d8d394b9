import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { closing } from "../../../src/core/closing.js";
import type { Observation } from "../../../src/core/interaction.js";
import type { EnvironmentTask } from "../../../src/env/environment.js";
import { openEnvironment } from "../../../src/env/open.js";
import { servePages } from "../../env/page-site.js";
import { callProgram } from "../../support/call-program.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("tasks");
const PAGE = `<!doctype html><title>Report damage</title><form method="post">
<p><label>Policy number * <input name="policy" required></label></p>
<p><label>Kind of Damage <select name="kind"><option value="FI">Fire<option value="WA">Water</select></label></p>
<p><label><input type="checkbox" name="police"> Police Informed</label></p><button>File</button></form>`;
const site = await servePages({}, (_, response) => Boolean(response.setHeader("content-type", "text/html").end(PAGE)));
const url = `${site.baseUrl}/claim`;
after(() => site.stop());

const rows = Array.from({ length: 20 }, (_, i) => `00${i},${i % 2 ? "WA" : "FI"},${i % 3 ? "t" : ""},"Policy 00${i}"`);
writeFileSync(join(dir, "claims.csv"), `policy_no,kind,police,mail\n${rows.join("\n")}\n1,XX,,"A"\n`);
const tasks = (...args: string[]) =>
  callProgram("train", dir, ["tasks", "--from", "claims.csv", "--url", url, "--text-column", "mail", ...args]);

test("a table and a page become tasks, a config and a letter; what does not fit is named", async () => {
  const { code, out, err } = await tasks("--map", "policy_no=policy number", "--success", "Your claim is filed");
  assert.equal(code, 0, err);
  const matched =
    / policy_no +Policy number \*\n +kind +Kind of Damage\n +police +Police Informed\n +mail +\(the text\)/;
  assert.match(out, matched);
  assert.match(out, /claims: 20 tasks, 14 train, 3 val, 3 test \(--seed 1\)/);
  assert.match(err, /1 of 21 records are left out:\n {2}row 21: kind: "XX" is not an option/);
  const lines = readFileSync(join(dir, "claims", "tasks.jsonl"), "utf8")
    .trim()
    .split("\n");
  const made = lines.map((line) => JSON.parse(line));
  const { split, ...first } = made[0];
  assert.deepEqual(first, {
    ...{ id: "claim/0", form: "claim", title: "Report damage", url: "/claim", document: "Policy 000" },
    fields: { "Policy number": "000", "Kind of Damage": "Fire" },
  });
  const letter = readFileSync(join(dir, "claims", "letter.txt"), "utf8").trim();
  assert.ok(made.some((task) => task.split === "test" && task.document === letter));
  const config = await loadConfig(join(dir, "claims", "config.yaml"), { command: "sft" });
  assert.deepEqual((config as unknown as { site: { success: object } }).site.success, { text: "Your claim is filed" });
  const again = await tasks();
  assert.match(again.err, /claims exists already/);
});

test("the prompt of a task shows the page as `try` does, or under labels its labels alone", async () => {
  const prompt = async (style: string): Promise<string> => {
    const overrides = ["site.learn=null", `site.tasks=${join(dir, "claims", "tasks.jsonl")}`, `prompt.style=${style}`];
    const config = await loadConfig(join(dir, "claims", "config.yaml"), { command: "sft", overrides });
    await using environment = closing(await openEnvironment(config));
    let seen = "";
    const look = async ({ text = "" }: Observation) => {
      seen = text;
      return { values: {} };
    };
    await environment.play(environment.tasks[0] as EnvironmentTask, look, new Map());
    return seen;
  };
  const mail = "\n\nPolicy 000\n\n";
  const head = "page: Report damage\n Policy number";
  assert.equal(await prompt("page"), `${head} *\n Kind of Damage: Fire; Water = Fire\n Police Informed (box)${mail}`);
  assert.equal(await prompt("labels"), `${head}\n Kind of Damage${mail}`);
});

test("a column that no field has is left out, and named; a required field without one is asked for first", async () => {
  const { err, code } = await tasks("--out", "open");
  assert.match(err, /policy_no is left out; to fill it: --map 'policy_no=Policy number'\. There is Policy number \*/);
  const asked =
    /No column is matched to Policy number, .* Nothing was written\.\n {2}next: --map 'policy_no=Policy number'/;
  assert.match(err, asked);
  assert.equal(code, 2);
  const all = await tasks("--out", "open", "--map", "policy_no=");
  assert.match(all.err, /warning: No column is matched to Policy number[\s\S]*No --success: /);
  assert.equal(all.code, 0);
});

test("tasks that name a field as the page does not are refused at once, with the page's labels", async () => {
  const fields = { "Policy no": "1", "Kind of Damage": "Fire" };
  const task = { id: "a", form: "claim", url: "/claim", fields, success: { text: "filed" }, split: "validation" };
  writeFileSync(join(dir, "wrong.json"), JSON.stringify([task], null, 2));
  const config = ["--config", "claims/config.yaml", "site.tasks=wrong.json"];
  for (const call of [
    () => callProgram("train", dir, ["learn", ...config]),
    () => callProgram("train", dir, ["try", ...config, "--task", "a", "--policy", "oracle"]),
    () => callProgram("eval", dir, [...config, "--policy", "oracle", "--split", "val", "site.learn=null"]),
  ]) {
    const { code, err } = await call();
    assert.equal(code, 1);
    assert.match(
      err,
      /no field "Policy no"; did you mean Policy number \*\?\n {2}the page has: Policy number \*, Kind of Damage, Police Informed/,
    );
  }
});
