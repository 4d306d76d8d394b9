import { isRegExp } from "node:util/types";
import { createContext, runInContext, Script } from "node:vm";
import { parse, type Token } from "acorn";
import { fail, messageOf, UserError } from "../../../core/errors.js";
import { looseLabel } from "../../../env/forms/normalize.js";
import type { Task } from "../../../env/site.js";
import { ACTS, type Call, callOf, isSamePlace } from "./actions.js";
import { Chain, isOptions, type Link, refuseStatement, type Value } from "./code.js";
import { FINDS } from "./locate.js";

/** One step of a recording: a statement with its line, from 1, and its text. */
export interface Line {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly call: Call;
}

/** What one person did on the fresh page, up to the step that sends the form. */
export interface Run {
  readonly lines: readonly Line[];
  /** The person, where the test names the values of a task. */
  readonly task?: Task | undefined;
}

/** Methods of a page that a recording may have and that enter nothing. */
const PASSED =
  /^(?:expect|once|on|off|use|waitFor(?!Timeout)\w*|setViewportSize|screenshot|close|bringToFront|scrollIntoViewIfNeeded|highlight|title|url|reload|\w*[cC]ontent|inner\w+|inputValue|is[A-Z]\w+|getAttribute|count|all\w*)$/;
/** Most tasks for which a test that is written for any task is read, and the time limit of one test in milliseconds. */
const MOST_TASKS = 3;
const TEST_MS = 5000;

/**
 * Reads what people did from Playwright tests: each test, and within one each visit of the page, is one person. The
 * tests run without a browser, on a page that notes its steps.
 * @param tasks a test may name the values of a task by their labels: `person["Full name"]`.
 * @throws UserError with the line and the text of a statement that is not understood.
 */
export function runsIn(source: string, file: string, tasks: readonly Task[]): Run[] {
  const script = scriptOf(source, file);
  const labels = tasks.flatMap(({ fields }) => Object.keys(fields)).map((label) => [looseLabel(label), label] as const);
  const all = tasks.slice(0, MOST_TASKS).map((task) => new Notes(source, file, new Map(labels), task));
  const shown = all.flatMap((notes, i) => {
    const runs = notes.runsOf(script);
    return notes.isForAny ? runs.map((run) => ({ ...run, task: tasks[i] })) : i === 0 ? runs : [];
  });
  if (shown.length > 0) return shown;
  return fail(`${file} has no test with a step.`, { hint: "docs/contracts.md has a recording as an example." });
}

/** Makes a script of a test: imports become names of `scope`, and no step waits. Each line keeps its number. */
function scriptOf(source: string, file: string): Script {
  const tokens: Token[] = [];
  const cuts: { readonly start: number; readonly end: number }[] = [];
  try {
    for (const one of parse(source, { ecmaVersion: "latest", sourceType: "module", onToken: tokens }).body) {
      if (one.type === "ImportDeclaration") cuts.push(one);
      if (one.type === "ExportNamedDeclaration")
        cuts.push({ start: one.start, end: one.declaration?.start ?? one.end });
    }
    cuts.push(...tokens.filter(({ start, end }) => /^(?:async|await)$/.test(source.slice(start, end))));
    const blank = (text: string, { start, end }: { readonly start: number; readonly end: number }): string =>
      text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, " ") + text.slice(end);
    return new Script(`with (scope) {${cuts.reduce(blank, source)}\n}`, { filename: file });
  } catch (error) {
    const { loc, stack = "" } = error as { readonly loc?: { readonly line: number }; readonly stack?: string };
    const line = loc?.line ?? numberAfter(`${file}:`, stack);
    const why = `is not understood as plain JavaScript, which has no types (${messageOf(error)})`;
    return refuseStatement({ file, line, text: lineOf(source, line) }, why);
  }
}

const numberAfter = (mark: string, text: string): number => Number.parseInt(text.split(mark)[1] ?? "", 10) || 1;
const lineOf = (source: string, line: number): string => (source.split("\n")[line - 1] ?? "").trim();

/** Returns what a test may call and ask for any name. A symbol asks how it can be listed or written. */
const standIn = (
  named: (name: string) => unknown,
  called: (given: readonly unknown[]) => unknown,
  asked: (symbol: symbol) => unknown = () => undefined,
): object =>
  new Proxy(() => undefined, {
    get: (_, name) => (typeof name === "symbol" ? asked(name) : name === "then" ? undefined : named(name)),
    apply: (_, __, given: unknown[]) => called(given),
  });

type Work = (body: (fixtures: unknown) => void) => void;

/** Notes the steps of tests. */
class Notes {
  /** Set if the test names values of the task. */
  isForAny = false;
  private readonly runs: Run[] = [];
  private lines: Line[] = [];
  /** What runs before each test. */
  private before: readonly ((fixtures: unknown) => void)[] = [];
  /** What stands for a page or its parts, by its links, and for what a test imports, by its name. */
  private readonly found = new WeakMap<object, readonly Link[]>();
  private readonly imported = new WeakMap<object, string>();
  /** All names that a test does not declare, such as fixtures and imports. */
  private readonly scope = standIn(
    (name) => this.known[name] ?? this.valueOfTask(name),
    () => undefined,
  );

  constructor(
    private readonly source: string,
    private readonly file: string,
    private readonly labels: ReadonlyMap<string, string>,
    private readonly task: Task,
  ) {}

