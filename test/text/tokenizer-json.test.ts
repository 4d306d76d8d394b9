import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.js";
import { packageRoot, readJson } from "../../src/core/files.js";
import { Tokenizer } from "../../src/text/tokenizer.js";
import { userError } from "../support/user-error.js";

interface Json {
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
  readonly model: { readonly unk_token?: string | null; readonly unk_id?: number; readonly vocab: object };
}

interface Kind {
  readonly name: string;
  readonly json: Json;
  /** Absent where the Rust library cannot load or use it. */
  readonly ids?: readonly (readonly number[])[];
  readonly decoded: readonly (readonly [string, string])[];
}

const { texts, kinds } = JSON.parse(
  gunzipSync(readFileSync(join(packageRoot(), "test", "golden", "tokenizers", "kinds.json.gz"))).toString(),
) as { texts: readonly string[]; kinds: readonly Kind[] };

/** The kinds that are refused, with the words that name the reason. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  "pre UnicodeScripts": /pre-tokenizer "UnicodeScripts"/,
  "pre Split possessive": /pre_tokenizer\.pattern.* possessive/,
  "pre Split atomic": /pre_tokenizer\.pattern/,
  "pre Split backreference": /pre_tokenizer\.pattern/,
  "pre Split named": /pre_tokenizer\.pattern/,
  "pre Split flags": /pre_tokenizer\.pattern/,
  "pre Metaspace old": /pre_tokenizer\.add_prefix_space/,
  "pre Metaspace first after": /prepend_scheme/,
  "norm Strip, Metaspace first": /prepend_scheme/,
  "norm Replace flags": /normalizer\.pattern/,
  "norm ByteLevel": /normalizer "ByteLevel"/,
  "norm Nmt": /normalizer "Nmt"/,
  "model WordLevel without unk": /unk_token/,
  "model BPE fused": /fuse_unk/,
  "model BPE dropout": /model\.dropout/,
  "model BPE prefix": /continuing_subword_prefix/,
  "model BPE foreign merge": /model\.merges/,
  "model Unigram": /Unigram/,
  "model Unigram bytes": /byte_fallback/,
  "model Unigram few bytes": /byte_fallback/,
  "model Unigram without unk": /unk_id/,
  "added single_word": /single_word/,
  "added single_word lowercase": /single_word/,
  "added single_word prepend": /single_word/,
  "added all": /single_word/,
  "added all lowercase": /single_word/,
  "added all prepend": /single_word/,
  "added beyond": /added_tokens: "<s>" has the id 1000, and the library gives it \d+/,
  "added changed": /the normalizer changes the added token "Ann"/,
  "added blanks": /lstrip and rstrip/,
  "added first": /prepend_scheme/,
  "pre Split empty": /pre_tokenizer: Split .*x\*/,
  "pre Unigram Punctuation": /Unigram/,
  "decoder ByteLevel of pieces": /decoder: ByteLevel/,
  "decoder ByteFallback before Replace": /decoder: ByteFallback/,
  "decoder CTC": /decoder "CTC"/,
};

const specialOf = ({ added_tokens: added }: Json): ReadonlySet<number> =>
  new Set(added.filter(({ special }) => special).map(({ id }) => id));

