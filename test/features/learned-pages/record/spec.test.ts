import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpisodeRunner } from "../../../../src/env/browser/episode.js";
import type { FieldValue, Task } from "../../../../src/env/site.js";
import { act, actionProblem, natureOf } from "../../../../src/features/learned-pages/record/actions.js";
import { partsOf } from "../../../../src/features/learned-pages/record/assign.js";
import { generalized, textOf } from "../../../../src/features/learned-pages/record/generalize.js";
import type { Seen } from "../../../../src/features/learned-pages/record/observe.js";
import { recordingOf } from "../../../../src/features/learned-pages/record/recording.js";
import type { Asserted } from "../../../../src/features/learned-pages/record/sign.js";
import { runsIn } from "../../../../src/features/learned-pages/record/spec.js";
import { filled, tokensOf } from "../../../../src/features/learned-pages/record/tokens.js";
import { kindOfAll } from "../../../../src/features/learned-pages/values.js";

const TASKS = [
  { form: "f", url: "/b", fields: { "Full name": "Ann Lee", Tools: ["Saw", "Plane"], News: true } },
  { form: "f", url: "/b", fields: { "Full name": "Bo Berg", Tools: ["Drill"], News: false } },
] as unknown as Task[];

const texts = (source: string): string[][] =>
  runsIn(source, "a.spec.ts", TASKS).map(({ lines }) => lines.map(({ call }) => textOf(call)));

const inTest = (...lines: string[]): string =>
  `import { test, expect } from '@playwright/test';\n\ntest('test', async ({ page }) => {\n${lines.join("\n")}\n});\n`;

test("codegen's statements are read as they stand", () => {
  const lines = [
    "  await page.getByRole('textbox', { name: 'It\\'s \"x\"' }).fill('a\\nb');",
    "  await page.locator('div').filter({ hasText: /^Red \\(1\\/2\\)$/ }).nth(1).click();",
    "  await page.locator('#f').contentFrame().getByLabel('Name', { exact: true }).press('ControlOrMeta+A');",
    "  await page.getByLabel('Kinds').selectOption(['1', '2']);",
    "  await page.getByText('Next').dblclick();",
    "  await page.locator('#file').fill('C:\\\\fakepath\\\\a.png');",
  ];
  const [begin, end] = ["  await page.goto('http://a/b');", "  await expect(page).toHaveURL(/done/);"];
  const [found = []] = texts(inTest(begin, ...lines, end));
  const next = "getByText('Next').click()";
  assert.deepEqual(found, [
    ...lines.slice(0, 4).map((line) => line.trim().slice("await page.".length, -1)),
    next,
    next,
    "locator('#file').setInputFiles('a.png')",
  ]);
});

test("loops over people, lists, conditions, templates and constants are read as data", () => {
  const body = `test(\`join \${person.name}\`, async ({ page }) => {
      const box = page.getByLabel('Full name');
      await box.fill(person['name']);
      for (const tool of person.tools) { await page.getByRole('checkbox', { name: \`\${tool} \` }).check(); }
      if (person.news) await page.getByLabel('News').check(); else await page.getByLabel('News').uncheck();
    });`;
  const people = `const people = [{ name: 'Ann Lee', tools: ['Saw', 'Plane'], news: true }, { name: 'Bo Berg', tools: ['Drill'], news: false }];`;
  const ticked = (...tools: string[]): string[] =>
    tools.map((tool) => `getByRole('checkbox', { name: '${tool} ' }).check()`);
  const read = [
    ["getByLabel('Full name').fill('Ann Lee')", ...ticked("Saw", "Plane"), "getByLabel('News').check()"],
    ["getByLabel('Full name').fill('Bo Berg')", ...ticked("Drill"), "getByLabel('News').uncheck()"],
  ];
  assert.deepEqual(texts(`${people} for (const person of people) { ${body} }`), read);
  assert.deepEqual(texts(`${people} people.forEach((person) => ${body.slice(0, -1)});`), read);
  const refused = [
    [
      `import { people } from './p';\nfor (const person of people) { ${body} }`,
      /a\.spec\.ts:2: .* has people, which is no/,
    ],
    [`for (;;) { ${body} }`, /a\.spec\.ts:1: this statement is not understood/],
    [`${"for (const i of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) ".repeat(5)} test('t', async () => {});`, /more than 10000/],
  ] as const;
  for (const [source, message] of refused) assert.throws(() => texts(source), { message });
});

