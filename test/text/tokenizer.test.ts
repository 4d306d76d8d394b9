import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { trainBpe } from "../../src/text/bpe.js";
import { Tokenizer } from "../../src/text/tokenizer.js";

describe("Tokenizer", () => {
  let dir = "";
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "tokenizer-"));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const write = (content: string): void => writeFileSync(join(dir, "tokenizer.json"), content);
  const special = ["<|endoftext|>", "<|im_end|>", "<|mask|>"];

  it("loads what trainBpe makes", () => {
    write(JSON.stringify(trainBpe(["submit submit"], { vocabSize: 262, specialTokens: special })));
    const tokenizer = Tokenizer.load(dir);
    assert.equal(tokenizer.vocabSize, 262);
    assert.equal(tokenizer.idOf("<|im_end|>"), 260);
    assert.equal(tokenizer.idOf("<|nothing|>"), undefined);
    assert.deepEqual(tokenizer.encode(""), []);
    assert.equal(tokenizer.decode([]), "");
  });

  it("keeps blanks before punctuation, and special tokens unless told otherwise", () => {
    const tokenizer = Tokenizer.fromJson(trainBpe([], { vocabSize: 259, specialTokens: special }), "memory");
    const ids = tokenizer.encode("it 's , fine . <|im_end|>");
    assert.equal(tokenizer.decode(ids), "it 's , fine . <|im_end|>");
    assert.equal(tokenizer.decode(ids, { skipSpecial: true }), "it 's , fine . ");
  });

  it("leaves out ids of a model's padded vocabulary", () => {
    const tokenizer = Tokenizer.fromJson(trainBpe([], { vocabSize: 256, specialTokens: [] }), "memory");
    assert.equal(tokenizer.decode([...tokenizer.encode("ab"), 4000, ...tokenizer.encode("c")]), "abc");
    assert.equal(tokenizer.decode([4000]), "");
  });

  it("turns bytes that are no UTF-8 into replacement characters", () => {
    const tokenizer = Tokenizer.fromJson(trainBpe([], { vocabSize: 256, specialTokens: [] }), "memory");
    assert.equal(tokenizer.decode(tokenizer.encode("é").slice(0, 1)), "\ufffd");
    assert.equal(tokenizer.decode(tokenizer.encode("a\ud800b")), "a\ufffdb");
  });

  it("names the file that is missing or broken", () => {
    const fails = (where: string): void => {
      assert.throws(
        () => Tokenizer.load(where),
        (error) => error instanceof UserError && error.message.includes(join(where, "tokenizer.json")),
      );
    };
    fails(join(dir, "nowhere"));
    for (const content of ["", "{", "null", "[]", "7", "{}", '{"model": {"type": "BPE"}}']) {
      write(content);
      fails(dir);
    }
    const json = trainBpe([], { vocabSize: 256, specialTokens: [] });
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
