import { z } from "zod";
import { fail } from "../core/errors.js";
import { checked, listed } from "../core/problems.js";
import { precompiled } from "./precompiled.js";

/**
 * The parts of a tokenizer.json that are proved to give the ids of Hugging Face's Rust library
 * (scripts/golden/tokenizer_kinds.py). A component or an option that is not listed here is refused by name; one that the
 * JavaScript library computes otherwise is rewritten in those that it computes alike.
 */

type Component = Readonly<Record<string, unknown>>;

const flag = z.boolean();
const text = z.string();

/** Declares a component by its options, and how it is rewritten; undefined: these values are not supported. */
const part = <T extends string, S extends z.ZodRawShape>(
  type: T,
  options: S,
  rewrite: (options: z.output<z.ZodObject<S>>) => Component[] | undefined = (own) => [{ ...own, type }],
) =>
  z.strictObject({ type: z.literal(type), ...options }).transform((value, context) => {
    const parts = rewrite(value as unknown as z.output<z.ZodObject<S>>);
    if (parts === undefined)
      context.addIssue({ code: "custom", message: `${type} ${JSON.stringify(value)} is not supported` });
    return parts ?? z.NEVER;
  });

const unproved = (kind: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    `the ${kind} ${JSON.stringify((input as { type?: unknown } | null | undefined)?.type)} is not supported`,
});

/** Writes a text as a regular expression. */
const escaped = (of: string): string => of.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
/** Escapes of letters that both libraries read alike; any other character may be escaped. */
const ESCAPES = "rnftvsSdDwWbpPxu";
const CLASS = /\[\^?\]?(?:\\.|\[[^[\]]*\]|[^[\]\\])*\]/gsu;

