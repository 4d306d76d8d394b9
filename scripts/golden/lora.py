"""LoRA in plain PyTorch, shared by the reference models of the test goldens."""

from __future__ import annotations

from torch import Tensor, nn

PEFT_PREFIX = "base_model.model."


class Projection(nn.Linear):
    """y = x W^T (+ b) + (alpha / r) (x A^T) B^T, W [out, in], A [r, in], B [out, r]; plain Linear until LoRA is attached."""

    def __init__(self, in_features: int, out_features: int, bias: bool = False) -> None:
        super().__init__(in_features, out_features, bias=bias)
        self.lora_A: Tensor | None = None
        self.lora_B: Tensor | None = None
        self.lora_scale = 0.0

    def forward(self, x: Tensor) -> Tensor:
        y = x @ self.weight.T
        if self.bias is not None:
            y = y + self.bias
        if self.lora_A is not None and self.lora_B is not None:
            y = y + self.lora_scale * ((x @ self.lora_A.T) @ self.lora_B.T)
        return y


def attach(projections: dict[str, Projection], tensors: dict[str, Tensor], scale: float) -> None:
    """Attaches an adapter under PEFT names; `tensors` holds A and B of every projection."""
    for name, projection in projections.items():
        projection.lora_A = tensors[f"{PEFT_PREFIX}{name}.lora_A.weight"]
        projection.lora_B = tensors[f"{PEFT_PREFIX}{name}.lora_B.weight"]
        projection.lora_scale = scale


def detach(projections: dict[str, Projection]) -> None:
    for projection in projections.values():
        projection.lora_A = projection.lora_B = None
