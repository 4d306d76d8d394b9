"""Writes the log-probabilities that the layouts of `unmask` are compared with: test/golden/layouts.json.

    python3 scripts/golden/layouts.py --out test/golden/layouts.json

A micro model whose weights are a formula (`weight_of`), so that no file of weights is needed; three rollouts of a
template on two prompts of one length, for attention that is causal, in blocks of three positions, or whole, and without
masks: each token from the one before it in its line (`next-token`). Buffers and visibility are written out here from the description of a round; nothing is shared with the TypeScript sources. Float64.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path

import torch
from masked_lm import MaskedLM
from refusion import Config, ReFusion, policy_log_probs
from torch import Tensor

CONFIG = Config(
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=4,
    intermediate_size=12,
    vocab_size=16,
    rope_theta=10000.0,
    rms_norm_eps=1e-6,
    tie_word_embeddings=False,
    mask_token_id=13,
    eos_token_id=14,
    pad_token_id=15,
)
BLOCKED = -1e9
# no text is tokenized
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
    "post_processor": None,
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
}
TEMPERATURE = 0.8
SLOT = 2
BLOCK = 3
EOS = CONFIG.eos_token_id
# given text, room of the blank behind it, in turn; cells count the positions of the blanks alone
TEMPLATE: list[tuple[list[int], int]] = [([3, 7], 4), ([5], 4)]
# two of one prompt, and one of another prompt of the same length
PROMPTS = ([1, 4, 2, 9, 6], [1, 4, 2, 9, 6], [8, 0, 11, 3, 5])
# rounds of (cell, token, whether EOS may be drawn): the first blank of the second rollout ends at its second cell
ROLLOUTS = (
    [[(4, 10, 0), (5, 2, 0)], [(0, 12, 1), (1, 6, 1), (6, 9, 1), (7, EOS, 1)], [(2, 1, 1), (3, EOS, 1)]],
    [[(0, 7, 1), (1, EOS, 1), (4, 3, 0), (5, 0, 0)], [(6, 11, 1), (7, 5, 1)]],
    [[(2, 8, 0), (3, 4, 0)], [(0, 1, 1), (1, 9, 1)], [(4, 12, 1), (5, EOS, 1)]],
)
# blocks are completed one after the other
IN_BLOCKS = (
    [[(0, 5, 0), (1, 8, 0)], [(2, 2, 1), (3, EOS, 1)], [(4, 10, 0), (5, 4, 0)], [(6, 9, 1), (7, EOS, 1)]],
    [[(0, 7, 1), (1, EOS, 1)], [(4, 3, 0), (5, 0, 0)], [(6, 11, 1), (7, 5, 1)]],
    [[(0, 1, 0), (1, 9, 0)], [(2, 6, 1), (3, 4, 1)], [(4, 12, 1), (5, EOS, 1)]],
)
# every blank from its label on, side by side
SHIFTED = (
    [[(0, 12, 1), (1, 6, 1), (4, 10, 1), (5, 2, 1)], [(2, 1, 1), (3, EOS, 1), (6, 9, 1), (7, EOS, 1)]],
    [[(0, 7, 1), (1, EOS, 1), (4, 3, 1), (5, 0, 1)], [(6, 11, 1), (7, 5, 1)]],
    [[(0, 1, 1), (1, 9, 1), (4, 12, 1), (5, EOS, 1)], [(2, 8, 1), (3, 4, 1)]],
)


def weight_of(index: int, shape: tuple[int, ...]) -> Tensor:
    """Entry k of tensor `index` (by sorted name): .7 sin(1 + 1.7 k + 2.3 index), and 1 + .3 of that sine for gains."""
    size = math.prod(shape)
    sine = torch.tensor([math.sin(1 + 1.7 * k + 2.3 * index) for k in range(size)], dtype=torch.float64)
    return (1 + 0.3 * sine if len(shape) == 1 else 0.7 * sine).float().double().reshape(shape)


def with_weights(model: ReFusion) -> ReFusion:
    state = model.state_dict()
    weights = {name: weight_of(i, tuple(state[name].shape)) for i, name in enumerate(sorted(state))}
    model = model.double()
    model.load_state_dict(weights)
    return model


def places() -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Given tokens with their positions; each cell's position, and its blank."""
    given, cells, blanks, at = [], [], [], 0
    for blank, (text, room) in enumerate(TEMPLATE):
        given += [(at + i, token) for i, token in enumerate(text)]
        at += len(text)
        cells += range(at, at + room)
        blanks += [blank] * room
        at += room
    return given, cells, blanks


def round_log_probs(model: ReFusion, prompt: list[int], before: list[tuple[int, int]], now: list, attention: str) -> list[float]:
    given, cells, blanks = places()
    ended = {blanks[cell]: cell for cell, token in before if token == EOS}
    known = dict(before)
    # nothing stands behind a blank's end
    masks = [c for c in range(len(cells)) if c not in known and c < ended.get(blanks[c], len(cells))]
    entries = [(i, token, None) for i, token in enumerate(prompt)]
    entries += [(len(prompt) + at, token, None) for at, token in given]
    entries += [(len(prompt) + cells[c], token, c) for c, token in before]
    entries += [(len(prompt) + cells[c], CONFIG.mask_token_id, c) for c in masks]
    n = len(entries)
    positions = [position for position, _, _ in entries]
    sees = {
        "causal": lambda i, j: j <= i,
        "blocks": lambda i, j: positions[j] // BLOCK <= positions[i] // BLOCK,
        "whole": lambda i, j: True,
    }[attention]
    bias = torch.tensor([[0.0 if sees(i, j) else BLOCKED for j in range(n)] for i in range(n)], dtype=torch.float64)
    ids = torch.tensor([[token for _, token, _ in entries]])
    logits = model(ids, torch.tensor([positions]), bias[None, None])[0]
    row = {cell: i for i, (_, _, cell) in enumerate(entries) if cell is not None}
    rows = torch.tensor([row[cell] for cell, _, _ in now])
    targets = torch.tensor([token for _, token, _ in now])
    allowed = torch.tensor([float(may) for _, _, may in now])
    return [round(x, 7) for x in policy_log_probs(logits[rows], targets, allowed, TEMPERATURE, CONFIG).tolist()]


