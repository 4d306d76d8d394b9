import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import { packageRoot } from "../../../src/core/files.js";
import { readTasks } from "../../../src/features/own-site/tasks-file.js";
import { mutatedJson, mutatedText } from "../../support/mutations.js";
import { temporaryFolder } from "../../support/temporary.js";
import { TASKS } from "./boundaries.js";

const dir = temporaryFolder("tasks-file");
const BASE = "http://127.0.0.1:8080";
const file = join(dir, "tasks.jsonl");
const read = (content: string | Uint8Array): ReturnType<typeof readTasks> => {
  writeFileSync(file, content);
  return readTasks(file, BASE);
};
const line = (changes: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    id: "a",
    form: "club/join",
    url: "/club/join",
    fields: { Name: "Ann" },
    split: "train",
    ...changes,
  });

function problems(content: string | Uint8Array): string {
  try {
    read(content);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error.message;
  }
  return assert.fail("nothing was wrong");
}

test("a line becomes a task; what may be left out has a default", () => {
  const fields = { Age: 3, News: true, Days: ["Mon"], Note: "" };
  const given = { id: "b", instruction: "Do it.", fields, split: "heldout", document: "I am Ann." };
  const other = line({ ...given, title: "Join us", url: `${BASE}/club/join?lang=en#top` });
  const [first, second, ...none] = read(`${line()}\r\n\n${other}\n`);
  assert.deepEqual(first, {
    ...JSON.parse(line()),
    ...{ formTitle: "club/join", tier: "full" },
    instruction: 'Go to /club/join, fill in the form "club/join" and submit it.',
  });
  const place = { form: "club/join", formTitle: "Join us", url: "/club/join?lang=en#top", tier: "full" };
  assert.deepEqual([second, none], [{ ...given, ...place }, []]);
});

test("one array of tasks is read too, and a table is not: the command that converts it is named", () => {
  const array = [JSON.parse(line()), { ...JSON.parse(line({ id: "b" })), split: "validation" }];
  const tasks = read(JSON.stringify(array, null, 2));
  assert.equal(tasks.map(({ id, split }) => `${id} ${split}`).join(), "a train,b val");
  assert.match(problems(`[${line()},\n${line()}]`), /record 2: id: "a" is also the id of record 1/);
  assert.match(problems(`[\n${line({ fields: { Order: 7 } }).replace(":7", ":1.10")}\n]`), /line 2: 1\.10 would be/);
  assert.throws(() => readTasks(join(dir, "claims.csv"), BASE), {
    hint: /refusion-train tasks --from \S+claims\.csv --url http:\/\/127\.0\.0\.1:8080\/PAGE/,
  });
});

test("every problem is listed with its line, at once and bounded", () => {
  const message = problems(
    [
      line(),
      "{",
      "[1]",
      line({ id: "c", split: "trian", titel: "x" }),
      line({ id: "a" }),
      line({ id: "e", fields: { Name: null, Age: { low: 1 } } }),
      line({ id: "f", fields: {} }),
      line({ id: "g", url: "//evil.example/x" }),
      line({ id: "h", url: "http://evil.example/" }),
      line({ id: "i", url: "club" }),
      line({ id: "", form: undefined }),
    ].join("\n"),
  );
  for (const part of [
    /tasks\.jsonl has 13 problems:/,
    /line 2: not JSON/,
    /line 3: expected an object, got \[1\]/,
    /line 4: split: .*got "trian"/,
    /line 4: "titel": unknown key; did you mean title\?/,
    /line 5: id: "a" is also the id of line 1/,
    /line 6: fields\.Name: expected text, a number, true or false, or a list of texts; got null/,
    /line 6: fields\.Age: expected text.*got \{"low":1\}/,
    /line 7: fields: is empty/,
    /line 8: url: expected a path from the root.*evil/,
    /line 9: url: /,
    /line 10: url: .*got "club"/,
    /line 11: form is missing/,
  ])
    assert.match(message, part);
  const many = problems(Array.from({ length: 500 }, () => "x").join("\n"));
  assert.match(many, /has 500 problems:\n {2}line 1: [\s\S]*\n {2}and 480 more$/);
  assert.ok(many.length < 4000);
  assert.match(problems("\n \n"), /holds no tasks/);
  assert.match(problems(new Uint8Array([0x7b, 0xff, 0xfe])), /cannot be read as UTF-8/);
  assert.throws(() => readTasks(join(dir, "gone"), BASE), /gone does not exist/);
  assert.throws(() => readTasks(dir, BASE), /is not a file/);
});

