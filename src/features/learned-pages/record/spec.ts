import { type AnyNode, type CallExpression, type Function as FunctionNode, parse } from "acorn";
import { fail, messageOf } from "../../../core/errors.js";
import type { Task } from "../../../env/site.js";
import { type Call, callOf, isSamePlace, locatorOf } from "./actions.js";
import { Chain, isOptions, refuseStatement, type Value, valueIn } from "./code.js";
import { FINDS } from "./locate.js";
import { type Asserted, signOf } from "./sign.js";

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
  /** What the test asserts after its last step: the form was accepted. */
  readonly success?: Asserted | undefined;
}

/** Methods of a page that a recording may have and that enter nothing. */
const PASSED =
  /^(?:once|on|off|use|waitFor(?!Timeout)\w*|setViewportSize|screenshot|close|bringToFront|scrollIntoViewIfNeeded|highlight|title|url|reload|\w*[cC]ontent|inner\w+|inputValue|is[A-Z]\w+|getAttribute|count|all\w*)$/;
/** Most statements that are read of a file: loops in loops are read as they would run. */
const MOST_STEPS = 10_000;

const PLAIN =
  "A test is read, not run: write steps on `page`, texts and lists (docs/contracts.md), as `playwright codegen` does.";
const NO_LOGIN =
  "Begin at the form's page, and leave out what comes before it. site.login or site.storage_state brings a login (docs/sites.md).";

/**
 * Reads what people did from Playwright tests: each test, and within one each visit of the page, is one person. A test
 * is parsed and never run: its statements are steps on `page`, and loops over data that it writes out.
 * @throws UserError with the line and the text of a statement that is anything else.
 */
export function runsIn(source: string, file: string, tasks: readonly Task[]): Run[] {
  const reader = new SpecReader(source, file, tasks);
  try {
    const { body } = parse(source, { ecmaVersion: "latest", sourceType: "module", locations: true });
    reader.readAll(body, new Map());
  } catch (error) {
    const { loc } = error as { readonly loc?: { readonly line: number } };
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const why = `is not understood as plain JavaScript, which has no types (${messageOf(error)})`;
    reader.refuse(why, PLAIN, loc?.line);
  }
  if (reader.runs.length > 0) return reader.runs;
  return fail(`${file} has no test with a step.`, { hint: "docs/contracts.md has a recording as an example." });
}

type Names = ReadonlyMap<string, Value>;
/** A function of a test with the names that it sees. */
interface Body {
  readonly of: FunctionNode;
  readonly names: Names;
}

/** Reads the steps of tests, in their order. */
class SpecReader {
  readonly runs: Run[] = [];
  private lines: Line[] = [];
  private success: Asserted = {};
  /** The address that the steps began at, and its line. */
  private start: { readonly url: string; readonly line: number } | undefined;
  /** What stands before each test. */
  private before: readonly Body[] = [];
  private line = 1;
  private steps = 0;

  constructor(
    private readonly source: string,
    private readonly file: string,
    private readonly tasks: readonly Task[],
  ) {}

  refuse(why?: string, hint = PLAIN, line = this.line): never {
    const text = (this.source.split("\n")[line - 1] ?? "").trim();
    return refuseStatement({ file: this.file, line, text }, why, hint);
  }

  readAll(body: readonly AnyNode[], outer: Names): void {
    const names = new Map(outer);
    for (const node of body) this.read(node, names);
  }

  private read(node: AnyNode, names: Map<string, Value>): void {
    if (++this.steps > MOST_STEPS) this.refuse(`is repeated: more than ${MOST_STEPS} statements are read`);
    this.line = node.loc?.start.line ?? this.line;
    const [item] = node.type === "ForOfStatement" && "declarations" in node.left ? node.left.declarations : [];
    if (node.type === "ExpressionStatement") this.step(node.expression, names);
    else if (/Expression$/.test(node.type)) this.step(node, names);
    else if (node.type === "BlockStatement") this.readAll(node.body, names);
    else if (node.type === "VariableDeclaration")
      for (const { id, init } of node.declarations) this.bind(id, init ? this.declared(init, names) : null, names);
    else if (node.type === "ForOfStatement" && item !== undefined) this.each(node.right, item.id, node.body, names);
    else if (node.type === "IfStatement") {
      const test = this.value(node.test, names);
      if (test instanceof Chain) this.refuse("depends on what a page shows");
      const taken = test ? node.consequent : node.alternate;
      if (taken) this.read(taken, names);
    } else if (!/^(?:ImportDeclaration|EmptyStatement)$/.test(node.type)) this.refuse();
  }

