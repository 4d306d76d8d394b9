import { test } from "node:test";
import { TAKEN } from "./idioms/answers.js";
import { checkIdioms } from "./idioms/check.js";
import { CONTROLS } from "./idioms/controls.js";
import { LIBRARIES } from "./idioms/libraries.js";
import { NAMED } from "./idioms/names.js";
import { NOS } from "./idioms/refusals.js";
import { STEPPERS } from "./idioms/steppers.js";
import { WAYS } from "./idioms/ways-of-sending.js";

test("further ways of sending a form", () => checkIdioms(WAYS));
test("controls by all that a person may call them", () => checkIdioms(NAMED));
test("further controls", () => checkIdioms(CONTROLS));
test("numbers that buttons change", () => checkIdioms(STEPPERS));
test("components in the markup of well-known libraries", () => checkIdioms(LIBRARIES));
test("further refusals", () => checkIdioms(NOS));
test("what looks like a refusal and is none", () => checkIdioms(TAKEN));
