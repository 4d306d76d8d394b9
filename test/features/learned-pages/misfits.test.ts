import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { sha256 } from "../../../src/core/files.js";
import { waysOf } from "../../../src/features/learned-pages/operate.js";
import { temporaryFolder } from "../../support/temporary.js";
import { openForm } from "./form-site.js";

const PAGE = `<!doctype html><title>Visit</title><form method="post" action="/send">
<p><label>Name <input name="n"></label></p><p><label>News <input type="checkbox" name="w"></label></p>
<button>Send</button></form>`;

const CONTRACT = `form: visit
url: /
fields:
  Name:
    locator: label=Name
    way: fill
    kind: text
    wire: { key: n, notation: { as: same } }
  News:
    locator: label=News
    way: toggle
    variant: { by: text }
    kind: flag
    wire: { key: w, notation: { as: flag, on: "on", off: null } }
submit: { locator: 'role=button[name="Send"s]' }
request: { method: POST, path: /send }
success: { status: 200 }
`;

const TASKS = [
  { Name: "Ann Lee", News: true },
  { Name: "Bo Diaz", News: false },
  { Name: "Cy Moss", News: true },
];

const without = (line: RegExp): string => CONTRACT.replace(line, "");

/** Contracts that do not fit, and what has to be said of each: what is wrong, with its line. */
const MISFITS: readonly (readonly [name: string, text: string, says: RegExp])[] = [
  ["an unknown way", CONTRACT.replace("way: fill", "way: fil"), /fields\.Name\.way \(line 6\): there is no way fil/],
  ["a module", CONTRACT.replace("way: fill", "way: /x.mjs"), /fields\.Name\.way \(line 6\): there is no file \/x\.mjs/],
  [
    "an unknown variant",
    CONTRACT.replace("by: text", "by: labl"),
    /variant \(line 12\): toggle has no variant {"by":"labl"}/,
  ],
  [
    "a contract of an older version",
    CONTRACT.replace("{ by: text }", "label"),
    /fields\.News\.variant \(line 12\): expected parts, as {by: button, confirm: true}; older versions wrote a text/,
  ],
  ["a broken selector", CONTRACT.replace("label=Name", "css=[[["), /fields\.Name\.locator \(line 5\): the browser/],
  ["a broken button", CONTRACT.replace("role=button", "rol=button"), /submit\.locator \(line 15\): the browser/],
  ["a key that stands twice", `${CONTRACT}url: /other\n`, /line 18: Map keys must be unique/],
  ["half a file", CONTRACT.slice(0, CONTRACT.indexOf("same }")), /line \d+: /],
  ["half a file that is valid", CONTRACT.slice(0, CONTRACT.indexOf("  News:")).replace("    kind: text\n", ""), /kind/],
  ["a wrong type", CONTRACT.replace("kind: flag", "kind: 7"), /fields\.News\.kind \(line 13\)/],
  ["a wrong kind", CONTRACT.replace("kind: flag", "kind: text"), /fields\.News\.kind \(line 13\): the tasks have true/],
  ["an unknown key", CONTRACT.replace("success:", "succes:"), /succes/],
  [
    "a part that is not there",
    CONTRACT.replace("kind: text", "kind: text\n    step: 3"),
    /step \(line 8\): the form has 1/,
  ],
  ["no button", without(/^submit.*\n/m), /request \(line 15\): there is no submit button/],
  ["a label too few", CONTRACT.replace("  Name:", "  Names:"), /fields \(line 3\): the tasks have Name/],
  ["another form's", CONTRACT.replace("form: visit", "form: order"), /form \(line 1\): it is the contract of order/],
  ["no YAML", "\u0000\u0001", /is no contract/],
  ["a list", "- form\n", /is no contract/],
  ["nothing", "", /is no contract/],
];

describe("a contract that does not fit is refused by name before any episode", () => {
  const folder = temporaryFolder("ways");
  const way = join(folder, "way.mjs");
  const code = `globalThis.wayRan = (globalThis.wayRan ?? 0) + 1;
export const way = { serves: ["text"], cost: 0, operate: ({ control }, value) => control.fill(String(value)) };`;
  writeFileSync(way, code);
  let site: Awaited<ReturnType<typeof openForm>>;
  const opened = async (): Promise<void> => {
    await site?.close();
    const learn = { modules: { [way]: sha256(code) }, minutes: 0.5 };
    site = await openForm("visit", TASKS, PAGE, () => "<h1>Thanks</h1>", { learn });
    mkdirSync(dirname(site.file), { recursive: true });
  };
  before(opened);
  after(() => site?.close());
  beforeEach(() => {
    site.received.length = 0;
  });

  for (const [name, text, says] of MISFITS)
    test(name, async () => {
      writeFileSync(site.file, text);
      await assert.rejects(site.policy("oracle", 0), (error: Error) => {
        assert.match(error.message, says);
        assert.ok(error instanceof UserError && error.message.includes(site.file), String(error));
        return true;
      });
      assert.deepEqual(site.received, []);
    });

  test("one that fits is played; its module runs where it is permitted by its hash, and not after a change", async () => {
    const world = globalThis as { wayRan?: number };
    await opened();
    writeFileSync(way, `${code}\n`);
    writeFileSync(site.file, CONTRACT.replace("way: fill", `way: ${way}`));
    await assert.rejects(site.policy("oracle", 0), /is not the module that site.learn.modules permits/);
    assert.equal(world.wayRan, undefined);
    writeFileSync(way, code);
    assert.equal((await site.policy("oracle", 0)).reward, 1);
    assert.equal(world.wayRan, 1);
  });

  test("`learn` sets it aside, keeps the fields that fit, and learns the form again", async () => {
    await opened();
    const typed = "way: typed\n    variant: { key: Tab }\n    hand: true";
    writeFileSync(site.file, CONTRACT.replace("way: toggle", "way: toggl").replace("way: fill", typed));
    assert.ok(site.env.contracts !== undefined);
    site.env.contracts.mends = true;
    assert.equal((await site.policy("oracle", 0)).reward, 1);
    site.env.contracts.mends = false;
    const { fields } = site.contract();
    assert.deepEqual([fields.Name?.way, fields.Name?.hand, fields.News?.kind], ["typed", true, "flag"]);
    assert.ok(existsSync(`${site.file}.broken`) && readFileSync(`${site.file}.broken`, "utf8").includes("toggl"));
  });
});

test("a way of one's own that lacks a member is refused with the member's name", async () => {
  const path = join(temporaryFolder("own-way"), "way.mjs");
  writeFileSync(path, "export const way = { serves: ['text'], operates: async () => undefined };\n");
  await assert.rejects(waysOf([path]), /operate: expected a function, is missing \(operates\?\)/);
});
