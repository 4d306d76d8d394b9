import { fail } from "../../../core/errors.js";
import { looseLabel } from "../../../env/forms/normalize.js";
import type { FieldValue, Task } from "../../../env/site.js";
import { type Call, callOf } from "./actions.js";
import { type Chain, type Node, parseTest, refuseStatement, type Statement } from "./code.js";

/** One step of a recording: a statement whose arguments are plain. */
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

/** Methods that a recording may have and that enter nothing. */
const PASSED =
  /^(?:expect|once|on|off|waitForLoadState|waitForURL|waitForSelector|waitForEvent|waitForResponse|waitForRequest|waitFor|setViewportSize|screenshot|close|bringToFront|scrollIntoViewIfNeeded|highlight|title|url|content|reload|use)$/;

/** Most tasks for which a test that is written for any task is read. */
const MOST_TASKS = 3;

/** The constants of a test; undefined stands for one whose value is not known. */
type Scope = ReadonlyMap<string, Node | undefined>;

/** Tells, while a test is read, that it is written for any task. */
class NeedsTask extends Error {}

/**
 * Reads what people did from Playwright tests: each test, and within one each visit of the page, is one person.
 * @param tasks a test may name the values of a task by their labels: `person["Full name"]`.
 * @throws UserError with the line and the text of a statement that is not understood.
 */
export function runsIn(source: string, file: string, tasks: readonly Task[]): Run[] {
  const top = parseTest(source, file);
  const read = (task?: Task): Run[] => new Walk(file, task, tasks).tests(top);
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NeedsTask)) throw error;
    return tasks.slice(0, MOST_TASKS).flatMap(read);
  }
}

class Walk {
  private readonly labels: ReadonlyMap<string, string>;
  private readonly runs: Run[] = [];
  private lines: Line[] = [];

  constructor(
    private readonly file: string,
    private readonly task: Task | undefined,
    tasks: readonly Task[],
  ) {
    const labels = new Set(tasks.flatMap(({ fields }) => Object.keys(fields)));
    this.labels = new Map([...labels].map((label) => [looseLabel(label), label]));
  }

  tests(top: readonly Statement[]): Run[] {
    this.group(top, new Map(), []);
    if (this.runs.length === 0)
      fail(`${this.file} has no test with a step.`, { hint: "docs/contracts.md has a recording as an example." });
    return this.runs;
  }

  /** Reads the tests of a file or of a `test.describe`. @param before statements that run before each test. */
  private group(statements: readonly Statement[], outer: Scope, before: readonly Statement[]): void {
    const scope = new Map(outer);
    const first = [...before];
    for (const one of statements) {
      if (one.is === "const") scope.set(one.name, this.known(one.node, scope));
      else if (one.is === "each") {
        for (const item of this.itemsOf(one.of, scope, one))
          this.group(one.body, new Map([...scope, [one.name, item]]), first);
      } else if (one.is === "do" && one.node.is === "chain") {
        const { root, links } = one.node;
        const [link] = links;
        const isTest = root === "test" || link?.name === "test";
        const body = links.flatMap(({ args = [] }) => args).findLast((node) => node.is === "function");
        if (!isTest) refuseStatement(this.file, one);
        if (body?.is !== "function") continue;
        if (link?.name === "describe") this.group(body.body, scope, first);
        else if (link?.name === "beforeEach") first.push(...body.body);
        else if (/^(?:test|only|slow|fixme|skip)$/.test(link?.name ?? "")) {
          this.lines = [];
          this.walk([...first, ...body.body], scope);
          this.finish();
        }
      } else refuseStatement(this.file, one);
    }
  }

  private finish(): void {
    if (this.lines.length > 0) this.runs.push({ lines: this.lines, task: this.task });
    this.lines = [];
  }

  private walk(statements: readonly Statement[], outer: Scope): void {
    const scope = new Map(outer);
    for (const one of statements) {
      if (one.is === "const") scope.set(one.name, this.known(one.node, scope));
      else if (one.is === "each") {
        for (const item of this.itemsOf(one.of, scope, one)) this.walk(one.body, new Map([...scope, [one.name, item]]));
      } else if (one.is === "if") {
        const test = this.resolved(one.test, scope, one);
        const isSo = test.is === "value" ? Boolean(test.value) : test.is === "list" ? test.items.length > 0 : true;
        this.walk(isSo ? one.body : one.or, scope);
      } else this.take(one, scope);
    }
  }

