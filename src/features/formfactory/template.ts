/** Sources and addresses for templates. */
export interface TemplateContext {
  /** Returns the source text of a template; undefined if there is none. */
  source(name: string): string | undefined;
  /** Returns the address of `url_for(endpoint, filename=...)`; undefined for an unknown endpoint. */
  urlFor(endpoint: string, filename: string | undefined): string | undefined;
}

/** An error for an unsupported template, with file, line and text. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

type Node =
  | { readonly text: string }
  | { readonly block: string; readonly nodes: readonly Node[] }
  | { readonly endpoint: string; readonly filename: string | undefined; readonly where: string };

interface Parsed {
  readonly parent: string | undefined;
  readonly nodes: readonly Node[];
}

const TAG = /\{%-?\s*([\s\S]*?)\s*-?%\}|\{\{-?\s*([\s\S]*?)\s*-?\}\}|\{#[\s\S]*?#\}/g;
const QUOTED = String.raw`(?:'([^'\\]*)'|"([^"\\]*)")`;
const EXTENDS = new RegExp(`^extends\\s+${QUOTED}$`);
const URL_FOR = new RegExp(`^url_for\\(\\s*${QUOTED}\\s*(?:,\\s*filename\\s*=\\s*${QUOTED}\\s*)?\\)$`);
const MAX_PARENTS = 8;

/**
 * Renders a template in the part of Jinja that FormFactory uses: `extends`, `block`, `url_for` and comments.
 * @throws TemplateError for anything else, instead of serving an incomplete page.
 */
export function renderTemplate(name: string, context: TemplateContext): string {
  const overrides = new Map<string, readonly Node[]>();
  let current = name;
  for (let depth = 0; ; depth++) {
    if (depth > MAX_PARENTS) throw new TemplateError(`${name}: more than ${MAX_PARENTS} templates extend each other`);
    const { parent, nodes } = parseTemplate(current, context);
    if (parent === undefined) return write(nodes, overrides, context);
    // children are read first: their blocks override their parents'
    for (const [block, inner] of blocksOf(nodes)) if (!overrides.has(block)) overrides.set(block, inner);
    current = parent;
  }
}

function* blocksOf(nodes: readonly Node[]): Generator<[string, readonly Node[]]> {
  for (const node of nodes) {
    if (!("block" in node)) continue;
    yield [node.block, node.nodes];
    yield* blocksOf(node.nodes);
  }
}

function write(
  nodes: readonly Node[],
  overrides: ReadonlyMap<string, readonly Node[]>,
  context: TemplateContext,
): string {
  return nodes
    .map((node) => {
      if ("text" in node) return node.text;
      if ("block" in node) return write(overrides.get(node.block) ?? node.nodes, overrides, context);
      const url = context.urlFor(node.endpoint, node.filename);
      if (url === undefined) throw new TemplateError(`${node.where}: nothing is called ${node.endpoint}`);
      return escapeHtml(url);
    })
    .join("");
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "#34", "'": "#39" }[char]};`);

function parseTemplate(name: string, context: TemplateContext): Parsed {
  const raw = context.source(name);
  if (raw === undefined) throw new TemplateError(`${name}: there is no such template`);
  // as in Jinja: line ends are normalised, and the last one is dropped
  const source = raw.replace(/\r\n|\r/g, "\n").replace(/\n$/, "");
  let parent: string | undefined;
  const root: Node[] = [];
  const open: { readonly block: string; readonly nodes: Node[] }[] = [];
  const here = (): Node[] => open.at(-1)?.nodes ?? root;
  let end = 0;
  for (const match of source.matchAll(TAG)) {
    const [whole, statement, expression] = match;
    const where = `${name}, line ${source.slice(0, match.index).split("\n").length}`;
    const before = source.slice(end, match.index);
    // a minus inside a tag removes the whitespace outside of it
    here().push({ text: whole[2] === "-" ? before.trimEnd() : before });
    end = match.index + whole.length;
    if (whole.at(-3) === "-") end += /^\s*/.exec(source.slice(end))?.[0].length ?? 0;
    if (expression !== undefined) {
      const m = URL_FOR.exec(expression);
      if (m === null) throw new TemplateError(`${where}: {{ ${expression} }} is not understood`);
      here().push({ endpoint: m[1] ?? m[2] ?? "", filename: m[3] ?? m[4], where });
    } else if (statement !== undefined) {
      const block = /^block\s+(\w+)$/.exec(statement)?.[1];
      const extended = EXTENDS.exec(statement);
      if (block !== undefined) open.push({ block, nodes: [] });
      else if (extended !== null) parent = extended[1] ?? extended[2];
      else if (/^endblock(?:\s+\w+)?$/.test(statement)) {
        const closed = open.pop();
        if (closed === undefined) throw new TemplateError(`${where}: endblock without a block`);
        here().push(closed);
      } else throw new TemplateError(`${where}: {% ${statement} %} is not understood`);
    }
  }
  here().push({ text: source.slice(end) });
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw new TemplateError(`${name}: block ${unclosed.block} is not closed`);
  return { parent, nodes: root };
}