def next_log_probs(model: ReFusion, prompt: list[int], rounds: list) -> dict[int, float]:
    """By cell: log p of each value's token by the row before it, which sees what is given and its own line's value."""
    given, cells, blanks = places()
    drawn = sorted(draw for now in rounds for draw in now)
    line = sorted([*((at, token, None) for at, token in given), *((cells[c], token, c) for c, token, _ in drawn)])
    entries = [*((i, token, None) for i, token in enumerate(prompt)), *((len(prompt) + at, t, c) for at, t, c in line)]
    blank = [None if c is None else blanks[c] for _, _, c in entries]
    n = len(entries)
    bias = torch.full((n, n), BLOCKED, dtype=torch.float64)
    for i in range(n):
        for j in range(i + 1):
            if blank[j] is None or blank[j] == blank[i]:
                bias[i, j] = 0.0
    logits = model(torch.tensor([[t for _, t, _ in entries]]), torch.tensor([[at for at, _, _ in entries]]), bias[None, None])[0]
    rows = torch.tensor([i - 1 for i, (_, _, c) in enumerate(entries) if c is not None])
    targets = torch.tensor([token for _, token, _ in drawn])
    scores = policy_log_probs(logits[rows], targets, torch.ones(len(rows)), TEMPERATURE, CONFIG).tolist()
    return {c: round(x, 7) for (c, _, _), x in zip(drawn, scores, strict=True)}


def text_log_probs(model: ReFusion, prompt: list[int], rounds: list) -> list[float]:
    """log p of each value's tokens, read from left to right behind all that stands before them, at temperature 1."""
    given, cells, _ = places()
    values = {cells[cell]: token for now in rounds for cell, token, _ in now}
    line = sorted([*((at, token, False) for at, token in given), *((at, token, True) for at, token in values.items())])
    ids = [*prompt, *(token for _, token, _ in line)]
    positions = [*range(len(prompt)), *(len(prompt) + at for at, _, _ in line)]
    n = len(ids)
    bias = torch.full((n, n), BLOCKED, dtype=torch.float64).triu(1)
    logits = model(torch.tensor([ids]), torch.tensor([positions]), bias[None, None])[0]
    rows = [len(prompt) + i - 1 for i, (_, _, is_value) in enumerate(line) if is_value]
    targets = torch.tensor([token for _, token, is_value in line if is_value])
    return [round(x, 7) for x in policy_log_probs(logits[rows], targets, torch.ones(len(rows)), 1.0, CONFIG).tolist()]


def trajectory(model: ReFusion, prompt: list[int], rounds: list, attention: str) -> dict:
    before: list[tuple[int, int]] = []
    recorded = []
    shifted = next_log_probs(model, prompt, rounds) if attention == "next-token" else None
    for now in rounds:
        scores = [shifted[c] for c, _, _ in now] if shifted else round_log_probs(model, prompt, before, now, attention)
        recorded.append(
            {
                "positions": [cell for cell, _, _ in now],
                "tokens": [token for _, token, _ in now],
                "logProbs": scores,
                "eosAllowed": [bool(may) for _, _, may in now],
            }
        )
        before += [(cell, token) for cell, token, _ in now]
    parts = [part for text, room in TEMPLATE for part in (text, {"name": f"blank of {room}", "room": room})]
    return {
        "prompt": prompt,
        "template": parts,
        "slotSize": SLOT,
        **({"slotFill": "next-token"} if shifted else {}),
        "responseLength": sum(room for _, room in TEMPLATE),
        "temperature": TEMPERATURE,
        "rounds": recorded,
        "response": [token for _, token in sorted(before)],
        "ended": "eos" if sum(token == EOS for _, token in before) == len(TEMPLATE) else "length",
    }


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    stored = {}
    kinds = (("causal", ROLLOUTS), ("blocks", IN_BLOCKS), ("whole", ROLLOUTS), ("next-token", SHIFTED))
    for attention, rollouts in kinds:
        model = with_weights(ReFusion(CONFIG) if attention in ("causal", "next-token") else MaskedLM(CONFIG, qk_norm=True))
        stored[attention] = [trajectory(model, p, r, attention) for p, r in zip(PROMPTS, rollouts, strict=True)]
        if attention == "causal":
            text = [text_log_probs(model, p, r) for p, r in zip(PROMPTS, rollouts, strict=True)]
    config = {"architecture": "refusion", "attention": "causal", **asdict(CONFIG)}
    all_of_it = {"config": config, "block": BLOCK, "tokenizer": TOKENIZER, "trajectories": stored, "text": text}
    args.out.write_text(json.dumps(all_of_it, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
