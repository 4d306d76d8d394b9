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
    const links = linksOf(statement.expression);
    parsed.set(text, links);
    return links;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuseStatement({ file: "action", line: 1, text });
  }
}

function linksOf(node: AnyNode): Link[] {
  if (node.type === "Identifier") return node.name === "page" ? [] : [{ name: node.name }];
  if (node.type === "MemberExpression" && !node.computed && node.property.type === "Identifier")
    return [...linksOf(node.object), { name: node.property.name }];
  const links = node.type === "CallExpression" ? linksOf(node.callee) : [];
  const last = links.pop();
  if (node.type !== "CallExpression" || last === undefined) throw new SyntaxError(`${node.type} in a chain`);
  return [...links, { name: last.name, args: node.arguments.map(argumentIn) }];
}

function argumentIn(node: AnyNode): Value {
  if (node.type === "Literal") return node.value as Value;
  if (node.type === "UnaryExpression" && node.operator === "-") return -Number(argumentIn(node.argument));
  if (node.type === "ArrayExpression") return node.elements.map((item) => argumentIn(item as AnyNode));
  if (node.type === "ObjectExpression")
    return Object.fromEntries(
      node.properties.map((one) => {
        if (one.type !== "Property" || one.computed) throw new SyntaxError("no plain object");
        return [one.key.type === "Identifier" ? one.key.name : String(argumentIn(one.key)), argumentIn(one.value)];
      }),
    );
  return new Chain(linksOf(node));
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
