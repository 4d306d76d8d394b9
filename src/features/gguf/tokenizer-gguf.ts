import { fail } from "../../core/errors.js";
import { byteLevelBpeJson, CUTTINGS } from "../../text/tokenizer-files.js";

/** `tokenizer.ggml.token_type`: what a token is. */
const CONTROL = 3;
const USER_DEFINED = 4;
const UNUSED = 5;

/**
 * The text of the tokenizer.json that says what the header of a GGUF file says.
 * @param where names the file in errors.
 * @throws UserError where the tokenizer is no byte-level BPE, or cuts text in a way that is not known.
 */
export function ggufTokenizerJson(metadata: Readonly<Record<string, unknown>>, where: string): string {
  const read = (key: string): unknown => metadata[`tokenizer.ggml.${key}`];
  const hint = "Export the checkpoint in safetensors, which comes with its tokenizer.json.";
  const [model, pre] = [read("model"), read("pre")];
  if (model !== "gpt2")
    fail(`${where}: its tokenizer is ${String(model)}, and only byte-level BPE (gpt2) is read.`, { hint });
  const cutting = CUTTINGS[String(pre)];
  if (cutting === undefined)
    fail(
      `${where}: its tokenizer cuts text as ${String(pre)} does, which is not known (${Object.keys(CUTTINGS).join(", ")}).`,
      { hint },
    );
  const [tokens, types, merges] = [read("tokens"), read("token_type"), read("merges")];
  const lists = [tokens, types, merges];
  if (!lists.every(Array.isArray) || (tokens as string[]).length !== (types as number[]).length)
    fail(`${where}: its header lacks the tokens, their types or the merges.`, { hint });
  const vocab: Record<string, number> = {};
  const addedTokens: object[] = [];
  (tokens as string[]).forEach((content, id) => {
    const type = (types as number[])[id];
    if (type === CONTROL || type === USER_DEFINED) {
      const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
      addedTokens.push({ id, content, ...plain, special: type === CONTROL });
    } else if (type !== UNUSED) vocab[content] = id;
  });
  return byteLevelBpeJson({
    cutting,
    addedTokens,
    vocab,
    merges: (merges as string[]).map((merge) => merge.split(" ") as [string, string]),
  });
}
