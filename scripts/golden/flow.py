"""Writes the PyTorch golden of FS-DFM's objectives: Flow-GRPO on stay/jump transitions, ESPO and SFT on the generalised KL.

    python3 scripts/golden/flow.py --fsdfm test/golden/fsdfm.safetensors --out test/golden/flow.safetensors

Model and adapter come from the fsdfm golden (its student). Transitions and bound are written out here from the paper's
formulas, as probabilities; nothing is shared with the TypeScript sources. Float64 throughout, rounded once at the end.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import fsdfm
import numpy as np
import torch
from architectures import ALPHA, FSDFM, RANK
from lora import PEFT_PREFIX, attach
from safetensors.torch import load_file, save_file
from torch import Tensor

CANVAS, STEPS, EXPONENT, TEMPERATURE = 5, 3, 2.0, 0.8
PROMPTS = (4, 2)
ADVANTAGES = (1.0, -0.6)
CLIP_RANGE, KL_COEFF, ESPO_BETA, SAMPLES = 0.2, 0.04, 3e-3, 2
# l_t - old, in turn over the steps: inside the clip range and outside it on either side
FLOW_OLD = (0.05, 0.4, -0.35)
FLOW_REF = (0.1, -0.4, 0.5)  # ref - l_t
ESPO_OLD = (0.05, 0.35)  # (bound - old) / L
ESPO_REF = (0.4, -0.9)  # (ref - bound) / L

ORDINARY = [v for v in range(FSDFM.vocab_size) if v not in (FSDFM.mask_token_id, FSDFM.pad_token_id)]


def predict(model: fsdfm.FSDFM, prompt: list[int], state: list[int], time: float, temperature: float) -> Tensor:
    """[L, V] the prediction of x_1 at every position of the canvas; mask and pad are never predicted."""
    ids = torch.tensor([prompt + state])
    n = ids.shape[1]
    logits = model(
        ids, torch.arange(n)[None], torch.zeros(1, 1, n, n), torch.tensor([time]), torch.tensor([1 / STEPS])
    )[0, len(prompt) :]
    blocked = torch.full((FSDFM.vocab_size,), -torch.inf, dtype=torch.float64)
    blocked[ORDINARY] = 0
    return torch.softmax(logits / temperature + blocked, -1)


def transition_log_probs(model: fsdfm.FSDFM, prompt: list[int], states: list[list[int]]) -> Tensor:
    """[T, L] log-probability of every position's transition."""
    steps = []
    for k in range(STEPS):
        p = predict(model, prompt, states[k], k / STEPS, TEMPERATURE)
        after = torch.tensor(states[k + 1])
        to = p.gather(1, after[:, None])[:, 0]
        if k == STEPS - 1:
            steps.append(to.log())
            continue
        left = [1 - (t / STEPS) ** EXPONENT for t in (k, k + 1)]
        z = torch.tensor(states[k])
        pz = p.gather(1, z[:, None])[:, 0]
        stay = (left[1] / left[0]) ** (1 - pz)
        steps.append(torch.where(after == z, stay, (1 - stay) * to / (1 - pz)).log())
    return torch.stack(steps)


def minus_gkl(model: fsdfm.FSDFM, prompt: list[int], x1: list[int], xt: list[int], kappa: float) -> Tensor:
    """[L] p(x_t) - d + (1 - d) log p(x_1) at every position, without the factor 1 / (1 - kappa)."""
    p = predict(model, prompt, xt, kappa ** (1 / EXPONENT), 1.0)
    target, now = torch.tensor(x1), torch.tensor(xt)
    d = (target == now).double()
    return p.gather(1, now[:, None])[:, 0] - d + (1 - d) * p.gather(1, target[:, None])[:, 0].log()


