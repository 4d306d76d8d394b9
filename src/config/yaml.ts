import { type Document, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, parseDocument } from "yaml";
import { messageOf } from "../core/errors.js";

/** The content of a YAML text, with the lines of its keys. */
export interface YamlText {
  readonly tree: unknown;
  /** Faults of the text, each with its line; where there is one, `tree` is undefined. */
  readonly faults: readonly string[];
  /** Returns the line of a key, or of its deepest existing section; undefined for the top level. */
  line(path: readonly PropertyKey[]): number | undefined;
}

/** Most lists and sections that the parser may have open at once. */
const DEEPEST = 100;

/** Parses a YAML text. A key that stands twice, a warning, an endless alias and deep nesting are faults. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const deep = tooDeep(text);
  if (deep !== undefined)
    return {
      tree: undefined,
      faults: [`line ${deep}: more than ${DEEPEST} lists or sections inside each other`],
      line: () => undefined,
    };
  const document = parseDocument(text, { lineCounter: lines, logLevel: "error", prettyErrors: false });
  const line = (path: readonly PropertyKey[]): number | undefined => lineOf(document, lines, path);
  const faults = [...document.errors, ...document.warnings].map(
    (fault) => `line ${lines.linePos(fault.pos[0]).line}: ${fault.message}`,
  );
  if (faults.length > 0) return { tree: undefined, faults, line };
  try {
    const tree: unknown = document.toJS({ maxAliasCount: 100 });
    JSON.stringify(tree); // throws where an alias contains itself
    return { tree, faults, line };
  } catch (error) {
    return { tree: undefined, faults: [`aliases: ${messageOf(error).split("\n")[0]}`], line };
  }
}

/**
 * Returns the line at which a text nests too deeply. Composing it would be recursive: near the end of the stack V8 ends
 * the whole process, as it cannot compile a regular expression there.
 */
function tooDeep(text: string): number | undefined {
  const parser = new Parser();
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    // the parser's own loop needs no stack
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > DEEPEST) return text.slice(0, offset).split("\n").length;
    offset += lexeme.length;
  }
  return undefined;
}

function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (pair === undefined) break;
      offset = (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(key)];
      if (item === undefined) break;
      offset = (isScalar(item) ? item.range?.[0] : undefined) ?? offset;
      node = item;
    } else break;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}
