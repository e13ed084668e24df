"""Sets samples in motion: frames of clips in which subject and camera move apart."""

import dataclasses
import math

import torch
from torch.nn import functional as F

# Moments of a clip that its plate is seen at, beside the last two frames.
PLATE = (-1.0, -0.6, -0.2, 0.2, 0.6)

# From a frame to the next, where a clip lasts from -1 to 1.
STEP = 0.03


def frames(dice, parts):
    """The parts at the moments of PLATE, then at two moments STEP apart."""
    n = len(parts.ground)
    camera, subject = shot(dice, n), walk(dice, n)
    now = dice.uniform(n, -1, 1)
    moments = [torch.full_like(now, t) for t in PLATE] + [now - STEP, now]
    for t in moments:
        yield move(parts, camera(t), subject(t))


def shot(dice, n):
    """How the camera moves: not at all, shaking or panning. A function of time."""
    how = dice.uniform(n)
    pan = torch.stack([dice.uniform(n, -0.3, 0.3), dice.uniform(n, -0.1, 0.1)], 1) * (how > 0.75)[:, None]
    shake = 0.02 * ((how > 0.5) & (how < 0.75))[:, None]
    none = torch.zeros(n, device=dice.device)

    def at(t):
        return matrix(none, none, pan * t[:, None] + shake * dice.normal(n, 2))

    return at


def walk(dice, n):
    """How the subject moves: drifting, bobbing, turning, coming nearer, or not. A function of time."""
    moving = dice.chance(n, 0.8).float()
    drift = torch.stack([dice.uniform(n, -0.7, 0.7), dice.uniform(n, -0.25, 0.25)], 1) * moving[:, None]
    bob, phase = dice.uniform(n, 0, 0.04) * moving, dice.uniform(n, 0, 2 * math.pi)
    turn, grow = dice.uniform(n, -0.3, 0.3) * moving, dice.uniform(n, -0.2, 0.2) * moving

    def at(t):
        shift = drift * t[:, None]
        up = bob * torch.sin(phase + 12 * t)
        return matrix(turn * torch.sin(phase + 2 * t), grow * t, shift + torch.stack([torch.zeros_like(up), up], 1))

    return at


def matrix(angle, grow, shift):
    """Matrices [n, 2, 3] for affine_grid: a small turn, change of size and shift."""
    cos, sin = angle.cos() * (1 - grow), angle.sin() * (1 - grow)
    rows = [torch.stack([cos, -sin, shift[:, 0]], 1), torch.stack([sin, cos, shift[:, 1]], 1)]
    return torch.stack(rows, 1)


def move(parts, camera, subject):
    """The parts with the ground moved by one matrix, the layer and its shade by another."""
    ground = torch.cat([parts.ground, parts.matte, parts.weight], 1)
    ground = warp(ground, camera, "reflection")
    front = warp(torch.cat([parts.layer, parts.shade], 1), subject, "border")
    weight = (ground[:, 4:] > 0.99).float()
    return dataclasses.replace(
        parts, ground=ground[:, :3], matte=ground[:, 3:4], weight=weight, layer=front[:, :4], shade=front[:, 4:]
    )


def warp(x, matrix, beyond):
    grid = F.affine_grid(matrix, x.shape, align_corners=False)
    return F.grid_sample(x, grid, "bilinear", beyond, align_corners=False)
