/** The part of a tokenizer that spelling needs. */
export interface Speller {
  decode(ids: readonly number[]): string;
}

/**
 * Gives what each token adds to the text. A character whose bytes lie in several tokens belongs to the first of them;
 * the others add nothing.
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
    // half a character decodes to U+FFFD: take its neighbours in until it is whole
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