test("a label is never lost without a word", () => {
  for (const [fields, message] of [
    [{ Name: "Ann", " Name": "Bo" }, /line 1: fields: "Name" and "Name" are one label/],
    [{ "A name": "Ann", "a  NAME (required) *": "Bo" }, /: "a {2}NAME \(required\) \*" and "A name" are one label/],
    [{ "* :": "Ann" }, /line 1: fields\.\* :: no control can have this label/],
  ] as const)
    assert.match(problems(line({ fields })), message);
  const deep = `${line().slice(0, -1)},"fields":{"Name":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`;
  assert.match(problems(deep), /line 1: holds lists or objects inside each other/);
  const proto = `${line().slice(0, -1)},"fields":{"Name":"Ann","__proto__":"x"}}`;
  assert.match(problems(`${line({ id: "b" })}\n${proto}`), /line 2: fields\.__proto__: no control can have this label/);
});

const GOOD = TASKS.map((task) => JSON.stringify(task));

/** Reads it, or refuses it in words that name the file, and lines where it is not the whole of it. @returns those lines. */
function linesRefused(content: string | Uint8Array): number[] | "whole" | undefined {
  try {
    for (const task of read(content)) {
      assert.equal(new URL(task.url, BASE).origin, BASE);
      assert.ok(task.id !== "" && Object.keys(task.fields).length > 0);
    }
    return undefined;
  } catch (error) {
    assert.ok(error instanceof UserError, `${content}: ${error instanceof Error ? error.stack : error}`);
    assert.ok(error.message.includes(file), error.message);
    if (/holds no tasks|cannot be read as UTF-8/.test(error.message)) return "whole";
    const places = error.message.matchAll(/^ {2}(?:line|record|the array)(?: (\d+))?: ./gm);
    const named = [...places].map(([, number]) => Number(number));
    assert.ok(named.length > 0, error.message);
    return named;
  }
}

test("whatever a line has become, it is a task or refused by file and line, and no other line is", () => {
  const seen = { read: 0, refused: 0 };
  const mutated = fc.nat(GOOD.length - 1).chain((at) => {
    const good = GOOD[at] as string;
    const json = mutatedJson(JSON.parse(good)).map((value) => JSON.stringify(value));
    const text = mutatedText(good).map((t) => t.replaceAll(/[\r\n]/g, " "));
    const bad = fc.oneof({ weight: 3, arbitrary: json }, { weight: 2, arbitrary: text });
    return fc.record({ at: fc.constant(at), bad });
  });
  fc.assert(
    fc.property(mutated, fc.constantFrom("\n", "\r\n"), ({ at, bad }, newline) => {
      const named = linesRefused(GOOD.map((good, i) => (i === at ? bad : good)).join(newline));
      seen[named === undefined ? "read" : "refused"]++;
      if (named === undefined) return;
      // an id may have become another line's: the later one is named
      const isOthers = /"id":\s*"[abcd]"/.test(bad);
      assert.ok(named !== "whole" && named.every((n) => n === at + 1 || isOthers), `${bad}: ${named}`);
    }),
    { seed: 7, numRuns: 200 },
  );
  assert.ok(seen.refused > 80 && seen.read > 15, JSON.stringify(seen));
});

test("the example of the documentation is one", () => {
  const docs = readFileSync(join(packageRoot(), "docs", "sites.md"), "utf8");
  const example = /```jsonl\n([\s\S]*?)```/.exec(docs)?.[1] ?? "";
  assert.equal(read(example).length, 2);
});

test("a label that a line has twice is refused: of its values one would be lost", () => {
  const twice = line({ fields: { Name: "Ann", Age: 3 } }).replace('"Age"', '"N\\u0061me"');
  assert.throws(() => read(twice), /line 1: "Name" is there twice, with one value lost/);
  assert.throws(() => read(line().replace('"form"', '"id":"x","form"')), /line 1: "id" is there twice/);
  // the same text as a value, or in another object, is none
  assert.equal(read(line({ fields: { Name: "Name", 'a": {': ["Name", "Name"], id: "}" } })).length, 1);
});

test("a number that JSON would change is refused by its line, with what to write", () => {
  for (const number of ["301234567890123457", "1.10", "1e21", "12345678901234567890", "1.0"]) {
    const message = problems(line({ fields: { Order: 7 } }).replace(":7", `:${number}`));
    assert.ok(message.includes(`line 1: ${number} would be read as `), message);
    assert.ok(message.includes(`quote it, as "${number}"`), message);
  }
});
