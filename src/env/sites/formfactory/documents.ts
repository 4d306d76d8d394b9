/**
 * Splits a file of data2 into its source texts: `1. ...`, `2. ...` or `1) ...`, `2) ...`. The texts hold numbered lists of
 * their own, so only a line that starts with the next number, marked as the first one is, begins a text.
 * @returns one text an instance, without its number.
 */
export function splitDocuments(text: string): string[] {
  const mark = /^\s*1([.)])/.exec(text)?.[1];
  if (mark === undefined) return [];
  const starts: { readonly at: number; readonly body: number }[] = [];
  for (const match of text.matchAll(/^[ \t]*(\d+)([.)])/gm)) {
    if (match[2] === mark && match[1] === String(starts.length + 1))
      starts.push({ at: match.index, body: match.index + match[0].length });
  }
  return starts.map(({ body }, i) => text.slice(body, starts[i + 1]?.at).trim());
}
