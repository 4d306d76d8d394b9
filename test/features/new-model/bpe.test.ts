import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import { byteLevelBpeJson } from "../../../src/features/export/tokenizer-files.js";
import { trainBpe } from "../../../src/features/new-model/bpe.js";
import { Tokenizer } from "../../../src/text/tokenizer.js";
import { temporaryFolder } from "../../support/temporary.js";

const SPECIAL = ["<|endoftext|>", "<|im_end|>", "<|mask|>"];
const CORPUS = [
  "form: Contact us\nFull name | Ann Lee\nStart date | 2024-05-17\nNewsletter | yes\n\n",
  "fill Full name | Ann Lee\nfill Start date | 2024-05-17\ncheck Newsletter\nsubmit",
  "form: Booking\nFull name | Bo Kim\nStart date | 2023-11-02\nGuests | 4\n\n",
  "fill Full name | Bo Kim\nfill Start date | 2023-11-02\nselect Guests | 4\nsubmit",
];
const tokenizerOf = (bpe: ReturnType<typeof trainBpe>): Tokenizer =>
  Tokenizer.fromJson(JSON.parse(byteLevelBpeJson(bpe)), "trained");
const trained = trainBpe(CORPUS, { vocabSize: 400, specialTokens: SPECIAL });
const tokenizer = tokenizerOf(trained);
const pieces = (text: string): string[] => tokenizer.encode(text).map((id) => tokenizer.decode([id]));

/** Merges learnt by counting everything again for every merge: slow and plain. */
function plainMerges(words: readonly string[], count: number): string[] {
  let split = words.map((word) => [...word]);
  const order = [...new Set(split.flat())].sort();
  const merges: string[] = [];
  while (merges.length < count) {
    const counts = new Map<string, { pair: [string, string]; n: number }>();
    for (const word of split) {
      for (let i = 1; i < word.length; i++) {
        const pair: [string, string] = [word[i - 1] as string, word[i] as string];
        const entry = counts.get(pair.join(" ")) ?? { pair, n: 0 };
        entry.n++;
        counts.set(pair.join(" "), entry);
      }
    }
    const rank = (token: string): number => order.indexOf(token);
    const best = [...counts.values()].sort(
      (a, b) => b.n - a.n || rank(a.pair[0]) - rank(b.pair[0]) || rank(a.pair[1]) - rank(b.pair[1]),
    )[0];
    if (best === undefined || best.n < 2) break;
    merges.push(best.pair.join(" "));
    const merged = best.pair.join("");
    if (!order.includes(merged)) order.push(merged);
    split = split.map((word) => {
      const out: string[] = [];
      for (let i = 0; i < word.length; i++) {
        if (word[i] === best.pair[0] && word[i + 1] === best.pair[1]) {
          out.push(merged);
          i++;
        } else out.push(word[i] as string);
      }
      return out;
    });
  }
  return merges;
}

describe("trainBpe", () => {
  it("learns what plain counting learns", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 8 }), { maxLength: 12 }),
        (words) => {
          const { vocab, merges } = trainBpe(words, { vocabSize: 280, specialTokens: [] });
          const learnt = merges.map((pair) => pair.join(" "));
          // merges that spell an existing token leave room for further ones
          assert.deepEqual(learnt, plainMerges(words, learnt.length));
          assert.ok(Object.keys(vocab).length === 280 || plainMerges(words, 99).length === learnt.length);
        },
      ),
      { seed: 1, numRuns: 200 },
    );
  });

  it("is deterministic and independent of the order of texts", () => {
    for (const texts of [CORPUS, [...CORPUS].reverse()])
      assert.deepEqual(trainBpe(texts, { vocabSize: 400, specialTokens: SPECIAL }), trained);
  });

  it("puts the special tokens last, in order", () => {
    const places = SPECIAL.map((token) => (tokenizer.idOf(token) as number) - tokenizer.vocabSize);
    assert.deepEqual(places, [-3, -2, -1]);
  });

  it("fills the vocabulary exactly, or stops where pairs are rare", () => {
    const full = trainBpe(CORPUS, { vocabSize: 300, specialTokens: SPECIAL });
    assert.equal(tokenizerOf(full).vocabSize, 300);
    const ids = Object.values(full.vocab).sort((a, b) => a - b);
    assert.deepEqual(ids, [...ids.keys()]);
    assert.equal(ids.length, 300);
    const bare = trainBpe(["xy"], { vocabSize: 300, specialTokens: SPECIAL });
    assert.equal(tokenizerOf(bare).vocabSize, 259);
  });

  it("cuts lines, separators, words and digit pairs", () => {
    const wide = tokenizerOf(trainBpe(Array(9).fill(CORPUS.join("\n")), { vocabSize: 768, specialTokens: SPECIAL }));
    const cut = (text: string): string[] => wide.encode(text).map((id) => wide.decode([id]));
    assert.deepEqual(cut("Full name | Ann Lee\n\n"), ["Full", " name", " |", " Ann", " Lee", "\n", "\n"]);
    assert.deepEqual(cut("Start date | 2024-05-17"), ["Start", " date", " | ", "20", "24", "-", "05", "-", "17"]);
    const numbers = pieces("date 123456789").filter((piece) => /\d/.test(piece));
    assert.ok(numbers.every((piece) => /^\d{1,2}$/.test(piece)));
  });

  it("gives every text back", () => {
    const lines = fc.string({ unit: fc.constantFrom(..."\n\r\t |4٤aé字🙂-\u0085\u00a0\ufeff", "e\u0301") });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), lines), (text) => {
        assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
      }),
      { seed: 2, numRuns: 2000 },
    );
  });

  it("writes keys that JavaScript treats specially as ordinary tokens", () => {
    const { vocab } = trainBpe(Array(4).fill("a__proto__"), { vocabSize: 300, specialTokens: ["__proto__"] });
    assert.ok(Object.hasOwn(vocab, "__proto__"));
  });
});

