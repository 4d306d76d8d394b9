import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../../../src/env/forms/values.js";
import { evidenceOf, showsValue } from "../../../src/features/learned-pages/evidence.js";
import type { Shown } from "../../../src/features/learned-pages/place.js";

const shown = (...values: string[]): Shown => {
  return { text: "", values, held: [], on: [], present: true, invalid: false, unset: false };
};
const shows = (kind: Kind, value: string, ...values: string[]): boolean => showsValue(kind, value, shown(...values));

test("a field may show the day before the month or after it, in a date, a range and a moment", () => {
  for (const day of ["04/12/2026", "12/04/2026"]) assert.ok(shows("date", "2026-12-04", day));
  assert.ok(shows("range", "2026-12-04 - 2026-12-07", "04/12/2026", "07/12/2026"));
  assert.ok(shows("range", "2026-12-04 - 2026-12-07", "12/04/2026 - 12/07/2026"));
  assert.ok(!shows("range", "2026-12-04 - 2026-12-07", "04/12/2026"));
  for (const at of ["04/12/2026 9:30 AM", "12/04/2026 09:30"]) assert.ok(shows("moment", "2026-12-04 09:30", at));
  assert.ok(!shows("moment", "2026-12-04 09:30", "04/12/2026 21:30"));
  assert.ok(!shows("moment", "2026-12-04 09:30", ""));
});

test("a value that the page marks as invalid at once is not shown", () => {
  const [before, after] = [shown(""), shown("14:30")];
  assert.equal(evidenceOf("time", "14:30", before, after), "shown");
  assert.equal(evidenceOf("time", "14:30", before, { ...after, invalid: true }), "changed");
  // a field may be invalid because others are empty
  assert.equal(evidenceOf("time", "14:30", { ...before, invalid: true }, { ...after, invalid: true }), "shown");
});