test("a test is never run: what is no step is refused by its line", () => {
  const escapes = [
    "try { page.evaluate(); } catch (e) { e.constructor.constructor('return globalThis')().isLeft = true; }",
    "await import('data:text/javascript,globalThis.isLeft = true');",
    "[].constructor.constructor('globalThis.isLeft = true')();",
    "await page.getByLabel(((globalThis.isLeft = true), 'Name')).fill('a');",
    "await page.getByLabel('Name').fill((() => { globalThis.isLeft = true; return 'a'; })());",
    "await page.getByLabel('Name').fill({ toString() { globalThis.isLeft = true; } } + '');",
    "await page.constructor.constructor('globalThis.isLeft = true')();",
    "process.exit(0);",
  ];
  for (const line of escapes) {
    assert.throws(() => texts(inTest(line)), { message: /a\.spec\.ts:4: this statement / }, line);
    assert.throws(() => texts(`${line}\n${inTest("await page.getByText('a').click();")}`), /a\.spec\.ts:1: /, line);
  }
  assert.equal("isLeft" in globalThis, false);
});

test("two visits of the page are two people; what cannot be a step is refused by its line", () => {
  const visit = (path: string): string[] => [`await page.goto('${path}');`, "await page.getByText('a').click();"];
  assert.equal(texts(inTest(...visit("/b"), ...visit("/b/"))).length, 2);
  const refused = [
    ["await page.evaluate(() => alert(1));", /a\.spec\.ts:4: this statement is not understood: .*evaluate/],
    ["const x: number = 2;", /a\.spec\.ts:4: this statement is not understood .*: const x: number = 2;/],
    ["await page.getByLabel('Name').fill(await page.title());", /a\.spec\.ts:4: .* enters what a page shows/],
    ["await page.getByLabel('Name').fill(person.shoeSize);", /has person, which is no data/],
    ["await page.getByLabel('Name'.fill('a');", /a\.spec\.ts:\d: this statement is not understood/],
  ] as const;
  for (const [line, message] of refused) assert.throws(() => texts(inTest(line)), { message });
  assert.match(actionProblem("getByText('a').evaluate('alert(1)')") ?? "", /no action/);
  assert.match(actionProblem("getByText(() => 1).click()") ?? "", /no action|not understood/);
  assert.equal(actionProblem("keyboard.press('Tab')"), undefined);
});

test("a login and a popup are refused, with what brings them", () => {
  const fill = "await page.getByLabel('Full name').fill('Ann Lee');";
  const secret = "await page.getByRole('textbox', { name: 'Password' }).fill('secret');";
  const login = { message: /a\.spec\.ts:4: this statement begins at \/login/, hint: /site\.login/ };
  const home = "await page.goto('/b');";
  assert.throws(() => texts(inTest("await page.goto('http://a/login');", secret, home, fill)), login);
  const password = { message: /a\.spec\.ts:5: .* enters a password/, hint: /site\.login/ };
  assert.throws(() => texts(inTest(home, secret, fill)), password);
  const opens = [
    "const page1Promise = page.waitForEvent('popup');",
    "await page.getByRole('link', { name: 'Terms' }).click();",
    "const page1 = await page1Promise;",
  ];
  assert.deepEqual(texts(inTest(...opens, fill)).flat().length, 2);
  const popup = { message: /a\.spec\.ts:7: .* on a page that another/, hint: /`url`/ };
  for (const line of ["await page1.getByText('a').click();", "await expect(page1.getByText('a')).toBeVisible();"])
    assert.throws(() => texts(inTest(...opens, line)), popup);
});