describe("Tokenizer", () => {
  const dir = temporaryFolder("tokenizer");

  const write = (content: string): void => writeFileSync(join(dir, "tokenizer.json"), content);
  const special = ["<|endoftext|>", "<|im_end|>", "<|mask|>"];
  const trained = (corpus: readonly string[], vocabSize: number, specialTokens: readonly string[] = []): string =>
    byteLevelBpeJson(trainBpe(corpus, { vocabSize, specialTokens }));

  it("loads what trainBpe makes", () => {
    write(trained(["submit submit"], 262, special));
    const tokenizer = Tokenizer.load(dir);
    assert.equal(tokenizer.vocabSize, 262);
    assert.equal(tokenizer.idOf("<|im_end|>"), 260);
    assert.equal(tokenizer.idOf("<|nothing|>"), undefined);
    assert.deepEqual(tokenizer.encode(""), []);
    assert.equal(tokenizer.decode([]), "");
  });

  it("keeps blanks before punctuation, and special tokens unless told otherwise", () => {
    const tokenizer = Tokenizer.fromJson(JSON.parse(trained([], 259, special)), "memory");
    const ids = [...tokenizer.encode("it 's , fine . "), tokenizer.idOf("<|im_end|>") as number];
    assert.equal(tokenizer.decode(ids), "it 's , fine . <|im_end|>");
    assert.equal(tokenizer.decode(ids, { skipSpecial: true }), "it 's , fine . ");
  });

  const model = (of: object, tokens: readonly object[], cut: object | null = null): Tokenizer =>
    Tokenizer.fromJson(
      { normalizer: null, pre_tokenizer: cut, post_processor: null, decoder: null, added_tokens: tokens, model: of },
      "memory",
    );

  it("refuses ids that are none, and a vocabulary that reads nothing", () => {
    for (const [vocab, problem] of [
      [{ a: 1e9 }, /has the id 1000000000/],
      [{ a: -1 }, /has the id -1/],
      [{ a: "x" }, /has the id x/],
      [{ a: 0, b: 0 }, /"a" and "b" both have the id 0/],
    ] as const)
      assert.throws(() => model({ type: "BPE", vocab, merges: [], unk_token: "a" }, []), problem);
    const nothing = { type: "Split", pattern: { Regex: "[\\s\\S]" }, behavior: "Removed", invert: false };
    const z = { type: "BPE", vocab: { z: 0 }, merges: [], unk_token: "z" };
    assert.throws(() => model(z, [], nothing), /yields no ids/);
    assert.throws(() => model({ type: "BPE", vocab: { zzz: 0 }, merges: [] }, []), /merges|yields no ids/);
  });

  it("leaves out ids of a model's padded vocabulary", () => {
    const tokenizer = Tokenizer.fromJson(JSON.parse(trained([], 256)), "memory");
    assert.equal(tokenizer.decode([...tokenizer.encode("ab"), 4000, ...tokenizer.encode("c")]), "abc");
    assert.equal(tokenizer.decode([4000]), "");
  });

  it("turns bytes that are no UTF-8 into replacement characters", () => {
    const tokenizer = Tokenizer.fromJson(JSON.parse(trained([], 256)), "memory");
    assert.equal(tokenizer.decode(tokenizer.encode("é").slice(0, 1)), "\ufffd");
    assert.equal(tokenizer.decode(tokenizer.encode("a\ud800b")), "a\ufffdb");
  });

  it("names the file that is missing or broken", () => {
    const fails = (where: string): void =>
      assert.throws(
        () => Tokenizer.load(where),
        (error) => error instanceof UserError && error.message.includes(join(where, "tokenizer.json")),
      );
    fails(join(dir, "nowhere"));
    for (const content of ["", "{", "null", "[]", "7", "{}", '{"model": {"type": "BPE"}}']) {
      write(content);
      fails(dir);
    }
    const json = JSON.parse(trained([], 256));
    for (const broken of [
      { ...json, added_tokens: undefined },
      { ...json, pre_tokenizer: { type: "Unheard" } },
      { ...json, model: { ...json.model, vocab: {} } },
      { ...json, model: { ...json.model, vocab: undefined } },
      { ...json, model: { ...json.model, merges: undefined } },
    ]) {
      write(JSON.stringify(broken));
      fails(dir);
    }
  });
});
