"""Writes an adapter with Python's PEFT, and checks ours with it: test/golden/peft.

    pip install torch transformers peft
    python3 scripts/golden/peft_adapter.py --out test/golden/peft
    python3 scripts/golden/peft_adapter.py --check DIR --checkpoint test/golden/checkpoint/qwen3

The first makes a LoRA adapter on the model of test/golden/checkpoint (r 4, alpha 8, all seven projections, nothing
zero), saves it, and writes the logits of the adapted model.
The second loads an adapter directory of ours in PEFT, saves it again, and ends with an error unless
adapter_model.safetensors is the same bytes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import Qwen3ForCausalLM

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def base(folder: Path) -> Qwen3ForCausalLM:
    return Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def make(out: Path, checkpoint: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    torch.manual_seed(1)
    config = LoraConfig(r=4, lora_alpha=8, target_modules=TARGETS, task_type="CAUSAL_LM")
    model = get_peft_model(base(checkpoint), config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.randn(parameter.shape) * 0.2)
    model.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    # the same bytes wherever it is made: no path, and a set in one order
    described = json.loads((out / "adapter_config.json").read_text())
    described |= {"base_model_name_or_path": "qwen3", "target_modules": sorted(described["target_modules"])}
    (out / "adapter_config.json").write_text(json.dumps(described, indent=2, sort_keys=True) + "\n")
    inputs = load_file(checkpoint.parent / "expected.safetensors")
    with torch.no_grad():
        logits = model(
            input_ids=inputs["input_ids"],
            position_ids=inputs["position_ids"],
            attention_mask=inputs["attention_bias"],
            use_cache=False,
        ).logits
    save_file({"logits": logits.contiguous()}, out / "expected.safetensors")
    for path in out.iterdir():
        path.chmod(0o644)


def check(adapter: Path, checkpoint: Path) -> None:
    model = PeftModel.from_pretrained(base(checkpoint), str(adapter))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        name = "adapter_model.safetensors"
        ours, theirs = (adapter / name).read_bytes(), (Path(folder) / name).read_bytes()
        assert ours == theirs, f"{len(ours)} bytes of ours, {len(theirs)} of PEFT's"
    print(f"{adapter}: PEFT loads it and writes the same {len(ours)} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--out", type=Path)
    group.add_argument("--check", type=Path)
    parser.add_argument("--checkpoint", type=Path, default=ROOT / "test" / "golden" / "checkpoint" / "qwen3")
    arguments = parser.parse_args()
    if arguments.out is not None:
        make(arguments.out, arguments.checkpoint)
    else:
        check(arguments.check, arguments.checkpoint)


if __name__ == "__main__":
    main()
