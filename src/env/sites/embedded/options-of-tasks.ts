import { z } from "zod";
import { LEVELS } from "./letters/letter.js";

/** Options of the embedded site's tasks that the browser and paper share. */
export const letters = z
  .literal(LEVELS)
  .default("off")
  .describe(
    "a letter a task, for prompt.style=page or document: 1 short and plain, 2 varied, 3 with gaps and corrections",
  );

export const generated = z
  .int()
  .min(0)
  .max(20_000)
  .default(0)
  .describe("training tasks beside the others, each of a form of its own that is made from the seed");
