/** The decoder of a tokenizer. */
export interface Speller {
  decode(ids: readonly number[]): string;
}

/**
 * Returns the text that each token adds. A character whose bytes span several tokens belongs to the first of them; the
 * others add nothing.
 */
export function spell(ids: readonly number[], speller: Speller): string[] {
  const alone = new Map<number, string>();
  const textOf = (id: number): string => {
    const known = alone.get(id);
    if (known !== undefined) return known;
    const text = speller.decode([id]);
    alone.set(id, text);
    return text;
  };
  const out: string[] = [];
  for (let i = 0; i < ids.length; ) {
    let end = i + 1;
    let text = textOf(ids[i] as number);
    // a partial character decodes to U+FFFD: add neighbours until it is complete
    if (text.includes("\ufffd")) {
      while (end < ids.length && text.includes("\ufffd") && textOf(ids[end] as number).includes("\ufffd")) {
        end++;
        text = speller.decode(ids.slice(i, end));
      }
    }
    out.push(text, ...Array.from({ length: end - i - 1 }, () => ""));
    i = end;
  }
  return out;
}
