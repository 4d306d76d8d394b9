import { COMPONENTS } from "./components.js";
import { CONTROLS } from "./controls.js";
import type { Idioms } from "./idiom.js";
import { LIBRARIES } from "./libraries.js";
import { NAMED } from "./names.js";
import { SITES } from "./sites.js";
import { STEPPERS } from "./steppers.js";
import { SUBMISSIONS } from "./submissions.js";
import { WAYS } from "./ways-of-sending.js";
import { WIDGETS } from "./widgets.js";

/** All pages on which the oracle earns 1. */
export const WINNABLE: Idioms = Object.fromEntries(
  [SUBMISSIONS, WAYS, SITES, COMPONENTS, WIDGETS, LIBRARIES, CONTROLS, NAMED, STEPPERS].flatMap((idioms) =>
    Object.entries(idioms).filter(([, { accepted }]) => accepted !== false),
  ),
);
