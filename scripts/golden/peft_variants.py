"""Writes adapters of every option of PEFT's LoRA and the logits with them: test/golden/peft-variants.safetensors.

    pip install torch transformers peft
    python3 scripts/golden/peft_variants.py --out test/golden/peft-variants.safetensors

Each kind is one LoraConfig on the model of test/golden/checkpoint, its parameters drawn at random as after training,
saved by PEFT. `<kind>/<tensor>` are the saved tensors, `<kind>/logits` four rows of the logits of the adapted model;
`__metadata__` holds each kind's adapter_config.json. `pissa converted` and `olora converted` are saved with
path_initial_model_for_weight_conversion.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import Qwen3ForCausalLM

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINT = ROOT / "test" / "golden" / "checkpoint" / "qwen3"
ROWS = [3, 9, 15, 27]

KINDS: dict[str, dict] = {
    "plain": {},
    "rslora": {"use_rslora": True},
    "rank_pattern": {"rank_pattern": {"v_proj": 4}},
    "rank_pattern path": {"rank_pattern": {"model.layers.1.self_attn.q_proj": 1, "layers.2.self_attn.v_proj": 3}},
    "rank_pattern regex": {"rank_pattern": {r".*\.[02]\..*q_proj": 5, "q_proj": 1}},
    "rank_pattern anchored": {"rank_pattern": {r"^model\.layers\.0\.self_attn\.q_proj": 4}},
    "alpha_pattern": {"alpha_pattern": {"q_proj": 16, "layers.0.self_attn.v_proj": 1}},
    "both patterns": {"rank_pattern": {"q_proj": 3}, "alpha_pattern": {"v_proj": 9, "layers.1.self_attn.q_proj": 2}},
    "patterns rslora": {"rank_pattern": {"q_proj": 3}, "alpha_pattern": {"v_proj": 9}, "use_rslora": True},
    "pattern of nothing": {"rank_pattern": {"gate_proj": 8}, "alpha_pattern": {"proj": 8}},
    "layers_to_transform": {"layers_to_transform": [0, 2], "layers_pattern": "layers"},
    "exclude_modules": {"exclude_modules": ["layers.1.self_attn.q_proj"]},
    "regex targets": {"target_modules": r".*\.[01]\.(self_attn\.q_proj|mlp\.up_proj)"},
    "all-linear": {"target_modules": "all-linear", "r": 1},
    "head": {"target_modules": ["q_proj", "lm_head"]},
    "gaussian": {"init_lora_weights": "gaussian"},
    "orthogonal": {"init_lora_weights": "orthogonal"},
    "mica": {"init_lora_weights": "mica"},
    "random": {"init_lora_weights": False},
    "dropout": {"lora_dropout": 0.1},
    "tokens": {"trainable_token_indices": [153, 232]},
    "no task": {"task_type": None},
    "pissa": {"init_lora_weights": "pissa"},
    "pissa_niter": {"init_lora_weights": "pissa_niter_4"},
    "pissa converted": {"init_lora_weights": "pissa"},
    "olora": {"init_lora_weights": "olora"},
    "olora converted": {"init_lora_weights": "olora"},
    "pissa converted rslora": {"init_lora_weights": "pissa", "use_rslora": True},
    "dora": {"use_dora": True},
    "lora_bias": {"lora_bias": True},
    "bias all": {"bias": "all"},
    "modules_to_save": {"modules_to_save": ["lm_head"]},
    "embedding": {"target_modules": ["q_proj", "embed_tokens"]},
    "target_parameters": {"target_modules": [], "target_parameters": ["self_attn.q_proj.weight"]},
    "alora": {"alora_invocation_tokens": [1, 2]},
}


def base() -> Qwen3ForCausalLM:
    return Qwen3ForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32, attn_implementation="eager").eval()


def made(name: str, options: dict, inputs: dict) -> tuple[dict, dict]:
    """Returns adapter_config.json and the tensors of a kind."""
    torch.manual_seed(1)
    chosen = {"r": 2, "lora_alpha": 6, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"} | options
    model = get_peft_model(base(), LoraConfig(**chosen)).eval()
    with tempfile.TemporaryDirectory() as folder:
        first, out = Path(folder) / "first", Path(folder) / "out"
        convert = {}
        if "converted" in name:
            config = model.peft_config["default"]
            config.init_lora_weights, kept = True, config.init_lora_weights
            model.save_pretrained(first)
            config.init_lora_weights = kept
            convert = {"path_initial_model_for_weight_conversion": str(first)}
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                if "lora_" in key or "trainable_tokens" in key or "modules_to_save" in key:
                    parameter.add_(torch.randn(parameter.shape) * 0.2)
        with torch.no_grad():
            logits = model(
                input_ids=inputs["input_ids"],
                position_ids=inputs["position_ids"],
                attention_mask=inputs["attention_bias"],
                use_cache=False,
            ).logits
        model.save_pretrained(out, **convert)
        config = json.loads((out / "adapter_config.json").read_text())
        tensors = load_file(out / "adapter_model.safetensors")
    config |= {"base_model_name_or_path": "qwen3"}
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    return config, tensors | {"logits": logits.flatten(0, 1)[ROWS]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    warnings.simplefilter("ignore")
    inputs = load_file(CHECKPOINT.parent / "expected.safetensors")
    configs, stored = {}, {}
    for name, options in KINDS.items():
        config, tensors = made(name, options, inputs)
        configs[name] = config
        # the table of a kind that retrains it is large, and is refused by its config
        stored |= {f"{name}/{key}": t.contiguous() for key, t in tensors.items() if t.numel() < 20_000}
    save_file(stored, out, {"configs": json.dumps(configs), "rows": json.dumps(ROWS)})
    out.chmod(0o644)
    print(f"{len(configs)} kinds, {out.stat().st_size} bytes")


main()
