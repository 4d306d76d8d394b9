// A tracker of your own: refusion-train flow-grpo --config FILE 'tracking={"./examples/tracker.mjs": true}'
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTracker } from "refusion-train";
import { z } from "zod";

/** Writes `step,name,value` lines into the run's directory. */
export const tracker = defineTracker({
  schema: z.boolean().default(false).describe("a CSV file of all metrics"),
  open(on, { dir }) {
    if (!on) return undefined;
    const file = join(dir, "metrics.csv");
    return {
      log(step, values) {
        for (const [name, value] of Object.entries(values)) appendFileSync(file, `${step},${name},${value}\n`);
      },
      end: () => undefined,
    };
  },
});
