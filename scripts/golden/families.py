"""Writes a tiny random checkpoint of each family that `export` takes, with its reference's logits: test/golden/families.

    pip install torch==2.13.0 transformers==5.23.0 gguf==0.19.0 accelerate
    python3 scripts/golden/families.py --out test/golden/families
    pip install torch==2.13.0 transformers==4.46.2 einops
    python3 scripts/golden/families.py --out test/golden/families --code DIR

The first call makes those that transformers has, and a GGUF file. LLaDA and Dream bring their own code, which is no part
of this repository: DIR holds the packages `llada` and `dream`, each with the modeling_*.py and configuration_*.py (and
Dream's generation_utils.py) of the released models.

<family>/config.json, model.safetensors   as the reference saves them
<family>.safetensors                      input_ids, position_ids, attention_bias, logits [B, N, V], gradient [V, D] in float32
llama.gguf                                the Llama in F32, F16, BF16, Q8_0, Q4_0 and Q4_1, with a tokenizer
strings.json                              texts with the ids of that tokenizer by Hugging Face's library
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

BATCH, LENGTH = 2, 9
VOCAB = 48
SIZES = dict(
    vocab_size=VOCAB,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    rms_norm_eps=1e-5,
    rope_theta=5000.0,
    tie_word_embeddings=False,
)
TOKENS = dict(eos_token_id=1, pad_token_id=1, mask_token_id=2, bos_token_id=1)


def randomise(model: torch.nn.Module, seed: int) -> None:
    """Biases and gains matter as much as matrices."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(1 + 0.3 * noise if parameter.dim() == 1 else 1.5 * noise / parameter.shape[1] ** 0.5)
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.sub_(1)


def inputs(vocab: int, causal: bool) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(11)
    ids = torch.randint(3, vocab, (BATCH, LENGTH), generator=generator)
    positions = torch.arange(LENGTH).repeat(BATCH, 1)
    bias = torch.zeros(BATCH, 1, LENGTH, LENGTH)
    if causal:
        # positions out of order, and rows that a causal mask alone would not give
        order = torch.stack([torch.randperm(LENGTH - 4, generator=generator) for _ in range(BATCH)])
        positions[:, 4:] = 4 + order
        allowed = torch.rand(BATCH, 1, LENGTH, LENGTH, generator=generator) > 0.2
        allowed = allowed & torch.tril(torch.ones(LENGTH, LENGTH)).bool() | torch.eye(LENGTH).bool()
        bias = torch.where(allowed, 0.0, -1e9)
    return {"input_ids": ids, "position_ids": positions, "attention_bias": bias}


def save(out: Path, name: str, tensors: dict[str, torch.Tensor]) -> None:
    save_file({key: t.detach().contiguous() for key, t in tensors.items()}, out / f"{name}.safetensors")
    print(name, f"{tensors['logits'].abs().max():.2f}")


def causal_lm(out: Path, name: str, config, make, spread: int = 1) -> None:
    config._attn_implementation = "eager"
    model = make(config).eval()
    randomise(model, 5)
    model.save_pretrained(out / name)
    (out / name / "generation_config.json").unlink(missing_ok=True)
    fed = inputs(config.vocab_size, causal=True)
    fed["position_ids"] *= spread
    save(out, name, fed | with_gradient(model, fed["input_ids"], causal_logits(model, fed)))


def causal_logits(model, fed: dict[str, torch.Tensor]) -> torch.Tensor:
    return model(
        input_ids=fed["input_ids"],
        position_ids=fed["position_ids"],
        attention_mask=fed["attention_bias"],
        use_cache=False,
    ).logits


def with_gradient(model, ids: torch.Tensor, logits: torch.Tensor) -> dict[str, torch.Tensor]:
    """Of the mean cross entropy of every token at its own place, by the embedding: it flows through everything."""
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    (gradient,) = torch.autograd.grad(loss, [model.get_input_embeddings().weight], retain_graph=True)
    return {"logits": logits, "gradient": gradient}