test("an assertion after the last step declares success", () => {
  const [form, go] = ["await expect(page.getByText('Form')).toBeVisible();", "await page.getByText('Go').click();"];
  const declared = (...lines: string[]) => runsIn(inTest(form, go, ...lines), "a", TASKS)[0]?.success;
  const table = [
    ["page.getByText('Thank you')).toBeVisible()", { text: "Thank you" }],
    ["page.getByRole('heading', { name: 'Thank you' })).toBeVisible({ timeout: 5 })", { text: "Thank you" }],
    ["page.getByText(/^Order taken\\.$/)).toBeVisible()", { text: "Order taken." }],
    ["page.getByText(/order \\d+/)).toBeVisible()", undefined],
    ["page.locator('#done')).toBeVisible()", { selector: "#done" }],
    ["page.locator('#done').first()).toContainText('Thank you')", { selector: "#done", text: "Thank you" }],
    ["page.getByTestId('done')).toBeVisible()", { selector: '[data-testid="done"]' }],
    ["page.locator('text=Thank you')).toBeVisible()", undefined],
    ["page).toHaveURL('http://localhost:3000/thanks?a=1')", { url: "/thanks?a=1" }],
    ["page).toHaveURL(/\\/thanks/)", { url: "/thanks" }],
    ["page.getByText('Form')).not.toBeVisible()", undefined],
    ["page.getByText('Form')).toBeHidden()", undefined],
    ["page.getByLabel('Name')).toHaveValue('Ann')", undefined],
  ] as const;
  for (const [line, sign] of table) assert.deepEqual(declared(`await expect(${line};`), sign, line);
  const soft = "await expect.soft(page.getByRole('status')).toContainText('Taken');";
  assert.deepEqual(declared("await expect(page).toHaveURL('/thanks');", soft), { url: "/thanks", text: "Taken" });
  assert.equal(declared("await expect(page.getByText('Sure?')).toBeVisible();", go), undefined);
});

type Person = readonly [value: FieldValue, ...lines: string[]];
/** Reads each person's statements, and generalizes them. */
function found(people: readonly Person[], all = people.map(([value]) => value)) {
  const samples = people.map(([value, ...lines]) => {
    const [run] =
      lines.length === 0 ? [] : runsIn(inTest(...lines.map((line) => `await page.${line};`)), "a.spec.ts", TASKS);
    return { value, calls: run?.lines.map(({ call }) => call) ?? [] };
  });
  return generalized(kindOfAll(all), samples, all);
}

/** The months from now to the one of a day. */
const ahead = (months: number): string =>
  new Date(Date.UTC(new Date().getFullYear(), new Date().getMonth() + months, 17)).toISOString().slice(0, 10);

