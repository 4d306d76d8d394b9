import { fail } from "../../../core/errors.js";

/** A part of a chain: `.name`, `["name"]` or, with arguments, `.name(...)`. */
export interface Link {
  readonly name: string;
  readonly args?: readonly Node[];
}

/** An expression of a Playwright test, as far as recordings have them. */
export type Node =
  | { readonly is: "value"; readonly value: string | number | boolean | null | RegExp }
  | { readonly is: "list"; readonly items: readonly Node[] }
  | { readonly is: "object"; readonly entries: readonly (readonly [string, Node])[] }
  | { readonly is: "template"; readonly parts: readonly Node[] }
  | { readonly is: "chain"; readonly root: string; readonly links: readonly Link[] }
  | { readonly is: "not"; readonly of: Node }
  | { readonly is: "function"; readonly body: readonly Statement[] };

export type Chain = Extract<Node, { is: "chain" }>;

/** A statement with its line, from 1, and its text. */
export type Statement = { readonly line: number; readonly text: string } & (
  | { readonly is: "do"; readonly node: Node }
  | { readonly is: "const"; readonly name: string; readonly node: Node }
  | { readonly is: "each"; readonly name: string; readonly of: Node; readonly body: readonly Statement[] }
  | { readonly is: "if"; readonly test: Node; readonly body: readonly Statement[]; readonly or: readonly Statement[] }
);

