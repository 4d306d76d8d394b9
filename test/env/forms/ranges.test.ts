import assert from "node:assert/strict";
import { test } from "node:test";
import { findOption, matchValue, parseTime } from "../../../src/env/forms/normalize.js";
import { holdsNumber, holdsTime } from "../../../src/env/forms/ranges.js";

const options = (...texts: readonly string[]): { text: string; value: string }[] =>
  texts.map((text, i) => ({ text, value: `v${i}` }));

test("numbers find the range that holds them", () => {
  for (const [text, inside, outside] of [
    ["$30,001 - $60,000", [30_001, 45_000.5, 60_000], [30_000, 60_001]],
    ["10\u201319 years", [10, 19], [9, 20]],
    ["between 1 and 5", [1, 5], [0, 6]],
    ["$50k to $1.5m", [50_000, 1_500_000], [49_999, 1_500_001]],
    ["$90,001+", [90_001, 1e9], [90_000]],
    ["5 or more people", [5, 6], [4]],
    ["at least 3", [3], [2]],
    ["Over 100", [101], [100]],
    ["under 18", [17, -1], [18]],
    ["up to 4 rooms", [0, 4], [5]],
    ["2024-2025", [2024], [2026]],
  ] as const) {
    for (const n of inside) assert.ok(holdsNumber(text, n), `${n} in ${text}`);
    for (const n of outside) assert.ok(!holdsNumber(text, n), `${n} not in ${text}`);
  }
  for (const text of ["CS101 - Introduction", "Room 5", "5", "Select range", "A 1 - 2", ""])
    assert.ok(!holdsNumber(text, 1) && !holdsNumber(text, 5) && !holdsNumber(text, 101), text);
});

test("times find the hours that hold them", () => {
  const hours = "Afternoon (1:00 PM - 4:30 PM)";
  for (const time of ["13:00", "16:30"]) assert.ok(holdsTime(hours, time, parseTime), time);
  for (const time of ["12:59", "16:31"]) assert.ok(!holdsTime(hours, time, parseTime), time);
  assert.ok(holdsTime("open 09:00 to 17:00", "09:00", parseTime));
  assert.ok(!holdsTime("Afternoon", "13:00", parseTime));
});

test("an option is named by a range only where nothing names it by its words", () => {
  const space = options("Choose", "0 - 9", "10 - 19", "15", "20+");
  const actual = [7, "15", "19", "2,000", "-1", "many", ""].map((wanted) => findOption(space, wanted));
  assert.deepEqual(actual, [1, 3, 2, 4, undefined, undefined, undefined]);
  const slots = options("Morning (9:00 AM - 12:00 PM)", "Evening (6 PM - 9 PM)");
  const found = ["9AM", "20:15", "evening", "Morning", "5PM"].map((wanted) => findOption(slots, wanted));
  assert.deepEqual(found, [0, 1, 1, 0, undefined]);
  assert.equal(matchValue({ kind: "select", options: slots }, "7 pm", "Evening (6 PM - 9 PM)"), 1);
  const got = ["Urgent-System Down", "part time", "Other"].map((wanted) =>
    findOption(options("Urgent - System Down", "Part-Time", "Other Scholarships"), wanted),
  );
  assert.deepEqual(got, [0, 1, undefined]);
});
