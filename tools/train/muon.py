"""The optimiser: Muon for convolutions, AdamW for everything else.

Muon (Jordan et al. 2024) makes the step of each matrix of weights orthogonal, so that no
direction of it is learnt much faster than the others. A convolution [out, in, k, k] counts
as a matrix [out, in·k·k]. Steps have the size that AdamW's would have (Liu et al. 2025), so
both share one learning rate.
"""

import torch
from torch.optim import Optimizer

# Newton–Schulz of the fifth degree: singular values end between 0.7 and 1.2, which is close enough.
ROUNDS, SERIES = 5, (3.4445, -4.7750, 2.0315)


def groups(net, decay=0.01):
    """The weights for Muon, those for AdamW, and those without weight decay (one number per channel)."""
    inner = [m for m in net.modules() if isinstance(m, torch.nn.Conv2d) and m.groups == 1]
    matrices = [m.weight for m in inner if m.in_channels >= 8 and m.out_channels > 4]  # not the layers that take pictures or end in mattes
    taken = {id(p) for p in matrices}
    rest = [p for p in net.parameters() if id(p) not in taken]
    return [
        {"params": matrices, "weight_decay": decay, "orthogonal": True},
        {"params": [p for p in rest if p.dim() > 1], "weight_decay": decay},
        {"params": [p for p in rest if p.dim() <= 1]},
    ]


class Muon(Optimizer):
    """Steps a network's weights, in the groups of groups, at one learning rate lr."""

    def __init__(self, groups, lr, momentum=0.95, betas=(0.9, 0.99)):
        settings = {"lr": lr, "momentum": momentum, "betas": betas, "weight_decay": 0.0, "orthogonal": False, "steps": 0}
        super().__init__(groups, settings)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["steps"] += 1
            weights = group["params"]
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            (self.muon if group["orthogonal"] else self.adam)(group, weights, [p.grad for p in weights])

    def muon(self, group, weights, grads):
        means = [self.kept(p, "mean") for p in weights]
        torch._foreach_lerp_(means, grads, 1 - group["momentum"])
        alike = {}  # matrices of one shape are made orthogonal together
        for p, ahead in zip(weights, torch._foreach_lerp(grads, means, group["momentum"])):  # Nesterov's
            alike.setdefault(p.shape, []).append((p, ahead.flatten(1)))
        for pairs in alike.values():
            steps = orthogonal(torch.stack([ahead for _, ahead in pairs]))
            size = 0.2 * max(steps.shape[1:]) ** 0.5
            torch._foreach_sub_([p for p, _ in pairs], [s.view_as(p) for (p, _), s in zip(pairs, steps)], alpha=group["lr"] * size)

    def adam(self, group, weights, grads):
        a, b = group["betas"]
        long, wide = 1 - a ** group["steps"], 1 - b ** group["steps"]  # the weight that each mean has so far
        means, squares = ([self.kept(p, name) for p in weights] for name in ("mean", "square"))
        torch._foreach_lerp_(means, grads, 1 - a)
        torch._foreach_lerp_(squares, torch._foreach_mul(grads, grads), 1 - b)
        spreads = torch._foreach_sqrt(torch._foreach_div(squares, wide))
        torch._foreach_add_(spreads, 1e-8)
        torch._foreach_addcdiv_(weights, means, spreads, value=-group["lr"] / long)

    def kept(self, p, name):
        """A tensor of p's shape that is kept from step to step, 0 at first."""
        state = self.state[p]
        if name not in state:
            state[name] = torch.zeros_like(p)
        return state[name]


def orthogonal(x):
    """Matrices [n, rows, columns] with their singular values scaled to about 1."""
    a, b, c = SERIES
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ROUNDS):
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return x.mT if tall else x
