"""The PyTorch peer of our LoRA training step: the same work, written as a PyTorch user would write it.

    python3 scripts/bench/torch_peer.py --steps 10 [--compile] [--bf16]
    python3 scripts/bench/torch_peer.py --serve

One step = forward, mean cross-entropy over all B*L rows, backward to LoRA, clipping by global norm, AdamW.
Model: 4 layers, width 256, 8 heads of 32 (8 key/value heads), SwiGLU 1024, QK-norm, RoPE, untied head, vocabulary
4096; batch 4, length 256, causal; LoRA rank 8, alpha 16 on all seven projections, the base frozen; fp32, one thread.

`--compile` needs a C++ compiler; `--bf16` runs the forward pass under autocast. peers.mjs removes MKL's vendor check.

The measure is CPU time of this process, so that other load on the machine counts less. Prints one JSON line
{compile, bf16, cpu_ms_median, cpu_ms, loss, peak_rss_mb}. With --serve, it warms up, writes "ready" to stderr, then answers
every line "step" on stdin with one line on stdout, the CPU milliseconds of one step, until "exit" or the end of stdin:
a bench can alternate its own steps with ours.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LAYERS, WIDTH, HEADS, HEAD_DIM, FFN, VOCAB = 4, 256, 8, 32, 1024, 4096
BATCH, LENGTH = 4, 256
RANK, ALPHA = 8, 16.0
ROPE_THETA, EPS = 10000.0, 1e-6
LEARNING_RATE, MAX_GRAD_NORM = 1e-4, 1.0
WARM_UP = 3


class LoraLinear(nn.Module):
    """y = x W^T + (alpha / r) (x A^T) B^T with W frozen."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.base = nn.Linear(in_features, out_features, bias=False).requires_grad_(False)
        self.lora_A = nn.Linear(in_features, RANK, bias=False)
        self.lora_B = nn.Linear(RANK, out_features, bias=False)
        # PEFT starts B at zero; a trained adapter has not, and half of the gradients would be zero.
        nn.init.normal_(self.lora_B.weight, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.lora_B(self.lora_A(x)) * (ALPHA / RANK)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input_norm = nn.RMSNorm(WIDTH, EPS)
        self.q_proj, self.k_proj, self.v_proj = (LoraLinear(WIDTH, HEADS * HEAD_DIM) for _ in range(3))
        self.o_proj = LoraLinear(HEADS * HEAD_DIM, WIDTH)
        self.q_norm, self.k_norm = nn.RMSNorm(HEAD_DIM, EPS), nn.RMSNorm(HEAD_DIM, EPS)
        self.mlp_norm = nn.RMSNorm(WIDTH, EPS)
        self.gate_proj, self.up_proj = LoraLinear(WIDTH, FFN), LoraLinear(WIDTH, FFN)
        self.down_proj = LoraLinear(FFN, WIDTH)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        h = self.input_norm(x)
        heads = (*x.shape[:2], HEADS, HEAD_DIM)
        q = rotate(self.q_norm(self.q_proj(h).view(heads)).transpose(1, 2), cos, sin)
        k = rotate(self.k_norm(self.k_proj(h).view(heads)).transpose(1, 2), cos, sin)
        v = self.v_proj(h).view(heads).transpose(1, 2)
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o_proj(context.transpose(1, 2).flatten(2))
        h = self.mlp_norm(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH, EPS)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        self.register_buffer("inverse", ROPE_THETA ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM), persistent=False)
        for name, parameter in self.named_parameters():
            parameter.requires_grad_("lora_" in name)

    def forward(self, input_ids: Tensor, position_ids: Tensor, targets: Tensor) -> Tensor:
        """Mean cross-entropy over all rows."""
        angles = (position_ids[:, None, :, None] * self.inverse).repeat(1, 1, 1, 2)  # [B, 1, L, E]
        cos, sin = angles.cos(), angles.sin()
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def make_step(compiled: bool, bf16: bool) -> Callable[[], float]:
    """A function that takes one training step and returns its loss."""
    torch.manual_seed(0)
    model = Decoder()
    loss_of = torch.compile(model) if compiled else model
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, fused=True)
    input_ids = torch.randint(VOCAB, (BATCH, LENGTH))
    position_ids = torch.arange(LENGTH).expand(BATCH, LENGTH)
    targets = torch.randint(VOCAB, (BATCH, LENGTH))

    def step() -> float:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = loss_of(input_ids, position_ids, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, MAX_GRAD_NORM)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def timed(step: Callable[[], float]) -> tuple[float, float]:
    """CPU milliseconds and loss of one step."""
    start = time.process_time()
    loss = step()
    return (time.process_time() - start) * 1e3, loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help='answer each line "step" with its CPU ms')
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    step = make_step(args.compile, args.bf16)
    for _ in range(WARM_UP):
        step()

    if args.serve:
        print("ready", file=sys.stderr, flush=True)
        for line in sys.stdin:
            command = line.strip()
            if command == "exit":
                break
            if command != "step":
                sys.exit(f'expected "step" or "exit" on stdin, got {command!r}')
            print(f"{timed(step)[0]:.3f}", flush=True)
        return

    cpu_ms, losses = zip(*(timed(step) for _ in range(args.steps)), strict=True)
    result = {
        "compile": args.compile,
        "bf16": args.bf16,
        "cpu_ms_median": round(statistics.median(cpu_ms), 3),
        "cpu_ms": [round(ms, 3) for ms in cpu_ms],
        "loss": losses[-1],
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