const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<id>[\p{L}_$][\p{L}\p{N}_$]*)|(?<number>\d[\d_]*(?:\.\d+)?)|(?<text>"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')|(?<regex>(?<=[(,:=[{]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*)|(?<sign>=>|\.\.\.|\?\.|[.,;:(){}[\]=!<>+\-*/?|&`])/uy;

/** Reads the statements of Playwright tests: those that `playwright codegen` writes, constants, loops and conditions. */
class Reader {
  private at = 0;
  private end = 0;
  private token = "";
  private sort: "id" | "number" | "text" | "regex" | "sign" | "end" = "end";

  constructor(
    private readonly source: string,
    private readonly file: string,
  ) {
    this.next();
  }

  /** Reads all statements to the end, or to a closing brace. */
  statements(closes = "end"): Statement[] {
    const found: Statement[] = [];
    while (!(closes === "end" ? this.sort === "end" : this.is("}"))) {
      if (this.sort === "end") this.refuse();
      if (!this.skipped(";")) found.push(...this.statement());
    }
    return found;
  }

  private statement(): Statement[] {
    const { line } = this;
    const start = this.end - this.token.length;
    const text = (this.source.slice(start).split("\n")[0] ?? "").trim();
    const base = { line, text };
    if (this.is("import") || this.is("type") || this.is("interface")) {
      this.passDeclaration();
      return [];
    }
    this.skipped("export");
    if (this.skipped("for")) {
      this.take("(");
      if (!this.skipped("const")) this.take("let");
      const name = this.name();
      this.take("of");
      const of = this.expression();
      this.take(")");
      return [{ ...base, is: "each", name, of, body: this.block() }];
    }
    if (this.skipped("if")) {
      this.take("(");
      const test = this.expression();
      this.take(")");
      const body = this.block();
      return [{ ...base, is: "if", test, body, or: this.skipped("else") ? this.block() : [] }];
    }
    if (this.skipped("const") || this.skipped("let")) {
      if (this.is("{")) this.refuse();
      const name = this.name();
      if (this.skipped(":")) while (!this.is("=")) this.next();
      this.take("=");
      return [{ ...base, is: "const", name, node: this.expression() }];
    }
    const node = this.expression();
    if (!this.skipped(";") && !this.is("}") && this.sort !== "end" && this.line === line) this.refuse();
    return [{ ...base, is: "do", node }];
  }

  private block(): Statement[] {
    if (!this.skipped("{")) return this.statement();
    const body = this.statements("}");
    this.next();
    return body;
  }

  /** Passes an import to its path, or a type to its end. */
  private passDeclaration(): void {
    const isImport = this.is("import");
    let depth = 0;
    for (this.next(); this.sort !== "end"; this.next()) {
      if (this.is("{")) depth++;
      if (this.is("}") && --depth === 0 && !isImport) break;
      if ((isImport && this.sort === "text") || (depth === 0 && this.is(";"))) break;
    }
    this.next();
  }

  expression(): Node {
    if (this.skipped("await")) return this.expression();
    if (this.skipped("!")) return { is: "not", of: this.expression() };
    if (this.skipped("-")) return { is: "value", value: -Number(this.passed()) };
    if (this.sort === "number") return { is: "value", value: Number(this.passed().replace(/_/g, "")) };
    if (this.sort === "text") return { is: "value", value: unquoted(this.passed()) };
    if (this.sort === "regex") {
      const [, source = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(this.passed()) ?? [];
      return { is: "value", value: new RegExp(source, flags) };
    }
    if (this.is("`")) return this.template();
    if (this.skipped("[")) return { is: "list", items: this.listed("]") };
    if (this.skipped("{")) return this.object();
    if (this.is("async") || this.is("(")) return this.function();
    if (this.sort !== "id") this.refuse();
    return this.chain();
  }

  private chain(): Node {
    const name = this.name();
    if (name === "true" || name === "false") return { is: "value", value: name === "true" };
    if (name === "null" || name === "undefined") return { is: "value", value: null };
    const links: Link[] = [];
    let root = name;
    if (this.skipped("=>")) return this.body();
    if (this.skipped("(")) {
      links.push({ name, args: this.listed(")") });
      root = "page";
    }
    for (;;) {
      if (this.skipped(".") || this.skipped("?.")) {
        const link = this.name();
        links.push(this.skipped("(") ? { name: link, args: this.listed(")") } : { name: link });
      } else if (this.skipped("[")) {
        const index = this.expression();
        if (index.is !== "value") this.refuse();
        links.push({ name: String((index as { value: unknown }).value) });
        this.take("]");
      } else if (this.is("as") || this.is("!")) {
        this.next();
        if (this.sort === "id") this.next();
      } else return { is: "chain", root, links };
    }
  }

  private object(): Node {
    const entries: [string, Node][] = [];
    while (!this.skipped("}")) {
      const key = this.sort === "text" ? unquoted(this.passed()) : this.name();
      entries.push([key, this.skipped(":") ? this.expression() : { is: "chain", root: key, links: [] }]);
      if (!this.skipped(",") && !this.is("}")) this.refuse();
    }
    return { is: "object", entries };
  }

  /** Reads a function; its parameters are passed, as only `page` and the values of a task are used. */
  private function(): Node {
    const isAsync = this.skipped("async");
    const begun = { at: this.at, end: this.end, token: this.token, sort: this.sort };
    for (let depth = 0; this.sort !== "end"; this.next()) {
      if (/^[({[]$/.test(this.token) && this.sort === "sign") depth++;
      if (/^[)}\]]$/.test(this.token) && this.sort === "sign" && --depth === 0) break;
    }
    this.next();
    if (this.skipped("=>")) {
      return this.body();
    }
    if (isAsync) this.refuse();
    // a value in brackets
    Object.assign(this, begun);
    this.take("(");
    const inner = this.expression();
    this.take(")");
    return inner;
  }

  /** Reads the body of a function. */
  private body(): Node {
    const { line } = this;
    if (this.is("{")) return { is: "function", body: this.block() };
    return { is: "function", body: [{ line, text: "", is: "do", node: this.expression() }] };
  }

  private listed(closes: string): Node[] {
    const items: Node[] = [];
    while (!this.skipped(closes)) {
      items.push(this.expression());
      if (!this.skipped(",") && !this.is(closes)) this.refuse();
    }
    return items;
  }

  private template(): Node {
    const parts: Node[] = [];
    let from = this.at;
    for (;;) {
      const stop = /\\.|`|\$\{/gsu;
      stop.lastIndex = this.at;
      const found = stop.exec(this.source);
      if (found === null) this.refuse();
      const [sign] = found as RegExpExecArray;
      this.at = stop.lastIndex;
      if (sign.startsWith("\\")) continue;
      parts.push({ is: "value", value: unquoted(`"${this.source.slice(from, this.at - sign.length)}"`) });
      this.next();
      if (sign === "`") return { is: "template", parts };
      parts.push(this.expression());
      if (!this.is("}")) this.refuse();
      from = this.at;
    }
  }

  private get line(): number {
    return this.source.slice(0, this.end - this.token.length).split("\n").length;
  }

  private is(token: string): boolean {
    return this.token === token && this.sort !== "text" && this.sort !== "regex";
  }

  private skipped(token: string): boolean {
    if (!this.is(token)) return false;
    this.next();
    return true;
  }

  private take(token: string): void {
    if (!this.skipped(token)) this.refuse();
  }

  private name(): string {
    if (this.sort !== "id") this.refuse();
    return this.passed();
  }

  private passed(): string {
    const { token } = this;
    this.next();
    return token;
  }

  private next(): void {
    for (;;) {
      TOKEN.lastIndex = this.at;
      const found = this.at < this.source.length ? TOKEN.exec(this.source) : null;
      if (found === null && this.at < this.source.length) this.refuse();
      const [sort = undefined, token = ""] = Object.entries(found?.groups ?? {}).find(([, t]) => t !== undefined) ?? [];
      this.at = found === null ? this.at : TOKEN.lastIndex;
      this.end = this.at;
      this.token = token;
      this.sort = (sort ?? "end") as "end";
      if (found === null || sort !== undefined) return;
    }
  }

  private refuse(): never {
    const { line } = this;
    const text = (this.source.split("\n")[line - 1] ?? "").trim();
    return refuseStatement(this.file, { line, text });
  }
}

/** @throws UserError with the line and the text of a statement. */
export function refuseStatement(
  file: string,
  { line, text }: Pick<Statement, "line" | "text">,
  why = "is not understood",
): never {
  fail(`${file}:${line}: this statement ${why}: ${text}`, {
    hint: "docs/contracts.md lists the statements that a recording may have; `playwright codegen` writes only these.",
  });
}

function unquoted(text: string): string {
  const signs: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", 0: "\0", "\n": "" };
  return text
    .slice(1, -1)
    .replace(/\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2})|([\s\S]))/gi, (_, long, short, hex, sign: string) =>
      sign === undefined ? String.fromCodePoint(Number.parseInt(long ?? short ?? hex, 16)) : (signs[sign] ?? sign),
    );
}

