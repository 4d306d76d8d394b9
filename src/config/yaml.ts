import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { messageOf } from "../core/errors.js";

/** The content of a YAML text, with the lines of its keys. */
export interface YamlText {
  readonly tree: unknown;
  /** Faults of the text, each with its line; where there is one, `tree` is undefined. */
  readonly faults: readonly string[];
  /** Returns the line of a key, or of its deepest existing section; undefined for the top level. */
  line(path: readonly PropertyKey[]): number | undefined;
}

/** Parses a YAML text. A key that stands twice, a warning and an endless alias are faults. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
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