def with_gradients(model, ids: torch.Tensor, logits: torch.Tensor) -> dict[str, torch.Tensor]:
    """The same, by every parameter: `gradient/<name>`."""
    tensors = with_gradient(model, ids, logits)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
    names, parameters = zip(*model.named_parameters())
    gradients = torch.autograd.grad(loss, parameters)
    return tensors | {f"gradient/{name}": gradient for name, gradient in zip(names, gradients)}


def of_transformers(out: Path) -> None:
    import transformers as t

    causal_lm(out, "llama", t.LlamaConfig(**SIZES, **TOKENS, attention_bias=True), t.LlamaForCausalLM)
    causal_lm(out, "mistral", t.MistralConfig(**SIZES, **TOKENS, sliding_window=None), t.MistralForCausalLM)
    # every text of the golden lies in the window
    causal_lm(out, "mistral-window", t.MistralConfig(**SIZES, **TOKENS, sliding_window=12), t.MistralForCausalLM)
    causal_lm(out, "qwen2", t.Qwen2Config(**SIZES, **TOKENS), t.Qwen2ForCausalLM)
    qwen3 = {**SIZES, "tie_word_embeddings": True, "head_dim": 8}
    causal_lm(out, "qwen3", t.Qwen3Config(**qwen3, **TOKENS), t.Qwen3ForCausalLM)
    float8(out)
    smollm3 = {**SIZES, "num_hidden_layers": 4}
    causal_lm(out, "smollm3", t.SmolLM3Config(**smollm3, **TOKENS, use_sliding_window=False), t.SmolLM3ForCausalLM)
    scaled_ropes(out)
    without_causal_mask(out)
    gguf_file(out)