/** Tells whether the library's translation of an Oniguruma pattern is exact. */
function isProved(source: string): boolean {
  const letters = [...source.matchAll(/\\(.)/gsu)].map(([, letter]) => letter as string);
  const bare = source
    .replace(/\\(?:[pP]\{\^?\w+\}|.)/gsu, "a")
    .replace(CLASS, "a")
    .replace(/\(\?(?:i:|:|=|!|<=|<!)/g, "(");
  // the remaining pattern has no flags, names, atomic groups, possessive quantifiers or nested classes
  return !/\(\?|[*+?}]\+|\[/.test(bare) && letters.every((a) => !/[A-Za-z0-9]/.test(a) || ESCAPES.includes(a));
}

/** A pattern's regular expression. Its groups capture nothing: a split would return their texts as well. */
const pattern = z
  .union([z.strictObject({ Regex: text }), z.strictObject({ String: text.min(1) })])
  .transform((value) => {
    if ("String" in value) return escaped(value.String);
    const groups = new RegExp(`\\\\.|${CLASS.source}|\\((?!\\?)`, "gsu");
    return value.Regex.replace(groups, (found) => (found === "(" ? "(?:" : found));
  })
  .refine(isProved, "a regular expression with flags, names, atomic groups or possessive quantifiers is not supported");

/** @param content in JavaScript's notation, where `$&` is the found text. */
const replace = (regex: string, content: string): Component => ({
  type: "Replace",
  pattern: { Regex: regex },
  content,
});
const replaceWith = (regex: string, content: string): Component => replace(regex, content.replaceAll("$", "$$$$"));
const split = (regex: string, behavior = "Isolated", invert = false): Component => ({
  type: "Split",
  pattern: { Regex: regex },
  behavior,
  invert,
});

const PUNCTUATION = "[\\p{P}!-/:-@\\[-`{-~]";
const CHINESE =
  "[\\u4E00-\\u9FFF\\u3400-\\u4DBF\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2B73F}\\u{2B740}-\\u{2B81F}\\u{2B920}-\\u{2CEAF}\\uF900-\\uFAFF\\u{2F800}-\\u{2FA1F}]";
/** Lowers each letter by itself: a sigma at the end of a word keeps its usual form. */
const LOWERCASE = [replace("Σ", "σ"), { type: "Lowercase" }];

const normalizer: z.ZodType<Component[]> = z.discriminatedUnion(
  "type",
  [
    part("NFC", {}),
    part("NFD", {}),
    part("NFKC", {}),
    part("NFKD", {}),
    part("StripAccents", {}),
    part("Lowercase", {}, () => LOWERCASE),
    part("Precompiled", {
      precompiled_charsmap: text.refine((of) => precompiled(of) !== undefined, "is no precompiled charsmap"),
    }),
    part("Strip", { strip_left: flag, strip_right: flag }, (of) => [
      ...(of.strip_left ? [replace("\\A\\s+", "")] : []),
      ...(of.strip_right ? [replace("\\s+\\z", "")] : []),
    ]),
    part("Replace", { pattern, content: text }, (of) => [replaceWith(of.pattern, of.content)]),
    // nothing is put before an empty text
    part("Prepend", { prepend: text }, ({ prepend }) => [replaceWith("\\A(?=[\\s\\S])", prepend)]),
    part(
      "BertNormalizer",
      { clean_text: flag, handle_chinese_chars: flag, strip_accents: flag.nullable(), lowercase: flag },
      (of) => [
        ...(of.clean_text
          ? [replace("[\\0\\uFFFD]|(?![\\t\\n\\r])[\\p{Cc}\\p{Cf}\\p{Co}]", ""), replace("\\s", " ")]
          : []),
        ...(of.handle_chinese_chars ? [replace(CHINESE, " $& ")] : []),
        ...((of.strip_accents ?? of.lowercase) ? [{ type: "NFD" }, replace("\\p{Mn}", "")] : []),
        ...(of.lowercase ? LOWERCASE : []),
      ],
    ),
    part("Sequence", { normalizers: z.array(z.lazy(() => normalizer)) }, (of) => of.normalizers.flat()),
  ],
  unproved("normalizer"),
);

const behavior = z.enum(["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]);

/** Cuts a text at the matches of a pattern; undefined where empty matches would be merged. */
function cut(regex: string, how: z.output<typeof behavior>, invert = false): Component[] | undefined {
  if (how === "Isolated" || how === "Removed") return [split(regex, how, invert && how === "Removed")];
  if (/\(\?[=!<]|\\b|[*^$|]|\{0|\?$|\?\)/.test(regex.replace(/\\[^b]/gsu, "a").replace(CLASS, "a"))) return undefined;
  if (how === "Contiguous") return [split(`(?:${regex})+`)];
  const other = `(?:(?!${regex})[\\s\\S])`;
  const previous = (how === "MergedWithPrevious") !== invert;
  return [split(previous ? `${other}+(?:${regex})?|(?:${regex})` : `(?:${regex})${other}*|${other}+`)];
}

const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const metaspace = {
  replacement: text,
  prepend_scheme: z.enum(["always", "never", "first"]).default("always"),
  split: flag.default(true),
  add_prefix_space: z.literal(true).optional(),
  str_rep: text.optional(),
};

const preTokenizer: z.ZodType<Component[]> = z.discriminatedUnion(
  "type",
  [
    part(
      "ByteLevel",
      { add_prefix_space: flag, trim_offsets: flag.optional(), use_regex: flag.default(true) },
      (of) => [
        ...(of.add_prefix_space ? [replace("\\A(?=[^ ])", " ")] : []),
        ...(of.use_regex ? [split(GPT2)] : []),
        { type: "ByteLevel", use_regex: false },
      ],
    ),
    part("Whitespace", {}, () => [split(`[${WORD}]+|[^${WORD}\\s]+`, "Removed", true)]),
    part("WhitespaceSplit", {}, () => [split("\\s+", "Removed")]),
    part("BertPreTokenizer", {}, () => [split("\\s", "Removed"), split(PUNCTUATION)]),
    part("Punctuation", { behavior: behavior.default("Isolated") }, (of) => cut(PUNCTUATION, of.behavior)),
    part("Digits", { individual_digits: flag }, (of) =>
      cut("\\p{N}", of.individual_digits ? "Isolated" : "Contiguous"),
    ),
    part("CharDelimiterSplit", { delimiter: text }, (of) => cut(escaped(of.delimiter), "Removed")),
    part("FixedLength", { length: z.int().positive() }, ({ length }) => [split(`[\\s\\S]{1,${length}}`)]),
    part("Split", { pattern, behavior, invert: flag }, (of) => cut(of.pattern, of.behavior, of.invert)),
    part("Metaspace", metaspace, ({ replacement, prepend_scheme, split: splits }) => [
      { type: "Metaspace", replacement, prepend_scheme },
      ...(splits
        ? (cut(escaped(replacement), "MergedWithNext") ?? []).map((of) => ({ ...of, isMetaspace: true }))
        : []),
    ]),
    part("Sequence", { pretokenizers: z.array(z.lazy(() => preTokenizer)) }, (of) => of.pretokenizers.flat()),
  ],
  unproved("pre-tokenizer"),
);

/** Tells whether two pre-tokenizers cut every text alike, however they are spelled. */
export function cutAlike(one: unknown, other: unknown): boolean {
  const [a, b] = [one, other].map((of) => preTokenizer.safeParse(of).data);
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

const decoder: z.ZodType<Component[]> = z.discriminatedUnion(
  "type",
  [
    part("ByteLevel", { add_prefix_space: flag.optional(), trim_offsets: flag.optional(), use_regex: flag.optional() }),
    part("ByteFallback", {}),
    part("Fuse", {}),
    part("Strip", { content: text, start: z.int().nonnegative(), stop: z.int().nonnegative() }),
    part("Replace", { pattern, content: text }, (of) => [replaceWith(of.pattern, of.content)]),
    part("Metaspace", metaspace, ({ replacement, prepend_scheme: scheme }) => [
      scheme === "never" ? replace(escaped(replacement), " ") : { type: "Metaspace", replacement },
    ]),
    part("WordPiece", { prefix: text, cleanup: flag }),
    part("BPEDecoder", { suffix: text }),
    part("Sequence", { decoders: z.array(z.lazy(() => decoder)) }, (of) => of.decoders.flat()),
  ],
  unproved("decoder"),
);

export const isLetter = (token: string): boolean => [...token].length === 1;

/** A vocabulary may be long: its ids are checked where they are read. */
const vocab = z.custom<Readonly<Record<string, number>>>((value) => typeof value === "object" && value !== null);
const none = z.union([z.literal(false), z.literal(0), z.literal("")]).nullish();

const model = z.discriminatedUnion(
  "type",
  [
    z.strictObject({
      type: z.literal("BPE"),
      vocab,
      merges: z.array(z.custom<string | readonly string[]>()),
      dropout: none,
      unk_token: text.nullish(),
      continuing_subword_prefix: none,
      end_of_word_suffix: text.nullish(),
      fuse_unk: flag.default(false),
      byte_fallback: flag.default(false),
      ignore_merges: flag.default(false),
    }),
    z.strictObject({
      type: z.literal("WordPiece"),
      vocab,
      unk_token: text,
      continuing_subword_prefix: text,
      max_input_chars_per_word: z.int().positive().default(100),
    }),
    // whole words: no text has the prefix of a word's later pieces
    z.strictObject({ type: z.literal("WordLevel"), vocab, unk_token: text }).transform((own) => ({
      ...own,
      type: "WordPiece" as const,
      continuing_subword_prefix: "\ud800",
      max_input_chars_per_word: Number.MAX_SAFE_INTEGER,
    })),
    z.strictObject({
      type: z.literal("Unigram"),
      vocab: z.array(z.tuple([text, z.number()])),
      unk_id: z.int().nonnegative(),
      byte_fallback: none,
    }),
  ],
  unproved("model"),
);

const addedToken = z.object({
  id: z.int().nonnegative(),
  content: text.min(1),
  single_word: flag.default(false),
  lstrip: flag.default(false),
  rstrip: flag.default(false),
  special: flag.default(false),
  normalized: flag.optional(),
});

/** Truncation, padding and the post-processor are not read: nothing is cut from a text or added to it. */
const tokenizer = z.object({
  added_tokens: z.array(addedToken),
  normalizer: normalizer.nullish(),
  pre_tokenizer: preTokenizer.nullish(),
  model: z.preprocess(withType, model),
  decoder: decoder.nullish(),
});

/** Early files name no type of the model. */
function withType(value: unknown): unknown {
  if (typeof value !== "object" || value === null || "type" in value || !("vocab" in value)) return value;
  if ("merges" in value) return { type: "BPE", ...value };
  if (Array.isArray(value.vocab)) return { type: "Unigram", ...value };
  return { type: "continuing_subword_prefix" in value ? "WordPiece" : "WordLevel", ...value };
}

/** GPT-2's alphabet: every byte as one printable character, so that tokens have no blanks or controls. */
export function byteAlphabet(): string[] {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
}

/**
 * Finds an added token with another id than the Rust library gives it, which is that of its content in the vocabulary,
 * or else the next one: the number of entries, or one more than the highest id so far. A special token that fills a gap
 * of the vocabulary keeps its own id: no text is read as one.
 */
function misplacedToken(
  { type, vocab: known }: z.output<typeof model>,
  added: readonly z.output<typeof addedToken>[],
): { readonly content: string; readonly id: number; readonly given: number } | undefined {
  const ids = new Map(type === "Unigram" ? known.map(([piece], id) => [piece, id]) : Object.entries(known));
  const size = ids.size;
  const used = new Set(ids.values());
  const last = [...used].reduce((a, b) => Math.max(a, b), 0);
  let highest = -1;
  for (const { content, id, special } of added) {
    if (special && !ids.has(content) && id < last && !used.has(id)) continue;
    const given = ids.get(content) ?? Math.max(size, highest + 1);
    if (given !== id) return { content, id, given };
    ids.set(content, id);
    highest = Math.max(highest, id);
  }
  return undefined;
}

/** A tokenizer in the library's parts. */
export interface TokenizerParts
  extends Readonly<Record<"normalizer" | "pre_tokenizer" | "post_processor" | "decoder", object | null>> {
  readonly added_tokens: readonly z.output<typeof addedToken>[];
  readonly model: z.output<typeof model>;
  /** Id of text that the vocabulary does not have. */
  readonly unknown: number | undefined;
  /** The vocabulary has a token for every byte: nothing is unknown to it. */
  readonly hasBytes: boolean;
}

export const COPY = "Copy tokenizer.json from the model's own release: it is the Hugging Face tokenizers format.";
const HINT =
  "docs/model.md lists the parts that are proved to give the ids of the tokenizers library. Save the tokenizer with these (in Python: tokenizer.normalizer = ..., tokenizer.pre_tokenizer = ...), and train the model with it.";

/**
 * Reads the content of a tokenizer.json. @param where names it in errors.
 * @throws UserError naming what is missing, malformed or not proved equal to the Rust library.
 */
export function readParts(json: unknown, where: string): TokenizerParts {
  const refusal = `${where} is not a tokenizer that can be used`;
  const read = checked(tokenizer, json, refusal, { hint: HINT });
  const [norms, cuts, decoders] = [read.normalizer ?? [], read.pre_tokenizer ?? [], read.decoder ?? []];
  const { model: own, added_tokens: added } = read;
  const has = (token: string): boolean => Object.hasOwn(own.vocab, token);
  const hasBytes =
    own.type === "BPE" &&
    (own.byte_fallback
      ? Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`).every(has)
      : cuts.some(({ type }) => type === "ByteLevel") && byteAlphabet().every(has));
  const unknown =
    own.type === "Unigram" ? own.unk_id : has(own.unk_token ?? "") ? own.vocab[own.unk_token ?? ""] : undefined;
  const drops = own.type === "BPE" && !own.unk_token && !own.byte_fallback && !hasBytes;
  const merges =
    own.type === "BPE" ? own.merges.map((pair) => (typeof pair === "string" ? pair.split(" ") : pair)) : [];
  const foreign = merges.find((pair) => ![...pair, pair.join("")].every(has));
  const firsts = cuts.flatMap(({ prepend_scheme: scheme }, i) => (scheme === "first" ? [i] : []));
  const isSplit = cuts.some(({ type }) => type === "Split");
  const first = cuts.findIndex(({ type }) => type === "Metaspace");
  // every piece begins with the replacement
  const isMetaspace =
    first >= 0 &&
    (first === 0 || cuts[first]?.prepend_scheme === "always") &&
    cuts.every((of, i) => i < first || of.type !== "Split" || of.isMetaspace);
  const plain = added.filter((token) => !token.special);
  const isNormalized = (token: (typeof plain)[number]): boolean => token.normalized ?? true;
  // tokens of the text are found before those of the normalized text
  const isStaged = norms.length > 0 || new Set(plain.map(isNormalized)).size > 1;
  const misplaced = misplacedToken(own, added);
  const toBytes = decoders.some(({ type }) => type === "ByteLevel");
  const problems: readonly (readonly [unknown, string])[] = [
    [foreign, `model.merges: the vocabulary lacks ${foreign?.join(" or ")}, or both together`],
    [unknown === undefined && !hasBytes && !drops, "model.unk_token: it is not in the vocabulary"],
    [own.type === "Unigram" && own.unk_id >= own.vocab.length, "model.unk_id: it is not in the vocabulary"],
    [own.type === "BPE" && own.fuse_unk && !hasBytes && isSplit, "model.fuse_unk: not supported with a pre-tokenizer"],
    [
      own.type === "Unigram" &&
        isSplit &&
        !(isMetaspace && own.vocab.some(([piece]) => piece === cuts[first]?.replacement)),
      "pre_tokenizer: a Unigram model is supported with Metaspace, its replacement in the vocabulary, or with none",
    ],
    [
      toBytes && (decoders.length > 1 || !cuts.some(({ type }) => type === "ByteLevel")),
      "decoder: ByteLevel is supported alone, and after the pre-tokenizer ByteLevel",
    ],
    [
      misplaced,
      `added_tokens: ${JSON.stringify(misplaced?.content)} has the id ${misplaced?.id}, and the library gives it ${misplaced?.given}`,
    ],
    [plain.some((token) => token.single_word), "added_tokens: single_word is not supported"],
    [
      plain.some((token) => token.lstrip || token.rstrip) && plain.some(({ content }) => content !== content.trim()),
      "added_tokens: lstrip and rstrip are not supported beside tokens that begin or end with blanks",
    ],
    [
      firsts.some((i) => i > 0) ||
        (firsts.length > 0 && (norms.some(({ type }) => type === "Replace") || (isStaged && plain.some(isNormalized)))),
      'pre_tokenizer.prepend_scheme: "first" is not supported after a part that may move the start of a text',
    ],
    [
      decoders.some(({ type }, i) => type === "ByteFallback" && (decoders[i + 1]?.type ?? "Fuse") !== "Fuse"),
      "decoder: ByteFallback is supported at the end, or before Fuse",
    ],
  ];
  const found = problems.flatMap(([isFound, problem]) => (isFound ? [problem] : []));
  if (found.length > 0) fail(`${refusal}:${listed(found)}`, { hint: HINT });
  // the neighbours of a letter that the vocabulary does not have are merged
  if (drops) cuts.push(replace(`[^\\uFFFF${Object.keys(own.vocab).filter(isLetter).map(escaped).join("")}]`, ""));
  const sequence = (key: string, parts: readonly Component[]): object | null =>
    parts.length < 2 ? (parts[0] ?? null) : { type: "Sequence", [key]: parts };
  return {
    added_tokens: added,
    normalizer: isStaged ? { type: "Sequence", normalizers: norms } : null,
    pre_tokenizer: sequence("pretokenizers", cuts),
    post_processor: null,
    decoder: sequence("decoders", decoders),
    model: own.type === "BPE" ? { ...own, merges } : own,
    unknown,
    hasBytes,
  };
}