  /** Reads a body for each item of a list. */
  private each(of: AnyNode, pattern: AnyNode, body: AnyNode, names: Names): void {
    const items = this.value(of, names);
    if (!Array.isArray(items)) this.refuse("repeats steps for something that is no list in this file");
    for (const item of items as readonly Value[]) {
      const inner = new Map(names);
      this.bind(pattern, item, inner);
      this.read(body, inner);
    }
  }

  private bind(pattern: AnyNode, value: Value, names: Map<string, Value>): void {
    if (pattern.type === "Identifier") names.set(pattern.name, value);
    else if (pattern.type === "ArrayPattern" && Array.isArray(value))
      for (const [i, one] of pattern.elements.entries()) {
        if (one !== null) this.bind(one, value[i] ?? "", names);
      }
    else if (pattern.type === "ObjectPattern" && isOptions(value))
      for (const one of pattern.properties) {
        if (one.type !== "Property" || one.key.type !== "Identifier" || one.computed) this.refuse();
        this.bind(one.value, value[one.key.name] ?? "", names);
      }
    else this.refuse();
  }

  /** Reads a value. @throws UserError if it is neither data of this file nor a part of the page. */
  private value(node: AnyNode, names: Names): Value {
    try {
      return valueIn(node, (name) => {
        const value = name === "page" ? new Chain([]) : names.get(name);
        if (value === undefined) throw new SyntaxError(`has ${name}, which is no data of this file`);
        return value;
      });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return this.refuse(error.message);
    }
  }

  /** Reads a value of a name. What a page is waited for or asked is none that a step may use. */
  private declared(node: AnyNode, names: Names): Value {
    const [name, event = ""] = asked(node);
    return name === undefined ? this.value(node, names) : new Chain([{ name, args: [event] }]);
  }

  private step(node: AnyNode, names: Names): void {
    const call = unawaited(node);
    if (call.type === "Literal") return;
    if (call.type !== "CallExpression") this.refuse();
    const path = pathOf(call);
    const [of, then] = path;
    if (of === "test") this.block(path.slice(1), call, names);
    else if (of === "expect") this.assert(path, call, names);
    else if (path.at(-1) === "forEach") {
      const body = functionIn(call);
      const list = call.callee.type === "MemberExpression" ? call.callee.object : call;
      if (body?.params[0] === undefined) this.refuse();
      this.each(list as AnyNode, body.params[0], body.body, names);
    } else if (of === "Promise" && then === "all" && call.arguments[0]?.type === "ArrayExpression")
      for (const one of call.arguments[0].elements) this.step(one ?? call, names);
    else if (path.at(-1) === "goto") this.goto(call, names);
    else if (asked(call).length === 0) this.take(this.value(call, names));
  }

  /** Reads a test, or what stands around tests, before them and in them. */
  private block(kind: readonly string[], call: CallExpression, names: Names): void {
    const of = functionIn(call);
    if (of === undefined || /^(?:beforeAll|after\w+|use|extend)$/.test(kind[0] ?? "")) return;
    const { before } = this;
    if (kind[0] === "beforeEach") this.before = [...before, { of, names }];
    else if (kind[0] === "step") this.read(of.body, new Map(names));
    else if (kind[0] === "describe") {
      this.read(of.body, new Map(names));
      this.before = before;
    } else {
      for (const one of [...before, { of, names }]) this.read(one.of.body, new Map(one.names));
      this.finish();
    }
  }

  private goto(call: CallExpression, names: Names): void {
    this.finish();
    const [address] = call.arguments;
    const url = address && this.value(address, names);
    if (typeof url === "string") this.start = { url, line: this.line };
  }

