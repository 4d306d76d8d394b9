"""Writes the PyTorch goldens that test/ compares our graphs with. See README.md for the tensors of a golden.

    python3 scripts/golden/make_golden.py --micro --out test/golden/micro.safetensors
    python3 scripts/golden/make_golden.py --model models/tiny-refusion --out test/golden/tiny-refusion.safetensors

Everything is computed in float64 from float32 inputs and rounded once at the end, so that a golden is the exact
answer to fp32 and a test's tolerance measures our error alone. Same arguments, same bytes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from lora import PEFT_PREFIX
from refusion import Config, ReFusion, build, flow_grpo, load, policy_log_probs, weighted_cross_entropy
from safetensors.torch import save_file
from torch import Tensor

BLOCKED = -1e9
BATCH, LENGTH, ROUNDS, PER_ROUND = 2, 48, 3, 4
PROMPT, PADDED = 16, 4  # length of the prompt, and padded rows at the end of the last sample
SFT_ROWS = 24
RANK, ALPHA = 4, 8.0
TEMPERATURE, CLIP_RANGE, BETA = 0.8, 0.2, 0.04
ADVANTAGES = (1.0, -0.7)
# l_t - old_t: ratios inside the clip range, above it and below it for either sign of the advantage, far from its edges.
RATIO_OFFSETS = ((0.05, 0.4, -0.4), (-0.4, 0.4, 0.0))
# ref_t - l_t: small, larger, and one beyond the clamp at -10.
REF_OFFSETS = ((0.1, -0.3, -10.5), (0.6, -0.2, 0.0))

MICRO = Config(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    intermediate_size=64,
    vocab_size=97,
    rope_theta=10000.0,
    rms_norm_eps=1e-6,
    tie_word_embeddings=False,
    mask_token_id=96,
    eos_token_id=94,
    pad_token_id=95,
)


def normal(rng: np.random.RandomState, shape: tuple[int, ...], scale: float) -> Tensor:
    return torch.from_numpy((rng.standard_normal(shape) * scale).astype(np.float32))


def random_weights(config: Config, rng: np.random.RandomState) -> dict[str, Tensor]:
    """Weights of order 1/sqrt(in); norms around 1 but not 1, so that a forgotten norm weight shows."""
    weights = {}
    for name, parameter in ReFusion(config).named_parameters():
        shape = tuple(parameter.shape)
        if len(shape) == 1:
            weights[name] = 1 + normal(rng, shape, 0.2)
        else:
            weights[name] = normal(rng, shape, 0.5 if "embed_tokens" in name else 1.5 / shape[1] ** 0.5)
    return weights


def random_lora(model: ReFusion, rng: np.random.RandomState) -> dict[str, Tensor]:
    """A [r, in] and B [out, r] of every projection under PEFT names; B is not zero, so A has a gradient."""
    tensors = {}
    for name, projection in model.projections().items():
        out_features, in_features = projection.weight.shape
        tensors[f"{PEFT_PREFIX}{name}.lora_A.weight"] = normal(rng, (RANK, in_features), in_features**-0.5)
        tensors[f"{PEFT_PREFIX}{name}.lora_B.weight"] = normal(rng, (out_features, RANK), 0.05)
    return tensors


def random_inputs(config: Config, rng: np.random.RandomState) -> dict[str, Tensor]:
    """Model inputs and the rows, targets and flags of the two losses (not what depends on the log-probabilities)."""
    special = {config.mask_token_id, config.eos_token_id, config.pad_token_id}
    ordinary = np.array([v for v in range(config.vocab_size) if v not in special])

    input_ids = rng.choice(ordinary, size=(BATCH, LENGTH))
    input_ids[:, LENGTH // 2 :][rng.random_sample((BATCH, LENGTH - LENGTH // 2)) < 0.6] = config.mask_token_id
    position_ids = np.stack([np.r_[:PROMPT, PROMPT + rng.permutation(LENGTH - PROMPT)] for _ in range(BATCH)])

    # Lower triangular with a third of the rest blocked; every row sees itself. Padded rows see only themselves.
    visible = np.tril(rng.random_sample((BATCH, LENGTH, LENGTH)) < 0.67)
    first_padded = LENGTH - PADDED
    visible[-1, first_padded:] = False
    visible[:, np.arange(LENGTH), np.arange(LENGTH)] = True
    attention_bias = np.where(visible, 0, BLOCKED).astype(np.float32)[:, None]
    input_ids[-1, first_padded:] = config.pad_token_id
    position_ids[-1, first_padded:] = 0

    shape = (BATCH, ROUNDS, PER_ROUND)
    scored = [rng.choice(np.arange(PROMPT, first_padded), ROUNDS * PER_ROUND, replace=False) for _ in range(BATCH)]
    rows = np.stack([b * LENGTH + own for b, own in enumerate(scored)]).reshape(shape)
    targets = rng.choice(ordinary, size=shape)
    eos_allowed = (rng.random_sample(shape) < 0.5).astype(np.float32)
    targets[0, 2, 1], eos_allowed[0, 2, 1] = config.eos_token_id, 1
    eos_allowed[0, 2, 0] = 0
    mask = np.ones(shape, np.float32)
    mask[0, 1, 3] = mask[1, 0, 2] = mask[1, 0, 3] = 0
    mask[-1, -1] = 0  # a round with nothing in it: it is left out of the mean
    rows = np.where(mask == 0, np.arange(BATCH)[:, None, None] * LENGTH, rows)
    targets = np.where(mask == 0, ordinary[0], targets)

    sft_rows = rng.choice(BATCH * LENGTH - PADDED, SFT_ROWS, replace=False)
    sft_targets = rng.choice(ordinary, size=SFT_ROWS)
    sft_targets[0] = config.eos_token_id
    sft_weights = (rng.random_sample(SFT_ROWS) * 2 / SFT_ROWS).astype(np.float32)
    sft_weights[-2:] = 0

    return {
        "input_ids": torch.from_numpy(input_ids.astype(np.int64)),
        "position_ids": torch.from_numpy(position_ids.astype(np.int64)),
        "attention_bias": torch.from_numpy(attention_bias),
        "rows": torch.from_numpy(rows.astype(np.int64)),
        "targets": torch.from_numpy(targets.astype(np.int64)),
        "eos_allowed": torch.from_numpy(eos_allowed),
        "mask": torch.from_numpy(mask),
        "advantages": torch.tensor(ADVANTAGES),
        "sample_rows": torch.tensor([0, PROMPT, LENGTH - 1, LENGTH + PROMPT, 2 * LENGTH - 1]),
        "sft_rows": torch.from_numpy(sft_rows.astype(np.int64)),
        "sft_targets": torch.from_numpy(sft_targets.astype(np.int64)),
        "sft_weights": torch.from_numpy(sft_weights),
    }


def flow_grpo_golden(model: ReFusion, lora: dict[str, Tensor], inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Adds old_log_probs and ref_log_probs to `inputs`; returns expectations and LoRA gradients."""
    dtype = next(model.parameters()).dtype
    adapter = {name: tensor.to(dtype).requires_grad_() for name, tensor in lora.items()}
    model.attach_lora(adapter, RANK, ALPHA)
    hidden = model.hidden(inputs["input_ids"], inputs["position_ids"], inputs["attention_bias"]).flatten(0, 1)

    gathered = model.logits(hidden[inputs["rows"]])
    log_probs = policy_log_probs(gathered, inputs["targets"], inputs["eos_allowed"], TEMPERATURE, model.config)
    log_probs = torch.where(inputs["mask"] != 0, log_probs, 0)
    rounds = log_probs.detach().sum(-1)
    # Rounded to fp32 before use: the loss is the exact one of the stored inputs.
    inputs["old_log_probs"] = (rounds - torch.tensor(RATIO_OFFSETS)).float()
    inputs["ref_log_probs"] = (rounds + torch.tensor(REF_OFFSETS)).float()

    result = flow_grpo(
        log_probs,
        inputs["mask"],
        inputs["old_log_probs"].to(dtype),
        inputs["ref_log_probs"].to(dtype),
        inputs["advantages"].to(dtype),
        CLIP_RANGE,
        BETA,
    )
    gradients = torch.autograd.grad(result.loss, list(adapter.values()))
    model.detach_lora()

    sample = hidden[inputs["sample_rows"]]
    return {
        "expect.hidden": sample,
        "expect.logits": model.logits(sample),
        "expect.log_probs": log_probs,
        "expect.round_log_probs": result.round_log_probs,
        "expect.ratio": result.ratio,
        "expect.surrogate": result.surrogate,
        "expect.k3": result.k3,
        "expect.flow_grpo_loss": result.loss,
        **{f"grad.{name}": gradient for name, gradient in zip(adapter, gradients, strict=True)},
    }