describe("readParts", () => {
  it("gives the ids and texts of the Rust library, or refuses the part by name", () => {
    assert.ok(kinds.length > 150 && texts.length > 60);
    assert.ok(kinds.filter(({ name }) => name.startsWith("released ")).every(({ name }) => !(name in REFUSED)));
    const wrong: object[] = [];
    for (const { name, json, ids, decoded } of kinds) {
      const reason = REFUSED[name];
      if (reason !== undefined) {
        assert.throws(() => Tokenizer.fromJson(json, "memory"), userError(reason, { hint: /./ }), name);
        continue;
      }
      assert.ok(ids !== undefined, `${name} is admitted, and the Rust library cannot use it`);
      const tokenizer = Tokenizer.fromJson(json, "memory");
      const special = specialOf(json);
      texts.forEach((text, i) => {
        const [expected, [whole, rest]] = [ids[i] as readonly number[], decoded[i] as readonly [string, string]];
        const got = tokenizer.encode(text);
        // there a piece of the vocabulary is the special token itself
        if (!expected.some((id) => special.has(id)) && got.join() !== expected.join())
          wrong.push({ name, text, expected, got });
        for (const [part, said] of [[expected, whole] as const, [expected.slice(1), rest] as const])
          if (tokenizer.decode(part) !== said) wrong.push({ name, part, said, decoded: tokenizer.decode(part) });
      });
    }
    assert.deepEqual(wrong, []);
  });

  it("lists the words that it has no tokens for", () => {
    const words = (name: string, bytes = false): string[] => {
      const { json } = kinds.find((kind) => kind.name === name) as Kind;
      return Tokenizer.fromJson(json, name).unknownWords("Ann \u0416\u0416\n Ann ", { bytes });
    };
    assert.deepEqual(words("model WordLevel"), ["ЖЖ"]);
    assert.deepEqual(words("released qwen2 qwen3"), []);
    assert.deepEqual(words("released qwen2 qwen3", true), ["ЖЖ"]);
  });

  it("refuses an option and a component that it does not know", () => {
    const { json } = kinds.find(({ name }) => name === "released qwen2 qwen3") as Kind;
    for (const [part, problem] of [
      [{ normalizer: { type: "NFC", strict: true } }, /normalizer: Unrecognized key: "strict"/],
      [{ normalizer: { type: "Precompiled", precompiled_charsmap: "" } }, /precompiled_charsmap: is no precompiled/],
      [{ pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Nil" }] } }, /pretokenizers\.0.* "Nil"/],
      [{ model: { ...json.model, type: "Sampled" } }, /model "Sampled"/],
      [{ decoder: {} }, /decoder undefined/],
    ] as const)
      assert.throws(() => Tokenizer.fromJson({ ...json, ...part }, "memory"), problem);
  });
});

it("a word of 200,000 letters has as many ids", () => {
  const { json } = kinds.find(({ name }) => name === "model Unigram Metaspace") as Kind;
  assert.ok(Tokenizer.fromJson(json, "memory").encode("x".repeat(200_000)).length > 100_000);
});

it("a regular expression that never ends is refused after a time limit, by file", () => {
  const { json } = kinds.find(({ name }) => name === "released qwen2 qwen3") as Kind;
  const pre_tokenizer = {
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: "(?:a+)+b" }, behavior: "Isolated", invert: false },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
    ],
  };
  const tokenizer = Tokenizer.fromJson({ ...json, pre_tokenizer }, "mine/tokenizer.json");
  assert.equal(tokenizer.decode(tokenizer.encode("a lamb")), "a lamb");
  const slow = /^mine\/tokenizer\.json: a regular expression takes more than 5 s on a text of 60 characters/;
  const refusal = userError(slow, { hint: /without repetitions inside repetitions/ });
  assert.throws(() => tokenizer.encode("a".repeat(60)), refusal);
});

describe("a text gives no special id", () => {
  /** Every tokenizer, with the ids that no text may give. */
  const shipped = ["tiny-refusion", "tiny-masked-lm", "tiny-fsdfm", "tiny-refusion-letters"].map((name) => {
    const dir = join(packageRoot(), "models", name);
    const config = readJson(join(dir, "config.json")) as Record<string, number>;
    const reserved = ["mask_token_id", "eos_token_id", "pad_token_id"].map((key) => config[key] as number);
    return { name, json: readJson(join(dir, "tokenizer.json")) as Json, reserved };
  });
  const made = kinds.filter(({ name }) => !(name in REFUSED)).map(({ name, json }) => ({ name, json, reserved: [] }));
  const opened = [...shipped, ...made].map(({ name, json, reserved }) => {
    const special = new Set([...specialOf(json), ...reserved]);
    const words = json.added_tokens.map(({ content }) => content);
    return { name, special, words, tokenizer: Tokenizer.fromJson(json, name, reserved) };
  });
  const anyText = (words: readonly string[]) =>
    fc
      .array(fc.oneof(fc.constantFrom(...words, " ", "▁", "<", ">", "mask", "Ann"), fc.string({ unit: "binary" })))
      .map((parts) => parts.join(""));

  it("whatever the vocabulary is", () => {
    assert.ok(opened.length > 110);
    for (const { name, special, words, tokenizer } of opened)
      fc.assert(
        fc.property(anyText(words), (text) => {
          assert.ok(!tokenizer.encode(text).some((id) => special.has(id)), `${name}: ${JSON.stringify(text)}`);
        }),
        { seed: 7, numRuns: 25 },
      );
  });

  it("whichever token of the vocabulary is reserved, or the model is refused", () => {
    const small = kinds.filter(({ name }) => /^(model|released) /.test(name) && !(name in REFUSED));
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...small), fc.nat(), anyText(["<unk>", "[UNK]"]), ({ json, name }, n, text) => {
        const { vocab } = json.model;
        const pieces = Array.isArray(vocab) ? vocab.map(([piece]) => piece as string) : Object.keys(vocab);
        const piece = pieces[n % pieces.length] as string;
        const id = Array.isArray(vocab) ? n % pieces.length : ((vocab as Record<string, number>)[piece] as number);
        let tokenizer: Tokenizer;
        try {
          tokenizer = Tokenizer.fromJson(json, name, [id]);
        } catch (error) {
          assert.ok(error instanceof UserError && /texts need this token/.test(error.message), String(error));
          refused++;
          return;
        }
        for (const part of [piece, `${piece}${piece}`, tokenizer.decode([id]), `a ${tokenizer.decode([id])} b`, text])
          assert.ok(!tokenizer.encode(part).includes(id), `${name}: ${JSON.stringify([piece, part])}`);
      }),
      { seed: 7, numRuns: 300 },
    );
    assert.ok(refused > 0);
  });
});