test("two people show where the value stands in each step", () => {
  const shows = (what: string, actions: unknown, ...people: Person[]): void =>
    assert.deepEqual(found(people), actions, what);
  const option = (name: string): string => `getByRole('option', { name: '${name}' }).click()`;
  const pressed = (key: string): string => `getByRole('slider').press('${key}')`;
  const next = "getByLabel('Next').click()";
  const nth = (n: number): string => `locator('a').nth(${n}).click()`;
  shows(
    "a beginning, and the choice among what it finds, in a box whose name is a word of all values",
    ["getByLabel('School').fill('{value:4}')", "getByText('{value}').click()"],
    ["Bris School", "getByLabel('School').fill('Bris')", "getByText('Bris School').click()"],
    ["Brig School", "getByLabel('School').fill('Brig')", "getByText('Brig School').click()"],
  );
  const place = (name: string, typed: string): Person => {
    return [name, `getByLabel('P').fill('${typed}')`, `getByText('${name}').click()`];
  };
  const begun = ["getByLabel('P').fill('{value:3}')", "getByText('{value}').click()"];
  shows("a beginning in another case than the option", begun, place("Tromso", "tro"), place("Bergen", "ber"));
  shows("a beginning in another case, of one person", begun, place("Tromso", "tro"));
  shows("a beginning that one person has typed", begun, place("Oslo East", "Osl"));
  shows(
    "items that are typed and chosen, of which one is as short as its beginning",
    [{ each: ["getByLabel('T').fill('{value:4}')", "getByText('{value}').click()"], between: [] }],
    [
      ["Vase", "Cork"],
      ...["Vase", "Cork"].flatMap((one) => [`getByLabel('T').fill('${one}')`, `getByText('${one}').click()`]),
    ],
    [["Chocolates"], "getByLabel('T').fill('Choc')", "getByText('Chocolates').click()"],
  );
  shows(
    "an option in a pattern",
    ["locator('li').filter({ hasText: /^{value}$/ }).click()"],
    ["C++", "locator('li').filter({ hasText: /^C\\+\\+$/ }).click()"],
    ["Go", "locator('li').filter({ hasText: /^Go$/ }).click()"],
  );
  const month = (name: string): string => `getByLabel('Month').selectOption('${name}')`;
  shows(
    "the parts of a day",
    [month("{MMMM}"), option("Choose {dddd}, {MMMM} {Do},")],
    ["2026-12-04", month("December"), option("Choose Friday, December 4th,")],
    ["2027-01-21", month("January"), option("Choose Thursday, January 21st,")],
  );
  shows(
    "as many clicks as months",
    [{ do: next, times: "{months * 1 + 0}" }, "getByText('{DD}').click()"],
    [ahead(2), "getByLabel('Next').dblclick()", "getByText('17').click()"],
    [ahead(5), ...Array.from({ length: 5 }, () => next), "getByText('17').click()"],
  );
  shows(
    "as many keys as the number, in both directions",
    [{ do: pressed("ArrowRight"), times: "{value * 1 + -5}", back: pressed("ArrowLeft") }],
    [7, pressed("ArrowRight"), pressed("ArrowRight")],
    [4, pressed("ArrowLeft")],
  );
  shows(
    "a share of a track",
    ["getByRole('slider').dragTo(locator('#t'), { targetPosition: { x: '{value * 2 + 0}', y: 5 } })"],
    [50, "getByRole('slider').dragTo(page.locator('#t'), { targetPosition: { x: 100, y: 5 } })"],
    [20, "getByRole('slider').dragTo(page.locator('#t'), { targetPosition: { x: 40, y: 5 } })"],
  );
  shows("a box", ["getByLabel('News').setChecked('{value}')"], [true, "getByLabel('News').check()"], [false]);
  const [opened, closed] = ["getByLabel('T').click()", "keyboard.press('Escape')"];
  shows(
    "items of an open list",
    [opened, { each: [option("{value}")], between: [] }, closed],
    [["a1", "b2"], opened, option("a1"), option("b2"), closed],
    [["c3"], opened, option("c3"), closed],
  );
  const cases: Person[] = [["Low", nth(0)]];
  shows("a case for each value", [{ cases: { Low: [nth(0)], High: [nth(2)] } }], ...cases, ["High", nth(2)]);
  assert.equal(found([...cases, ["High", nth(2)]], ["Low", "Mid", "High"]), undefined);
  shows(
    "a text that its box has formatted",
    ["getByLabel('N').fill('{value}')"],
    ["+447400123456", "getByLabel('N').fill('+44 7400 123456')"],
    ["+447700900123", "getByLabel('N').fill('+44 7700 900123')"],
  );
  const cut: Person = ["Little Grey Seal", "getByLabel('N').fill('Little Grey ')"];
  shows("a text that its box cuts", ["getByLabel('N').fill('{value}')"], cut);
});

/** Steps as a page shows them that has all of their elements from the start. @param isLabel step on the next one's label. */
const seenOn = (steps: readonly string[], isLabel = -1): Seen[] => {
  const [run] = runsIn(inTest(...steps.map((line) => `await page.${line};`)), "a.spec.ts", TASKS);
  const all = new Set(steps.keys());
  const shown = { names: [], isFresh: true, ahead: all, isText: false, after: all };
  const lines = run?.lines ?? [];
  return lines.map((line, at) => {
    return { ...line, ...shown, isLabel: at === isLabel, at, whole: line.call, named: line.call };
  });
};
const partsIn = (steps: readonly string[], fields: Task["fields"], isLabel = -1) =>
  partsOf(seenOn(steps, isLabel), { fields } as Task, new Set()).map((part) =>
    typeof part === "object" ? part.label : part,
  );

test("a click that names nothing belongs to the one label without a step", () => {
  const steps = ["getByLabel('Full name').fill('Ann')", "getByText('★').nth(3).click()"];
  const more = ["getByLabel('City').fill('Bergen')", "getByText('Send').click()"];
  const parts = (fields: Task["fields"]) => partsIn([...steps, ...more], fields);
  const fields = { "Full name": "Ann", City: "Bergen", Stars: 4 };
  assert.deepEqual(parts(fields), ["Full name", "Stars", "City", "submit"]);
  assert.deepEqual(parts({ ...fields, Size: "Big" }), ["Full name", "Full name", "City", "submit"]);
  const inOrder = { "Full name": "Ann", Stars: 4, City: "Bergen", Size: "Big" };
  assert.deepEqual(parts(inOrder), ["Full name", "Stars", "City", "submit"]);
});

