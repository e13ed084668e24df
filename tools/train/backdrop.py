"""Backdrops: photographs, flat colours, gradients, patterns, posters."""

import torch
from torch.nn import functional as F

from draw import cover, draw
from layers import recolour


def photo(dice, bank, n, h, w):
    """A part of a picture without a subject, sharp or out of focus."""
    index = dice.pick(n, torch.ones(len(bank), device=dice.device))
    zoom = 1 + 2.5 * dice.uniform(n) ** 2
    blur = dice.uniform(n, 0, 3) * dice.chance(n, 0.35)
    picture = draw(bank, index, cover(dice, bank.size[index], h, w, zoom), h, w, blur)
    return recolour(dice, picture, 0.5)


def gradient(dice, n, h, w):
    """A gradient between two colours, or one flat colour."""
    flat = dice.chance(n, 0.55).view(-1, 1).float()
    one, two = dice.uniform(n * 3).view(n, 3), dice.uniform(n * 3).view(n, 3)
    pale = dice.chance(n, 0.25).view(-1, 1)
    one = torch.where(pale, 1 - 0.1 * one * dice.uniform(n).view(-1, 1), one)
    two = one * flat + two * (1 - flat)
    x = torch.linspace(0, 1, w, device=one.device).view(1, 1, 1, w)
    y = torch.linspace(0, 1, h, device=one.device).view(1, 1, h, 1)
    across = dice.uniform(n).view(-1, 1, 1, 1)
    t = across * x + (1 - across) * y
    return one.view(n, 3, 1, 1) * (1 - t) + two.view(n, 3, 1, 1) * t


def pattern(dice, n, h, w):
    """Soft blobs, stripes or squares of a few colours."""
    cells = int(dice.one(2, 9))
    small = dice.uniform(n * 3 * cells * cells).view(n, 3, cells, cells)
    if dice.one() < 0.4:
        small = small[:, :, :1].expand(-1, -1, cells, -1)
    mode = "nearest" if dice.one() < 0.5 else "bicubic"
    soft = {} if mode == "nearest" else {"align_corners": False}
    return F.interpolate(small.contiguous(), (h, w), mode=mode, **soft).clamp(0, 1)


def backdrop(dice, bank, n, h, w):
    """n backdrops [n, 3, h, w]; seven in ten are photographs."""
    picture = photo(dice, bank, n, h, w)
    how = dice.uniform(n)
    for low, high, make in ((0.0, 0.16, gradient), (0.16, 0.22, pattern)):
        chosen = ((how >= low) & (how < high)).nonzero()[:, 0]
        if len(chosen):
            picture[chosen] = make(dice, len(chosen), h, w)
    poster = ((how >= 0.22) & (how < 0.3)).nonzero()[:, 0]
    if len(poster):  # a drawn look: few tones, no fine detail
        soft = F.avg_pool2d(picture[poster], 5, 1, 2, count_include_pad=False)
        picture[poster] = (soft * 5).round() / 5
    return picture


def fill(dice, bank, rgb, alpha, chosen):
    """Premultiplied colours; where chosen, a texture or one colour replaces them."""
    rows = chosen.nonzero()[:, 0]
    if len(rows):
        n, (h, w) = len(rows), rgb.shape[2:]
        other = photo(dice, bank, n, h, w) if dice.one() < 0.7 else gradient(dice, n, h, w)
        rgb[rows] = other * alpha[rows]
    return rgb
