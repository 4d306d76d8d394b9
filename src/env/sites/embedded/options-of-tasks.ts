import { z } from "zod";
import { LEVELS } from "./letters/letter.js";

/** Option of the embedded site's tasks, shared by the browser and paper. */
export const letters = z
  .literal(LEVELS)
  .default("off")
  .describe(
    "a letter a task, for prompt.style=page or document: 1 short and plain, 2 varied, 3 with gaps and corrections",
  );

const generated = z
  .int()
  .min(0)
  .max(20_000)
  .default(0)
  .describe("training tasks beside the others, each of a form of its own that is made from the seed");

const size = (preset: number): z.ZodDefault<z.ZodInt> => z.int().min(0).max(5000).default(preset);

/** All shared options of the tasks except the tier. */
export const optionsOfTasks = {
  seed: z.int().min(0).default(1).describe("seed of the records"),
  sizes: z
    .strictObject({ train: size(64), val: size(16), test: size(16), heldout: size(32) })
    .prefault({})
    .describe("records a form: train, val and test of the 20 training forms, heldout of the 5 held-out forms"),
  letters,
  generated,
};
