import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { packageRoot, readJson } from "../../../src/core/files.js";
import { tokenizerJson } from "../../../src/features/export/tokenizer-files.js";
import { Tokenizer } from "../../../src/text/tokenizer.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

const GOLDEN = join(packageRoot(), "test", "golden", "checkpoint");

describe("tokenizer of vocab.json and merges.txt", () => {
  let dir: string;
  beforeEach(() => {
    dir = temporaryFolder("tokenizer");
    for (const file of ["vocab.json", "merges.txt", "added_tokens.json"])
      cpSync(join(GOLDEN, "qwen3", file), join(dir, file));
  });

  const load = (): Tokenizer => Tokenizer.fromJson(JSON.parse(tokenizerJson(dir)), dir);
  const refused = (pattern: RegExp): void => assert.throws(load, userError(pattern));
  const write = (file: string, content: unknown): void =>
    writeFileSync(join(dir, file), typeof content === "string" ? content : JSON.stringify(content));

  it("gives the ids that transformers gives", () => {
    const tokenizer = load();
    const texts = readJson(join(GOLDEN, "strings.json")) as { text: string; ids: number[] }[];
    assert.ok(texts.length > 300);
    const plain = texts.filter(({ text }) => !/<\|\w+\|>/.test(text));
    assert.ok(plain.length > 250 && plain.length < texts.length);
    const wrong = plain.filter(({ text, ids }) => tokenizer.encode(text).join() !== ids.join());
    const actual = wrong.map(({ text, ids }) => ({ text, expected: ids, got: tokenizer.encode(text) }));
    assert.deepEqual(actual, []);
  });

  it("gives a text back, composed as the normaliser has it", () => {
    const tokenizer = load();
    for (const { text, ids } of readJson(join(GOLDEN, "strings.json")) as { text: string; ids: number[] }[])
      assert.equal(tokenizer.decode(ids), text.normalize("NFC"));
  });

  it("takes what tokenizer_config.json says of added tokens", () => {
    const plain = { lstrip: false, rstrip: false, normalized: false, single_word: false };
    const added = { content: "<end>", special: true, ...plain };
    write("tokenizer_config.json", { tokenizer_class: "Qwen2Tokenizer", added_tokens_decoder: { 336: added } });
    const tokenizer = load();
    assert.equal(tokenizer.idOf("<end>"), 336);
    assert.ok(!tokenizer.encode("<end>").includes(336));
    assert.equal(tokenizer.decode([336, 64], { skipSpecial: true }), tokenizer.decode([64]));
    // by their form alone: <think> is text, <|im_end|> is not
    assert.equal(tokenizer.decode([332, 333], { skipSpecial: true }), "<think>");
  });

  it("copies a tokenizer.json as it stands", () => {
    const text = ` ${tokenizerJson(dir)}\n`;
    write("tokenizer.json", text);
    assert.equal(tokenizerJson(dir), text);
    write("tokenizer.json", "{");
    refused(/tokenizer\.json is not valid JSON/);
  });

  it("cuts GPT-2's way where the class says so", () => {
    write("tokenizer_config.json", { tokenizer_class: "GPT2Tokenizer" });
    const json = JSON.parse(tokenizerJson(dir)) as { normalizer: unknown; pre_tokenizer: { type: string } };
    assert.equal(json.normalizer, null);
    assert.equal(json.pre_tokenizer.type, "ByteLevel");
    // one piece of digits, where Qwen takes digits one by one: both spell the text
    assert.equal(load().decode(load().encode("it's 123")), "it's 123");
  });

  it("puts a blank before a text where add_prefix_space says so", () => {
    for (const tokenizer_class of ["GPT2Tokenizer", "Qwen2Tokenizer"]) {
      write("tokenizer_config.json", { tokenizer_class });
      const plain = load();
      write("tokenizer_config.json", { tokenizer_class, add_prefix_space: true });
      for (const text of ["Ann", " Ann"]) assert.deepEqual(load().encode(text), plain.encode(" Ann"));
    }
  });

  it("refuses what is missing or does not fit, by name", () => {
    write("tokenizer_config.json", { tokenizer_class: "LlamaTokenizer" });
    refused(/tokenizer_class LlamaTokenizer is not supported/);
    rmSync(join(dir, "tokenizer_config.json"));
    const merges = readFileSync(join(dir, "merges.txt"), "utf8");
    write("merges.txt", `${merges}zz qq\n`);
    refused(/merges\.txt, line \d+: "zz qq" is not a merge/);
    write("merges.txt", merges);
    write("added_tokens.json", { "<x>": 5 });
    refused(/the id 5 is both/);
    write("added_tokens.json", ["<x>"]);
    refused(/added_tokens\.json is not an object of tokens/);
    rmSync(join(dir, "vocab.json"));
    refused(/neither tokenizer\.json nor vocab\.json with merges\.txt/);
  });
});
