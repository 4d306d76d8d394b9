"""A plain PyTorch reference of the ReFusion architecture (a Qwen3 decoder), for the test goldens only.

Written to be read beside `src/nn/arch/`: no caching, no fused kernels, every shape in a comment.
What is particular to ReFusion: attention is causal over the *buffer*, RoPE uses the *original* position.
So `position_ids` and the additive `attention_bias` are explicit inputs and nothing is derived from the buffer index.

Shapes: B batch, N buffer length, D hidden, H heads, G key/value heads, E head_dim, F ffn, V vocabulary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from lora import Projection, attach, detach
from safetensors.torch import load_file
from torch import Tensor, nn

ATTENTION_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")
MLP_PROJECTIONS = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Config:
    """The Hugging Face keys of config.json that the forward pass and the policy read."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    rope_theta: float
    rms_norm_eps: float
    tie_word_embeddings: bool
    mask_token_id: int
    eos_token_id: int
    pad_token_id: int

    @classmethod
    def from_dict(cls, values: dict) -> Config:
        missing = [name for name in cls.__dataclass_fields__ if name not in values]
        if missing:
            raise KeyError(f"config.json lacks {', '.join(missing)}")
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})


class RMSNorm(nn.Module):
    """y = w * x / sqrt(mean(x^2) + eps), in fp32 at least, over the last axis."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        normalised = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * normalised.to(x.dtype)


def rope_tables(position_ids: Tensor, head_dim: int, theta: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """cos and sin [B, 1, N, E] of position * theta^(-2i/E), i = 0..E/2-1, repeated for both halves."""
    inverse = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = position_ids.to(torch.float64)[:, None, :, None] * inverse  # [B, 1, N, E/2]
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate_half(x: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        d, e = config.hidden_size, config.head_dim
        self.q_proj = Projection(d, config.num_attention_heads * e)
        self.k_proj = Projection(d, config.num_key_value_heads * e)
        self.v_proj = Projection(d, config.num_key_value_heads * e)
        self.o_proj = Projection(config.num_attention_heads * e, d)
        self.q_norm = RMSNorm(e, config.rms_norm_eps)
        self.k_norm = RMSNorm(e, config.rms_norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, bias: Tensor) -> Tensor:
        batch, length, _ = x.shape
        head_dim = self.config.head_dim

        def heads(y: Tensor) -> Tensor:  # [B, N, heads * E] -> [B, heads, N, E]
            return y.view(batch, length, -1, head_dim).transpose(1, 2)

        # QK-norm comes before RoPE.
        q = self.q_norm(heads(self.q_proj(x)))
        k = self.k_norm(heads(self.k_proj(x)))
        v = heads(self.v_proj(x))
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin

        # Grouped-query attention: query head h reads key/value head h // (H / G).
        group = self.config.num_attention_heads // self.config.num_key_value_heads
        k = k.repeat_interleave(group, dim=1)
        v = v.repeat_interleave(group, dim=1)

        scores = q @ k.transpose(-1, -2) / head_dim**0.5 + bias  # [B, H, N, N]
        context = torch.softmax(scores, dim=-1) @ v  # [B, H, N, E]
        return self.o_proj(context.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    """SwiGLU: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate_proj = Projection(config.hidden_size, config.intermediate_size)
        self.up_proj = Projection(config.hidden_size, config.intermediate_size)
        self.down_proj = Projection(config.intermediate_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, bias: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, bias)
        return x + self.mlp(self.post_attention_layernorm(x))