def sft_golden(model: ReFusion, inputs: dict[str, Tensor], label: str, with_gradients: bool) -> dict[str, Tensor]:
    """The base model (no adapter); gradients of all its parameters under `grad.<label>.<Hugging Face name>`."""
    hidden = model.hidden(inputs["input_ids"], inputs["position_ids"], inputs["attention_bias"]).flatten(0, 1)
    logits = model.logits(hidden[inputs["sft_rows"]])
    loss = weighted_cross_entropy(logits, inputs["sft_targets"], inputs["sft_weights"].to(logits.dtype))
    golden = {f"expect.{label}_loss": loss}
    if with_gradients:
        parameters = dict(model.named_parameters())
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        golden |= {f"grad.{label}.{name}": gradient for name, gradient in zip(parameters, gradients, strict=True)}
    return golden


def make(
    config: Config, model: ReFusion, weights: dict[str, Tensor] | None, seed: int
) -> tuple[dict[str, Tensor], dict]:
    """All tensors of a golden and its options. `weights` are stored only where given (the micro model)."""
    rng = np.random.RandomState(seed)
    inputs = random_inputs(config, rng)
    lora = random_lora(model, rng)
    tensors = flow_grpo_golden(model, lora, inputs)
    tensors |= sft_golden(model, inputs, "sft", with_gradients=weights is not None)
    if weights is not None:
        tensors |= {f"weight.{name}": tensor for name, tensor in weights.items()}
        # The same weights with the head tied to the embedding, whose gradient is then the sum of both uses.
        tied_config = Config(**{**asdict(config), "tie_word_embeddings": True})
        tied_weights = {name: tensor for name, tensor in weights.items() if name != "lm_head.weight"}
        tied = build(tied_config, tied_weights, next(model.parameters()).dtype)
        tensors |= sft_golden(tied, inputs, "sft_tied", with_gradients=True)
    tensors |= {f"input.{name}": tensor for name, tensor in inputs.items()}
    tensors |= lora
    options = {
        "config": asdict(config),
        "rank": RANK,
        "alpha": ALPHA,
        "temperature": TEMPERATURE,
        "clip_range": CLIP_RANGE,
        "beta": BETA,
        "blocked": BLOCKED,
        "prompt_length": PROMPT,
        "padded_rows": PADDED,
        "seed": seed,
    }
    return tensors, options


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--micro", action="store_true", help="a random micro model, stored in the golden itself")
    source.add_argument("--model", type=Path, help="a model directory; its weights are not stored")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)  # one order of summation

    if args.micro:
        config, weights = MICRO, random_weights(MICRO, np.random.RandomState(args.seed + 1))
        model = build(config, weights, torch.float64)
    else:
        model, weights = load(args.model, torch.float64), None
        config = model.config

    tensors, options = make(config, model, weights, args.seed)
    stored = {
        name: (tensor.detach().float() if tensor.is_floating_point() else tensor).contiguous()
        for name, tensor in tensors.items()
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    # One metadata key: the library writes several in no fixed order, and the file should be reproducible.
    save_file(stored, args.out, metadata={"golden": json.dumps(options, sort_keys=True)})
    print(f"{args.out}: {len(stored)} tensors, {args.out.stat().st_size} bytes")
    for name in ("flow_grpo_loss", "sft_loss"):
        print(f"  {name} {stored[f'expect.{name}'].item():.6f}")


if __name__ == "__main__":
    main()
