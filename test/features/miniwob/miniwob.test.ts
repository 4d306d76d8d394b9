import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Act } from "../../../src/core/interaction.js";
import type { Environment } from "../../../src/env/environment.js";
import { environment } from "../../../src/features/miniwob/environments/miniwob.js";
import { temporaryFolder } from "../../support/temporary.js";

/** The part of MiniWoB++'s core.js that a page speaks to, written for this test. */
const CORE = `var core = { EPISODE_MAX_TIME: 10, started: 0 };
var WOB_DONE_GLOBAL = false, WOB_RAW_REWARD_GLOBAL = 0;
Math.seedrandom = (seed) => {
  let h = 7;
  for (const c of seed) h = (h * 31 + c.charCodeAt(0)) % 1000003;
  Math.random = () => (h = (h * 16807) % 2147483647) / 2147483647;
};
core.startEpisodeReal = () => genProblem();
core.getUtterance = () => document.getElementById("query").textContent;
core.endEpisode = (reward) => { WOB_DONE_GLOBAL = true; WOB_RAW_REWARD_GLOBAL = reward; };`;
const PAGE = `<!doctype html><script src="../core/core.js"></script><div id="wrap"><div id="query"></div><div id="area">
<p><label>Word</label><input id="tt" type="text"></p><select id="s"><option>Red</option><option>Blue</option></select>
<label><input type="checkbox" id="c">Sure</label><button id="next">Next</button><button id="b" style="display:none">Send</button></div></div>
<script>var genProblem = () => {
  const word = "w" + Math.floor(Math.random() * 1e6);
  document.getElementById("query").textContent = 'Enter "' + word + '", Blue and Sure.';
  document.getElementById("next").onclick = () => { document.getElementById("b").style.display = ""; };
  document.getElementById("b").onclick = () => core.endEpisode(
    tt.value === word && s.selectedIndex === 1 && c.checked ? 1 : tt.value === word ? 0.5 : -1);
};</script>`;

describe("task pages of MiniWoB++'s kind", async () => {
  const path = temporaryFolder("miniwob");
  const sizes = { train: 2, val: 0, test: 0, heldout: 0 };
  const open = (changes: object = {}): Promise<Environment> =>
    environment.open({ environment: { kind: "miniwob", path, tasks: ["pick"], sizes, ...changes } });
  for (const folder of ["core", "miniwob"]) mkdirSync(join(path, folder));
  writeFileSync(join(path, "core", "core.js"), CORE);
  writeFileSync(join(path, "miniwob", "pick.html"), PAGE);
  const opened = await open();
  after(() => opened.close());

  async function play(i: number, plans: (word: string) => string[]) {
    const seen: string[] = [];
    const act: Act = async ({ text = "" }) => {
      seen.push(text);
      return { text: plans(/"(.*)"/.exec(text)?.[1] ?? "")[seen.length - 1] ?? "" };
    };
    const outcome = await opened.play(opened.tasks[i] as (typeof opened.tasks)[0], act, new Map());
    return { outcome, seen };
  }

  it("shows what can be acted on by name, and the goal of its seed; the reward is the page's own", async () => {
    const rest = "\nselect select 1 | Blue\ncheck Sure\nclick Next";
    const { outcome, seen } = await play(0, (word) => [`fill Word | ${word}${rest}`, "click Send"]);
    assert.deepEqual([outcome.reward, outcome.success, outcome.metrics], [1, true, { raw_reward: 1, turns: 2 }]);
    assert.match(seen[0] ?? "", /^page:\n text-line Word\n text Word\n select select 1: Red; Blue = Red\n/);
    assert.ok(!seen[0]?.includes("Send") && seen[1]?.includes(" button Send\n"));
    const again = await play(0, () => [""]);
    assert.deepEqual([again.seen[0], again.outcome.reward], [seen[0], 0]);
    assert.notEqual((await play(1, () => [""])).seen[0], seen[0]);
  });

  it("keeps what a page takes away as a measure; a part is a part", async () => {
    const wrong = await play(0, () => ["click Next\nfill Word | no\nclick Send"]);
    assert.deepEqual([wrong.outcome.reward, wrong.outcome.metrics.raw_reward], [0, -1]);
    const half = await play(0, (word) => [`fill Word | ${word}\nclick Nowhere\nclick Next\nclick Send`]);
    assert.deepEqual([half.outcome.reward, half.outcome.success], [0.5, false]);
    assert.ok((half.outcome.detail.actions as string[]).includes("click Nowhere (no-such-control)"));
  });

  it("refuses a folder that is none of it, and a page that is not there", async () => {
    await assert.rejects(open({ path: tmpdir() }), { name: "UserError", message: /has no core/ });
    await assert.rejects(open({ heldout: ["none"] }), { name: "UserError", message: /no page none/ });
  });
});
