import { misuse } from "../../core/errors.js";
import { groupBy } from "../../core/group-by.js";
import { Tokenizer } from "../../text/tokenizer.js";

export interface PrunedTokenizer {
  /** The text of the tokenizer.json. */
  readonly json: string;
  /** Old ids of the kept tokens, ascending; their indices are the new ids. */
  readonly kept: readonly number[];
}

interface Parts {
  readonly added_tokens?: readonly { readonly id: number; readonly content: string }[];
  readonly post_processor?: unknown;
  readonly model?: {
    readonly type?: unknown;
    readonly continuing_subword_prefix?: string | null;
    readonly byte_fallback?: boolean;
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

/** SentencePiece token of a byte. */
const BYTE = /^<0x[0-9A-F]{2}>$/;

/**
 * Prunes the vocabulary of a BPE tokenizer: keeps the tokens of a corpus, the tokens that these are merged from, bytes
 * (in byte-level BPE, single characters), and added tokens. The corpus is encoded as before, as every merge applied
 * in it produces a kept token or a part of one. Other text is encoded by shorter tokens, in the end by bytes.
 * @param text of a tokenizer.json.
 * @param always ids that are always kept.
 * @param where names the tokenizer in errors.
 * @throws UserError if it is not a BPE tokenizer.
 */
export function pruneTokenizer(
  text: string,
  corpus: string,
  always: readonly number[],
  where: string,
): PrunedTokenizer {
  const json = JSON.parse(text) as Parts;
  const { model, added_tokens: added = [] } = json;
  if (model?.type !== "BPE" || (model.continuing_subword_prefix ?? "") !== "")
    misuse(`${where} is ${String(model?.type)}, and only the vocabulary of a plain BPE can be pruned.`, {
      hint: "leave --keep-tokens out",
    });
  const { vocab, merges } = model;
  const used = new Set(Tokenizer.fromJson(json, where).encode(corpus));
  const pairs = merges.map((merge) => (typeof merge === "string" ? merge.split(" ") : merge) as [string, string]);
  const makings = groupBy(pairs, (pair) => pair.join(""));
  const names = new Set<string>();
  const keep = (token: string): void => {
    if (names.has(token) || !Object.hasOwn(vocab, token)) return;
    names.add(token);
    for (const parts of makings.get(token) ?? []) parts.forEach(keep);
  };
  for (const [token, id] of Object.entries(vocab))
    if (used.has(id) || (model.byte_fallback === true ? BYTE.test(token) : [...token].length === 1)) keep(token);
  const ids = [...[...names].map((token) => vocab[token] as number), ...added.map(({ id }) => id), ...always];
  const kept = [...new Set(ids)].sort((a, b) => a - b);
  const places = new Map(kept.map((id, place) => [id, place]));
  const moved = (id: number): number => places.get(id) as number;
  const pruned = {
    ...json,
    added_tokens: added.map((token) => ({ ...token, id: moved(token.id) })),
    post_processor: withIds(json.post_processor, moved),
    model: {
      ...model,
      vocab: Object.fromEntries(
        Object.entries(vocab).flatMap(([token, id]) => (places.has(id) ? [[token, moved(id)]] : [])),
      ),
      merges: merges.filter((_, i) => {
        const [left, right] = pairs[i] as [string, string];
        return [left, right, left + right].every((token) => places.has(vocab[token] ?? -1));
      }),
    },
  };
  return { json: `${JSON.stringify(pruned)}\n`, kept };
}

/** Renumbers the `ids` of a post-processor's templates. */
function withIds(value: unknown, moved: (id: number) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => withIds(item, moved));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === "ids" && Array.isArray(item) ? item.map(Number).map(moved) : withIds(item, moved),
    ]),
  );
}
