"""The micro golden's model and adapter, and the arguments of the scripts that start from them."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from lora import PEFT_PREFIX
from make_golden import ALPHA, MICRO, RANK
from refusion import ReFusion, build
from safetensors.torch import load_file
from torch import Tensor


def read_arguments(description: str, seed: int) -> argparse.Namespace:
    """`--micro`, `--out` and `--seed`, which is `seed` where it is not given."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--micro", type=Path, required=True, help="the micro golden: model and adapter")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=seed)
    return parser.parse_args()


def load_micro(path: Path) -> tuple[ReFusion, dict[str, Tensor]]:
    """The model in float64 with its adapter attached, and the adapter's matrices, which take gradients."""
    torch.set_num_threads(1)  # one order of summation
    stored = load_file(path)
    weights = {name.removeprefix("weight."): t for name, t in stored.items() if name.startswith("weight.")}
    model = build(MICRO, weights, torch.float64)
    adapter = {name: t.double().requires_grad_() for name, t in stored.items() if name.startswith(PEFT_PREFIX)}
    model.attach_lora(adapter, RANK, ALPHA)
    return model, adapter