def surrogate(ratio: Tensor, advantage: Tensor) -> Tensor:
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP_RANGE, 1 + CLIP_RANGE) * advantage)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fsdfm", type=Path, required=True, help="the fsdfm golden: model and adapter")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)  # one order of summation

    stored = load_file(args.fsdfm)
    model = fsdfm.FSDFM(FSDFM)
    model.load_state_dict({k.removeprefix("weight."): v for k, v in stored.items() if k.startswith("weight.")})
    model.double()
    adapter = {name: t.double().requires_grad_() for name, t in stored.items() if name.startswith(PEFT_PREFIX)}
    attach(model.projections(), adapter, ALPHA / RANK)
    rng = np.random.RandomState(args.seed)

    def draw(count: int) -> list[int]:
        return rng.choice([v for v in ORDINARY if v != FSDFM.eos_token_id], count).tolist()

    prompts = [draw(n) for n in PROMPTS]
    # states from noise to text; some positions stay, some jump; the second text ends inside the canvas
    states = []
    for _ in PROMPTS:
        path = [draw(CANVAS)]
        for _ in range(STEPS):
            path.append([t if rng.random_sample() < 0.5 else int(n) for t, n in zip(path[-1], draw(CANVAS), strict=True)])
        states.append(path)
    states[1][-1][3] = FSDFM.eos_token_id
    responses = [path[-1][: path[-1].index(FSDFM.eos_token_id) + 1] if FSDFM.eos_token_id in path[-1] else path[-1] for path in states]
    lengths = torch.tensor([len(r) for r in responses], dtype=torch.float64)
    advantages = torch.tensor(ADVANTAGES, dtype=torch.float64)
    tensors: dict[str, Tensor] = {"input.advantages": advantages}

    def add(name: str, loss: Tensor, **more: Tensor) -> None:
        gradients = torch.autograd.grad(loss, list(adapter.values()), retain_graph=True)
        tensors.update({f"expect.{name}_loss": loss, **{k.replace("__", "."): v for k, v in more.items()}})
        tensors.update({f"grad.{name}.{key}": g for key, g in zip(adapter, gradients, strict=True)})

    # Flow-GRPO: one ratio a step of all its positions, k3 penalty
    log_probs = [transition_log_probs(model, p, s) for p, s in zip(prompts, states, strict=True)]
    for reduction in ("sum", "mean"):
        value = torch.stack([getattr(lp, reduction)(-1) for lp in log_probs])  # [B, T]
        old = (value.detach() - torch.tensor(FLOW_OLD)).float()
        ref = (value.detach() + torch.tensor(FLOW_REF)).float()
        d = (ref.double() - value).clamp(-10, 10)
        losses = surrogate(torch.exp(value - old.double()), advantages[:, None]) + KL_COEFF * (torch.exp(d) - d - 1)
        add(f"flow_{reduction}", losses.mean(), **{f"input__flow_{reduction}_old": old, f"input__flow_{reduction}_ref": ref})
    tensors["expect.log_probs"] = torch.stack(log_probs)

    # ESPO: the bound by M corruptions and their complements, one ratio a response, k2 penalty
    kappas = rng.uniform(0.2, 0.8, (len(PROMPTS), SAMPLES))
    noisy = rng.random_sample((len(PROMPTS), SAMPLES, CANVAS)) >= kappas[:, :, None]
    noise = rng.choice(ORDINARY, (len(PROMPTS), SAMPLES, CANVAS))
    bounds = []
    for b, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        canvas = response + [FSDFM.eos_token_id] * (CANVAS - len(response))
        total = torch.zeros((), dtype=torch.float64)
        for m in range(SAMPLES):
            for mask, kappa in ((noisy[b, m], kappas[b, m]), (~noisy[b, m], 1 - kappas[b, m])):
                xt = [int(n) if x else t for t, n, x in zip(canvas, noise[b, m], mask, strict=True)]
                total = total + minus_gkl(model, prompt, canvas, xt, float(kappa))[: len(response)].sum() / (1 - kappa)
        bounds.append(total / SAMPLES / 2)
    value = torch.stack(bounds)
    old = (value.detach() - torch.tensor(ESPO_OLD) * lengths).float()
    ref = (value.detach() + torch.tensor(ESPO_REF) * lengths).float()
    k2 = (value - ref.double()) ** 2 / 2 / lengths
    loss = (surrogate(torch.exp((value - old.double()) / lengths), advantages) + ESPO_BETA * k2).mean()
    add("espo", loss, expect__espo_value=value, input__espo_old=old, input__espo_ref=ref)

    tensors |= {"input.kappa": torch.tensor(kappas), "input.noisy": torch.tensor(noisy.astype(np.int64)), "input.noise": torch.tensor(noise)}
    tensors["input.states"] = torch.tensor(states)
    for b, prompt in enumerate(prompts):
        tensors[f"input.prompt.{b}"] = torch.tensor(prompt)
    options = {
        "canvas": CANVAS,
        "steps": STEPS,
        "exponent": EXPONENT,
        "temperature": TEMPERATURE,
        "clip_range": CLIP_RANGE,
        "beta": KL_COEFF,
        "espo_beta": ESPO_BETA,
        "samples": SAMPLES,
        "seed": args.seed,
    }
    out = {k: (t.detach().float() if t.is_floating_point() else t).contiguous() for k, t in tensors.items()}
    out["input.kappa"] = torch.tensor(kappas)  # the corruption's own, to the last bit
    save_file(out, args.out, metadata={"golden": json.dumps(options, sort_keys=True)})
    print(f"{args.out}: {len(out)} tensors, {args.out.stat().st_size} bytes")
    for name, tensor in out.items():
        if name.endswith("_loss"):
            print(f"  {name} {tensor.item():.6f}")


if __name__ == "__main__":
    main()
