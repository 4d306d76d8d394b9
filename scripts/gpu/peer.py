"""PyTorch on the work of `npm run gpu-check`: a Qwen3 of 8 B random parameters in bfloat16 with LoRA of rank 16.

python3 scripts/gpu/peer.py

Needs a CUDA GPU, torch and transformers. Prints the seconds and the allocated GiB of one forward's log-probabilities, of
a rollout group without keys and values kept, and of an ESPO update of four micro-batches [4, 512].
"""

import time

import torch
from torch import nn
from transformers import Qwen3Config, Qwen3ForCausalLM

PROMPT, RESPONSE, ROUNDS, GROUP, DRAWS, RANK = 128, 384, 64, 4, 4, 16
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


class Lora(nn.Module):
    """y = W x + 2 B A x, A [r, in] and B [out, r] in float32."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(RANK, base.in_features, device="cuda") * 0.01)
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK, device="cuda"))

    def forward(self, x):
        low = nn.functional.linear(x, self.a.to(x.dtype))
        return self.base(x) + 2 * nn.functional.linear(low, self.b.to(x.dtype))


def build():
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=151671,
        hidden_size=4096,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=12288,
        tie_word_embeddings=False,
    )
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen3ForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.requires_grad_(False)
            if parameter.dim() > 1:
                parameter.normal_(0, 0.02)
    for layer in model.model.layers:
        for parent in (layer.self_attn, layer.mlp):
            for name in PROJECTIONS:
                if hasattr(parent, name):
                    setattr(parent, name, Lora(getattr(parent, name)))
    return model


def measure(what, work, runs=3):
    work()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    began = time.time()
    for _ in range(runs):
        work()
        torch.cuda.synchronize()
    seconds = (time.time() - began) / runs
    print(f"{what}: {seconds:.3f} s, {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB", flush=True)


model = build()
ids = torch.randint(0, 151000, (GROUP, PROMPT + RESPONSE), device="cuda")
answer = ids[:, PROMPT:]
adapter = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(adapter, lr=1e-9, fused=True)


def logits(tokens):
    return model(tokens, use_cache=False, logits_to_keep=RESPONSE).logits.float()


@torch.no_grad()
def values():
    torch.log_softmax(logits(ids), -1).gather(-1, answer[..., None]).cpu()


@torch.no_grad()
def rollout():
    tokens = ids.clone()
    size = RESPONSE // ROUNDS
    for i in range(ROUNDS):
        scores = torch.log_softmax(logits(tokens), -1)[:, i * size : (i + 1) * size]
        drawn = torch.distributions.Categorical(logits=scores).sample()
        tokens[:, PROMPT + i * size : PROMPT + (i + 1) * size] = drawn
        tokens.cpu()


def update():
    optimizer.zero_grad(set_to_none=False)
    for _ in range(DRAWS):
        scores = logits(ids)
        loss = nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), answer.reshape(-1))
        (loss / DRAWS).backward()
    torch.nn.utils.clip_grad_norm_(adapter, 1.0)
    optimizer.step()


model.eval()
measure("log-probabilities of [4, 512]", values)
measure("rollout group", rollout, 1)
model.train()
measure("update by four micro-batches [4, 512]", update)
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
measure("the same with gradient checkpointing", update)
