"""Encodes texts with the Rust library of Hugging Face's tokenizers: test/golden/tokenizers/kinds.json.gz.

    pip install tokenizers
    python3 scripts/golden/tokenizer_kinds.py --out test/golden/tokenizers

Every kind is one tokenizer.json with a tiny vocabulary made here: the shapes of released models, and one component or
option at a time. `encode_special_tokens` is on, so a special token that is written in a text is text, and no special
token is added. A kind that the Rust library cannot load or use has `error` and no ids.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

CORPUS = [
    "form: Contact us\n Full name | Ann Lee\n Newsletter | yes\n\n",
    "fill Full name | Müller Łukasz\nselect Country | Türkiye\ncheck Newsletter\nsubmit\n",
    "the quick brown fox, isn't it? They've said: we'll see 123 4567 89 times!",
    "Dear team, I am Zoë Brontë from São Paulo; call 030 1234567 (after 18:30).",
    "naïve façade coöperate ﬁne １２３ ﾊﾝｶｸ ½ ² Ⅷ ①",
    "日本語のテキスト 中文字符 한국어 العربية ١٢٣ हिन्दी ไทย עברית Ελληνικά ΟΔΟΣ Привет",
    "👩‍👩‍👧 🇩🇪 👍🏽 e\u0301 n\u0303  two  spaces\ttab\r\nline",
]
TEXTS = [
    "", " ", "  ", "   a", "a", "Ann Lee", " Ann Lee ", "Müller", "Mu\u0308ller Łukasz", "isn't it? They'VE said", "It'\u017f we'\u212as",
    "form: Contact us\n Full name | Ann Lee\n\n", "fill Full name | Zoë\nsubmit\n", "a\tb\r\nc\n\n\nd", "\n", "\n\n ", "\t", "two  spaces   three    four",
    "trailing   ", "１２３ ٤٥٦ ৭৮ ½ ² Ⅷ ① 四", "123 4567 89 1,234.56", "12345678901", "²½Ⅷ", "a1b2²c", "...!?---", "(a), [b]; {c}: «d» “e” — f…", "$5 + 3€ < 4 £ ^ ~ ` | = ¬ © ™",
    "snake_case kebab-case a.b@c.de https://x.y/z?q=1#f", "ΟΔΟΣ Ὀδυσσεύς σΣς", "İstanbul ıI ŞİŞLİ", "Straße STRASSE ẞ ﬁ ﬀ Ǆ", "日本語のテキスト", "中文 字符 𠀀𠮷 mixed漢字text",
    "한국어 한국", "العربية ١٢٣ لَا", "हिन्दी क्षि", "ไทยไม่มีช่องว่าง", "עברית שָׁלוֹם", "👩‍👩‍👧 family", "🇩🇪🇫🇷 👍🏽 ❤️", "e\u0301\u0301 n\u0303 \u0301a",
    "zero\u200bwidth\u200djoin\ufeffbom \u200eltr", "\ufeffstart", "nbsp\u00a0thin\u2009ideo\u3000nel\u0085ls\u2028ps\u2029end", "ctl\u0001\u0007\u001b\u007f\u009f\ufffd", "private \ue000 \U000f0000 unassigned \u0378",
    "<mask>", "Ann <mask> Lee", "<s> a </s> <unk> <pad>", "[MASK] [CLS] a [SEP]", "<|endoftext|> a <|mask|><|im_end|>", "a<tool>b <tool> c<tool>", "TOOL tool xtool toolx tool. (tool)", " <l>  <r>  <lr>  x<l>y<r>z",
    "<0x0A> <0x41>", "▁a ▁▁b", "a▁b", "Ġa Ċ", "##a a##b", "</w> a</w>", "@@ a@@", "$& $1 $$ \\1", "xyzzy qqq ЖЖЖ жук", "ЖЖ ЖЖ Ж a Ж", "submitsubmit", "the quick brown fox", "unbelievable coöperate naïve", "A" * 120, "ab" * 60 + " c",
]  # fmt: skip

SPECIAL = ["<s>", "</s>", "<pad>", "<mask>", "<|endoftext|>", "<|im_end|>", "<|mask|>", "[MASK]", "[CLS]", "[SEP]"]


def added(content: str, id: int, special: bool = True, **flags: bool) -> dict:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": not special}
    return {"id": id, "content": content, "special": special, **plain, **flags}


def trained(model, trainer, pre=None, norm=None) -> dict:
    tokenizer = Tokenizer(model)
    if pre is not None:
        tokenizer.pre_tokenizer = pre
    if norm is not None:
        tokenizer.normalizer = norm
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    return json.loads(tokenizer.to_str())["model"]


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def byte_level() -> dict:
    return trained(
        models.BPE(), trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()), pre_tokenizers.ByteLevel(add_prefix_space=False)
    )  # fmt: skip


def sentence_piece(limit: int = 40) -> dict:
    """A BPE of characters with the tokens of all bytes, as Llama 2 has."""
    model = trained(
        models.BPE(), trainers.BpeTrainer(vocab_size=200, limit_alphabet=limit, show_progress=False), pre_tokenizers.Metaspace(split=False)
    )  # fmt: skip
    words = ["<unk>", *BYTES, *(token for token in model["vocab"])]
    return model | {"vocab": {token: i for i, token in enumerate(words)}, "unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True}  # fmt: skip


def characters(**options) -> dict:
    """A BPE of characters without the tokens of bytes."""
    model = trained(models.BPE(), trainers.BpeTrainer(vocab_size=160, limit_alphabet=45, show_progress=False), pre_tokenizers.Whitespace())  # fmt: skip
    words = ["<unk>", *model["vocab"]]
    return model | {"vocab": {token: i for i, token in enumerate(words)}, "unk_token": "<unk>", **options}


def word_level(pre=None, **options) -> dict:
    model = trained(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(vocab_size=150, show_progress=False, special_tokens=["[UNK]"]), pre or pre_tokenizers.Whitespace())  # fmt: skip
    return model | options


def word_piece(**options) -> dict:
    model = trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=220, limit_alphabet=70, show_progress=False, special_tokens=["[UNK]", "[MASK]", "[CLS]", "[SEP]"]), pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer())  # fmt: skip
    return model | options


def unigram(extra: list[str] = [], **options) -> dict:
    pieces = [["<unk>", 0.0], *[[piece, 0.0] for piece in extra]]
    model = trained(models.Unigram(), trainers.UnigramTrainer(vocab_size=300, show_progress=False, unk_token="<unk>"), pre_tokenizers.Metaspace())  # fmt: skip
    # without the rare characters of the corpus, so that some are unknown
    rest = [[piece, round(score, 6)] for piece, score in model["vocab"] if piece != "<unk>" and not any("ऀ" <= c for c in piece if c != "▁")]  # fmt: skip
    return {"type": "Unigram", "unk_id": 0, "vocab": pieces + rest, "byte_fallback": False, **options}


def seq(*parts: dict, kind: str = "pretokenizers") -> dict:
    return {"type": "Sequence", kind: list(parts)}


def norms(*parts: dict) -> dict:
    return seq(*parts, kind="normalizers")


def split(pattern: str | dict, behavior: str = "Isolated", invert: bool = False) -> dict:
    return {"type": "Split", "pattern": {"Regex": pattern} if isinstance(pattern, str) else pattern, "behavior": behavior, "invert": invert}  # fmt: skip


def replaced(pattern: dict, content: str) -> dict:
    return {"type": "Replace", "pattern": pattern, "content": content}


def bytes_(prefix: bool = False, regex: bool = True) -> dict:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def meta(scheme: str = "always", split: bool = True) -> dict:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def bert(**options) -> dict:
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **options}  # fmt: skip


QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|")
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
CASES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{CASES}|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{CASES}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
SPACE = {"String": " "}


# of SentencePieceTrainer.train(normalization_rule_tsv=...): blanks, full-width digits, ligatures, u with two accents, ...
CHARSMAP = (
    "AAQAAAAgAAAJDQAAAQAAgBQAAIDMJAIAiDEAAIEFAAAjAACAoCkAACAAAIAFAACAnx0AAB0AAIAWAACAi3kAAJHwAgAAAACApw0AAA8AAICgHQAAAwAAgL19AACABAIAgFUAAIEFAAAaAACAvykAAI"
    "W0AgCS9QAAk/0AAIBsAgCRLQAArOQCAAsAAIANAACAihUAAL54AgCfCQAAJgAAgCoAAIApAAAAKAAAACsAAAAqAAAALQAAACwAAAAvAAAALgAAALz4AgAwAAAAvmwCADIAAAA1AAAANAAAADcAAAC7"
    "SAIAOQAAADgAAAA7AAAAOgAAAD0AAACpwQAAPwAAAD4AAABBAAAAQAAAAEMAAABCAAAARQAAAEQAAABHAAAARgAAAEkAAABBKQEASwAAAEoAAABNAAAATAAAAE8AAABOAAAAUQAAAFAAAABTAAAAUg"
    "AAAFUAAABUAAAAVwAAAFYAAABZAAAAWAAAAFsAAABaAAAAXQAAAFwAAABfAAAAXgAAAGEAAABgAAAAYwAAAGIAAABlAAAAZAAAAGcAAABmAAAAaQAAAGgAAABrAAAAagAAAG0AAABsAAAAbwAAAG4A"
    "AABxAAAAcAAAAHMAAAByAAAAdQAAAHQAAAB3AAAAdgAAAHkAAAB4AAAAewAAAHoAAAB9AAAAddQCAH8AAAB+AAAAgQAAAIAAAACDAAAAggAAAIUAAACEAAAAhwAAAIYAAACJAAAAiAAAAIsAAACKAA"
    "AAjQAAAIwAAACPAAAAjgAAAJEAAACQAAAAkwAAAJIAAACVAAAAlAAAAJcAAACWAAAAmQAAAJgAAACbAAAAmgAAAJ0AAACcAAAAnwAAAJ4AAAChAAAAoAAAAKMAAACiAAAApQAAAKQAAACnAAAApgAA"
    "AKkAAACoAAAAqwAAAKoAAACtAAAArAAAAK8AAACuAAAAsQAAALAAAACzAAAAsgAAALUAAAC0AAAAtwAAALYAAAC5AAAAuAAAALsAAAC6AAAAvQAAALwAAAC/AAAAvgAAAMEAAADAAAAAwwAAAMIAAA"
    "DFAAAAzAgBAMcAAADGAAAAyQAAAO9MAQDCiAEAw3wBAM0AAADMAAAAzwAAAM4AAADRAAAA0AAAANMAAADSAAAA1QAAANQAAADXAAAA1gAAANkAAADYAAAA2wAAANoAAADdAAAA3AAAAN8AAADeAAAA"
    "4QAAAOAAAADjAAAA4gAAAOUAAADkAAAA5wAAAO+sAQDpAAAA6AAAAOLQAQDj9AEA7QAAAOwAAADvAAAA7gAAAPEAAADwAAAA8wAAAPIAAAD1AAAA9AAAAPcAAAD2AAAA+QAAAPgAAAD7AAAA+gAAAP"
    "0AAAD8AAAA/wAAAP4AAAAAIAAxADHigYQyADIAMwBWSUlJAGEAZcyBAGZpAHNzAMO8AMeYAOODjwDjg5EA"
)  # fmt: skip
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": CHARSMAP}


def decoders(*parts: dict) -> dict:
    return seq(*parts, kind="decoders")


LLAMA2_DECODER = decoders(replaced({"String": "▁"}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0})  # fmt: skip


def kinds() -> dict[str, dict]:
    """Returns every kind by name: normalizer, pre_tokenizer, model, decoder and added tokens beyond the special ones."""
    bpe, pieces, chars, words, wordp, uni = byte_level(), sentence_piece(), characters(), word_level(), word_piece(), unigram()  # fmt: skip
    level = bytes_(regex=False)
    out: dict[str, dict] = {}

    def add(name, model, pre=None, norm=None, decoder=None, tokens=(), **more):
        out[name] = {"model": model, "pre_tokenizer": pre, "normalizer": norm, "decoder": decoder, "tokens": list(tokens), **more}  # fmt: skip

    def bytewise(name, pre, norm=None, **options):
        tokens = options.pop("tokens", ())
        add(name, bpe | options, pre, norm, bytes_(True), tokens)

    nfc = {"type": "NFC"}
    bytewise("released gpt2", bytes_())
    bytewise("released smollm2", seq({"type": "Digits", "individual_digits": True}, bytes_()))
    bytewise("released qwen2 qwen3", seq(split(QWEN), level), nfc, tokens=[("<think>", {"normalized": False}), ("<tool>", {"normalized": False})])  # fmt: skip
    bytewise("released llama3 phi4 olmo2", seq(split(LLAMA3), level), ignore_merges=True)
    bytewise("released gpt-neox", bytes_(), nfc, tokens=[("  ", {}), ("    ", {})])
    bytewise("released roberta", bytes_(True))
    bytewise("released gpt-oss", seq(split(O200K), level), ignore_merges=True)
    bytewise("released mistral-nemo", seq(split(TEKKEN), level), ignore_merges=True)
    bytewise("released deepseek", seq(split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK), level))
    bytewise("released falcon", seq({"type": "Punctuation", "behavior": "Contiguous"}, bytes_(), {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]")))  # fmt: skip
    bytewise("released bloom", seq(split(BLOOM), level))
    bytewise("released command-r", seq({"type": "Digits", "individual_digits": True}, bytes_()), nfc)
    add("released llama2 phi3", pieces, None, norms({"type": "Prepend", "prepend": "▁"}, replaced(SPACE, "▁")), LLAMA2_DECODER, [("<tool>", {"rstrip": True, "normalized": False})])  # fmt: skip
    add("released mistral", pieces, meta("first", False), None, LLAMA2_DECODER)
    add("released gemma", pieces, split(SPACE, "MergedWithPrevious"), replaced(SPACE, "▁"), decoders(replaced({"String": "▁"}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}), [("▁▁", {"normalized": False}), ("\n\n", {"normalized": False})])  # fmt: skip
    add("released bert uncased", wordp, {"type": "BertPreTokenizer"}, bert(), {"type": "WordPiece", "prefix": "##", "cleanup": True})  # fmt: skip
    add("released clip", chars | {"end_of_word_suffix": "</w>", "vocab": chars["vocab"] | {f"{c}</w>": len(chars["vocab"]) + i for i, c in enumerate("aeknost!")}}, seq(split(CLIP, "Removed", True), level), norms(nfc, replaced({"Regex": r"\s+"}, " "), {"type": "Lowercase"}))  # fmt: skip

    add("released t5 xlm-r", uni, seq({"type": "WhitespaceSplit"}, meta()), PRECOMPILED, meta())
    add("released mt5 flan-t5", uni, meta(), norms(PRECOMPILED, replaced({"Regex": " {2,}"}, " ")), meta())
    add("released deberta-v3", uni, meta(), norms({"type": "Strip", "strip_left": True, "strip_right": True}, PRECOMPILED, replaced({"Regex": " {2,}"}, " ")), meta())  # fmt: skip

    for name, pre in {
        "Whitespace": {"type": "Whitespace"},
        "WhitespaceSplit": {"type": "WhitespaceSplit"},
        "BertPreTokenizer": {"type": "BertPreTokenizer"},
        "Digits": {"type": "Digits", "individual_digits": False},
        "Digits individual": {"type": "Digits", "individual_digits": True},
        "CharDelimiterSplit": {"type": "CharDelimiterSplit", "delimiter": "|"},
        "UnicodeScripts": {"type": "UnicodeScripts"},
        "FixedLength": {"type": "FixedLength", "length": 3},
        "Sequence": seq({"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}),
        "ByteLevel prefix": seq({"type": "WhitespaceSplit"}, bytes_(True)),
        **{f"Punctuation {b}": {"type": "Punctuation", "behavior": b} for b in BEHAVIORS},
        **{f"Split {b}{' inverted' * i}": split(r"[aeiou\s]", b, bool(i)) for b in BEHAVIORS for i in range(2)},
        **{f"Split string {b}": split({"String": "."}, b) for b in BEHAVIORS},
        "Split removed groups": split(r"( |\t)(the|a)?", "Removed"),
        "Split lookaround": split(r"(?<=\s)\S|\w(?=\d)|(?<!a)b$"),
        "Split escapes": split(r"\d+|\W|[\w&&[^a-f]]{2,3}?|\x41|é|.\s"),
        "Split POSIX": split(r"[[:upper:]]|[[:punct:]]+|[^[:alnum:]\s]"),
        "Split possessive": split(r"\w++\s?|a*+a"),
        "Split atomic": split(r"(?>a|ab)c|\s"),
        "Split backreference": split(r"(.)\1"),
        "Split named": split(r"(?<x>a)b"),
        "Split flags": split(r"(?i)ann|(?m:.)"),
        "Metaspace": meta(),
        "Metaspace whole": meta("always", False),
        "Metaspace never": meta("never"),
        "Metaspace first": meta("first"),
        "Metaspace old": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False},
        "Metaspace after": seq({"type": "WhitespaceSplit"}, meta("always")),
        "Metaspace first after": seq({"type": "WhitespaceSplit"}, meta("first")),
    }.items():
        add(f"pre {name}", bpe if "ByteLevel" in name else pieces, pre)
    for name, norm in {
        **{form: {"type": form} for form in ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"]},
        "StripAccents NFD": norms({"type": "NFD"}, {"type": "StripAccents"}),
        **{f"Strip {a:d}{b:d}": {"type": "Strip", "strip_left": a, "strip_right": b} for a in (False, True) for b in (False, True)},
        "Replace string": replaced({"String": "a"}, "$&$1"),
        "Replace regex": replaced({"Regex": r"\s{2,}|\p{P}"}, " "),
        "Replace anchors": replaced({"Regex": r"^\s+|\s+$"}, ""),
        "Replace flags": replaced({"Regex": "(?i)a"}, "b"),
        "Prepend": {"type": "Prepend", "prepend": "▁"},
        "Strip Prepend": norms({"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "$&"}),
        "ByteLevel": {"type": "ByteLevel"},
        "Nmt": {"type": "Nmt"},
        "Precompiled": PRECOMPILED,
        "Bert": bert(),
        "Bert cased": bert(lowercase=False),
        "Bert accents": bert(lowercase=False, strip_accents=True),
        "Bert lowercase alone": bert(strip_accents=False, clean_text=False, handle_chinese_chars=False),
    }.items():  # fmt: skip
        add(f"norm {name}", pieces, None, norm)
    add("norm Strip, Metaspace first", pieces, meta("first"), {"type": "Strip", "strip_left": True, "strip_right": True})

    for name, model in {
        "WordLevel": words,
        "WordLevel without unk": words | {"unk_token": "[NONE]"},
        "WordPiece": wordp,
        "WordPiece prefix": wordp | {"continuing_subword_prefix": "@@"},
        "WordPiece short": wordp | {"max_input_chars_per_word": 5},
        "BPE": chars,
        "BPE fused": chars | {"fuse_unk": True},
        "BPE without unk": chars | {"unk_token": None},
        "BPE ignore_merges": chars | {"ignore_merges": True, "vocab": chars["vocab"] | {"quick": len(chars["vocab"]), "xyzzy": len(chars["vocab"]) + 1}},
        "BPE dropout": chars | {"dropout": 0.5},
        "BPE dropout 0": chars | {"dropout": 0.0},
        "BPE suffix": chars | {"end_of_word_suffix": "</w>"},
        "BPE string merges": chars | {"merges": [" ".join(pair) for pair in chars["merges"]]},
        "BPE without type": {key: value for key, value in chars.items() if key != "type"},
        "BPE few bytes": chars | {"byte_fallback": True, "vocab": chars["vocab"] | {"<0xD0>": len(chars["vocab"]), "<0x96>": len(chars["vocab"]) + 1}},
        "BPE foreign merge": chars | {"merges": [*chars["merges"], ["q", "zz"]]},
        "Unigram": uni,
        "Unigram bytes": unigram(BYTES, byte_fallback=True),
        "Unigram few bytes": unigram(["<0xD0>", "<0x96>"], byte_fallback=True),
        "Unigram without unk": uni | {"unk_id": None},
    }.items():
        add(f"model {name}", model, {"type": "WhitespaceSplit"})
    prefixed = trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"), trainers.BpeTrainer(vocab_size=160, limit_alphabet=45, show_progress=False, special_tokens=["<unk>"], continuing_subword_prefix="##"), pre_tokenizers.Whitespace())  # fmt: skip
    add("model BPE prefix", prefixed, {"type": "Whitespace"})
    add("model Unigram Metaspace", uni, meta(), None, meta())
    add("model Unigram whole", uni, meta("always", False), {"type": "NFKC"}, meta())
    add("model Unigram mask", unigram([]) | {"vocab": [*uni["vocab"], ["<mask>", -1.0], ["mask", -3.0]]}, meta())
    add("model Unigram alone", uni)
    add("model WordLevel alone", words)
    add("model BPE truncated", chars, {"type": "Whitespace"}, truncation={"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0})  # fmt: skip

    for name, flags in {
        "plain": {}, "single_word": {"single_word": True}, "lstrip": {"lstrip": True}, "rstrip": {"rstrip": True},
        "not normalized": {"normalized": False}, "all": {"single_word": True, "lstrip": True, "rstrip": True},
    }.items():  # fmt: skip
        tokens = [("tool", flags), ("<tool>", flags), ("<l>", flags | {"lstrip": True}), ("<r>", flags | {"rstrip": True}), ("<lr>", flags), ("Ann", flags), ("An", flags)]  # fmt: skip
        add(f"added {name}", pieces, meta("first"), None, None, tokens)
        lower = [(content.lower(), of) for content, of in tokens]
        add(f"added {name} lowercase", pieces, meta("always"), {"type": "Lowercase"}, None, lower)
        as_written = [(content, of | {"normalized": False}) for content, of in tokens]
        add(f"added {name} prepend", pieces, None, norms({"type": "Prepend", "prepend": "▁"}, replaced(SPACE, "▁")), None, as_written)  # fmt: skip
    as_written = [("tool", {"normalized": False}), ("ann", {"normalized": False}), ("é", {"normalized": False})]
    for name, (model, pre, norm) in {
        "bert": (wordp, {"type": "BertPreTokenizer"}, bert()),
        "lowercase": (pieces, meta(), {"type": "Lowercase"}),
        "nfc": (chars | {"ignore_merges": True}, {"type": "Whitespace"}, nfc),
        "replaced": (words, {"type": "Whitespace"}, replaced({"String": "TOOL"}, "tool")),
        "unigram": (uni, meta(), {"type": "Lowercase"}),
    }.items():
        add(f"added as written {name}", model, pre, norm, None, as_written)
    add("added beyond", words | {"vocab": words["vocab"] | {"last": 999}}, {"type": "Whitespace"})
    add("added nested", bpe, bytes_(), None, bytes_(), [("<tool>", {}), ("tool", {"normalized": False})])
    add("added changed", pieces, meta(), {"type": "Lowercase"}, None, [("Ann", {})])
    add("added blanks", bpe, bytes_(), None, bytes_(), [("  ", {}), ("tool", {"lstrip": True})])
    add("added first", pieces, meta("first"), nfc, None, [("tool", {})])
    add("pre Split empty", pieces, split("x*", "MergedWithNext"))
    add("pre Unigram Punctuation", uni, seq(meta(), {"type": "Punctuation", "behavior": "Isolated"}))
    for name, decoder in {
        "none": None,
        "Metaspace": meta(),
        "Metaspace never": meta("never"),
        "ByteFallback": {"type": "ByteFallback"},
        "Fuse": {"type": "Fuse"},
        "Strip": {"type": "Strip", "content": "▁", "start": 0, "stop": 1},
        "Replace regex": replaced({"Regex": "▁+"}, "$&"),
        "BPEDecoder": {"type": "BPEDecoder", "suffix": "▁"},
        "ByteLevel of pieces": bytes_(),
        "ByteFallback before Replace": decoders({"type": "ByteFallback"}, replaced({"String": "▁"}, " ")),
        "CTC": {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
        "WordPiece": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "WordPiece cleanup": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "Llama": LLAMA2_DECODER,
    }.items():
        add(f"decoder {name}", wordp if "Word" in name else pieces, {"type": "BertPreTokenizer"} if "Word" in name else meta(), None, decoder)  # fmt: skip
    return out


BEHAVIORS = ["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]


def whole(kind: dict) -> dict:
    """Returns the tokenizer.json of a kind: the special tokens, then its own, get ids after the vocabulary's."""
    model = kind["model"]
    vocab = model["vocab"]
    known = {token: i for i, (token, _) in enumerate(vocab)} if isinstance(vocab, list) else dict(vocab)
    tokens = []
    for content, special, flags in [*((token, True, {}) for token in SPECIAL), *((token, False, flags) for token, flags in kind["tokens"])]:  # fmt: skip
        known.setdefault(content, max(known.values()) + 1)
        tokens.append(added(content, known[content], special, **flags))
    tokens.sort(key=lambda token: token["id"])
    keys = ["normalizer", "pre_tokenizer", "model", "decoder"]
    return {"version": "1.0", "truncation": kind.get("truncation"), "padding": None, "added_tokens": tokens, "post_processor": None, **{key: copy.deepcopy(kind[key]) for key in keys}}  # fmt: skip


def recorded(json_: dict) -> dict:
    """Returns the ids of every text, and what the library decodes from them, and from all but the first."""
    try:
        tokenizer = Tokenizer.from_str(json.dumps(json_))
        tokenizer.encode_special_tokens = True
        tokenizer.no_truncation()
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]
        decoded = [[tokenizer.decode(part, skip_special_tokens=False) for part in (list_, list_[1:])] for list_ in ids]
    except BaseException as error:  # noqa: BLE001 - a panic of the library is no Exception
        return {"error": str(error)}
    return {"ids": ids, "decoded": decoded}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    golden = {"texts": TEXTS, "kinds": []}
    for name, kind in kinds().items():
        json_ = whole(kind)
        golden["kinds"].append({"name": name, "json": json_, **recorded(json_)})
    data = json.dumps(golden, ensure_ascii=False, separators=(",", ":")).encode()
    (out / "kinds.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{len(golden['kinds'])} kinds x {len(TEXTS)} texts, {len(data)} bytes")
    for kind in golden["kinds"]:
        if "error" in kind:
            print(f"  {kind['name']}: {kind['error']}")


main()
