"""Writes tiny models of Hugging Face transformers as PyTorch's two ONNX exporters give them, with goldens.

    python3 scripts/golden/imported.py --out test/golden/imported

Needs torch, onnx, onnxscript, transformers (made with torch 2.13.0, onnxscript 0.7.2, transformers 5.23.0). For each
model: `<model>-<exporter>/model.onnx` (and its external data), and `<model>.safetensors` with inputs, logits, an
adapter on the target projections, a cross-entropy and its gradients by autograd in float64. See README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import onnx
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    OPTConfig,
    OPTForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

BATCH, LENGTH, PADDED = 2, 10, 3
RANK, ALPHA = 2, 4.0
BLOCKED = -1e9
SIZES = {
    "vocab_size": 64,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 32,
}
SCOPES = "pkg.torch.onnx.name_scopes"


class MaskedLM(nn.Module):
    """What a user exports: input_ids and attention_mask [B, N] -> logits [B, N, V]."""

    inputs = ("input_ids", "attention_mask")

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).logits


class Contract(nn.Module):
    """The whole graph contract: input_ids, position_ids [B, N] and attention_bias [B, 1, N, N] -> logits [B, N, V]."""

    inputs = ("input_ids", "position_ids", "attention_bias")

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, position_ids: Tensor, attention_bias: Tensor) -> Tensor:
        return self.model(
            input_ids=input_ids, position_ids=position_ids, attention_mask=attention_bias, use_cache=False
        ).logits


class Nano(nn.Module):
    """One's own model: RoPE from float positions that the graph counts, a stored table that is cut at the length."""

    def __init__(self) -> None:
        super().__init__()
        hidden = SIZES["hidden_size"]
        self.wte = nn.Embedding(SIZES["vocab_size"], hidden)
        self.c_attn = nn.Linear(hidden, 3 * hidden)
        self.c_proj = nn.Linear(hidden, hidden)
        self.ln_f = nn.LayerNorm(hidden)
        self.lm_head = nn.Linear(hidden, SIZES["vocab_size"], bias=False)
        self.register_buffer("table", torch.linspace(-1, 1, 32 * hidden).view(1, 32, hidden))

    def rotate(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        speed = 1.0 / 10000 ** (torch.arange(0, half, dtype=x.dtype) / half)
        angle = torch.arange(0, x.shape[1], dtype=x.dtype)[:, None] * speed
        cos, sin = angle.cos(), angle.sin()
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    def forward(self, input_ids: Tensor, bias: Tensor) -> Tensor:
        x = self.wte(input_ids) + self.table[:, : input_ids.size(1)]
        q, k, v = self.c_attn(x).chunk(3, -1)
        scores = self.rotate(q) @ self.rotate(k).transpose(1, 2) / q.shape[-1] ** 0.5
        x = x + self.c_proj(torch.softmax(scores + bias, -1) @ v)
        return self.lm_head(self.ln_f(x))


class CastMask(nn.Module):
    """A wrapper that casts the mask itself."""

    inputs = ("input_ids", "attention_mask")

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        bias = (1.0 - attention_mask[:, None, :].to(self.model.wte.weight.dtype)) * BLOCKED
        return self.model(input_ids, bias)


# name -> wrapper, model, LoRA targets, and per exporter its operator set and attention implementation
MODELS = {
    # one layer that runs twice; so wide that the newer exporter leaves a transposed copy of its matrices for each run
    "albert": (
        MaskedLM,
        lambda attention: AlbertForMaskedLM(
            AlbertConfig(
                **SIZES | {"hidden_size": 36, "intermediate_size": 36}, embedding_size=4, attn_implementation=attention
            )
        ),
        ("query", "value", "ffn"),
        {"dynamo": (18, "eager")},
    ),
    # calls its decoder's layers itself, so that the older exporter's paths are not the modules' names
    "opt": (
        Contract,
        lambda attention: OPTForCausalLM(
            OPTConfig(
                vocab_size=64,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                ffn_dim=24,
                max_position_embeddings=32,
                word_embed_proj_dim=16,
                attn_implementation=attention,
            )
        ),
        ("q_proj", "out_proj", "fc2", "lm_head"),
        {"torchscript": (17, "eager")},
    ),
    "bert": (
        MaskedLM,
        lambda attention: BertForMaskedLM(BertConfig(**SIZES, attn_implementation=attention)),
        ("query", "value", "dense"),
        {"torchscript": (17, "sdpa"), "dynamo": (20, "eager")},
    ),
    # exported by the first recipe of docs/model.md, as it is printed
    "recipe": (
        Contract,
        lambda attention: BertForMaskedLM(BertConfig(**SIZES, attn_implementation=attention)),
        ("query", "value", "dense"),
        {"docs": (18, "sdpa")},
    ),
    "nano": (CastMask, lambda _: Nano(), ("c_attn", "c_proj"), {"torchscript": (17, ""), "dynamo": (18, "")}),
    "modernbert": (
        MaskedLM,
        lambda attention: ModernBertForMaskedLM(
            ModernBertConfig(
                **SIZES,
                local_attention=4,
                global_attn_every_n_layers=2,
                pad_token_id=63,
                bos_token_id=61,
                eos_token_id=61,
                cls_token_id=61,
                sep_token_id=61,
                attn_implementation=attention,
            )
        ),
        ("Wqkv", "Wo", "Wi"),
        {"dynamo": (18, "sdpa")},
    ),
    "qwen3": (
        Contract,
        lambda attention: Qwen3ForCausalLM(
            Qwen3Config(
                **SIZES, num_key_value_heads=1, head_dim=8, tie_word_embeddings=True, attn_implementation=attention
            )
        ),
        ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
        {"torchscript": (18, "eager"), "dynamo": (21, "sdpa")},
    ),
}


def randomise(model: nn.Module) -> None:
    """Every parameter its own values: norms and biases that are equal would be written once by an exporter."""
    for name, parameter in model.named_parameters():
        noise = torch.randn_like(parameter)
        if parameter.dim() > 1:
            parameter.data = noise / parameter.shape[1] ** 0.5
        else:
            parameter.data = 0.2 * noise + (1 if name.endswith("weight") else 0)


def example_inputs(wrapper: type[nn.Module]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(11)
    ids = torch.randint(0, 60, (BATCH, LENGTH), generator=generator)
    if wrapper.inputs == MaskedLM.inputs:
        mask = torch.ones(BATCH, LENGTH, dtype=torch.int64)
        mask[-1, LENGTH - PADDED :] = 0
        return {"input_ids": ids, "attention_mask": mask}
    # moved tokens: positions that are not the places in the buffer
    positions = torch.stack([torch.randperm(LENGTH, generator=generator) for _ in range(BATCH)])
    visible = torch.tril(torch.rand(BATCH, LENGTH, LENGTH, generator=generator) < 0.7) | torch.eye(LENGTH, dtype=torch.bool)
    bias = torch.where(visible, 0.0, BLOCKED)[:, None]
    return {"input_ids": ids, "position_ids": positions, "attention_bias": bias}


def export(model: nn.Module, inputs: dict[str, Tensor], exporter: str, opset: int, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    axes = {name: ({0, 2, 3} if name == "attention_bias" else {0, 1}) for name in inputs}
    name = "scores" if isinstance(model, CastMask) else "logits"
    common = {"input_names": list(inputs), "output_names": [name], "opset_version": opset}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        if exporter == "dynamo":
            batch, length = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("sequence", min=2, max=32)
            shapes = {name: {a: batch if a == 0 else length for a in own} for name, own in axes.items()}
            torch.onnx.export(model, tuple(inputs.values()), path, dynamo=True, dynamic_shapes=shapes, **common)
            return
        names = {name: {a: "batch" if a == 0 else "sequence" for a in own} for name, own in axes.items()}
        names[name] = {0: "batch", 1: "sequence"}
        torch.onnx.export(model, tuple(inputs.values()), path, dynamo=False, dynamic_axes=names, **common)


def recipe() -> str:
    """The first Python block of docs/model.md."""
    text = (Path(__file__).parents[2] / "docs" / "model.md").read_text()
    return text.split("```python\n", 1)[1].split("```", 1)[0]


def export_as_printed(model: nn.Module, path: Path) -> None:
    """Runs the recipe with our model in place of a downloaded one, and puts what it wrote at `path`."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Path("my-model").mkdir()
        with (
            mock.patch.object(BertForMaskedLM, "from_pretrained", lambda _: model),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            exec(recipe(), {})  # noqa: S102
        shutil.copytree("my-model", path.parent, dirs_exist_ok=True)


def shorten(path: Path) -> None:
    """Takes out what the exporter notes of the source code it saw; the module paths stay."""
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key == SCOPES]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.doc_string = ""
    del model.graph.value_info[:]
    del model.metadata_props[:]
    path.write_bytes(model.SerializeToString(deterministic=True))


def attach(model: nn.Module, targets: tuple[str, ...]) -> dict[str, Tensor]:
    """Adds y + alpha/r x A' B' to the target projections; returns A and B under PEFT's names."""
    generator = torch.Generator().manual_seed(12)
    adapter: dict[str, Tensor] = {}
    for name, module in model.named_modules():
        if not isinstance(module, nn.Linear) or name.split(".")[-1] not in targets:
            continue
        shapes = {"A": (RANK, module.in_features), "B": (module.out_features, RANK)}
        a, b = (
            (torch.randn(shape, generator=generator).float() * 0.3).double().requires_grad_()
            for shape in shapes.values()
        )
        adapter[f"base_model.model.{name}.lora_A.weight"] = a
        adapter[f"base_model.model.{name}.lora_B.weight"] = b
        module.register_forward_hook(lambda _, x, y, a=a, b=b: y + ALPHA / RANK * (x[0] @ a.T) @ b.T)
    return adapter


def golden(model: nn.Module, wrapper: type[nn.Module], targets: tuple[str, ...]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(13)
    inputs = example_inputs(wrapper)
    rows = torch.randperm(BATCH * LENGTH - PADDED, generator=generator)[:6]
    wanted = torch.randint(0, SIZES["vocab_size"], (6,), generator=generator)
    exact = wrapper(model.double())
    own = {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}
    plain = exact(**own).detach()
    adapter = attach(model, targets)
    logits = exact(**own)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1)[rows], wanted)
    gradients = torch.autograd.grad(loss, list(adapter.values()))
    tensors = {f"input.{name}": tensor for name, tensor in inputs.items()}
    tensors |= {"input.rows": rows, "input.targets": wanted, "expect.logits": plain, "expect.loss": loss}
    tensors |= adapter
    tensors |= {f"grad.{name}": gradient for name, gradient in zip(adapter, gradients, strict=True)}
    return {
        name: (tensor.detach().float() if tensor.is_floating_point() else tensor).contiguous()
        for name, tensor in tensors.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=list(MODELS), choices=list(MODELS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name in args.only:
        wrapper, make, targets, exporters = MODELS[name]
        weights = None
        for exporter, (opset, attention) in exporters.items():
            torch.manual_seed(10)
            model = make(attention).eval()
            randomise(model)
            weights = weights or {k: v.clone() for k, v in model.state_dict().items()}
            model.load_state_dict(weights)
            path = args.out.absolute() / f"{name}-{exporter}" / "model.onnx"
            if exporter == "docs":
                export_as_printed(model, path.absolute())
            else:
                export(wrapper(model), example_inputs(wrapper), exporter, opset, path)
            shorten(path)
            print(path, sum(f.stat().st_size for f in path.parent.iterdir()), "bytes")
        reference = make("sdpa").eval()
        reference.load_state_dict(weights)
        printed = {"recipe": recipe()} if name == "recipe" else {}
        options = printed | {"rank": RANK, "alpha": ALPHA, "targets": targets, "padded": PADDED, **SIZES}
        path = args.out / f"{name}.safetensors"
        save_file(
            golden(reference, wrapper, targets), path, metadata={"golden": json.dumps(options, sort_keys=True)}
        )
        print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
