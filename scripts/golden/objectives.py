"""Writes the PyTorch goldens of ESPO and the old GRPO: losses and LoRA gradients on recorded responses.

    python3 scripts/golden/objectives.py --micro test/golden/micro.safetensors --out test/golden/objectives.safetensors

Model and adapter come from the micro golden, so they are not stored again. Buffers, masks and estimators are written
out here from the formulas; nothing is shared with the TypeScript sources. Float64 throughout, rounded once at the end.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import torch
from make_golden import ALPHA, BLOCKED, MICRO, RANK
from micro import load_micro, read_arguments
from refusion import ReFusion, policy_log_probs
from safetensors.torch import save_file
from torch import Tensor

SLOT = 4
CANVAS = 12
PROMPTS = (5, 7, 3)
RESPONSES = (6, 12, 8)  # tokens; the first and the last end in EOS, and the first one's last slot is cut by it
ENDS = (True, False, True)
ADVANTAGES = (1.0, -0.7, 0.5)
CLIP_RANGE = 0.2
# Two draws a response: the masked slots, and all slots in the order in which clean ones stand in the buffer. One draw
# masks nothing and one masks everything: the empty side of the coupled pair counts 0.
DRAWS = (
    (((1,), (1, 0)), ((), (1, 0))),
    (((0, 2), (2, 1, 0)), ((1,), (2, 0, 1))),
    (((0, 1), (0, 1)), ((0,), (0, 1))),
)
ESPO_BETA = 3e-3
# (ELBO - old) / L: inside the clip range, outside it where the clip does not bind, outside where it does.
ESPO_OLD = (0.05, 0.3, 0.35)
ESPO_REF = (0.4, -0.9, 0.2)  # (ref - ELBO) / L
GRPO_BETA = 0.04
GRPO_OLD = (0.05, 0.4, -0.4)  # l - old, in turn over the tokens
GRPO_REF = (0.1, -0.3, 0.6, -10.5)  # ref - l, in turn over the tokens


def draw_texts(rng: np.random.RandomState) -> tuple[list[list[int]], list[list[int]]]:
    special = {MICRO.mask_token_id, MICRO.eos_token_id, MICRO.pad_token_id}
    ordinary = np.array([v for v in range(MICRO.vocab_size) if v not in special])
    prompts = [rng.choice(ordinary, n).tolist() for n in PROMPTS]
    responses = [rng.choice(ordinary, n).tolist() for n in RESPONSES]
    for response, ends in zip(responses, ENDS, strict=True):
        if ends:
            response[-1] = MICRO.eos_token_id
    return prompts, responses


def causal_log_probs(model: ReFusion, ids: list[int], positions: list[int], rows: list[int], targets: list[int]) -> Tensor:
    """log p(target) at each row of one buffer, plain causal attention, temperature 1, EOS allowed."""
    n = len(ids)
    bias = torch.full((n, n), BLOCKED, dtype=torch.float64).triu(1)[None, None]
    hidden = model.hidden(torch.tensor([ids]), torch.tensor([positions]), bias)[0]
    logits = model.logits(hidden[rows])
    return policy_log_probs(logits, torch.tensor(targets), torch.ones(len(rows)), 1.0, MICRO)


def masked_log_prob(
    model: ReFusion, prompt: list[int], response: list[int], masked: set[int], order: tuple[int, ...]
) -> Tensor:
    """sum of log p(y_i) over the tokens of the masked slots, given the others."""
    ids, positions = list(prompt), list(range(len(prompt)))
    rows, targets = [], []
    slots = range(-(-len(response) // SLOT))
    for slot in [s for s in order if s not in masked] + [s for s in slots if s in masked]:
        for i in range(slot * SLOT, min((slot + 1) * SLOT, len(response))):
            if slot in masked:
                rows.append(len(ids))
                targets.append(response[i])
            ids.append(MICRO.mask_token_id if slot in masked else response[i])
            positions.append(len(prompt) + i)
    return causal_log_probs(model, ids, positions, rows, targets).sum() if rows else torch.zeros((), dtype=torch.float64)


def elbo(model: ReFusion, prompt: list[int], response: list[int], draws: tuple) -> Tensor:
    """Mean over the draws of 1/2 (U+1)/l sum over the masked + 1/2 (U+1)/(U-l) sum over the rest."""
    units = -(-len(response) // SLOT)
    total = torch.zeros((), dtype=torch.float64)
    for masked, order in draws:
        for side in (set(masked), set(range(units)) - set(masked)):
            if side:
                total = total + (units + 1) / len(side) / 2 * masked_log_prob(model, prompt, response, side, order)
    return total / len(draws)


def surrogate(ratio: Tensor, advantage: Tensor) -> Tensor:
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP_RANGE, 1 + CLIP_RANGE) * advantage)


def main() -> None:
    args = read_arguments(__doc__, seed=11)
    model, adapter = load_micro(args.micro)
    prompts, responses = draw_texts(np.random.RandomState(args.seed))
    lengths = torch.tensor([len(r) for r in responses], dtype=torch.float64)
    advantages = torch.tensor(ADVANTAGES, dtype=torch.float64)
    tensors: dict[str, Tensor] = {"input.advantages": advantages}

    def add(name: str, loss: Tensor, value: Tensor, old: Tensor, ref: Tensor) -> None:
        tensors.update({f"expect.{name}_loss": loss, f"expect.{name}_value": value})
        tensors.update({f"input.{name}_old": old, f"input.{name}_ref": ref})
        gradients = torch.autograd.grad(loss, list(adapter.values()))
        tensors.update({f"grad.{name}.{key}": g for key, g in zip(adapter, gradients, strict=True)})

    # ESPO: one ratio a response, k2 penalty.
    value = torch.stack([elbo(model, p, r, d) for p, r, d in zip(prompts, responses, DRAWS, strict=True)])
    # Rounded to fp32 before use: the loss is the exact one of the stored inputs.
    old = (value.detach() - torch.tensor(ESPO_OLD) * lengths).float()
    ref = (value.detach() + torch.tensor(ESPO_REF) * lengths).float()
    ratio = torch.exp((value - old.double()) / lengths)
    k2 = (value - ref.double()) ** 2 / 2 / lengths
    add("espo", (surrogate(ratio, advantages) + ESPO_BETA * k2).mean(), value, old, ref)

    # GRPO as if written from left to right: one ratio a token, k3 penalty.
    per_response = []
    for prompt, response in zip(prompts, responses, strict=True):
        ids = prompt + response
        rows = list(range(len(prompt) - 1, len(ids) - 1))
        per_response.append(causal_log_probs(model, ids, list(range(len(ids))), rows, response))
    value = torch.cat(per_response)
    turn = torch.arange(len(value))
    old = (value.detach() - torch.tensor(GRPO_OLD)[turn % len(GRPO_OLD)]).float()
    ref = (value.detach() + torch.tensor(GRPO_REF)[turn % len(GRPO_REF)]).float()
    d = (ref.double() - value).clamp(-10, 10)
    k3 = torch.exp(d) - d - 1
    token_advantages = advantages.repeat_interleave(lengths.long())
    loss = (surrogate(torch.exp(value - old.double()), token_advantages) + GRPO_BETA * k3).mean()
    add("grpo", loss, value, old, ref)

    for b, (prompt, response, draws) in enumerate(zip(prompts, responses, DRAWS, strict=True)):
        tensors[f"input.prompt.{b}"] = torch.tensor(prompt)
        tensors[f"input.response.{b}"] = torch.tensor(response)
        for m, (masked, order) in enumerate(draws):
            tensors[f"input.masked.{b}.{m}"] = torch.tensor([int(s in masked) for s in range(len(order))])
            tensors[f"input.order.{b}.{m}"] = torch.tensor(order)
    options = {
        "config": asdict(MICRO),
        "rank": RANK,
        "alpha": ALPHA,
        "slot_size": SLOT,
        "canvas": CANVAS,
        "mc_samples": len(DRAWS[0]),
        "clip_range": CLIP_RANGE,
        "espo_beta": ESPO_BETA,
        "beta": GRPO_BETA,
        "seed": args.seed,
    }
    out = {k: (t.detach().float() if t.is_floating_point() else t).contiguous() for k, t in tensors.items()}
    save_file(out, args.out, metadata={"golden": json.dumps(options, sort_keys=True)})
    print(f"{args.out}: {len(out)} tensors, {args.out.stat().st_size} bytes")
    for name in ("espo", "grpo"):
        print(f"  {name}_loss {out[f'expect.{name}_loss'].item():.6f}")


if __name__ == "__main__":
    main()
