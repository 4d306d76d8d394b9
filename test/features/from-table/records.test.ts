import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readRecords } from "../../../src/features/from-table/records.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("records");
const read = (name: string, content: string): ReturnType<typeof readRecords> => {
  writeFileSync(join(dir, name), content);
  return readRecords(join(dir, name));
};

test("CSV keeps cells as they are written, whatever parts them", () => {
  const expected = [
    { place: "row 1", cells: { "policy no": "0071", mail: 'Hello,\nmy "policy"' } },
    { place: "row 2", cells: { "policy no": "1.50", mail: "" } },
  ];
  for (const mark of [",", ";", "\t"])
    assert.deepEqual(
      read("a.csv", `\uFEFFpolicy no ${mark}mail\r\n0071${mark}"Hello,\nmy ""policy"""\r\n\r\n1.50${mark}\r\n`),
      expected,
    );
});

test("JSON comes by lines, as an array, or as the one list of an export", () => {
  const rows = [{ a: "1" }, { a: null, b: ["x", "y"] }];
  const cells = (content: string): unknown => read("a.json", content).map((record) => record.cells);
  assert.deepEqual(cells(rows.map((row) => JSON.stringify(row)).join("\n")), rows);
  assert.deepEqual(cells(JSON.stringify(rows, null, 2)), rows);
  assert.deepEqual(cells(JSON.stringify({ table: "claims", rows })), rows);
});

test("what is no table is refused by its place", () => {
  assert.throws(() => read("a.csv", "a,b\n1,2,3\n"), /not read as CSV:\n {2}row 1: Too many fields/);
  assert.throws(() => read("a.csv", "a,a\n1,2\n"), /two columns are named a/);
  assert.throws(() => read("a.csv", 'a,b\n1,"2\n'), /row 1: Quoted field unterminated/);
  assert.throws(() => read("a.json", "[1, 2]"), /record 1: expected names and values/);
  assert.throws(() => read("a.json", '{"a": 1}\n{'), /line 2: not JSON/);
  assert.throws(() => read("a.json", '[\n{"a": 1.10}]'), /line 2: 1\.10 would be read as 1\.1/);
  assert.throws(() => read("a.csv", "a,b\n"), /holds no records/);
});
