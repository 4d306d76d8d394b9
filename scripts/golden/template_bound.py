"""Writes the PyTorch golden of the conditional bound: the ELBO of the values of a template's blanks, given the rest.

    python3 scripts/golden/template_bound.py --micro test/golden/micro.safetensors --out test/golden/template-bound.safetensors

Model and adapter come from the micro golden. Buffers, masks and the estimator are written out here from the formulas;
nothing is shared with the TypeScript sources. Float64 throughout, rounded once at the end.
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

SLOT = 2
PROMPT = 5
# lengths of given texts and rooms of blanks, in turn; a given text stands behind the last blank too
LAYOUT = ((3, 4), (2, 4), (1, 0))
VALUES = (2, 1)  # tokens of each value, without EOS
# Masked units, and all units in the order in which clean ones stand in the buffer. The units are slots 0 and 1 of the
# first blank and slot 2 of the second; slot 3 lies behind an end.
DRAWS = (((1,), (2, 0, 1)), ((0, 2), (1, 2, 0)), ((), (0, 1, 2)), ((1, 2), (2, 1, 0)))


class Page:
    """A template with the values in its blanks. Cells count the positions of the blanks alone."""

    def __init__(self, rng: np.random.RandomState) -> None:
        special = {MICRO.mask_token_id, MICRO.eos_token_id, MICRO.pad_token_id}
        ordinary = np.array([v for v in range(MICRO.vocab_size) if v not in special])
        draw = lambda n: rng.choice(ordinary, n).tolist()  # noqa: E731
        self.prompt = draw(PROMPT)
        self.given: list[tuple[int, int]] = []  # position, token
        self.texts: list[list[int]] = []
        self.position: list[int] = []  # of each cell
        self.value: dict[int, int] = {}  # cell -> token, each value with its EOS
        self.end: list[int] = []  # of each cell: the cell of its blank's EOS
        at = 0
        for i, (length, room) in enumerate(LAYOUT):
            text = draw(length)
            self.texts.append(text)
            self.given += [(at + j, token) for j, token in enumerate(text)]
            at += length
            first = len(self.position)
            if room:
                value = [*draw(VALUES[i]), MICRO.eos_token_id]
                self.value |= {first + j: token for j, token in enumerate(value)}
                self.end += [first + len(value) - 1] * room
            self.position += range(at, at + room)
            at += room


def log_prob_of(model: ReFusion, page: Page, masked: set[int], order: tuple[int, ...], causal: bool) -> Tensor:
    """sum of log p over the tokens of the masked slots, given the template and the other slots' tokens."""
    clean = [s for s in order if s not in masked]
    known = {c: page.value[c] for s in clean for c in range(s * SLOT, (s + 1) * SLOT) if c in page.value}
    # a blank whose end is known holds nothing behind it; a causal model reads nothing behind the last token
    last = max(page.value)
    cells = [c for c in range(len(page.position)) if c not in known and (c < page.end[c] or page.end[c] not in known)]
    masks = [c for c in cells if not causal or c <= last]
    ids = [*page.prompt, *(token for _, token in page.given), *known.values(), *[MICRO.mask_token_id] * len(masks)]
    places = [*(p for p, _ in page.given), *(page.position[c] for c in [*known, *masks])]
    positions = [*range(len(page.prompt)), *(len(page.prompt) + p for p in places)]
    first = len(ids) - len(masks)
    scored = [(first + i, page.value[c]) for i, c in enumerate(masks) if c in page.value]
    bias = torch.zeros((len(ids), len(ids)), dtype=torch.float64)
    if causal:
        bias = torch.full_like(bias, BLOCKED).triu(1)
    hidden = model.hidden(torch.tensor([ids]), torch.tensor([positions]), bias[None, None])[0]
    rows, targets = [r for r, _ in scored], torch.tensor([t for _, t in scored])
    return policy_log_probs(model.logits(hidden[rows]), targets, torch.ones(len(rows)), 1.0, MICRO).sum()


def elbo(model: ReFusion, page: Page, causal: bool) -> Tensor:
    """Mean over the draws of 1/2 (U+1)/l sum over the masked + 1/2 (U+1)/(U-l) sum over the rest."""
    units = len({c // SLOT for c in page.value})
    total = torch.zeros((), dtype=torch.float64)
    for masked, order in DRAWS:
        for side in (set(masked), set(range(units)) - set(masked)):
            if side:
                total = total + (units + 1) / len(side) / 2 * log_prob_of(model, page, side, order, causal)
    return total / len(DRAWS)


def main() -> None:
    args = read_arguments(__doc__, seed=17)
    model, adapter = load_micro(args.micro)
    page = Page(np.random.RandomState(args.seed))
    tensors: dict[str, Tensor] = {
        "input.prompt": torch.tensor(page.prompt),
        "input.response": torch.tensor([page.value[c] for c in sorted(page.value)]),
    }
    tensors |= {f"input.given.{i}": torch.tensor(text) for i, text in enumerate(page.texts)}
    for m, (masked, order) in enumerate(DRAWS):
        tensors[f"input.masked.{m}"] = torch.tensor([int(s in masked) for s in range(len(order))])
        tensors[f"input.order.{m}"] = torch.tensor(order)
    for attention in ("causal", "bidirectional"):
        value = elbo(model, page, attention == "causal")
        gradients = torch.autograd.grad(value, list(adapter.values()))
        tensors[f"expect.{attention}"] = value
        tensors |= {f"grad.{attention}.{key}": g for key, g in zip(adapter, gradients, strict=True)}
    rooms = [room for _, room in LAYOUT if room]
    options = {"config": asdict(MICRO), "rank": RANK, "alpha": ALPHA, "slot_size": SLOT, "rooms": rooms, "draws": len(DRAWS)}
    rounded = {k: t.detach().float() if t.is_floating_point() else t for k, t in tensors.items()}
    save_file({k: t.contiguous() for k, t in rounded.items()}, args.out, metadata={"golden": json.dumps(options)})


if __name__ == "__main__":
    main()
