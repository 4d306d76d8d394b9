"""Writes the PyTorch golden of a continuous policy: velocity network, CFM loss, SDE log-probabilities, CFM surrogate,
all gradients. With --depth the network reads a depth image of that side too, which lies behind the state.

    python3 scripts/golden/control.py --out test/golden/control.safetensors
    python3 scripts/golden/control.py --depth 8 --out test/golden/control-depth.safetensors

Written from the papers' formulas in their own time (1 is noise, as in Flow-GRPO), nothing shared with the TypeScript
sources. Float64 throughout from stored float32 inputs, rounded once at the end.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

HIDDEN, LAYERS, STATE, ACTIONS = 16, 2, 5, 6
PATCH, FEATURES = 4, 32
STEPS, NOISE, CLIP = 3, 0.4, 0.2
ADVANTAGES = (1.3, -0.7)
# l - old of each step: inside the clip range, outside it where the clip binds, and where it does not
AHEAD = (0.05, 0.3, -0.4, -0.1, 0.35, -0.5)

# the surrogate of the flow-matching loss: its clip, the clamp of l_old - l, and l_old - l of each pair: inside the clip
# range, outside it on both sides for both signs of the advantage, and beyond the clamp
PAIRS, PAIR_CLIP, PAIR_CLAMP = 3, 0.01, 0.04
PAIR_AHEAD = (0.004, 0.03, -0.05, -0.03, 0.02, -0.002)


def drawn(rng: np.random.RandomState, *shape: int, scale: float = 1.0) -> Tensor:
    return torch.from_numpy((scale * rng.standard_normal(shape)).astype(np.float32))


def seen_by(rng: np.random.RandomState, rows: int, depth: int) -> Tensor:
    """State, then image."""
    state = drawn(rng, rows, STATE)
    if depth == 0:
        return state
    return torch.cat([state, torch.from_numpy(rng.uniform(0.3, 1, (rows, depth**2)).astype(np.float32))], 1)


def weights(rng: np.random.RandomState, depth: int) -> dict[str, Tensor]:
    sizes = {"in_proj": (HIDDEN, ACTIONS + STATE + 12), "out_proj": (ACTIONS, HIDDEN)}
    norms = ["norm"]
    patches = (depth // PATCH) ** 2
    if depth > 0:
        sizes |= {"vision.patch_proj": (FEATURES, PATCH**2), "vision.out_proj": (HIDDEN, patches * FEATURES)}
    for i in range(LAYERS):
        sizes |= {f"blocks.{i}.up_proj": (2 * HIDDEN, HIDDEN), f"blocks.{i}.down_proj": (HIDDEN, 2 * HIDDEN)}
        norms.append(f"blocks.{i}.norm")
    out = {}
    for name, (rows, columns) in sizes.items():
        out[f"{name}.weight"] = drawn(rng, rows, columns, scale=columns**-0.5)
        out[f"{name}.bias"] = drawn(rng, rows, scale=0.2)
    for name in norms:
        out[f"{name}.weight"] = 1 + drawn(rng, HIDDEN, scale=0.2)
    if depth > 0:
        out["vision.position"] = drawn(rng, patches, FEATURES, scale=0.5)
    return out


def vision(w: dict[str, Tensor], image: Tensor) -> Tensor:
    """Patches are those of a convolution without overlap."""
    kernel = w["vision.patch_proj.weight"].reshape(FEATURES, 1, PATCH, PATCH)
    features = torch.nn.functional.conv2d(10 * (image - 0.5), kernel, w["vision.patch_proj.bias"], stride=PATCH)
    placed = torch.nn.functional.silu(features.flatten(2).transpose(1, 2) + w["vision.position"])
    return placed.flatten(1) @ w["vision.out_proj.weight"].T + w["vision.out_proj.bias"]


def velocity(w: dict[str, Tensor], actions: Tensor, time: Tensor, seen: Tensor) -> Tensor:
    state, image = seen[:, :STATE], seen[:, STATE:]

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        return torch.nn.functional.layer_norm(x, (HIDDEN,), w[f"{name}.weight"], None, 1e-5)

    angles = time[:, None] * math.pi * 2.0 ** torch.arange(6, dtype=torch.float64)
    h = linear(torch.cat([actions, state, angles.sin(), angles.cos()], 1), "in_proj")
    if image.shape[1] > 0:
        side = math.isqrt(image.shape[1])
        h = h + vision(w, image.reshape(-1, 1, side, side))
    for i in range(LAYERS):
        up = linear(norm(h, f"blocks.{i}.norm"), f"blocks.{i}.up_proj")
        h = h + linear(torch.nn.functional.silu(up), f"blocks.{i}.down_proj")
    return linear(norm(h, "norm"), "out_proj")


def sde_log_prob(w: dict[str, Tensor], path: Tensor, k: int, state: Tensor) -> Tensor:
    """flow_grpo's sde_step_with_logprob, summed: sigma goes from 1 (noise) to 0, the model output is minus v."""
    sigmas = torch.linspace(1, 0, STEPS + 1, dtype=torch.float64)
    sigma, dt = sigmas[k], sigmas[k + 1] - sigmas[k]
    below = sigmas[1] if k == 0 else sigma
    std = torch.sqrt(sigma / (1 - below)) * NOISE
    x = path[k][None]
    output = -velocity(w, x, (1 - sigma)[None], state[None])
    mean = x * (1 + std**2 / (2 * sigma) * dt) + output * (1 + std**2 * (1 - sigma) / (2 * sigma)) * dt
    return torch.distributions.Normal(mean, std * torch.sqrt(-dt)).log_prob(path[k + 1][None]).sum()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--depth", type=int, default=0)
    given = parser.parse_args()
    out, depth = given.out, given.depth
    rng = np.random.RandomState(3)
    stored = weights(rng, depth)
    w = {name: value.double().requires_grad_() for name, value in stored.items()}
    points = {
        "state": seen_by(rng, 4, depth),
        "actions": drawn(rng, 4, ACTIONS, scale=0.5),
        "noise": drawn(rng, 4, ACTIONS),
        "time": torch.tensor([0.1, 0.35, 0.6, 0.95]),
    }
    state, actions, noise, time = (points[k].double() for k in ("state", "actions", "noise", "time"))
    at = time[:, None] * actions + (1 - time[:, None]) * noise
    v = velocity(w, at, time, state)
    cfm = ((v - (actions - noise)) ** 2).mean()
    cfm_gradients = torch.autograd.grad(cfm, list(w.values()))

    seen, paths = seen_by(rng, 2, depth), drawn(rng, 2, STEPS + 1, ACTIONS, scale=0.6)
    log_probs = torch.stack(
        [sde_log_prob(w, paths[b].double(), k, seen[b].double()) for b in range(2) for k in range(STEPS)]
    )
    ratio = torch.exp(log_probs - (log_probs.detach() - torch.tensor(AHEAD, dtype=torch.float64)))
    advantage = torch.tensor(ADVANTAGES, dtype=torch.float64).repeat_interleave(STEPS)
    loss = torch.maximum(-advantage * ratio, -advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
    gradients = torch.autograd.grad(loss, list(w.values()))

    pair_noise, pair_time = drawn(rng, 2, PAIRS, ACTIONS), torch.tensor([[0.05, 0.5, 0.8], [0.3, 0.65, 0.99]])
    losses = []
    for b in range(2):
        a, e, t = paths[b, -1].double()[None], pair_noise[b].double(), pair_time[b].double()[:, None]
        v_pair = velocity(w, t * a + (1 - t) * e, t[:, 0], seen[b].double().expand(PAIRS, -1))
        losses.append(((v_pair - (a - e)) ** 2).mean(1))
    pair_losses = torch.cat(losses)
    change = pair_losses.detach() + torch.tensor(PAIR_AHEAD, dtype=torch.float64) - pair_losses
    pair_ratio = torch.exp(change.clamp(-PAIR_CLAMP, PAIR_CLAMP))
    advantage = torch.tensor(ADVANTAGES, dtype=torch.float64).repeat_interleave(PAIRS)
    clipped = pair_ratio.clamp(1 - PAIR_CLIP, 1 + PAIR_CLIP)
    surrogate = torch.maximum(-advantage * pair_ratio, -advantage * clipped).mean()
    pair_gradients = torch.autograd.grad(surrogate, list(w.values()))
    tensors = {f"weight.{name}": value for name, value in stored.items()}
    tensors |= {f"point.{name}": value for name, value in points.items()}
    tensors |= {"path.state": seen, "path.x": paths, "path.ahead": torch.tensor(AHEAD)}
    tensors |= {"expect.velocity": v, "expect.cfm": cfm, "expect.log_probs": log_probs, "expect.loss": loss}
    tensors |= {f"expect.cfm_grad.{name}": g for name, g in zip(w, cfm_gradients, strict=True)}
    tensors |= {f"expect.grad.{name}": g for name, g in zip(w, gradients, strict=True)}
    tensors |= {"pair.noise": pair_noise, "pair.time": pair_time, "pair.ahead": torch.tensor(PAIR_AHEAD)}
    tensors |= {"expect.pair_losses": pair_losses, "expect.surrogate": surrogate}
    tensors |= {f"expect.pair_grad.{name}": g for name, g in zip(w, pair_gradients, strict=True)}
    save_file({name: value.detach().float().contiguous() for name, value in tensors.items()}, out)


main()
