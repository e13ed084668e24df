"""Draws pictures of a Bank at any place, size and angle, in batches."""

import math

import torch
from torch.nn import functional as F


class Dice:
    """Random numbers from one seeded generator on the device."""

    def __init__(self, device, seed):
        self.device = device
        self.generator = torch.Generator(device).manual_seed(seed)

    def uniform(self, n, low=0.0, high=1.0):
        return torch.rand(n, generator=self.generator, device=self.device) * (high - low) + low

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator, device=self.device)

    def chance(self, n, p):
        return self.uniform(n) < p

    def pick(self, n, weights):
        return torch.multinomial(weights, n, replacement=True, generator=self.generator)

    def pick_rows(self, weights):
        """One column for each row of weights [n, k]."""
        return torch.multinomial(weights, 1, generator=self.generator)[:, 0]

    def one(self, low=0.0, high=1.0):
        """One random number as a CPU value."""
        return low + (high - low) * float(torch.rand(1, generator=self.generator, device=self.device))


def placement(centre, anchor, scale, angle, flip):
    """Matrices [n, 2, 3] from canvas pixels to picture pixels.

    anchor, a point of the picture, comes to centre, a point of the canvas. scale
    [n, 2] is canvas pixels per picture pixel, and angle is in radians.
    """
    cos, sin = angle.cos(), angle.sin()
    sx = scale[:, 0] * torch.where(flip, -1.0, 1.0)
    m = torch.stack([cos / sx, sin / sx, -sin / scale[:, 1], cos / scale[:, 1]], 1).view(-1, 2, 2)
    shift = anchor - (m @ centre[:, :, None])[:, :, 0]
    return torch.cat([m, shift[:, :, None]], 2)


def draw(bank, index, matrix, h, w, blur=None):
    """Pictures [n, c, h, w], values 0 to 1, placed by the matrices of placement.

    It uses the level of the pyramid that suits the scale. blur [n] adds levels,
    which softens the picture. All but cut-outs repeat their edge outside.
    """
    n = len(index)
    last = len(bank.levels) - 1
    area = matrix[:, 0, 0] * matrix[:, 1, 1] - matrix[:, 0, 1] * matrix[:, 1, 0]  # picture area of a canvas pixel
    wanted = area.abs().clamp(min=1e-6).log2() / 2
    if blur is not None:
        wanted = wanted + blur
    level = (wanted + 0.5).floor().clamp(0, last).long()
    point = matrix @ centres(h, w, matrix.device)
    channels = bank.levels[0].shape[1]
    out = matrix.new_empty(n, channels, h, w)
    repeat = bank.items[0].kind != "cutout"
    for number, pictures in enumerate(bank.levels):
        chosen = (level == number).nonzero()[:, 0]
        if not len(chosen):
            continue
        rows = index[chosen]
        at = point[chosen]
        if repeat:
            half = 0.5 * 2**number
            at = at.clamp(min=half).minimum(bank.size[rows][:, :, None] - half)
        grid = (at * (2 / (pictures.shape[-1] * 2**number)) - 1).permute(0, 2, 1).view(-1, h, w, 2)
        out[chosen] = F.grid_sample(pictures[rows].float(), grid, "bilinear", "zeros", align_corners=False)
    return out / 255


def centres(h, w, device):
    """Pixel centres as homogeneous coordinates [3, h·w]."""
    y, x = torch.meshgrid(torch.arange(h, device=device) + 0.5, torch.arange(w, device=device) + 0.5, indexing="ij")
    return torch.stack([x, y, torch.ones_like(x)]).view(3, -1)


def cover(dice, size, h, w, zoom, stretch=None, most=math.radians(8), middle=None):
    """Matrices that fill a canvas with a part of each picture.

    zoom [n] is 1 where the canvas shows as much of the picture as possible. stretch
    [n] is how much wider than stored the picture becomes. middle [n, 2] is the point
    of the picture for the canvas's centre, NaN for any part.
    """
    n = len(size)
    sx = torch.ones(n, device=size.device) if stretch is None else stretch
    fill = torch.maximum(w / (size[:, 0] * sx), h / size[:, 1]) * zoom
    scale = torch.stack([fill * sx, fill], 1)
    seen = torch.tensor([w, h], device=size.device) / scale
    free = (size - seen).clamp(min=0)
    anchor = seen / 2 + free * torch.stack([dice.uniform(n), dice.uniform(n)], 1)
    if middle is not None:
        anchor = torch.where(middle.isnan(), anchor, middle.maximum(seen / 2).minimum(seen / 2 + free))
    centre = torch.tensor([w / 2, h / 2], device=size.device).expand(n, 2)
    angle = dice.uniform(n, -most, most) * dice.chance(n, 0.25)
    return placement(centre, anchor, scale, angle, dice.chance(n, 0.5))


def near(dice, size, box, h, w, stretch):
    """Zoom and middle for cover, to fill a canvas with the upper part of each picture's subject."""
    n = len(size)
    fill = torch.maximum(w / (size[:, 0] * stretch), h / size[:, 1])
    zoom = dice.uniform(n, 0.7, 1.3) * torch.maximum(w / (box[:, 2] * stretch), h / box[:, 3]) / fill
    zoom = zoom.clamp(1, 4)
    x = box[:, 0] + box[:, 2] * dice.uniform(n, 0.35, 0.65)
    y = box[:, 1] + h / (2 * fill * zoom) * dice.uniform(n, 0.5, 1.1)
    return zoom, torch.stack([x, y], 1)