  /** Takes a step, passes what enters nothing, or refuses the statement. */
  private take(one: Extract<Statement, { is: "do" }>, scope: Scope): void {
    const { node } = one;
    if (node.is !== "chain") refuseStatement(this.file, one);
    if (node.root === "test" && node.links[0]?.name === "step") {
      const body = node.links[0].args?.find((arg) => arg.is === "function");
      if (body?.is !== "function") refuseStatement(this.file, one);
      this.walk(body.body, scope);
      return;
    }
    const names = node.links.map(({ name }) => name);
    if (names[0] === "goto") {
      this.finish();
      return;
    }
    if (PASSED.test(names.at(-1) ?? "") || names[0] === "expect" || node.root === "expect" || node.root === "console")
      return;
    const chain = this.resolved(node, scope, one);
    const call = chain.is === "chain" ? callOf(chain) : undefined;
    if (call === undefined) refuseStatement(this.file, one, "is no step that a contract may have");
    const { file } = this;
    const { line, text } = one;
    this.lines.push(...singleClicks(call).map((single) => ({ file, line, text, call: single })));
  }

  /** Resolves a constant as far as it is known. */
  private known(node: Node, scope: Scope): Node | undefined {
    try {
      return this.resolved(node, scope, { line: 0, text: "" });
    } catch (error) {
      if (error instanceof NeedsTask) throw error;
      return undefined;
    }
  }

  private itemsOf(node: Node, scope: Scope, at: Statement): readonly (Node | undefined)[] {
    if (node.is === "chain" && node.links.length === 0 && node.root !== "page" && !scope.get(node.root)) {
      // a list from elsewhere: the tasks stand for it
      if (this.task === undefined) throw new NeedsTask();
      return [undefined];
    }
    const list = this.resolved(node, scope, at);
    return list.is === "list" ? list.items : refuseStatement(this.file, at);
  }

  /** Puts constants, texts and the values of the task into an expression. */
  private resolved(node: Node, scope: Scope, at: Pick<Statement, "line" | "text">): Node {
    const into = (inner: Node): Node => this.resolved(inner, scope, at);
    switch (node.is) {
      case "value":
        return node;
      case "list":
        return { is: "list", items: node.items.map(into) };
      case "object":
        return { is: "object", entries: node.entries.map(([key, value]) => [key, into(value)]) };
      case "not": {
        const of = into(node.of);
        return { is: "value", value: of.is === "value" && !of.value };
      }
      case "template": {
        const parts = node.parts.map(into).map((part) => (part.is === "value" ? String(part.value) : ""));
        return { is: "value", value: parts.join("") };
      }
      case "chain":
        return this.chain(node, scope, at);
      default:
        return refuseStatement(this.file, at);
    }
  }

  private chain(node: Chain, scope: Scope, at: Pick<Statement, "line" | "text">): Node {
    const { root, links } = node;
    if (root === "page") {
      const given = links.map((link) =>
        link.args === undefined ? link : { ...link, args: link.args.map((arg) => this.resolved(arg, scope, at)) },
      );
      return { is: "chain", root, links: given };
    }
    const known = scope.get(root);
    if (known?.is === "chain")
      return this.chain({ is: "chain", root: known.root, links: [...known.links, ...links] }, scope, at);
    let value: Node | undefined = known;
    for (const [i, { name, args }] of links.entries()) {
      if (value?.is === "object") value = value.entries.find(([key]) => key === name)?.[1];
      else if (value?.is === "value" && (name === "toString" || name === "trim") && args !== undefined) continue;
      else value = undefined;
      if (value === undefined && i < links.length - 1) break;
    }
    return value ?? this.valueOfTask(links.at(-1)?.name ?? root, at);
  }

  private valueOfTask(name: string, at: Pick<Statement, "line" | "text">): Node {
    const label = this.labels.get(looseLabel(name)) ?? this.labels.get(looseLabel(name.replace(/(?=[A-Z])/g, " ")));
    if (label === undefined) return refuseStatement(this.file, at, `has ${name}, which is no label of the tasks`);
    if (this.task === undefined) throw new NeedsTask();
    return nodeOf(this.task.fields[label] ?? "");
  }
}

const nodeOf = (value: FieldValue): Node =>
  Array.isArray(value)
    ? { is: "list", items: value.map((item) => ({ is: "value", value: item })) }
    : { is: "value", value };

/** Splits a double click into single ones: codegen writes quick clicks on one element as one. */
function singleClicks(call: Call): Call[] {
  const [options] = call.args;
  const entries = options?.is === "object" ? options.entries : [];
  const count = entries.find(([key]) => key === "clickCount")?.[1];
  const times = call.method === "dblclick" ? 2 : count?.is === "value" ? Number(count.value) : 1;
  if (call.method !== "dblclick" && call.method !== "click") return [call];
  const kept = entries.filter(([key]) => key !== "clickCount");
  const single: Call = { ...call, method: "click", args: kept.length > 0 ? [{ is: "object", entries: kept }] : [] };
  return Array.from({ length: times }, () => single);
}
