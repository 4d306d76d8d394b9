import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { TrackerKind } from "../../../watch/tracker.js";
import { EventFile } from "../event-file.js";

/** Event files in the run's tensorboard/: `tensorboard --logdir runs` shows all runs side by side. */
export const tracker: TrackerKind<boolean> = {
  schema: z.boolean().default(true).describe("TensorBoard event files in the run's directory"),
  open(on, { dir, done }) {
    if (!on) return undefined;
    const folder = join(dir, "tensorboard");
    mkdirSync(folder, { recursive: true });
    // a resumed run writes its own file: readers take files in the order of their names
    const file = new EventFile(join(folder, `events.out.tfevents.${Date.now()}.refusion-train`), done + 1);
    return { log: (step, values) => file.scalars(step, values), end: () => undefined };
  },
};
