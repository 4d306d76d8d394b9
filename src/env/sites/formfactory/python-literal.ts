/** Holds what a Python literal of dicts, lists, strings, numbers, True, False and None comes to. */
export type Literal = string | number | boolean | null | Literal[] | { [key: string]: Literal };

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"' };

/**
 * Reads one literal at the start of a source text; what follows it does not matter.
 * @throws Error with the offset where the text is anything else (a name, a call, an operator).
 */
export function readLiteral(source: string): Literal {
  let at = 0;

  const fail = (): never => {
    throw new Error(`no literal at offset ${at}: ${JSON.stringify(source.slice(at, at + 30))}`);
  };
  const take = (pattern: RegExp): string | undefined => {
    const sticky = new RegExp(pattern.source, "y");
    sticky.lastIndex = at;
    const found = sticky.exec(source)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const skip = (): unknown => take(/(?:\s|#[^\n]*)*/);
  const items = (close: string, item: () => void): void => {
    at++;
    for (skip(); source[at] !== close; skip()) {
      item();
      skip();
      if (source[at] === ",") at++;
      else if (source[at] !== close) fail();
    }
    at++;
  };
  const text = (): string => {
    const quoted = take(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/) ?? fail();
    return quoted
      .slice(1, -1)
      .replace(/\\u([\da-fA-F]{4})|\\(.)/g, (whole, hex: string | undefined, char: string) =>
        hex === undefined ? (ESCAPES[char] ?? whole) : String.fromCharCode(Number.parseInt(hex, 16)),
      );
  };
  const value = (): Literal => {
    skip();
    const first = source[at];
    if (first === "{") {
      const entries: [string, Literal][] = [];
      items("}", () => {
        const key = text();
        skip();
        if (source[at++] !== ":") fail();
        entries.push([key, value()]);
      });
      return Object.fromEntries(entries);
    }
    if (first === "[") {
      const list: Literal[] = [];
      items("]", () => list.push(value()));
      return list;
    }
    if (first === "'" || first === '"') return text();
    const word = take(/[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|True\b|False\b|None\b/) ?? fail();
    return word === "True" ? true : word === "False" ? false : word === "None" ? null : Number(word);
  };
  return value();
}
