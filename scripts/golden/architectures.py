"""Writes the PyTorch goldens of the architectures beside ReFusion: logits, a loss, and its gradients.

    python3 scripts/golden/architectures.py --out test/golden

Random micro models, stored in their goldens. Float64 throughout, rounded once at the end.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import fsdfm
import numpy as np
import torch
from lora import PEFT_PREFIX, attach, detach
from make_golden import BLOCKED, normal
from masked_lm import MaskedLM
from refusion import Config, weighted_cross_entropy
from safetensors.torch import save_file
from torch import Tensor, nn

BATCH, LENGTH, PADDED, ROWS = 2, 12, 3, 10
RANK, ALPHA = 3, 6.0
SEED = 11

FSDFM = fsdfm.Config(
    hidden_size=16,
    cond_dim=6,
    num_hidden_layers=2,
    num_attention_heads=2,
    vocab_size=23,
    step_conditioned=True,
    mask_token_id=22,
    eos_token_id=20,
    pad_token_id=21,
)
MASKED_LM = Config(
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=6,
    intermediate_size=20,
    vocab_size=23,
    rope_theta=10000.0,
    rms_norm_eps=1e-6,
    tie_word_embeddings=False,
    mask_token_id=22,
    eos_token_id=20,
    pad_token_id=21,
)


def randomise(model: nn.Module, rng: np.random.RandomState) -> None:
    """Gains around 1, biases around 0, matrices of order 1/sqrt(in): nothing is neutral, so that nothing can be forgotten."""
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        if len(shape) > 1:
            value = normal(rng, shape, 0.5 if "vocab_embed" in name or "embed_tokens" in name else 1.2 / shape[1] ** 0.5)
        else:
            value = normal(rng, shape, 0.2) + (0 if name.endswith(".bias") else 1)
        parameter.data = value.double()


def random_inputs(rng: np.random.RandomState, vocab: int) -> dict[str, Tensor]:
    """Ids, positions that are not the buffer's indices, and a bias that hides the last sample's padded columns."""
    bias = np.zeros((BATCH, 1, LENGTH, LENGTH), np.float32)
    bias[-1, :, :, LENGTH - PADDED :] = BLOCKED
    clean = rng.randint(0, vocab, (BATCH, LENGTH))
    noisy = np.where(rng.random_sample(clean.shape) < 0.5, clean, rng.randint(0, vocab, clean.shape))
    rows = np.sort(rng.choice(BATCH * LENGTH - PADDED, ROWS, replace=False))
    return {
        "input_ids": torch.from_numpy(noisy.astype(np.int64)),
        "position_ids": torch.from_numpy(np.stack([rng.permutation(LENGTH + 5)[:LENGTH] for _ in range(BATCH)])),
        "attention_bias": torch.from_numpy(bias),
        "rows": torch.from_numpy(rows.astype(np.int64)),
        "noisy": torch.from_numpy(noisy.reshape(-1)[rows].astype(np.int64)),
        "clean": torch.from_numpy(clean.reshape(-1)[rows].astype(np.int64)),
        "weight": torch.from_numpy((rng.random_sample(ROWS) + 0.1).astype(np.float32)),
    }


def random_lora(model: nn.Module, rng: np.random.RandomState) -> dict[str, Tensor]:
    tensors = {}
    for name, projection in model.projections().items():
        out_features, in_features = projection.weight.shape
        tensors[f"{PEFT_PREFIX}{name}.lora_A.weight"] = normal(rng, (RANK, in_features), in_features**-0.5)
        tensors[f"{PEFT_PREFIX}{name}.lora_B.weight"] = normal(rng, (out_features, RANK), 0.2)
    return tensors


def expectations(
    model: nn.Module,
    model_inputs: tuple[Tensor, ...],
    rows: Tensor,
    lora: dict[str, Tensor],
    loss: Callable[[Tensor], Tensor],
    label: str,
) -> dict[str, Tensor]:
    """Without an adapter: logits, loss, the gradient of every weight. With it: loss, the gradient of the adapter."""
    logits = model(*model_inputs)
    plain = loss(logits.flatten(0, 1)[rows])
    parameters = dict(model.named_parameters())
    gradients = torch.autograd.grad(plain, list(parameters.values()))
    adapter = {name: tensor.double().requires_grad_() for name, tensor in lora.items()}
    attach(model.projections(), adapter, ALPHA / RANK)
    adapted = loss(model(*model_inputs).flatten(0, 1)[rows])
    adapter_gradients = torch.autograd.grad(adapted, list(adapter.values()))
    detach(model.projections())
    return {
        f"{label}.expect.logits": logits,
        f"{label}.expect.loss": plain,
        f"{label}.expect.lora_loss": adapted,
        **{f"{label}.grad.{name}": g for name, g in zip(parameters, gradients, strict=True)},
        **{f"{label}.grad.{name}": g for name, g in zip(adapter, adapter_gradients, strict=True)},
    }


def save(path: Path, tensors: dict[str, Tensor], config: Config | fsdfm.Config) -> None:
    stored = {k: (v.detach().float() if v.is_floating_point() else v).contiguous() for k, v in tensors.items()}
    options = {"config": asdict(config), "rank": RANK, "alpha": ALPHA}
    save_file(stored, path, metadata={"golden": json.dumps(options, sort_keys=True)})
    print(f"{path}: {len(stored)} tensors, {path.stat().st_size} bytes")
    for name in stored:
        if name.endswith("loss"):
            print(f"  {name} {stored[name].item():.6f}")


def make_fsdfm(path: Path) -> None:
    """The student under `student`, the plain model under `plain`: the same weights without those of the step."""
    rng = np.random.RandomState(SEED)
    student = fsdfm.FSDFM(FSDFM)
    randomise(student, rng)
    inputs = random_inputs(rng, FSDFM.vocab_size)
    inputs["time"], inputs["step"] = torch.tensor([0.15, 0.8]), torch.tensor([0.125, 0.5])
    lora = random_lora(student, rng)
    plain = fsdfm.FSDFM(replace(FSDFM, step_conditioned=False)).double()
    weights = student.state_dict()
    plain.load_state_dict({name: weights[name] for name in plain.state_dict()})

    def loss(logits: Tensor) -> Tensor:
        return fsdfm.generalised_kl(logits, inputs["noisy"], inputs["clean"], inputs["weight"].double())

    tensors = {f"weight.{name}": tensor for name, tensor in weights.items()}
    tensors |= {f"input.{name}": tensor for name, tensor in inputs.items()} | lora
    common = (inputs["input_ids"], inputs["position_ids"], inputs["attention_bias"], inputs["time"])
    tensors |= expectations(student, (*common, inputs["step"]), inputs["rows"], lora, loss, "student")
    tensors |= expectations(plain, common, inputs["rows"], lora, loss, "plain")
    save(path, tensors, FSDFM)


def make_masked_lm(path: Path) -> None:
    """`normed` normalises q and k; `bare` does not, and ties its head to the embedding."""
    rng = np.random.RandomState(SEED)
    normed = MaskedLM(MASKED_LM, qk_norm=True)
    randomise(normed, rng)
    inputs = random_inputs(rng, MASKED_LM.vocab_size)
    lora = random_lora(normed, rng)
    bare = MaskedLM(replace(MASKED_LM, tie_word_embeddings=True), qk_norm=False).double()
    weights = normed.state_dict()
    bare.load_state_dict({name: weights[name] for name in bare.state_dict()})

    def loss(logits: Tensor) -> Tensor:
        return weighted_cross_entropy(logits, inputs["clean"], inputs["weight"].double())

    tensors = {f"weight.{name}": tensor for name, tensor in weights.items()}
    tensors |= {f"input.{name}": tensor for name, tensor in inputs.items()} | lora
    common = (inputs["input_ids"], inputs["position_ids"], inputs["attention_bias"])
    tensors |= expectations(normed, common, inputs["rows"], lora, loss, "normed")
    tensors |= expectations(bare, common, inputs["rows"], lora, loss, "bare")
    save(path, tensors, MASKED_LM)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the goldens")
    args = parser.parse_args()
    torch.set_num_threads(1)  # one order of summation
    make_fsdfm(args.out / "fsdfm.safetensors")
    make_masked_lm(args.out / "masked-lm.safetensors")


if __name__ == "__main__":
    main()
