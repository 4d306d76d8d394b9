import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { site as embedded } from "../../../src/features/embedded/sites/embedded.js";
import { PaperEnvironment } from "../../../src/features/paper/environments/paper.js";
import { openRunner } from "../../env/page-site.js";

/** What a model that has half learned gets wrong: lines that are lost, doubled, swapped, cut, or spelt with others' words. */
function spoilt(lines: readonly string[], rng: Rng): string[] {
  const words = lines.join(" ").split(" ");
  return lines.flatMap((line) => {
    const draw = rng.uniform();
    if (draw < 0.5) return [line];
    if (draw < 0.6) return [];
    if (draw < 0.7) return [line, line];
    if (draw < 0.8) return [line.slice(0, Math.ceil(line.length * rng.uniform()))];
    if (draw < 0.9) return [line.replace(/\S+$/, rng.pick(words))];
    return [line.replace(/^\S+/, rng.pick(["fill", "select", "check", "click", "uncheck"]))];
  });
}

test("on spoilt plans paper and browser give the same reward, on every form", async () => {
  const sizes = { train: 3, val: 0, test: 0, heldout: 3 };
  const site = await embedded.start(embedded.schema.parse({ tier: "starter", sizes }));
  const paper = new PaperEnvironment({ tier: "starter", seed: 1, sizes });
  const runner = await openRunner(site, { contexts: 3 });
  after(() => runner.close());
  after(() => site.stop());
  assert.equal(paper.splitHash(), site.splitHash());
  const differences: string[] = [];
  let low = 0;
  await Promise.all(
    paper.tasks.map(async (task, i) => {
      const plan = paper.demonstrations?.([task])[0]?.action.text ?? "";
      const text = spoilt(plan.split("\n"), Rng.named(7, `spoilt/${i}`)).join("\n");
      const [real, drawn] = [await runner.run(task, text), await paper.play(task, async () => ({ text }))];
      if (real.reward < 1) low++;
      if (Math.abs(real.reward - (drawn.reward as number)) > 1e-9 || real.success !== drawn.success)
        differences.push(`${task.id}: ${real.reward} in the browser, ${drawn.reward} on paper\n${text}`);
    }),
  );
  assert.ok(low > paper.tasks.length / 2, `${low} of ${paper.tasks.length} plans are worth less than 1`);
  assert.deepEqual(differences, []);
});