  runsOf(script: Script): Run[] {
    const context = createContext({});
    const language = runInContext("globalThis", context) as object;
    context.scope = new Proxy(this.scope, { has: (_, name) => !(name in language) });
    try {
      script.runInContext(context, { timeout: TEST_MS });
    } catch (error) {
      if (error instanceof UserError) throw error;
      this.refuse(`fails (${(error as Error).message})`, error as Error);
    }
    return this.runs;
  }

  private readonly hooks: Readonly<Record<string, Work>> = {
    describe: (body) => {
      const { before } = this;
      body(this.scope);
      this.before = before;
    },
    beforeEach: (body) => {
      this.before = [...this.before, body];
    },
    step: (body) => body(this.scope),
  };

  private test(work: Work): object {
    const nothing = (): void => undefined;
    return standIn(
      (name) =>
        this.test(/^(?:only|slow|fixme|skip|serial|parallel)$/.test(name) ? work : (this.hooks[name] ?? nothing)),
      (given) => work((given.find((one) => typeof one === "function") ?? nothing) as () => void),
    );
  }

  private readonly known: Readonly<Record<string, unknown>> = {
    test: this.test((body) => {
      for (const one of [...this.before, body]) one(this.scope);
      this.finish();
    }),
    page: this.at([]),
    expect: this.at([{ name: "expect" }]),
  };

  private finish(): void {
    if (this.lines.length > 0) this.runs.push({ lines: this.lines });
    this.lines = [];
  }

  /** Stands for a page, a locator, or what a method gives. */
  private at(links: readonly Link[]): object {
    const found = standIn(
      (name) => this.at([...links, { name }]),
      (given) => this.called(links, given),
    );
    this.found.set(found, links);
    return found;
  }

  private called(links: readonly Link[], given: readonly unknown[]): unknown {
    const { name } = links.at(-1) as Link;
    const earlier = links.slice(0, -1);
    if (name === "goto") this.finish();
    else if (ACTS.test(name) || !links.some((link) => PASSED.test(link.name))) {
      const chain = [...earlier, { name, args: given.map((one) => this.plain(one)) }];
      if (FINDS.test(name)) return this.at(chain);
      const call = callOf(chain) ?? this.refuse("is no step that a contract may have");
      const at = this.here();
      if (isClickByKey(this.lines.at(-1)?.call, call)) this.lines.pop();
      this.lines.push(...singleClicks(call).map((single) => ({ ...at, call: single })));
    }
    return this.at([...earlier, { name, args: [] }]);
  }

  /** Takes an argument out of the test. */
  private plain(value: unknown): Value {
    const [links, name] = [this.found.get(value as object), this.imported.get(value as object)];
    if (links !== undefined) return new Chain(links);
    if (isRegExp(value)) return new RegExp(value.source, value.flags);
    if (Array.isArray(value)) return value.map((one) => this.plain(one));
    if (name !== undefined) this.refuse(`has ${name}, which is no label of the tasks`);
    if (value === undefined || typeof value === "function") this.refuse();
    if (typeof value !== "object" || value === null) return value as Value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.plain(one)]));
  }

  /** Finds what a name from elsewhere stands for: a task's value by its label, else something that holds values. */
  private valueOfTask(name: string): unknown {
    const label = this.labels.get(looseLabel(name)) ?? this.labels.get(looseLabel(name.replace(/(?=[A-Z])/g, " ")));
    if (label !== undefined) {
      this.isForAny = true;
      return this.task.fields[label] ?? "";
    }
    const refuse = (): never => this.refuse(`has ${name}, which is no label of the tasks`);
    const found: object = standIn(
      (inner) => this.valueOfTask(inner),
      refuse,
      // a list from elsewhere: the task stands for it
      (symbol) => (symbol === Symbol.iterator ? () => [found].values() : refuse()),
    );
    this.imported.set(found, name);
    return found;
  }

  private here(error = new Error()): Omit<Line, "call"> {
    const line = numberAfter(`${this.file}:`, String(error.stack));
    return { file: this.file, line, text: lineOf(this.source, line) };
  }

  private refuse(why?: string, error?: Error): never {
    return refuseStatement(this.here(error), why);
  }
}

/** Tells whether a click is what a browser makes of a key on a button: a recorder notes both. */
const isClickByKey = (key: Call | undefined, click: Call): boolean =>
  key?.method === "press" &&
  /^(?:Enter|Space| )$/.test(String(key.args[0])) &&
  click.method === "click" &&
  /^(?:button|link|checkbox|radio|switch|tab|menuitem\w*)$/.test(String(click.find.at(-1)?.args?.[0])) &&
  isSamePlace(key, click);

/** The folder that a browser shows for a chosen file: codegen fills it in where the input is in a shadow root. */
const FAKE_FOLDER = "C:\\fakepath\\";

/** Splits a double click into single ones: codegen writes quick clicks on one element as one. */
function singleClicks(call: Call): Call[] {
  const [options] = call.args;
  if (call.method === "fill" && typeof options === "string" && options.startsWith(FAKE_FOLDER))
    return [{ ...call, method: "setInputFiles", args: [options.slice(FAKE_FOLDER.length)] }];
  if (call.method !== "dblclick" && call.method !== "click") return [call];
  const { clickCount = 1, ...kept } = isOptions(options) ? options : {};
  const args = Object.keys(kept).length > 0 ? [kept] : [];
  return Array(call.method === "dblclick" ? 2 : Number(clickCount)).fill({ ...call, method: "click", args });
}
