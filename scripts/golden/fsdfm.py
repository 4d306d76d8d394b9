"""A plain PyTorch reference of FS-DFM (arXiv 2509.20624), for the test goldens only.

A diffusion transformer over tokens, conditioned on the flow's time and, in the few-step student, on the step's size.
Parameters carry the checkpoint's names. Written from the description in `src/features/fsdfm/arch/fsdfm.ts` and the paper.

Shapes: B batch, N length, D hidden, C condition, H heads, E head size, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from lora import Projection
from refusion import rope_tables, rotate_half
from torch import Tensor, nn

FREQUENCIES = 128


@dataclass(frozen=True)
class Config:
    hidden_size: int
    cond_dim: int
    num_hidden_layers: int
    num_attention_heads: int
    vocab_size: int
    step_conditioned: bool
    mask_token_id: int
    eos_token_id: int
    pad_token_id: int


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + 1e-5) * w over the last axis; no bias."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        return self.weight * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)


class ScalarEmbedding(nn.Module):
    """[cos | sin] of s * 10000^(-i/128), i = 0..127, then Linear, SiLU, Linear: [B] -> [B, C]."""

    def __init__(self, cond_dim: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2 * FREQUENCIES, cond_dim), nn.SiLU(), nn.Linear(cond_dim, cond_dim))

    def forward(self, s: Tensor) -> Tensor:
        frequencies = 10000.0 ** (-torch.arange(FREQUENCIES, dtype=torch.float64) / FREQUENCIES)
        angles = s.to(torch.float64)[:, None] * frequencies
        return self.mlp(torch.cat([angles.cos(), angles.sin()], -1).to(s.dtype))


class Modulation(nn.Module):
    """What a block and the head have in common: adaLN vectors from the condition, fused first where it has two parts."""

    def __init__(self, config: Config, parts: int) -> None:
        super().__init__()
        self.parts = parts
        if config.step_conditioned:
            self.condition_fuser = nn.Linear(2 * config.cond_dim, config.cond_dim)
        self.adaLN_modulation = nn.Linear(config.cond_dim, parts * config.hidden_size)

    def vectors(self, c: Tensor) -> tuple[Tensor, ...]:
        """`parts` of [B, 1, D]."""
        if hasattr(self, "condition_fuser"):
            c = nn.functional.silu(self.condition_fuser(c))
        return self.adaLN_modulation(c)[:, None].chunk(self.parts, dim=-1)


class Block(Modulation):
    def __init__(self, config: Config) -> None:
        super().__init__(config, 6)
        d = config.hidden_size
        self.heads = config.num_attention_heads
        self.norm1, self.norm2 = LayerNorm(d), LayerNorm(d)
        self.qw, self.kw, self.vw, self.attn_out = (Projection(d, d) for _ in range(4))
        self.mlp = nn.Sequential(Projection(d, 4 * d, bias=True), nn.GELU("tanh"), Projection(4 * d, d, bias=True))

    def attend(self, x: Tensor, cos: Tensor, sin: Tensor, bias: Tensor) -> Tensor:
        batch, length, d = x.shape

        def split(y: Tensor) -> Tensor:  # [B, N, D] -> [B, H, N, E]
            return y.view(batch, length, self.heads, -1).transpose(1, 2)

        q, k, v = split(self.qw(x)), split(self.kw(x)), split(self.vw(x))
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5 + bias
        context = torch.softmax(scores, -1) @ v
        return self.attn_out(context.transpose(1, 2).reshape(batch, length, d))

    def forward(self, x: Tensor, c: Tensor, cos: Tensor, sin: Tensor, bias: Tensor) -> Tensor:
        shift1, scale1, gate1, shift2, scale2, gate2 = self.vectors(c)
        x = x + gate1 * self.attend(self.norm1(x) * (1 + scale1) + shift1, cos, sin, bias)
        return x + gate2 * self.mlp(self.norm2(x) * (1 + scale2) + shift2)


class Head(Modulation):
    def __init__(self, config: Config) -> None:
        super().__init__(config, 2)
        self.norm_final = LayerNorm(config.hidden_size)
        self.linear = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, x: Tensor, c: Tensor) -> Tensor:
        shift, scale = self.vectors(c)
        return self.linear(self.norm_final(x) * (1 + scale) + shift)


class FSDFM(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.vocab_embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.time_embedding = ScalarEmbedding(config.cond_dim)
        if config.step_conditioned:
            self.dt_embedding = ScalarEmbedding(config.cond_dim)
            self.time_condition_fuser = nn.Linear(2 * config.cond_dim, 2 * config.cond_dim)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.output_layer = Head(config)

    def forward(
        self, input_ids: Tensor, position_ids: Tensor, attention_bias: Tensor, time: Tensor, step: Tensor | None = None
    ) -> Tensor:
        """Logits [B, N, V]. time [B]; step [B] in the student only."""
        x = self.vocab_embed(input_ids)
        c = self.time_embedding(time.to(x.dtype))
        if self.config.step_conditioned:
            c = self.time_condition_fuser(torch.cat([c, self.dt_embedding(step.to(x.dtype))], -1))
        c = nn.functional.silu(c)
        cos, sin = rope_tables(position_ids, self.config.hidden_size // self.config.num_attention_heads, 1e4, x.dtype)
        for block in self.blocks:
            x = block(x, c, cos, sin, attention_bias.to(x.dtype))
        return self.output_layer(x, c)

    def projections(self) -> dict[str, Projection]:
        """The LoRA sites by module name, in the graph's order."""
        return {
            f"blocks.{i}.{name}": self.get_submodule(f"blocks.{i}.{name}")
            for i in range(self.config.num_hidden_layers)
            for name in ("qw", "kw", "vw", "attn_out", "mlp.0", "mlp.2")
        }


def generalised_kl(logits: Tensor, noisy: Tensor, clean: Tensor, weight: Tensor) -> Tensor:
    """sum_r -w_r [p(x_t) - d + (1 - d) log p(x_1)] with d = 1[x_t = x_1] (the paper's loss; w is 1 / (1 - kappa)).

    logits [R, V]; noisy x_t, clean x_1, weight w [R].
    """
    log_p = torch.log_softmax(logits, -1)
    same = (noisy == clean).to(log_p.dtype)

    def at(ids: Tensor) -> Tensor:
        return log_p.gather(-1, ids[:, None]).squeeze(-1)

    return -(weight * (at(noisy).exp() - same + (1 - same) * at(clean))).sum()
