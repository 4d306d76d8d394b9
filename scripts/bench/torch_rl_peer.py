"""The PyTorch peer of a whole Flow-GRPO step without a browser, written as a PyTorch user would write it.

    python3 scripts/bench/torch_rl_peer.py --step STEP.json [--compile] [--bf16]

STEP.json (rl-step.mjs writes it) has the shape of the model and of its work, and the packed micro-batches that scoring
and the update read. Answers every line on stdin with the CPU milliseconds of that phase:

    rollout cached   keys and values of the prompt (once a group) and of committed tokens are kept
    rollout whole    every round reads whole sequences
    score            log-probabilities of the micro-batches under the reference adapter
    update           clipped ratio with k3 to the reference, backward to LoRA, clipping by global norm, AdamW

Random weights, fp32 or bf16 by autocast, one thread, eager or compiled. Takes every phase twice before it is ready. What was recorded is taken to be what the policy says, so that ratios are 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SLOT = 4
EPS, THETA = 1e-6, 1e6


class LoraLinear(nn.Module):
    """y = x W^T + 2 (x A^T) B^T with W frozen, under one of two adapters."""

    def __init__(self, columns: int, rows: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(columns, rows, bias=False).requires_grad_(False)
        self.lora_A = nn.ModuleList(nn.Linear(columns, rank, bias=False) for _ in range(2))
        self.lora_B = nn.ModuleList(nn.Linear(rank, rows, bias=False) for _ in range(2))
        self.adapter = 0

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.lora_B[self.adapter](self.lora_A[self.adapter](x)) * 2


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, s: dict) -> None:
        super().__init__()
        d, hd, ffn, rank = s["hidden"], s["head-dim"], s["ffn"], s["rank"]
        self.hd, self.groups = hd, s["heads"] // s["kv-heads"]
        self.input_norm, self.mlp_norm = nn.RMSNorm(d, EPS), nn.RMSNorm(d, EPS)
        self.q_norm, self.k_norm = nn.RMSNorm(hd, EPS), nn.RMSNorm(hd, EPS)
        self.q = LoraLinear(d, s["heads"] * hd, rank)
        self.k, self.v = (LoraLinear(d, s["kv-heads"] * hd, rank) for _ in range(2))
        self.o = LoraLinear(s["heads"] * hd, d, rank)
        self.gate, self.up, self.down = LoraLinear(d, ffn, rank), LoraLinear(d, ffn, rank), LoraLinear(ffn, d, rank)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, past: tuple[Tensor, Tensor] | None):
        """x [B, N, D], mask [B or 1, 1, N, past + N]; returns x and keys and values [B, KV, past + N, hd]."""
        h = self.input_norm(x)
        heads = (*x.shape[:2], -1, self.hd)
        q = rotate(self.q_norm(self.q(h).view(heads)).transpose(1, 2), cos, sin)
        k = rotate(self.k_norm(self.k(h).view(heads)).transpose(1, 2), cos, sin)
        v = self.v(h).view(heads).transpose(1, 2)
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        x = x + self.o(context.transpose(1, 2).flatten(2))
        h = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h)), (k, v)


class Model(nn.Module):
    def __init__(self, s: dict) -> None:
        super().__init__()
        self.embed = nn.Embedding(s["vocab"], s["hidden"])
        self.layers = nn.ModuleList(Layer(s) for _ in range(s["layers"]))
        self.norm = nn.RMSNorm(s["hidden"], EPS)
        self.head = nn.Linear(s["hidden"], s["vocab"], bias=False)
        self.register_buffer("inverse", THETA ** (-torch.arange(0, s["head-dim"], 2) / s["head-dim"]), False)
        for name, parameter in self.named_parameters():
            parameter.requires_grad_("lora_" in name and ".0." in name[name.index("lora_") :])

    def use(self, adapter: int) -> None:
        for module in self.modules():
            if isinstance(module, LoraLinear):
                module.adapter = adapter

    def hidden(self, ids: Tensor, positions: Tensor, mask: Tensor, past: list | None = None):
        """Final hidden states [B, N, D], and keys and values of every layer."""
        angles = (positions[:, None, :, None] * self.inverse).repeat(1, 1, 1, 2)
        cos, sin = angles.cos(), angles.sin()
        x, kept = self.embed(ids), []
        for i, layer in enumerate(self.layers):
            x, kv = layer(x, cos, sin, mask, past[i] if past else None)
            kept.append(kv)
        return self.norm(x), kept


class Step:
    def __init__(self, s: dict) -> None:
        torch.manual_seed(0)
        self.s, self.model = s, Model(s)
        self.parameters = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-6, weight_decay=0, fused=True)
        self.prompts = torch.randint(s["vocab"] - 3, (s["prompts"], s["prompt"])).repeat_interleave(s["group"], 0)
        self.scored: list[tuple[dict, Tensor]] = []

    @torch.no_grad()
    def rollout(self, cached: bool) -> Tensor:
        """Responses [B, L]: in each round the most confident slots are drawn, each token from its own mask."""
        s, model = self.s, self.model
        model.use(0)
        count, length, prompt = len(self.prompts), s["response"], s["prompt"]
        slots = length // SLOT
        response = torch.full((count, length), s["vocab"] - 1)
        is_open = torch.ones(count, slots, dtype=torch.bool)
        order = torch.empty(count, 0, dtype=torch.long)  # committed positions, in commit order
        past, fresh = None, order
        if cached:
            one = self.prompts[:: s["group"]]
            causal = torch.ones(prompt, prompt, dtype=torch.bool).tril()
            _, past = model.hidden(one, torch.arange(prompt).expand(len(one), -1), causal)
            past = [tuple(t.repeat_interleave(s["group"], 0) for t in kv) for kv in past]
        for t in range(s["rounds"]):
            budget = slots * (t + 1) // s["rounds"] - slots * t // s["rounds"]
            if budget == 0:
                continue
            masks = is_open.repeat_interleave(SLOT, 1).nonzero()[:, 1].view(count, -1)
            shown = torch.cat((fresh if cached else order, masks), 1)
            ids, positions = response.gather(1, shown), shown + prompt
            if not cached:
                ids = torch.cat((self.prompts, ids), 1)
                positions = torch.cat((torch.arange(prompt).expand(count, -1), positions), 1)
            new = ids.shape[1]
            before = past[0][0].shape[2] if cached else 0
            mask = torch.ones(new, before + new, dtype=torch.bool).tril(before)
            hidden, kept = model.hidden(ids, positions, mask, past)
            if cached:
                past = [tuple(x[:, :, : before + fresh.shape[1]] for x in kv) for kv in kept]
            log_probs = model.head(hidden[:, -masks.shape[1] :]).log_softmax(-1)
            confidence = log_probs.amax(-1)[:, ::SLOT]
            best = confidence.topk(budget, dim=1).indices  # among open slots
            rows = (best[:, :, None] * SLOT + torch.arange(SLOT)).flatten(1)
            chosen = log_probs.gather(1, rows[:, :, None].expand(-1, -1, s["vocab"]))
            tokens = torch.multinomial(chosen.exp().flatten(0, 1), 1).view(count, -1)
            fresh = masks.gather(1, rows)
            response.scatter_(1, fresh, tokens)
            is_open.scatter_(1, fresh[:, ::SLOT] // SLOT, False)
            order = torch.cat((order, fresh), 1)
        return response

    def values(self, batch: dict) -> Tensor:
        """Sums [S] of log-probabilities."""
        hidden, _ = self.model.hidden(batch["ids"], batch["positions"], batch["mask"])
        log_probs = self.model.head(hidden.flatten(0, 1)[batch["rows"]]).log_softmax(-1)
        picked = log_probs.gather(1, batch["targets"][:, None])[:, 0] * batch["coefficient"]
        return torch.zeros(batch["segments"]).index_add(0, batch["segment"], picked)

    @torch.no_grad()
    def score(self) -> None:
        self.model.use(1)
        self.scored = []
        for b in self.s["batches"]:
            rows, length = b["shape"]
            at = torch.arange(length)
            r = torch.tensor(b["ranges"]).view(rows, 1, length, 1, 4)
            mask = ((at >= r[..., 0]) & (at < r[..., 1])) | ((at >= r[..., 2]) & (at < r[..., 3]))
            batch = {name: torch.tensor(b[name]) for name in ("rows", "targets", "segment", "coefficient")}
            batch |= {name: torch.tensor(b[name]).view(rows, length) for name in ("ids", "positions")}
            batch |= {"mask": mask, "segments": b["segments"]}
            self.scored.append((batch, self.values(batch)))
        self.model.use(0)

    def update(self) -> None:
        for i, (batch, reference) in enumerate(self.scored):
            value = self.values(batch)
            advantage = 1.0 if i % 2 == 0 else -1.0
            ratio = (value - value.detach()).exp()
            clipped = ratio.clamp(0.8, 1.2)
            d = (reference - value).clamp(-10, 10)
            loss = torch.maximum(-advantage * ratio, -advantage * clipped) + 0.01 * (d.exp() - d - 1)
            (loss.mean() / len(self.scored)).backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", required=True)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    args = parser.parse_args()
    with open(args.step, encoding="utf8") as file:
        step = Step(json.load(file))
    torch.set_num_threads(1)
    if args.compile:
        # rounds, phases and adapters differ in their shapes
        torch._dynamo.config.recompile_limit = 64
        step.model.hidden = torch.compile(step.model.hidden)
    phases = {
        "rollout cached": lambda: step.rollout(True),
        "rollout whole": lambda: step.rollout(False),
        "score": step.score,
        "update": step.update,
    }

    def run(phase: str) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
            phases[phase]()

    for _ in range(2):
        for phase in ("rollout cached", "score", "update"):
            run(phase)
    print("ready", file=sys.stderr, flush=True)
    for line in sys.stdin:
        command = line.strip()
        if command == "exit":
            return
        if command not in phases:
            sys.exit(f"expected exit or one of {', '.join(phases)} on stdin, got {command!r}")
        start = time.process_time()
        run(command)
        print(f"{(time.process_time() - start) * 1e3:.3f}", flush=True)


if __name__ == "__main__":
    main()