/** Parses a test's source. @throws UserError with the line and the text of a statement that is not understood. */
export const parseTest = (source: string, file: string): Statement[] => new Reader(source, file).statements();

const parsed = new Map<string, Chain>();
/** Parses a chain such as `getByRole('button', { name: 'Next' }).click()`. @throws UserError if it is none. */
export function parseChain(text: string): Chain {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const [statement, ...more] = parseTest(text, "action");
  if (statement?.is !== "do" || statement.node.is !== "chain" || more.length > 0)
    return refuseStatement("action", { line: 1, text });
  const { root, links } = statement.node;
  const chain: Chain = /^(?:keyboard|mouse)$/.test(root)
    ? { is: "chain", root: "page", links: [{ name: root }, ...links] }
    : statement.node;
  parsed.set(text, chain);
  return chain;
}

const quoted = (text: string): string =>
  `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")}'`;

/** Writes an expression as codegen does; a chain of `page` without it. */
export function written(node: Node): string {
  switch (node.is) {
    case "value":
      return typeof node.value === "string" ? quoted(node.value) : String(node.value);
    case "list":
      return `[${node.items.map(written).join(", ")}]`;
    case "object":
      return `{ ${node.entries.map(([key, value]) => `${/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? key : quoted(key)}: ${written(value)}`).join(", ")} }`;
    case "chain": {
      const links = node.links.map(({ name, args }) =>
        args === undefined ? name : `${name}(${args.map(written).join(", ")})`,
      );
      return [...(node.root === "page" ? [] : [node.root]), ...links].join(".");
    }
    default:
      throw new Error(`a ${node.is} cannot be written`);
  }
}
