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

/** A tag: a statement, an expression or a comment. A minus removes the white space outside of it. */
const TAG =
  /(?:\s+(?=\{[%{#]-))?(\{%-?\s*([\s\S]*?)\s*-?%\}|\{\{-?\s*([\s\S]*?)\s*-?\}\}|\{#[\s\S]*?#\})(?:(?<=-[%}#]\})\s+)?/g;
const QUOTED = String.raw`(?:'([^'\\]*)'|"([^"\\]*)")`;
const EXTENDS = new RegExp(String.raw`\{%-?\s*extends\s+${QUOTED}\s*-?%\}`);
const URL_FOR = new RegExp(`^url_for\\(\\s*${QUOTED}\\s*(?:,\\s*filename\\s*=\\s*${QUOTED}\\s*)?\\)$`);
const STATEMENT = new RegExp(`^(?:extends\\s+${QUOTED}|block\\s+\\w+|endblock(?:\\s+\\w+)?)$`);
/** A block without blocks inside. */
const BLOCK = /\{%-?\s*block\s+(\w+)\s*-?%\}((?:(?!\{%-?\s*(?:end)?block)[\s\S])*)\{%-?\s*endblock(?:\s+\w+)?\s*-?%\}/g;
const MAX_PARENTS = 8;

/**
 * Renders a template in the part of Jinja that FormFactory uses: `extends`, `block`, `url_for` and comments.
 * @throws TemplateError for anything else, instead of serving an incomplete page.
 */
export function renderTemplate(name: string, context: TemplateContext): string {
  const blocks = new Map<string, string>();
  let current = name;
  for (let depth = 0; depth <= MAX_PARENTS; depth++) {
    // children are read first: their blocks override their parents'
    const text = takeBlocks(current, sourceOf(current, context), blocks);
    const [, single, double] = EXTENDS.exec(text) ?? [];
    const parent = single ?? double;
    if (parent === undefined) return filled(text, blocks);
    current = parent;
  }
  throw new TemplateError(`${name}: more than ${MAX_PARENTS} templates extend each other`);
}

/** Reads a template, with its addresses instead of `url_for`, and without comments. */
function sourceOf(name: string, { source, urlFor }: TemplateContext): string {
  const raw = source(name);
  if (raw === undefined) throw new TemplateError(`${name}: there is no such template`);
  // as in Jinja: line ends are normalised, and the last one is dropped
  const text = raw.replace(/\r\n|\r/g, "\n").replace(/\n$/, "");
  return text.replace(TAG, (whole: string, tag: string, statement?: string, expression?: string, at = 0) => {
    const refuse = (why: string): never => {
      const line = text.slice(0, at + whole.indexOf(tag)).split("\n").length;
      throw new TemplateError(`${name}, line ${line}: ${why}`);
    };
    if (statement !== undefined) return STATEMENT.test(statement) ? tag : refuse(`${tag} is not understood`);
    if (expression === undefined) return "";
    const [found, endpoint, quoted, file, quotedFile] = URL_FOR.exec(expression) ?? [];
    if (found === undefined) refuse(`${tag} is not understood`);
    const called = endpoint ?? quoted ?? "";
    return escapeHtml(urlFor(called, file ?? quotedFile) ?? refuse(`nothing is called ${called}`));
  });
}

/** Moves blocks that are not known yet from a text into the map, and leaves a mark of each. */
function takeBlocks(name: string, text: string, blocks: Map<string, string>): string {
  const rest = text.replace(BLOCK, (_, block: string, inner: string) => {
    if (!blocks.has(block)) blocks.set(block, inner);
    return `\0${block}\0`;
  });
  if (rest !== text) return takeBlocks(name, rest, blocks);
  const [odd, end, block] = /\{%-?\s*(end)?block\s*(\w*)/.exec(rest) ?? [];
  if (odd === undefined) return rest;
  throw new TemplateError(`${name}: ${end ? "endblock without a block" : `block ${block} is not closed`}`);
}

const filled = (text: string, blocks: ReadonlyMap<string, string>): string =>
  text.replace(/\0(\w+)\0/g, (_, block: string) => filled(blocks.get(block) as string, blocks));

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "#34", "'": "#39" }[char]};`);
