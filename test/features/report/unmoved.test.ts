import assert from "node:assert/strict";
import { test } from "node:test";
import { readReportData } from "../../../src/features/report/data.js";
import { renderReport } from "../../../src/features/report/report.js";
import { writeRollouts } from "../../../src/runs/rollout-record.js";
import { exampleRun, rollout } from "../../support/example-run.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("unmoved");

test("the page names blanks whose reward never depends on what is written there, and no others", async () => {
  const run = await exampleRun(dir, "unmoved");
  // Name is judged, Colour takes two values and one reward, Size takes one value
  const records = Array.from({ length: 40 }, (_, i) => {
    const response = `name ${i % 2}\ncolour ${i % 2}\nsize 1`;
    const part = (name: string, start: number, reward: number) => ({ name, start, end: start + 6, reward });
    const parts = [part("Name", 0, i % 2), part("Colour", 9, 1), part("Size", 16, 0)];
    return { ...rollout(0, { group: 3, rollout: i }), turns: [{ prompt: "", response, parts }] };
  });
  await writeRollouts(run.rollouts(20), records);
  const html = renderReport(await readReportData(run));
  const named = /nothing is learned about them:\s*([^<]*<b>.*?)<\/p>/s.exec(html)?.[1];
  assert.match(named ?? html, /^<b>Colour<\/b> of \S+ \(2 values in 40 rollouts, always 1\)\.$/);
});
