import { type AnyNode, parse, tokenizer } from "acorn";
import { fail } from "../../../core/errors.js";

/** A part of a chain: `.name` or, with arguments, `.name(...)`. */
export interface Link {
  readonly name: string;
  readonly args?: readonly Value[];
}

/** The locator that a chain finds, as an argument: `dragTo(locator('#t'))`. */
export class Chain {
  constructor(readonly links: readonly Link[]) {}
}

/** An argument of a step. */
export type Value =
  | string
  | number
  | boolean
  | null
  | RegExp
  | Chain
  | readonly Value[]
  | { readonly [key: string]: Value };

/** Tells whether an argument is a plain object. */
export const isOptions = (value: Value | undefined): value is { readonly [key: string]: Value } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Chain) &&
  !(value instanceof RegExp);

/** @throws UserError with the line and the text of a statement. */
export function refuseStatement(
  { file, line, text }: { readonly file: string; readonly line: number; readonly text: string },
  why = "is not understood",
  hint = "docs/contracts.md lists the statements that a recording may have; `playwright codegen` writes only these.",
): never {
  fail(`${file}:${line}: this statement ${why}: ${text}`, { hint });
}

const parsed = new Map<string, readonly Link[]>();
/** Parses a chain such as `getByRole('button', { name: 'Next' }).click()`. @throws UserError if it is none. */
export function parseChain(text: string): readonly Link[] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  try {
    const [statement, ...more] = parse(text, { ecmaVersion: "latest" }).body;
    if (statement?.type !== "ExpressionStatement" || more.length > 0) throw new SyntaxError("no chain");
    const chain = valueIn(statement.expression, (name) => new Chain(name === "page" ? [] : [{ name }]));
    if (!(chain instanceof Chain)) throw new SyntaxError("no chain");
    parsed.set(text, chain.links);
    return chain.links;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuseStatement({ file: "action", line: 1, text });
  }
}

/**
 * Reads an expression of plain data and of chains. Nothing is called: a chain keeps its calls as links.
 * @param named returns what a name stands for. @throws SyntaxError with the reason if there is anything else in it.
 */
export function valueIn(node: AnyNode, named: (name: string) => Value): Value {
  const inner = (one: AnyNode | null): Value => {
    if (one === null) throw new SyntaxError("has a gap in a list");
    return valueIn(one, named);
  };
  switch (node.type) {
    case "Literal":
      if (typeof node.value === "bigint" || (node.regex && node.value === null)) break;
      return node.value as Value;
    case "TemplateLiteral":
      return node.quasis.map(({ value }, i) => value.cooked + textIn(node.expressions[i], inner)).join("");
    case "Identifier":
      return named(node.name);
    case "AwaitExpression":
      return inner(node.argument);
    case "UnaryExpression":
      if (node.operator === "-") return -Number(inner(node.argument));
      if (node.operator === "!") return !inner(node.argument);
      break;
    case "ArrayExpression":
      return node.elements.map(inner);
    case "ObjectExpression":
      return Object.fromEntries(
        node.properties.map((one) => {
          if (one.type !== "Property" || one.computed) throw new SyntaxError("has an object that is no plain data");
          return [one.key.type === "Identifier" ? one.key.name : String(inner(one.key)), inner(one.value)];
        }),
      );
    case "MemberExpression": {
      const of = inner(node.object as AnyNode);
      const { property } = node;
      const key = !node.computed && property.type === "Identifier" ? property.name : String(inner(property as AnyNode));
      if (of instanceof Chain && !node.computed) return new Chain([...of.links, { name: key }]);
      const isOwn = (isOptions(of) || Array.isArray(of)) && Object.hasOwn(of, key);
      if (isOwn) return (of as Readonly<Record<string, Value>>)[key] as Value;
      throw new SyntaxError(`asks for "${key}", which is not in the data`);
    }
    case "CallExpression": {
      const callee = inner(node.callee as AnyNode);
      const last = callee instanceof Chain ? callee.links.at(-1) : undefined;
      if (last === undefined || last.args !== undefined) break;
      return new Chain([...(callee as Chain).links.slice(0, -1), { name: last.name, args: node.arguments.map(inner) }]);
    }
  }
  throw new SyntaxError("is not understood");
}

function textIn(node: AnyNode | undefined, read: (node: AnyNode) => Value): string {
  const value = node === undefined ? "" : read(node);
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new SyntaxError("has no text in a template");
}

const quoted = (text: string): string =>
  `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")}'`;

/** Writes an argument as codegen does. */
export function written(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value instanceof Chain) return writtenChain(value.links);
  if (!isOptions(value)) return String(value);
  const entries = Object.entries(value).map(
    ([key, one]) => `${/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? key : quoted(key)}: ${written(one)}`,
  );
  return `{ ${entries.join(", ")} }`;
}

/** Writes a chain as codegen does, without `page`. */
export const writtenChain = (links: readonly Link[]): string =>
  links.map(({ name, args }) => (args === undefined ? name : `${name}(${args.map(written).join(", ")})`)).join(".");

/** A token of a statement, with the text before it. `sort` is acorn's label, such as `string`, `num` or `regexp`. */
export interface Token {
  readonly sort: string;
  readonly value: unknown;
  readonly text: string;
  readonly gap: string;
}

/** Lists the tokens of a statement. */
export function tokensIn(text: string): Token[] {
  let at = 0;
  return [...tokenizer(text, { ecmaVersion: "latest" })].map((token) => {
    const { type, value, start, end } = token as typeof token & { readonly value: unknown };
    const gap = text.slice(at, start);
    at = end;
    return { sort: type.label, value, text: text.slice(start, end), gap };
  });
}
