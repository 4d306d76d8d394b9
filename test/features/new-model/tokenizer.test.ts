import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { byteLevelBpeJson } from "../../../src/features/export/tokenizer-files.js";
import { trainBpe } from "../../../src/features/new-model/bpe.js";
import { Tokenizer } from "../../../src/text/tokenizer.js";
import { temporaryFolder } from "../../support/temporary.js";

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
