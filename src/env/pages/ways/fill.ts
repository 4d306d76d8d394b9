import { type Way, WRITABLE } from "../way.js";

/** Writes the value into the control at once, as a browser does that fills in forms. */
export const way: Way = {
  serves: ["text", "number", "date", "time", "moment", "range", "file"],
  oddness: 0,
  needs: `${WRITABLE},input[type=range]`,
  operate: ({ control, limit }, value) => control.fill(String(value), limit),
};
