"""Turns an FS-DFM checkpoint (.pth) into a directory that `refusion-train export --checkpoint` reads.

    pip install torch safetensors
    python3 scripts/fsdfm-to-safetensors.py checkpoint.pth --tokenizer gpt2 --out fsdfm-1.3b
    refusion-train export --checkpoint fsdfm-1.3b --out models/fsdfm-1.3b

--tokenizer is a directory with GPT-2's vocab.json and merges.txt (or its tokenizer.json). Sizes are read off the
weights; only the number of heads does not show in them (64 wide each in the released models).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

# What a training script saves, best first: the averaged student, the student, the plain model.
STATES = ("student_ema_model", "student_model", "ema_model", "model")
# What wrappers (DDP, torch.compile) put in front of a name.
PREFIXES = ("module.", "_orig_mod.")
# Tables that are computed, not learnt.
COMPUTED = ("inv_freq", "cos_cached", "sin_cached", "freqs")
GPT2_VOCABULARY = 50257
END = "<|endoftext|>"


def fail(message: str) -> None:
    sys.exit(f"error: {message}")


def read_state(path: Path, which: str | None) -> tuple[str, dict[str, torch.Tensor]]:
    # weights only: a pickle from elsewhere could run anything
    saved = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    if not isinstance(saved, dict):
        fail(f"{path} holds a {type(saved).__name__}, expected a dictionary of weights")
    name = which or next((key for key in STATES if isinstance(saved.get(key), dict)), None)
    if name is None and all(isinstance(value, torch.Tensor) for value in saved.values()):
        return "the file itself", saved
    if name is None or not isinstance(saved.get(name), dict):
        fail(f"{path} has no {name or ' or '.join(STATES)}; it has {', '.join(map(str, saved))}")
    return name, saved[name]


def clean(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    tensors = {}
    for name, tensor in state.items():
        while name.startswith(PREFIXES):
            name = name[len(next(p for p in PREFIXES if name.startswith(p))) :]
        if isinstance(tensor, torch.Tensor) and name.rsplit(".", 1)[-1] not in COMPUTED:
            # a copy: tied or sliced tensors share memory, which safetensors refuses
            tensors[name] = tensor.detach().clone().contiguous()
    return tensors


def config_of(tensors: dict[str, torch.Tensor], heads: int | None, end: int) -> dict[str, object]:
    for name in ("vocab_embed.weight", "time_embedding.mlp.2.weight", "blocks.0.qw.weight"):
        if name not in tensors:
            fail(f"no {name}: this is no FS-DFM model (it has {', '.join(sorted(tensors)[:5])} ...)")
    vocabulary, hidden = tensors["vocab_embed.weight"].shape
    blocks = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("blocks."))
    heads = heads or hidden // 64
    if hidden % (2 * heads) != 0:
        fail(f"--heads {heads} does not divide the hidden size {hidden} into even heads")
    return {
        "architecture": "fsdfm",
        "attention": "bidirectional",
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "cond_dim": tensors["time_embedding.mlp.2.weight"].shape[0],
        "num_hidden_layers": blocks,
        "num_attention_heads": heads,
        "step_conditioned": "time_condition_fuser.weight" in tensors,
        # a uniform source has no mask; one of masks has it behind the vocabulary
        "mask_token_id": GPT2_VOCABULARY if vocabulary > GPT2_VOCABULARY else end,
        "eos_token_id": end,
        "pad_token_id": end,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True, help="directory with GPT-2's vocab.json and merges.txt")
    parser.add_argument("--out", type=Path, required=True, help="must not exist")
    parser.add_argument("--heads", type=int, help="default: the hidden size / 64")
    parser.add_argument("--state", help=f"which of the saved models; default: the first of {', '.join(STATES)}")
    arguments = parser.parse_args()
    if arguments.out.exists():
        fail(f"{arguments.out} exists already, and is not overwritten")
    ready = arguments.tokenizer / "tokenizer.json"
    files = [ready] if ready.exists() else [arguments.tokenizer / name for name in ("vocab.json", "merges.txt")]
    for file in files:
        if not file.exists():
            fail(f"{file} is missing")
    if ready.exists():
        added = json.loads(ready.read_text())["added_tokens"]
        ids = {token["content"]: token["id"] for token in added}
    else:
        ids = json.loads(files[0].read_text())
    if END not in ids:
        fail(f"{arguments.tokenizer} has no token {END}")

    name, state = read_state(arguments.checkpoint, arguments.state)
    tensors = clean(state)
    config = config_of(tensors, arguments.heads, ids[END])

    aside = arguments.out.with_name(f"{arguments.out.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    save_file(tensors, aside / "model.safetensors", {"format": "pt"})
    (aside / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for file in files:
        shutil.copyfile(file, aside / file.name)
    if not ready.exists():
        (aside / "added_tokens.json").write_text(json.dumps({END: ids[END]}) + "\n")
        (aside / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer"}) + "\n")
    aside.rename(arguments.out)
    parameters = sum(tensor.numel() for tensor in tensors.values())
    print(f"{arguments.out}: {name}, {parameters} parameters, {config}")


if __name__ == "__main__":
    main()
