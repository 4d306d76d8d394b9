import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { takeScreenshots } from "../../../src/features/report/screenshots.js";
import { RunDirectory } from "../../../src/runs/run-directory.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../../env/page-site.js";
import { rollout } from "../../support/example-run.js";
import { temporaryFolder } from "../../support/temporary.js";

const FORM = `<h1>Visit</h1><form method="post"><label>Full name <input name="name"></label>
<button type="button" onclick="fetch('/visit', {method: 'POST', body: 'x'})">Save</button><button>Send</button></form>
<p style="height: 9000px">A long page</p>`;

const task = taskFor("/visit", { "Full name": "Ada" });

const site = await servePages({ "/visit": FORM });
const environment = new FormsEnvironment({ ...site, tasks: () => [task] }, FORMS_OPTIONS);
// with its site
after(() => environment.close());

describe("screenshots of rollouts", () => {
  it("show the form as the plan fills it in, and send nothing", async () => {
    const run = RunDirectory.create({ name: "run", parent: temporaryFolder("screenshots") });
    const records = ["", "fill Full name | Ada", "fill Full name | Ada\nclick Save\nsubmit\nfill Full name | Eve"].map(
      (response, i) => rollout(0, { task_id: task.id, step: 3, group: 0, rollout: i, response }),
    );
    const gone = rollout(0, { task_id: "no longer there", step: 3, group: 1, rollout: 0 });
    assert.equal(await takeScreenshots(run, environment, [...records, gone]), 3);
    const images = records.map((record) => readFileSync(run.screenshot(record)));
    for (const image of images) assert.deepEqual([...image.subarray(0, 3)], [0xff, 0xd8, 0xff]);
    const [empty, filled, sent] = images as [Buffer, Buffer, Buffer];
    assert.deepEqual(jpegSize(filled), [800, 2000]);
    assert.ok(!filled.equals(empty));
    assert.ok(filled.equals(sent), "the same values, whatever comes after the submit");
    assert.ok(site.received.every(({ method }) => method === "GET"));
  });
});

/** Width and height of a baseline or progressive JPEG. */
function jpegSize(data: Buffer): [number, number] {
  for (let at = 2; at < data.length; at += 2 + data.readUInt16BE(at + 2)) {
    const marker = data[at + 1] as number;
    if (marker >= 0xc0 && marker <= 0xc2) return [data.readUInt16BE(at + 7), data.readUInt16BE(at + 5)];
  }
  return [0, 0];
}