test("a day or a time in another notation names its field, and so does the box whose label is clicked", () => {
  const steps = [
    ["Rental", "getByLabel('Start').fill('04.01.2027')"],
    ["Rental", "getByLabel('End').fill('30.06.2027')"],
    ["Hour", "getByRole('textbox').nth(2).fill('1:30')"],
    ["Extras", "locator('b').nth(4).click()"],
    ["Extras", "getByRole('checkbox', { name: 'Lunch' }).check()"],
    ["submit", "getByRole('button', { name: 'Send Rental' }).click()"],
  ] as const;
  const fields = { Rental: "2027-01-04 - 2027-06-30", Hour: "13:30", Extras: ["Lunch"], Note: "none", Size: 4 };
  const texts = steps.map(([, text]) => text);
  assert.deepEqual(
    partsIn(texts, fields, 3),
    steps.map(([part]) => part),
  );
});

test("a name that is exact for one person alone, and a box under its label, are the same step for all", async () => {
  const steps = (name: string, exact: string, day: string): string[] => [
    `getByLabel('Name').fill('${name}')`,
    `getByRole('button', { name: '${day}'${exact} }).click()`,
    `locator('.box-${name.length}').click()`,
    `getByRole('radio', { name: '${name} pays' }).check()`,
    "getByText('Send').click()",
  ];
  const people = [
    { Name: "Ann Lee", Day: "2027-01-14", Payer: "Ann Lee pays" },
    { Name: "Bo", Day: "2027-02-09", Payer: "Bo pays" },
    { Name: "Cy Moss", Day: "2027-03-28", Payer: "Cy Moss pays" },
  ];
  const tasks = people.map((fields) => ({ form: "f", fields })) as unknown as Task[];
  const shown = [seenOn(steps("Ann Lee", "", "14"), 2), seenOn(steps("Bo", ", exact: true", "9"), 2)];
  const taken = (page: string): Asserted => ({ url: "/done", text: `Thanks, ${page}`, selector: "#done" });
  const runs = shown.map((lines, i) => ({ lines, success: taken(["Ann Lee", "Bo"][i] as string) }));
  const told: string[] = [];
  const runner = { converse: async () => ({ result: shown.shift() }) } as unknown as EpisodeRunner;
  const { fields, submit, success } = await recordingOf(runner, runs, tasks, (text) => told.push(text));
  assert.deepEqual(success, { url: "/done", selector: "#done" });
  assert.match(told.join(), /"Thanks, Ann Lee", "Thanks, Bo"/);
  assert.deepEqual(fields.get("Day")?.actions, ["getByRole('button', { name: '{D}' }).click()"]);
  assert.deepEqual(fields.get("Payer")?.actions, ["getByRole('radio', { name: '{value}' }).check({ force: true })"]);
  assert.equal(submit?.locator, "getByText('Send')");
});

test("a recorded text is a typed one, and its tokens are filled by the value", () => {
  const box = "getByRole('textbox', { name: 'N' })";
  const typed = { isLiteral: true, isTyping: true, isQuiet: true };
  assert.deepEqual(natureOf([`${box}.click()`, `${box}.fill('{value}')`]), typed);
  const chosen = ["getByRole('combobox', { name: 'N' }).click()", "getByRole('option', { name: '{value}' }).click()"];
  assert.deepEqual(natureOf(chosen), {});
  assert.equal(filled("{D} {MMM} {value} {other}", tokensOf("date", "2026-03-05")), "5 Mar 2026-03-05 {other}");
});

test("a step that fails leaves the page's time limit as it was", async () => {
  const limits: number[] = [];
  const page = { setDefaultTimeout: (ms: number) => limits.push(ms) };
  const step = { find: [{ name: "getByText", args: ["Next"] }], method: "click", args: [] };
  await assert.rejects(act({ page, actionTimeoutMs: 20 } as never, step, { texts: {} }, 900));
  assert.deepEqual(limits, [900, 20]);
});