  private finish(): void {
    const { lines, start, success } = this;
    [this.lines, this.start, this.success] = [[], undefined, {}];
    if (lines.length === 0) return;
    const paths = this.tasks.map(({ url }) => pathnameOf(url));
    const from = start && pathnameOf(start.url);
    if (from !== undefined && !paths.some((path) => (path === "" ? from === "" : from.endsWith(path))))
      this.refuse(`begins at ${from || "/"}, and the form's page is ${paths[0] || "/"}`, NO_LOGIN, start?.line);
    const isSecret = (text: string): boolean => /passwor/i.test(text);
    const login = lines.find(({ call }) => call.method === "fill" && isSecret(locatorOf(call)));
    if (login !== undefined && !this.tasks.some(({ fields }) => Object.keys(fields).some(isSecret)))
      this.refuse("enters a password, which no task has", NO_LOGIN, login.line);
    this.runs.push({ lines, ...(Object.keys(success).length > 0 && { success }) });
  }

  /** Reads an assertion after the steps: it declares what acceptance looks like. */
  private assert(path: readonly string[], call: CallExpression, names: Names): void {
    const subject = expected(call);
    if (path.includes("not") || subject === undefined || asked(subject).length > 0) return;
    const of = this.value(subject, names);
    const [given] = call.arguments;
    const text = given && /^to(?:HaveURL|ContainText|HaveText)$/.test(path.at(-1) ?? "") && this.value(given, names);
    if (!(of instanceof Chain)) return;
    this.checkPage(of);
    this.success = { ...signOf(of.links, path.at(-1) ?? "", text || undefined), ...this.success };
  }

  private take(value: Value): void {
    const { links } = value instanceof Chain ? value : this.refuse();
    const last = links.at(-1);
    this.checkPage(value as Chain);
    if (last && FINDS.test(last.name)) return;
    const call = callOf(links) ?? this.refuse("is no step that a contract may have");
    const isKnown = (one: Value): boolean =>
      !(one instanceof Chain) || one.links.every(({ name, args }) => FINDS.test(name) && args !== undefined);
    if (!call.args.every(isKnown)) this.refuse("enters what a page shows, which no task has");
    if (isClickByKey(this.lines.at(-1)?.call, call)) this.lines.pop();
    const at = { file: this.file, line: this.line, text: (this.source.split("\n")[this.line - 1] ?? "").trim() };
    this.lines.push(...singleClicks(call).map((single) => ({ ...at, call: single })));
    // what holds before the last step is no sign of acceptance
    this.success = {};
  }

  /** @throws UserError for a step on another page. */
  private checkPage({ links }: Chain): void {
    if (links.some(({ name, args }) => name === "waitForEvent" && /^(?:popup|page)$/.test(String(args?.[0]))))
      this.refuse(
        "is on a page that another one opens; a contract operates one page",
        "Record the form at its own address: give the opened page as the `url` of the tasks.",
      );
  }
}

const pathnameOf = (url: string): string =>
  new URL(url, "http://localhost").pathname.replace(/\/(?:index\.html?)?$/, "");

const unawaited = (node: AnyNode): AnyNode => (node.type === "AwaitExpression" ? node.argument : node);

/** Lists the names of a chain of calls: `expect`, `not`, `toBeVisible`. */
function pathOf(node: AnyNode): string[] {
  const of = unawaited(node);
  if (of.type === "Identifier") return [of.name];
  if (of.type === "CallExpression") return pathOf(of.callee as AnyNode);
  if (of.type !== "MemberExpression") return [];
  return [...pathOf(of.object as AnyNode), !of.computed && of.property.type === "Identifier" ? of.property.name : ""];
}

/** Tells what a page is waited for or asked by a call that enters nothing, with its first argument if that is a text. */
function asked(node: AnyNode): [name: string, of: string] | [] {
  const call = unawaited(node);
  const name = pathOf(call).at(-1) ?? "";
  if (call.type !== "CallExpression" || call.callee.type !== "MemberExpression" || !PASSED.test(name)) return [];
  const [given] = call.arguments;
  return [name, given?.type === "Literal" ? String(given.value) : ""];
}

const functionIn = (call: CallExpression): FunctionNode | undefined =>
  call.arguments.find((one) => /^(?:Arrow)?FunctionExpression$/.test(one.type)) as FunctionNode | undefined;

/** Finds what an assertion is about: the argument of the innermost call. */
function expected(node: AnyNode): AnyNode | undefined {
  if (node.type === "MemberExpression") return expected(node.object as AnyNode);
  if (node.type !== "CallExpression") return undefined;
  return expected(node.callee as AnyNode) ?? node.arguments[0];
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
