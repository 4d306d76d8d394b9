"""Writes the PyTorch goldens of the other objectives: losses, LoRA gradients, and those of the heads of FlowRL and TraceRL.

    python3 scripts/golden/objective_family.py --micro test/golden/micro.safetensors --out test/golden/objective-family.safetensors

Model and adapter come from the micro golden. Prompts, responses, masks and estimators are written out here from the
papers' formulas; nothing is shared with the TypeScript sources. Float64 throughout, rounded once at the end.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import torch
from make_golden import ALPHA, BLOCKED, MICRO, RANK
from micro import load_micro, read_arguments
from objectives import ADVANTAGES, CANVAS, SLOT, draw_texts
from refusion import ReFusion, policy_log_probs
from safetensors.torch import save_file
from torch import Tensor

TEMPERATURE = 0.8
CLIP_RANGE, BETA = 0.2, 0.04
# Slots that each round revealed; EOS is in the last one of the first and the third response.
ROUNDS = (((0,), (1,)), ((2, 0), (1,)), ((0,), (1,)))
# Credit a step, where an objective gives one; MDPO leaves some steps out.
STEP_CREDIT = ((1.0, 0.0), (-0.7, 0.4), (0.5, -0.2))
TOKEN_OLD = (0.05, 0.4, -0.4)  # l - old, in turn over the terms
TOKEN_REF = (0.1, -0.3, 0.6, -10.5)  # ref - l, in turn over the terms
SEQUENCE_OLD = (0.1, 0.5, -0.45)  # (value - old) / L
SEQUENCE_REF = (0.4, -0.9, 0.2)
# Masked slots and the order in which clean ones stand, a draw: one masks all, one nothing, one leaves tokens uncovered.
DRAWS = (
    (((1,), (1, 0)), ((), (1, 0))),
    (((0, 2), (2, 1, 0)), ((1,), (2, 0, 1))),
    (((0, 1), (0, 1)), ((0,), (0, 1))),
)
# Gauss-Legendre on (0, 1), three points, and the masks of floor(t U) slots (at least one).
NODES = ((0.5 - 0.15**0.5, 5 / 18), (0.5, 8 / 18), (0.5 + 0.15**0.5, 5 / 18))
FIXED = (
    (((1,), (0, 1)), ((0,), (0, 1)), ((1,), (1, 0))),
    (((2,), (1, 0, 2)), ((0,), (2, 1, 0)), ((0, 1), (2, 0, 1))),
    (((0,), (0, 1)), ((1,), (1, 0)), ((0,), (1, 0))),
)
SPG_BETA, SPG_OMEGA = 1.5, 0.5
FLOW_BETA, WIDTH = 2.0, 6
# TraceRL: gamma, lambda, clip of values, and the weight of the value's loss in the model's own gradient.
GAMMA, LAMBDA, VALUE_CLIP, TRUNK = 0.9, 0.7, 0.2, 0.5
VALUE_OLD = (0.1, -0.3, 0.5)  # V_old - V, in turn over the terms


def slot_range(slot: int, length: int) -> range:
    return range(slot * SLOT, min((slot + 1) * SLOT, length))


def states(model: ReFusion, ids: list[int], positions: list[int]) -> Tensor:
    """[N, D] hidden states of one buffer under plain causal attention."""
    n = len(ids)
    bias = torch.full((n, n), BLOCKED, dtype=torch.float64).triu(1)[None, None]
    return model.hidden(torch.tensor([ids]), torch.tensor([positions]), bias)[0]


def buffer_of(prompt: list[int], response: list[int], clean: list[int], open_positions: list[int]):
    """prompt | clean slots in their order | masks, and the row of each mask by response position."""
    ids, positions = list(prompt), list(range(len(prompt)))
    for slot in clean:
        for i in slot_range(slot, len(response)):
            ids.append(response[i])
            positions.append(len(prompt) + i)
    rows = {}
    for i in open_positions:
        rows[i] = len(ids)
        ids.append(MICRO.mask_token_id)
        positions.append(len(prompt) + i)
    return ids, positions, rows


def round_log_probs(model: ReFusion, prompt: list[int], response: list[int], rounds: tuple) -> list[Tensor]:
    """log p at the temperature of the tokens that each round revealed, ascending positions."""
    done: list[int] = []
    out = []
    for slots in rounds:
        open_positions = [i for i in range(CANVAS) if i // SLOT not in done]
        ids, positions, rows = buffer_of(prompt, response, done, open_positions)
        revealed = [i for slot in sorted(slots) for i in slot_range(slot, len(response))]
        logits = model.logits(states(model, ids, positions)[[rows[i] for i in revealed]])
        allowed = torch.tensor([float(eos_allowed(i // SLOT, done, slots)) for i in revealed])
        targets = torch.tensor([response[i] for i in revealed])
        out.append(policy_log_probs(logits, targets, allowed, TEMPERATURE, MICRO))
        done += sorted(slots)
    return out


def joined_rounds(model: ReFusion, prompt: list[int], response: list[int], rounds: tuple, size: int):
    """[(log p, states [tokens, D])] of each `size` rounds, drawn from the state before the first of them."""
    flags, done = {}, []
    for slots in rounds:
        flags.update({slot: float(eos_allowed(slot, done, slots)) for slot in slots})
        done += sorted(slots)
    out, done = [], []
    for first in range(0, len(rounds), size):
        slots = sorted(slot for some in rounds[first : first + size] for slot in some)
        open_positions = [i for i in range(CANVAS) if i // SLOT not in done]
        ids, positions, rows = buffer_of(prompt, response, done, open_positions)
        drawn = [i for slot in slots for i in slot_range(slot, len(response))]
        hidden = states(model, ids, positions)[[rows[i] for i in drawn]]
        allowed = torch.tensor([flags[i // SLOT] for i in drawn])
        targets = torch.tensor([response[i] for i in drawn])
        out.append((policy_log_probs(model.logits(hidden), targets, allowed, TEMPERATURE, MICRO), hidden))
        done += slots
    return out


def eos_allowed(slot: int, done: list[int], slots: tuple) -> bool:
    """No slot to the left stays open, and nothing to the right was committed."""
    left_closed = all(s in done or s in slots for s in range(slot))
    return left_closed and all(s < slot for s in done)


def masked_log_probs(model: ReFusion, prompt, response, masked, order) -> dict[int, Tensor]:
    """log p(y_i | the clean slots) of every masked position, temperature 1, EOS allowed."""
    clean = [s for s in order if s not in masked]
    open_positions = [i for i in range(len(response)) if i // SLOT in masked]
    ids, positions, rows = buffer_of(prompt, response, clean, open_positions)
    if not rows:
        return {}
    logits = model.logits(states(model, ids, positions)[list(rows.values())])
    targets = torch.tensor([response[i] for i in rows])
    return dict(zip(rows, policy_log_probs(logits, targets, torch.ones(len(rows)), 1.0, MICRO), strict=True))


def clipped(value: Tensor, old: Tensor, ref: Tensor, advantage: Tensor, beta: float) -> Tensor:
    ratio = torch.exp(value - old.double())
    surrogate = -torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP_RANGE, 1 + CLIP_RANGE) * advantage)
    d = (ref.double() - value).clamp(-10, 10)
    return surrogate + beta * (torch.exp(d) - d - 1)


def offset(value: Tensor, differences: tuple) -> Tensor:
    return torch.tensor(differences)[torch.arange(len(value)) % len(differences)]


def main() -> None:
    args = read_arguments(__doc__, seed=13)
    model, adapter = load_micro(args.micro)
    rng = np.random.RandomState(args.seed)
    prompts, responses = draw_texts(rng)
    lengths = torch.tensor([len(r) for r in responses], dtype=torch.float64)
    advantages = torch.tensor(ADVANTAGES, dtype=torch.float64)
    batch = range(len(prompts))
    tensors: dict[str, Tensor] = {"input.advantages": advantages}

    def add(name: str, loss: Tensor, old: Tensor | None, ref: Tensor | None, head: dict[str, Tensor] | None = None):
        tensors[f"expect.{name}_loss"] = loss
        if old is not None:
            tensors[f"input.{name}_old"] = old
        if ref is not None:
            tensors[f"input.{name}_ref"] = ref
        parameters = {**adapter, **(head or {})}
        gradients = torch.autograd.grad(loss, list(parameters.values()), retain_graph=True)
        tensors.update({f"grad.{name}.{key}": g for key, g in zip(parameters, gradients, strict=True)})

    # The recorded rounds: [response][round] -> log p of the revealed tokens.
    paths = [round_log_probs(model, prompts[b], responses[b], ROUNDS[b]) for b in batch]
    token = torch.cat([torch.cat(path) for path in paths])
    tensors["expect.token_value"] = token
    old = (token.detach() - offset(token, TOKEN_OLD)).float()
    ref = (token.detach() + offset(token, TOKEN_REF)).float()
    credit = {
        "cj-grpo": torch.cat([torch.full((len(torch.cat(path)),), ADVANTAGES[b]) for b, path in enumerate(paths)]),
        "mdpo": torch.cat([torch.full((len(l),), STEP_CREDIT[b][t]) for b, p in enumerate(paths) for t, l in enumerate(p)]),
    }
    credit["just-grpo"] = credit["cj-grpo"]
    # mean over responses of the means over rounds of the means over tokens; JustGRPO: of the means over tokens
    by_round = torch.cat([torch.full((len(l),), 1 / 3 / len(p) / len(l)) for p in paths for l in p]).double()
    by_response = torch.cat([torch.full((len(torch.cat(p)),), 1 / 3 / len(torch.cat(p))) for p in paths]).double()
    for name, weight in (("cj-grpo", by_round), ("mdpo", by_round), ("just-grpo", by_response)):
        loss = (weight * clipped(token, old, ref, credit[name].double(), BETA)).sum()
        add(name, loss, old, ref)

    # FlowRL: log Z of the mean prompt state, trajectory balance of the whole path.
    def normal(*shape: int) -> Tensor:
        values = rng.standard_normal(shape) / max(1, shape[-1]) ** 0.5
        return torch.from_numpy(values.astype(np.float32)).double().requires_grad_()

    d = MICRO.hidden_size
    head = {
        "log_z.0.weight": normal(WIDTH, d), "log_z.0.bias": normal(WIDTH), "log_z.0.norm": normal(WIDTH),
        "log_z.1.weight": normal(WIDTH, WIDTH), "log_z.1.bias": normal(WIDTH), "log_z.1.norm": normal(WIDTH),
        "log_z.2.weight": normal(1, WIDTH), "log_z.2.bias": normal(1),
    }
    tensors.update({f"head.{key}": t for key, t in head.items()})

    def log_z(prompt: list[int]) -> Tensor:
        x = states(model, prompt, list(range(len(prompt)))).mean(0)
        for n in (0, 1):
            x = torch.nn.functional.gelu(x @ head[f"log_z.{n}.weight"].T + head[f"log_z.{n}.bias"])
            x = torch.nn.functional.layer_norm(x, (WIDTH,), head[f"log_z.{n}.norm"], None, 1e-5)
        return (x @ head["log_z.2.weight"].T + head["log_z.2.bias"])[0]

    value = torch.stack([torch.cat(path).sum() for path in paths])
    old = (value.detach() - torch.tensor((0.1, 0.5, -0.45))).float()
    ref = (value.detach() - torch.tensor((3.0, -2.0, 5.0))).float()
    importance = torch.exp(value - old.double()).clamp(1 - CLIP_RANGE, 1 + CLIP_RANGE).detach()
    z = torch.stack([log_z(prompt) for prompt in prompts])
    balance = z + value / lengths - FLOW_BETA * advantages - ref.double() / lengths
    add("flowrl", (importance * balance**2).mean(), old, ref, head)

    # Bounds of the finished text.
    drawn = [[masked_log_probs(model, prompts[b], responses[b], m, o) for m, o in DRAWS[b]] for b in batch]
    other = [
        [masked_log_probs(model, prompts[b], responses[b], set(o) - set(m), o) for m, o in DRAWS[b]] for b in batch
    ]
    units = [-(-len(r) // SLOT) for r in responses]

    def elbo(b: int, coupled: bool) -> Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for (masked, _), one, two in zip(DRAWS[b], drawn[b], other[b], strict=True):
            for size, side in ((len(masked), one), (units[b] - len(masked), two)) if coupled else ((len(masked), one),):
                if size > 0:
                    total = total + (units[b] + 1) / size * sum(side.values()) / (2 if coupled else 1)
        return total / len(DRAWS[b])

    # Coupled-GRPO: the first draw and its complement; the masked side's terms come first.
    token = torch.cat([torch.stack([*drawn[b][0].values(), *other[b][0].values()]) for b in batch])
    old = (token.detach() - offset(token, TOKEN_OLD)).float()
    ref = (token.detach() + offset(token, TOKEN_REF)).float()
    own = torch.cat([torch.full((len(responses[b]),), ADVANTAGES[b]) for b in batch]).double()
    add("coupled-grpo", clipped(token, old, ref, own, BETA).mean(), old, ref)

    # wd1: weighted likelihood by the coupled bound.
    value = torch.stack([elbo(b, True) for b in batch])
    add("wd1", -(advantages * value / lengths).mean(), None, None)

    # SPG: a lower bound for the good ones, a mix with the upper bound for the bad ones.
    def eubo(b: int) -> Tensor:
        logs = []
        for i in range(len(responses[b])):
            terms = [
                (units[b] + 1) / len(masked) * torch.exp(SPG_BETA * one[i])
                for (masked, _), one in zip(DRAWS[b], drawn[b], strict=True)
                if i in one
            ]
            if terms:
                logs.append(torch.log(sum(terms) / len(DRAWS[b])) / SPG_BETA)
        return torch.stack(logs).mean()

    lower = torch.stack([elbo(b, False) for b in batch]) / lengths
    upper = torch.stack([eubo(b) for b in batch])
    mixed = torch.where(advantages < 0, SPG_OMEGA * upper + (1 - SPG_OMEGA) * lower, lower)
    add("spg", -(advantages * mixed * lengths).sum() / lengths.sum(), None, None)

    # GDPO: the bound by quadrature, one ratio a response.
    def quadrature(b: int) -> Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for (_, weight), (masked, order) in zip(NODES, FIXED[b], strict=True):
            one = masked_log_probs(model, prompts[b], responses[b], masked, order)
            total = total + weight * units[b] / len(masked) * sum(one.values())
        return total

    value = torch.stack([quadrature(b) for b in batch])
    old = (value.detach() - torch.tensor(SEQUENCE_OLD) * lengths).float()
    ref = (value.detach() + torch.tensor(SEQUENCE_REF) * lengths).float()
    ratio = torch.exp((value - old.double()) / lengths)
    surrogate = -torch.minimum(ratio * advantages, ratio.clamp(1 - CLIP_RANGE, 1 + CLIP_RANGE) * advantages)
    add("gdpo", (surrogate + BETA * (value - ref.double()) ** 2 / 2 / lengths).mean(), old, ref)

    # TraceRL: advantages over rounds from old values; the value's loss reaches the model by a part.
    critic = {"value.weight": normal(1, d)}
    tensors["head.value.weight"] = critic["value.weight"]
    for name, size in (("trace-rl", 1), ("trace-rl-joined", 2)):
        joined = [joined_rounds(model, prompts[b], responses[b], ROUNDS[b], size) for b in batch]
        token = torch.cat([l for path in joined for l, _ in path])
        hidden = torch.cat([h for path in joined for _, h in path])
        value = (TRUNK * hidden + (1 - TRUNK) * hidden.detach()) @ critic["value.weight"][0]
        old = (token.detach() - offset(token, TOKEN_OLD)).float()
        old_value = (value.detach() + offset(value, VALUE_OLD)).float()
        own = old_value.double().split([len(l) for path in joined for l, _ in path])
        advantage, returns, weight, at = [], [], [], 0
        for b, path in enumerate(joined):
            values = own[at : at + len(path)]
            at += len(path)
            for t, v in enumerate(values):
                # the sum of (gamma lambda)^k delta_(t+k), the first with the token's own value
                last = len(values) - 1
                reward = [ADVANTAGES[b] if k == last else 0.0 for k in range(len(values))]
                level = [u.mean() for u in values]
                delta = [
                    reward[k] - level[k] + (GAMMA * level[k + 1] if k < last else 0.0) for k in range(len(values))
                ]
                gae = sum((GAMMA * LAMBDA) ** (k - t) * delta[k] for k in range(t, last + 1))
                advantage.append(gae + level[t] - v)
                returns.append(torch.full_like(v, GAMMA ** (last - t) * ADVANTAGES[b]))
                weight.append(torch.full_like(v, 1 / len(batch) / len(path) / len(v)))
        advantage, returns, weight = torch.cat(advantage), torch.cat(returns), torch.cat(weight)
        near = old_value.double() + (value - old_value.double()).clamp(-VALUE_CLIP, VALUE_CLIP)
        error = torch.maximum((value - returns) ** 2, (near - returns) ** 2) / 2
        tensors[f"input.{name}_values"] = old_value
        tensors[f"expect.{name}_values"] = value
        loss = (weight * (clipped(token, old, old, advantage, BETA) + error)).sum()
        add(name, loss, old, None, critic)

    for b in batch:
        tensors[f"input.prompt.{b}"] = torch.tensor(prompts[b])
        tensors[f"input.response.{b}"] = torch.tensor(responses[b])
    options = {
        "config": asdict(MICRO), "rank": RANK, "alpha": ALPHA, "slot_size": SLOT, "canvas": CANVAS,
        "temperature": TEMPERATURE, "clip_range": CLIP_RANGE, "beta": BETA, "rounds": ROUNDS, "step_credit": STEP_CREDIT,
        "draws": DRAWS, "fixed": FIXED, "spg": [SPG_BETA, SPG_OMEGA], "flowrl": [FLOW_BETA, WIDTH],
        "trace": [GAMMA, LAMBDA, VALUE_CLIP, TRUNK], "seed": args.seed,
    }
    out = {k: (t.detach().float() if t.is_floating_point() else t).clone() for k, t in tensors.items()}
    save_file(out, args.out, metadata={"golden": json.dumps(options, sort_keys=True)})
    print(f"{args.out}: {len(out)} tensors, {args.out.stat().st_size} bytes")
    for name, tensor in out.items():
        if name.endswith("_loss"):
            print(f"  {name} {tensor.item():.6f}")


if __name__ == "__main__":
    main()
