"""Writes a small Hugging Face checkpoint and what Python makes of it: test/golden/checkpoint.

    pip install torch transformers safetensors bitsandbytes
    python3 scripts/golden/checkpoints.py --out test/golden/checkpoint

qwen3/        transformers' own Qwen3 with random bf16 weights, saved by it in shards, with a tokenizer that is
              vocab.json, merges.txt and added_tokens.json (as ReFusion's), made from the text below
expected.safetensors   inputs and float32 logits, untied and tied; weights and what bitsandbytes makes of them in NF4
strings.json  texts with the ids that transformers' Qwen2 tokenizer gives them from the same files
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from pathlib import Path

import bitsandbytes.functional as bnb
import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import Qwen2Tokenizer, Qwen3Config, Qwen3ForCausalLM

CORPUS = """The quick brown fox jumps over the lazy dog. It's what they've said; we'll see, I'm sure you'd agree.
form: Book a table
first name | Ada
last name | Lovelace
fill email | ada@example.org
select country | New Zealand
check newsletter
submit
def add(a, b):\n    return a + b\n\nfor i in range(10):\n\tprint(add(i, 1))
Die Straße ist naß, l'été est là, el niño comió piñas, 日本語の文章, 中文字符, привет мир, שלום עולם, नमस्ते
2024-11-05 10:30 $1,234.56 100% #hash @user a_b-c/d\\e [x](y) {"k": [1, 2, 3]}
"""
ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<|mask|>"]
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BATCH, LENGTH = 2, 14


def make_tokenizer(folder: Path) -> int:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=sorted(alphabet), show_progress=False)
    tokenizer.train_from_iterator([CORPUS] * 2, trainer)
    tokenizer.model.save(str(folder))
    size = tokenizer.get_vocab_size()
    added = {token: size + i for i, token in enumerate(ADDED)}
    (folder / "added_tokens.json").write_text(json.dumps(added, indent=2) + "\n")
    special = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    (folder / "special_tokens_map.json").write_text(json.dumps(special, indent=2) + "\n")
    return size + len(ADDED)


def strings(rng: random.Random) -> list[str]:
    """Texts that every branch of the pattern and the normaliser meets, and mixtures of them."""
    parts = [
        *CORPUS.split("\n"),
        *["it's", "IT'S", "We'Ll", "don't", "'tis", "x'd", "'", "''s"],
        *[" ", "  ", "   a", "a   ", "\t", "\t\tx", "\n", "\n\n", " \n ", "\r\n", "a\r\nb", "\u00a0", "\u2003x", "\u3000"],
        *["123", "12345 6", "٣٤٥", "½", "x1y2", "3.14", "1,000"],
        *["e\u0301", "\u00e9", "A\u030a", "\u212b", "ﬁ", "\u1e9b\u0323", "가", "\u1100\u1161"],
        *["😀", "👨‍👩‍👧", "🇳🇿", "a😀b", "\ufe0f", "\u200b", "\u0000x", "\x7f", "\ufffd"],
        *["!!!", " ?!", "...\n", "--x", "(a)", "a_b", "#1", " #\n\n", "=>", "≠ ∑", "«x»", "“q”"],
        *["<|im_start|>user\nhi<|im_end|>", "<|mask|><|mask|>", "<think>a</think>", "<|im_end", "<|mask|>x", "a<|mask|> b"],
        *["中文和English混合", "日本語123", "שלום 1", "नमस्ते दुनिया", "ก็ไทย", "Ωmega", "ǅ", "ß", "İi", "ᾳ"],
    ]
    mixed = ["".join(rng.choice(parts) for _ in range(rng.randint(2, 6))) for _ in range(250)]
    return ["", *parts, *mixed]


def quantised(weight: torch.Tensor, nested: bool) -> dict[str, torch.Tensor]:
    codes, state = bnb.quantize_4bit(weight, blocksize=64, quant_type="nf4", compress_statistics=nested)
    out = {"codes": codes, "decoded": bnb.dequantize_4bit(codes, state)}
    if nested:
        out |= {"absmax": state.absmax, "nested_absmax": state.state2.absmax, "nested_map": state.state2.code}
        out["offset"] = state.offset.reshape(1)
    else:
        out["absmax"] = state.absmax
    return {f"nf4.{'nested' if nested else 'plain'}.{name}": t.contiguous() for name, t in out.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    folder = out / "qwen3"
    shutil.rmtree(out, ignore_errors=True)
    folder.mkdir(parents=True)
    vocab = make_tokenizer(folder)

    tokenizer = Qwen2Tokenizer.from_pretrained(folder)
    rng = random.Random(0)
    texts = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False)} for text in strings(rng)]
    (out / "strings.json").write_text(json.dumps(texts, ensure_ascii=True, indent=0) + "\n")

    config = Qwen3Config(
        vocab_size=vocab + 6,  # padded, as released checkpoints are
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=512,
        rope_theta=10000.0,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"),
        pad_token_id=tokenizer.convert_tokens_to_ids("<|endoftext|>"),
        attn_implementation="eager",
    )
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.3 if parameter.dim() == 1 else 1.5 / parameter.shape[1] ** 0.5
            parameter.copy_(torch.randn(parameter.shape) * scale + (1.0 if parameter.dim() == 1 else 0.0))
    model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="120KB")
    # read back: .to(bfloat16) has rounded RoPE's frequencies as well, which no file holds
    model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()

    ids = torch.randint(0, vocab, (BATCH, LENGTH))
    # positions out of order, and rows that a causal mask alone would not give
    positions = torch.stack([torch.cat([torch.arange(6), 6 + torch.randperm(LENGTH - 6)]) for _ in range(BATCH)])
    allowed = torch.tril(torch.ones(LENGTH, LENGTH)).bool() & (torch.rand(BATCH, 1, LENGTH, LENGTH) > 0.2)
    allowed |= torch.eye(LENGTH).bool()
    bias = torch.where(allowed, 0.0, -1e9)

    def logits() -> torch.Tensor:
        with torch.no_grad():
            return model(input_ids=ids, position_ids=positions, attention_mask=bias, use_cache=False).logits

    expected = {"input_ids": ids, "position_ids": positions, "attention_bias": bias, "logits": logits()}
    model.lm_head.weight = model.model.embed_tokens.weight
    expected["logits_tied"] = logits()

    weight = torch.randn(96, 192)
    weight[3, :64] = 0.0
    expected["nf4.weight"] = weight
    expected |= quantised(weight, False) | quantised(weight, True)
    save_file({name: t.contiguous() for name, t in expected.items()}, out / "expected.safetensors")
    for path in out.rglob("*.*"):
        path.chmod(0o644)


if __name__ == "__main__":
    main()