class Backbone(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class ReFusion(nn.Module):
    """Parameters carry Hugging Face names; a tied model has no `lm_head.weight`."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.model = Backbone(config)
        tied = config.tie_word_embeddings
        self.lm_head = None if tied else nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def hidden(self, input_ids: Tensor, position_ids: Tensor, attention_bias: Tensor) -> Tensor:
        """Hidden states after the final norm, [B, N, D]. `attention_bias` [B, 1, N, N] is added to the scores."""
        x = self.model.embed_tokens(input_ids)
        cos, sin = rope_tables(position_ids, self.config.head_dim, self.config.rope_theta, x.dtype)
        for layer in self.model.layers:
            x = layer(x, cos, sin, attention_bias.to(x.dtype))
        return self.model.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., D] -> [..., V]."""
        head = self.model.embed_tokens if self.lm_head is None else self.lm_head
        return hidden @ head.weight.T

    def forward(self, input_ids: Tensor, position_ids: Tensor, attention_bias: Tensor) -> Tensor:
        """Logits [B, N, V]."""
        return self.logits(self.hidden(input_ids, position_ids, attention_bias))

    def projections(self) -> dict[str, Projection]:
        """Every LoRA site by its module name, in layer order: q, k, v, o, gate, up, down."""
        return {
            f"model.layers.{i}.{block}.{name}": self.get_submodule(f"model.layers.{i}.{block}.{name}")
            for i in range(self.config.num_hidden_layers)
            for block, names in (("self_attn", ATTENTION_PROJECTIONS), ("mlp", MLP_PROJECTIONS))
            for name in names
        }

    def attach_lora(self, tensors: dict[str, Tensor], rank: int, alpha: float) -> None:
        """Attaches an adapter under PEFT names; `tensors` holds A and B of every projection."""
        attach(self.projections(), tensors, alpha / rank)

    def detach_lora(self) -> None:
        detach(self.projections())


def build(config: Config, weights: dict[str, Tensor], dtype: torch.dtype) -> ReFusion:
    """A model with these weights; names and shapes must match exactly."""
    model = ReFusion(config)
    model.load_state_dict(weights, strict=True)
    return model.to(dtype)


def load(directory: str | Path, dtype: torch.dtype = torch.float32) -> ReFusion:
    """Loads a model directory: config.json and model.safetensors."""
    directory = Path(directory)
    config = Config.from_dict(json.loads((directory / "config.json").read_text()))
    weights = load_file(directory / "model.safetensors")
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    return build(config, weights, dtype)


def policy_log_probs(
    logits: Tensor, targets: Tensor, eos_allowed: Tensor, temperature: float, config: Config
) -> Tensor:
    """log softmax(logits / temperature)[target] over the allowed vocabulary, [...].

    The mask and pad tokens are never allowed; EOS only where `eos_allowed` is not 0. The rest is renormalised.
    logits [..., V], targets [...] int64, eos_allowed [...].
    """
    forbidden = torch.zeros_like(logits, dtype=torch.bool)
    forbidden[..., config.mask_token_id] = True
    forbidden[..., config.pad_token_id] = True
    forbidden[..., config.eos_token_id] |= eos_allowed == 0
    allowed = (logits / temperature).masked_fill(forbidden, -torch.inf)
    return torch.log_softmax(allowed, dim=-1).gather(-1, targets[..., None]).squeeze(-1)


@dataclass(frozen=True)
class FlowGrpo:
    """The loss and the quantities it is made of, each [B, T] except `loss` (scalar)."""

    loss: Tensor
    round_log_probs: Tensor
    ratio: Tensor
    surrogate: Tensor
    k3: Tensor


def flow_grpo(
    log_probs: Tensor, mask: Tensor, old: Tensor, ref: Tensor, advantages: Tensor, clip_range: float, beta: float
) -> FlowGrpo:
    """Flow-GRPO over the rounds of unmasking.

    l_t = sum_k mask * log p;  rho = exp(l_t - old_t);  d = clamp(ref_t - l_t, -10, 10);  k3 = exp(d) - d - 1
    loss = mean over rounds with any mask of  max(-A rho, -A clip(rho, 1 - eps, 1 + eps)) + beta * k3

    log_probs, mask [B, T, K]; old, ref [B, T]; advantages [B].
    """
    l = torch.where(mask != 0, log_probs, 0).sum(-1)
    a = advantages[:, None]
    ratio = torch.exp(l - old)
    surrogate = torch.maximum(-a * ratio, -a * ratio.clamp(1 - clip_range, 1 + clip_range))
    d = (ref - l).clamp(-10, 10)
    k3 = torch.exp(d) - d - 1
    valid = (mask != 0).any(-1).to(l.dtype)
    loss = ((surrogate + beta * k3) * valid).sum() / valid.sum()
    return FlowGrpo(loss, l, ratio, surrogate, k3)


def weighted_cross_entropy(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """sum_r w_r * -log_softmax(logits_r)[target_r] at temperature 1 over the whole vocabulary. logits [R, V]."""
    return -(weights * torch.log_softmax(logits, dim=-1).gather(-1, targets[:, None]).squeeze(-1)).sum()
