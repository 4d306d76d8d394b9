"""PyTorch on the work of `npm run gpu-check`: a Qwen3 of 8 B random parameters in bfloat16 with LoRA of rank 16.

python3 scripts/gpu/peer.py [eager|layers|whole]

eager is plain PyTorch, layers compiles each layer (torch.compile), whole the model with mode="reduce-overhead". Needs a
CUDA GPU, torch and transformers; on a CPU a tiny model tries the script. Prints the seconds and the allocated GiB of one
forward's log-probabilities and of a rollout group without keys and values kept, both also as a CUDA graph, and of an
ESPO update of four micro-batches [4, 512].
"""

import sys
import time

import torch
from torch import nn
from transformers import Qwen3Config, Qwen3ForCausalLM

CARD = torch.cuda.is_available()
DEVICE = "cuda" if CARD else "cpu"
PROMPT, RESPONSE, ROUNDS, GROUP, DRAWS, RANK = 128, 384, 64, 4, 4, 16
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


class Lora(nn.Module):
    """y = W x + 2 B A x, A [r, in] and B [out, r] in float32."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(RANK, base.in_features, device=DEVICE) * 0.01)
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK, device=DEVICE))

    def forward(self, x):
        low = nn.functional.linear(x, self.a.to(x.dtype))
        return self.base(x) + 2 * nn.functional.linear(low, self.b.to(x.dtype))


def build():
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=151671 if CARD else 1024,
        hidden_size=4096 if CARD else 64,
        num_hidden_layers=36 if CARD else 2,
        num_attention_heads=32 if CARD else 4,
        num_key_value_heads=8 if CARD else 2,
        head_dim=128 if CARD else 16,
        intermediate_size=12288 if CARD else 128,
        tie_word_embeddings=False,
    )
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(DEVICE):
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
    synchronize = torch.cuda.synchronize if CARD else lambda: None
    began = time.time()
    work()
    synchronize()
    first = time.time() - began
    if CARD:
        torch.cuda.reset_peak_memory_stats()
    began = time.time()
    for _ in range(runs):
        work()
        synchronize()
    seconds = (time.time() - began) / runs
    gib = torch.cuda.max_memory_allocated() / 2**30 if CARD else 0
    print(f"{what}: {seconds:.3f} s, {gib:.1f} GiB, the first {first:.1f} s", flush=True)


model = build()
ids = torch.randint(0, 151000 if CARD else 1000, (GROUP, PROMPT + RESPONSE), device=DEVICE)
answer = ids[:, PROMPT:]
adapter = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(adapter, lr=1e-9, fused=CARD)


def logits(tokens):
    return model(tokens, use_cache=False, logits_to_keep=RESPONSE).logits.float()


def scores_of(tokens):
    return torch.log_softmax(logits(tokens), -1)


@torch.no_grad()
def values(scores=scores_of):
    scores(ids).gather(-1, answer[..., None]).cpu()


@torch.no_grad()
def rollout(scores=scores_of):
    tokens = ids.clone()
    size = RESPONSE // ROUNDS
    for i in range(ROUNDS):
        some = scores(tokens)[:, i * size : (i + 1) * size]
        drawn = torch.distributions.Categorical(logits=some).sample()
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


@torch.no_grad()
def captured():
    """Captures one forward in a CUDA graph. Returns a function of tokens that replays it."""
    tokens = ids.clone()
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(2):
            scores_of(tokens)
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = scores_of(tokens)

    def replay(given):
        tokens.copy_(given)
        graph.replay()
        return result

    return replay


def main(way):
    if way == "layers":
        for layer in model.model.layers:
            layer.compile(dynamic=False)
    elif way == "whole":
        model.compile(mode="reduce-overhead", dynamic=False)
    model.eval()
    measure(f"{way}: log-probabilities of [4, 512]", values)
    if way != "whole":
        measure(f"{way}: rollout group", rollout, 1)
        if CARD:
            try:
                scores = captured()
                measure(f"{way}, in a CUDA graph: log-probabilities of [4, 512]", lambda: values(scores))
                measure(f"{way}, in a CUDA graph: rollout group", lambda: rollout(scores), 1)
                del scores
            except Exception as error:  # the other measurements stand
                print(f"{way}, in a CUDA graph: {str(error).splitlines()[0]}", flush=True)
    model.train()
    measure(f"{way}: update by four micro-batches [4, 512]", update)
    if way == "eager":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        measure("eager: the same with gradient checkpointing", update)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "eager")
