import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { problemsOf } from "../../src/core/problems.js";

test("each problem has its place on a line of its own, and what is not there is missing", () => {
  const schema = z.strictObject({ a: z.object({ b: z.int(), c: z.string() }), list: z.array(z.number()) });
  const { error } = schema.safeParse({ a: { b: 1.5 }, list: [1, "2"], d: 1 });
  assert.ok(error !== undefined);
  const [, ...lines] = problemsOf(error).split("\n");
  assert.deepEqual(lines, [
    "  a.b: expected int, received number",
    "  a.c: is missing",
    "  list.1: expected number, received string",
    '  Unrecognized key: "d"',
  ]);
  const many = z.array(z.number()).safeParse(Array(30).fill("x")).error;
  assert.match(problemsOf(many as z.ZodError), /\n {2}19: .*\n {2}and 10 more$/);
});
