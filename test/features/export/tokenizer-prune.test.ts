import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot, readJson } from "../../../src/core/files.js";
import { tokenizerJson } from "../../../src/features/export/tokenizer-files.js";
import { pruneTokenizer } from "../../../src/features/export/tokenizer-prune.js";
import { Tokenizer } from "../../../src/text/tokenizer.js";

const GOLDEN = join(packageRoot(), "test", "golden", "checkpoint");
const CORPUS = "the lazy dog\nadd first name | Ada\n<|im_start|>user it's 2024<|im_end|>";

describe("a pruned tokenizer", () => {
  const text = tokenizerJson(join(GOLDEN, "qwen3"));
  const whole = Tokenizer.fromJson(JSON.parse(text), "whole");
  const { json, kept } = pruneTokenizer(text, CORPUS, [], "whole");
  const pruned = Tokenizer.fromJson(JSON.parse(json), "pruned");
  const oldIds = (ids: readonly number[]): (number | undefined)[] => ids.map((id) => kept[id]);

  it("encodes its corpus as before, with fewer tokens", () => {
    assert.ok(kept.length < whole.vocabSize - 20, `${kept.length} of ${whole.vocabSize}`);
    assert.equal(pruned.vocabSize, kept.length);
    for (const part of [CORPUS, ...CORPUS.split("\n")]) {
      assert.deepEqual(oldIds(pruned.encode(part)), whole.encode(part));
      assert.equal(pruned.decode(pruned.encode(part)), part);
    }
    assert.deepEqual(oldIds([pruned.idOf("<|mask|>") as number]), [whole.idOf("<|mask|>")]);
  });

  it("holds every other text in shorter tokens", () => {
    const strings = readJson(join(GOLDEN, "strings.json")) as { text: string; ids: number[] }[];
    for (const { text, ids } of strings) assert.equal(pruned.decode(pruned.encode(text)), whole.decode(ids));
    assert.ok(strings.some(({ text, ids }) => pruned.encode(text).length > ids.length));
  });

  it("keeps what is asked for, and the ids of templates", () => {
    const template = { single: [], pair: [], special_tokens: { a: { ids: [kept.at(-1)] } } };
    const changed = { ...JSON.parse(text), post_processor: { type: "TemplateProcessing", ...template } };
    const spare = Array.from({ length: whole.vocabSize }, (_, id) => id).find((id) => !kept.includes(id)) as number;
    const other = pruneTokenizer(JSON.stringify(changed), CORPUS, [spare], "whole");
    assert.ok(other.kept.includes(spare));
    const { post_processor } = JSON.parse(other.json);
    assert.deepEqual(post_processor.special_tokens.a.ids, [other.kept.length - 1]);
    // all of its own text: nothing is left out
    const corpus = readFileSync(join(GOLDEN, "strings.json"), "utf8");
    assert.ok(pruneTokenizer(text, corpus, [], "whole").kept.length > kept.length);
  });

  it("is made of BPE only", () => {
    const unigram = JSON.stringify({ ...JSON.parse(text), model: { type: "Unigram", vocab: [] } });
    assert.throws(() => pruneTokenizer(unigram, CORPUS, [], "its tokenizer"), /its tokenizer is Unigram/);
  });
});