def float8(out: Path) -> None:
    """Qwen3 in FP8 with a scale for 8 x 4 weights, as Qwen3-FP8 has them for 128 x 128, read by transformers."""
    import transformers as t

    block = [8, 4]
    config = t.Qwen3Config(**SIZES, **TOKENS, head_dim=8)
    model = t.Qwen3ForCausalLM(config).eval()
    randomise(model, 5)
    place = out / "qwen3-fp8"
    model.save_pretrained(place)
    (place / "generation_config.json").unlink(missing_ok=True)
    tensors = {}
    for name, weight in model.state_dict().items():
        if not name.endswith("proj.weight"):
            tensors[name] = weight
            continue
        (rows, columns), (high, wide) = weight.shape, block
        down, across = -(-rows // high), -(-columns // wide)
        padded = torch.zeros(down * high, across * wide)
        padded[:rows, :columns] = weight
        blocks = padded.reshape(down, high, across, wide)
        scale = blocks.abs().amax((1, 3)) / 448
        codes = (blocks / scale[:, None, :, None]).reshape(padded.shape)[:rows, :columns]
        tensors |= {name: codes.contiguous().to(torch.float8_e4m3fn), f"{name}_scale_inv": scale}
    save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
    about = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": block}
    path = place / "config.json"
    said = {**json.loads(path.read_text()), "quantization_config": about | {"modules_to_not_convert": ["lm_head"]}}
    path.write_text(json.dumps(said, indent=2) + "\n")
    read = t.Qwen3ForCausalLM.from_pretrained(
        place,
        quantization_config=t.FineGrainedFP8Config(weight_block_size=block, dequantize=True),
        dtype=torch.float32,
        attn_implementation="eager",
    ).eval()
    fed = inputs(config.vocab_size, causal=True)
    save(out, "qwen3-fp8", fed | with_gradient(read, fed["input_ids"], causal_logits(read, fed)))


def scaled_ropes(out: Path) -> None:
    """Llama with the angles of Llama 3.1, of linear scaling and of YaRN, over texts longer than the trained length."""
    import transformers as t

    trained = {"rope_theta": 5000.0, "factor": 4.0, "original_max_position_embeddings": 16}
    for name, rope in {
        "linear": {"rope_type": "linear", "rope_theta": 5000.0, "factor": 4.0},
        "dynamic": {"rope_type": "dynamic", "rope_theta": 5000.0, "factor": 4.0},
        "llama3": {"rope_type": "llama3", **trained, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        "yarn": {"rope_type": "yarn", **trained, "beta_fast": 4.0, "beta_slow": 0.5},
        "yarn-mscale": {"rope_type": "yarn", **trained, "mscale": 0.7, "mscale_all_dim": 1.1, "truncate": False},
    }.items():
        sizes = {**SIZES, "head_dim": 16, "rope_parameters": rope}
        sizes.pop("rope_theta")
        causal_lm(out, f"llama-{name}", t.LlamaConfig(**sizes, **TOKENS), t.LlamaForCausalLM, spread=7)


def without_causal_mask(out: Path) -> None:
    """Qwen3 whose attention goes both ways: Tiny-A2D; the same inside blocks of four positions: SDAR (and BD3-LM)."""
    import transformers as t

    for name, type_, cls, block in (
        ("a2d-qwen3", "a2d-qwen3", "A2DQwen3LMHeadModel", None),
        ("sdar", "sdar", "SDARForCausalLM", 4),
    ):
        qwen3 = {**SIZES, "tie_word_embeddings": block is None, "head_dim": 8}
        config = t.Qwen3Config(**qwen3, **TOKENS)
        config._attn_implementation = "eager"
        model = t.Qwen3ForCausalLM(config).eval()
        randomise(model, 8)
        model.save_pretrained(out / name)
        (out / name / "generation_config.json").unlink(missing_ok=True)
        path = out / name / "config.json"
        said = {**json.loads(path.read_text()), "model_type": type_, "architectures": [cls]}
        path.write_text(json.dumps(said, indent=2) + "\n")
        fed = inputs(config.vocab_size, causal=False)
        if block is not None:
            of = torch.arange(LENGTH) // block
            fed["attention_bias"] = torch.where(of[None, :] <= of[:, None], 0.0, -1e9).expand_as(fed["attention_bias"])
        save(out, name, fed | with_gradients(model, fed["input_ids"], causal_logits(model, fed)))


def gguf_file(out: Path) -> None:
    """As llama.cpp's converter writes a Llama: rows of q and k interleaved, names and shapes its own."""
    import gguf
    import numpy as np
    import transformers as t
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    texts = [
        "form: Book a table\nfirst name | Ada\nlast name | Lovelace\nselect country | New Zealand\nsubmit",
        "It's the year 1984, 12 months; $1,234.56 100% we'll see, I'm sure they've  said\tso",
        "<|im_start|>user\nna\u00efve caf\u00e9 \u65e5\u672c\u8a9e \U0001f600 x1y2 \u0663\u0664 \u00bd<|im_end|>",
    ]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<mask>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=288, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts[:2] * 3, trainer)
    state = json.loads(tokenizer.to_str())["model"]
    vocab = sorted(state["vocab"], key=state["vocab"].get)
    strings = [{"text": text, "ids": tokenizer.encode(text).ids} for text in texts]
    (out / "strings.json").write_text(json.dumps(strings) + "\n")

    # rows of whole blocks of 32
    sizes = {**SIZES, "hidden_size": 32, "intermediate_size": 64, "vocab_size": len(vocab), "num_hidden_layers": 1, "tie_word_embeddings": True}
    model = t.LlamaForCausalLM(t.LlamaConfig(**sizes)).eval()
    randomise(model, 6)
    writer = gguf.GGUFWriter(str(out / "llama.gguf"), "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(5000.0)
    writer.add_rope_dimension_count(8)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(vocab)
    writer.add_token_types([3 if token in special else 1 for token in vocab])
    writer.add_token_merges([" ".join(m) if isinstance(m, list) else m for m in state["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    kind = gguf.GGMLQuantizationType
    parts = {
        "self_attn.q_proj": ("attn_q", kind.Q8_0),
        "self_attn.k_proj": ("attn_k", kind.Q4_0),
        "self_attn.v_proj": ("attn_v", kind.F16),
        "self_attn.o_proj": ("attn_output", kind.BF16),
        "mlp.gate_proj": ("ffn_gate", kind.Q4_1),
        "mlp.up_proj": ("ffn_up", kind.Q4_0),
        "mlp.down_proj": ("ffn_down", kind.Q8_0),
        "input_layernorm": ("attn_norm", kind.F32),
        "post_attention_layernorm": ("ffn_norm", kind.F32),
    }
    names = {"model.embed_tokens": ("token_embd", kind.Q4_1), "model.norm": ("output_norm", kind.F32)}
    names |= {f"model.layers.0.{ours}": (f"blk.0.{theirs}", k) for ours, (theirs, k) in parts.items()}
    state = model.state_dict()
    for name, (theirs, quantisation) in names.items():
        data = state[f"{name}.weight"].numpy()
        heads = {"q_proj": 4, "k_proj": 2}.get(name.split(".")[-1])
        if heads is not None:
            data = data.reshape(heads, 2, data.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(data.shape)
        packed = gguf.quantize(np.ascontiguousarray(data), quantisation)
        writer.add_tensor(f"{theirs}.weight", packed, raw_dtype=quantisation)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    read = t.LlamaForCausalLM.from_pretrained(
        str(out), gguf_file="llama.gguf", dtype=torch.float32, attn_implementation="eager"
    ).eval()
    fed = inputs(len(vocab), causal=True)
    save(out, "gguf", fed | {"logits": causal_logits(read, fed)})


def of_their_own(out: Path, code: Path) -> None:
    sys.path.insert(0, str(code))
    from dream.configuration_dream import DreamConfig
    from dream.modeling_dream import DreamModel
    from llada.configuration_llada import LLaDAConfig
    from llada.modeling_llada import LLaDAModelLM

    fed = inputs(VOCAB, causal=False)
    # the keys, and what else they say, of the released LLaDA-8B
    llada = LLaDAConfig(
        d_model=16, n_heads=4, n_kv_heads=2, n_layers=2, mlp_hidden_size=24, max_sequence_length=64,
        vocab_size=VOCAB, embedding_size=VOCAB, rope_theta=5000.0, rms_norm_eps=1e-5,
        activation_type="silu", block_type="llama", block_group_size=1, layer_norm_type="rms",
        rope=True, alibi=False, include_bias=False, include_qkv_bias=True, weight_tying=False,
        attention_dropout=0.0, residual_dropout=0.0, embedding_dropout=0.0, use_cache=False,
        architectures=["LLaDAModelLM"],
        **{key: TOKENS[key] for key in ("eos_token_id", "pad_token_id", "mask_token_id")},
    )  # fmt: skip
    model = LLaDAModelLM(llada, init_params=True).eval()
    randomise(model, 7)
    model.save_pretrained(out / "llada")
    save(out, "llada", fed | with_gradient(model, fed["input_ids"], model(input_ids=fed["input_ids"]).logits))

    dream = DreamConfig(**SIZES, **TOKENS)
    dream._attn_implementation = "eager"
    model = DreamModel(dream).eval()
    randomise(model, 8)
    model.save_pretrained(out / "dream")
    logits = model(input_ids=fed["input_ids"]).logits
    # generation_utils.py: what stands at n is predicted at n - 1
    logits = torch.cat([logits[:, :1], logits[:, :-1]], dim=1)
    save(out, "dream", fed | with_gradient(model, fed["input_ids"], logits))
    for name in ("llada", "dream"):
        (out / name / "generation_config.json").unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--code", type=Path, help="LLaDA's and Dream's own code")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # one order of summation
    if args.code is None:
        of_transformers(args.out)
    else:
        of_their_own(args.out, args.code)
    for path in args.out.rglob("*.*"):
        path.chmod(0o644)


if __name__ == "__main__":
    main()
