"""The masked LM of `src/nn/arch/masked_lm.ts` in plain PyTorch: ReFusion's blocks, with or without QK-norm.

What makes it bidirectional is the `attention_bias` that its caller gives.
"""

from __future__ import annotations

from refusion import Config, ReFusion
from torch import nn


class MaskedLM(ReFusion):
    def __init__(self, config: Config, qk_norm: bool) -> None:
        super().__init__(config)
        if not qk_norm:
            for layer in self.model.layers:
                layer.self_attn.q_norm = layer.self_attn.k_norm = nn.Identity()
