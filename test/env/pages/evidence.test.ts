import assert from "node:assert/strict";
import { test } from "node:test";
import { says } from "../../../src/env/pages/evidence.js";
import type { Shown } from "../../../src/env/pages/place.js";
import type { Kind } from "../../../src/env/pages/values.js";

const shows = (kind: Kind, value: string, ...values: string[]): boolean => {
  const shown: Shown = { text: "", values, held: [], on: [], there: true, invalid: false, unset: false };
  return says(kind, value, shown);
};

test("a field may show the day before the month or after it, in a date, a range and a moment", () => {
  for (const day of ["04/12/2026", "12/04/2026"]) assert.ok(shows("date", "2026-12-04", day));
  assert.ok(shows("range", "2026-12-04 - 2026-12-07", "04/12/2026", "07/12/2026"));
  assert.ok(shows("range", "2026-12-04 - 2026-12-07", "12/04/2026 - 12/07/2026"));
  assert.ok(!shows("range", "2026-12-04 - 2026-12-07", "04/12/2026"));
  for (const at of ["04/12/2026 9:30 AM", "12/04/2026 09:30"]) assert.ok(shows("moment", "2026-12-04 09:30", at));
  assert.ok(!shows("moment", "2026-12-04 09:30", "04/12/2026 21:30"));
  assert.ok(!shows("moment", "2026-12-04 09:30", ""));
});
