"""Subjects as layers: their place, light, edges and shadow."""

import math

import torch
from torch.nn import functional as F

from draw import centres, placement

SIDES = "LTRB"


def touching(bank):
    """A bool tensor [n, 4] of the SIDES that cut off each item's subject."""
    return torch.tensor([[s in i.touches for s in SIDES] for i in bank.items], device=bank.device)


def place(dice, box, touch, stretch, h, w):
    """Matrices that put each subject's box somewhere in a canvas.

    Most subjects fill a third to all of it. Some are small, some are larger than it, and a
    few fill it with their upper part. A subject that a side cuts off stands against that side.
    """
    n = len(box)
    flip = dice.chance(n, 0.5)
    left = torch.where(flip, touch[:, 2], touch[:, 0])
    right = torch.where(flip, touch[:, 0], touch[:, 2])
    top, bottom = touch[:, 1], touch[:, 3]
    wide = stretch * dice.uniform(n, 0.88, 1.14)
    bw, bh = box[:, 2] * wide, box[:, 3]
    how = dice.uniform(n)
    share = torch.where(how < 0.72, dice.uniform(n, 0.38, 1.0), dice.uniform(n, 0.18, 0.38))
    share = torch.where(how > 0.86, dice.uniform(n, 1.0, 1.6), share)
    scale = share * torch.minimum(w / bw, h / bh)
    near = dice.chance(n, 0.08)
    scale = torch.where(near, dice.uniform(n, 0.6, 1.2) * torch.maximum(w / bw, h / bh), scale)
    scale = torch.where(left & right, torch.maximum(scale, w / bw), scale)
    scale = torch.where(top & bottom, torch.maximum(scale, h / bh), scale)
    x = along(dice, bw * scale, w, left, right)
    y = along(dice, bh * scale, h, top, bottom)
    y = torch.where(near & ~top & ~bottom, bh * scale / 2 + h * dice.uniform(n, -0.1, 0.3), y)
    turn = dice.uniform(n, -math.pi / 9, math.pi / 9) * dice.chance(n, 0.5)
    turn = torch.where(dice.chance(n, 0.06), dice.uniform(n, -math.pi, math.pi), turn)
    turn = torch.where(touch.any(1), 0.0, turn)
    return placement(torch.stack([x, y], 1), box[:, :2] + box[:, 2:] / 2, torch.stack([scale * wide, scale], 1), turn, flip)


def along(dice, length, room, first, last):
    """Centres of things of some length in a room, at its ends where asked."""
    n = len(length)
    centre = length / 2 + dice.uniform(n, -0.08, 1.08) * (room - length)
    centre = torch.where(first, length / 2 - 1, centre)
    return torch.where(last, room - length / 2 + 1, centre)


def inside(size, matrix, h, w):
    """1 where the canvas shows the picture, 0 outside the picture."""
    at = matrix @ centres(h, w, matrix.device)
    return ((at >= 0) & (at <= size[:, :, None])).all(1).view(-1, 1, h, w).float()


def recolour(dice, x, p, alpha=None):
    """Changes the light: brightness, contrast, saturation, tint, and sometimes hue.

    x is premultiplied if alpha is given. All pixels of a picture change alike, but
    pictures differ.
    """
    n = len(x)
    on = dice.chance(n, p).float().view(-1, 1, 1)

    def amount(low, high):
        return dice.uniform(n, low, high).view(-1, 1, 1)

    eye = torch.eye(3, device=x.device).expand(n, 3, 3)
    grey = torch.full((3, 3), 1 / 3, device=x.device)
    saturation = amount(0.3, 1.6)
    m = eye * saturation + grey * (1 - saturation)
    turned = (dice.chance(n, 0.12).view(-1, 1, 1)).float()
    m = (turned * hue(dice, n) + (1 - turned) * eye) @ m
    tint = 1 + 0.12 * dice.normal(n, 3, 1)
    contrast = amount(0.65, 1.35)
    m = m * tint * contrast * amount(0.75, 1.25)
    shift = (1 - contrast) * 0.5 + amount(-0.08, 0.08)
    m, shift = on * m + (1 - on) * eye, (on * shift).view(-1, 1, 1, 1)
    top = 1.0 if alpha is None else alpha
    return (torch.einsum("nij,njhw->nihw", m, x) + shift * top).clamp(min=0).minimum(x.new_ones(()) * top)


def hue(dice, n):
    """Rotations of colours around grey."""
    a = dice.uniform(n, 0, 2 * math.pi).view(-1, 1, 1)
    third = torch.full((3, 3), 1 / 3, device=a.device)
    cross = torch.tensor([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]], device=a.device) / math.sqrt(3)
    eye = torch.eye(3, device=a.device)
    return a.cos() * eye + (1 - a.cos()) * third + a.sin() * cross


def finish(dice, layer):
    """Light and edges of a premultiplied layer [n, 4, h, w]."""
    n, _, h, w = layer.shape
    alpha = layer[:, 3:]
    rgb = recolour(dice, layer[:, :3], 0.7, alpha)
    ramp = centres(h, w, layer.device).view(3, h, w)
    slope = dice.normal(n, 2) * dice.chance(n, 0.4)[:, None] * 0.35
    light = 1 + slope[:, :1, None, None] * (ramp[0] / w - 0.5) + slope[:, 1:, None, None] * (ramp[1] / h - 0.5)
    layer = torch.cat([(rgb * light).minimum(alpha), alpha], 1)
    how = dice.uniform(n)
    for chosen, change in (((how < 0.12), harden), ((how > 0.8), soften)):
        chosen = chosen.nonzero()[:, 0]
        if len(chosen):
            layer[chosen] = change(dice, layer[chosen])
    return layer


def camouflage(dice, layer, ground, p=0.12):
    """Gives some premultiplied layers [n, 4, h, w] colours near those of the ground [n, 3, h, w] behind them."""
    alpha = layer[:, 3:]
    n = len(layer)
    size = alpha.sum((2, 3), keepdim=True).clamp(min=1)
    apart = ((ground * alpha).sum((2, 3), keepdim=True) - layer[:, :3].sum((2, 3), keepdim=True)) / size
    nearer = (dice.uniform(n, 0.4, 0.95) * dice.chance(n, p)).view(-1, 1, 1, 1)
    rgb = layer[:, :3] + alpha * apart * nearer
    return torch.cat([rgb.clamp(min=0).minimum(alpha), alpha], 1)


def harden(_, layer):
    """One-bit edges, as in GIFs and pixel art."""
    alpha = layer[:, 3:]
    colour = layer[:, :3] / alpha.clamp(min=1 / 255)
    on = (alpha > 0.5).float()
    return torch.cat([colour.clamp(0, 1) * on, on], 1)


def soften(dice, layer):
    """Out of focus, or moving: a blur along a line, from short to round."""
    n, c, h, w = layer.shape
    radius = 4
    y, x = torch.meshgrid(*[torch.arange(-radius, radius + 1, device=layer.device).float()] * 2, indexing="ij")
    a = dice.uniform(n, 0, math.pi).view(-1, 1, 1)
    long, short = dice.uniform(n, 0.5, 2.5).view(-1, 1, 1), dice.uniform(n, 0.3, 1.0).view(-1, 1, 1)
    u, v = x * a.cos() + y * a.sin(), y * a.cos() - x * a.sin()
    kernel = torch.exp(-0.5 * ((u / long) ** 2 + (v / short) ** 2))
    kernel = (kernel / kernel.sum((1, 2), keepdim=True)).repeat_interleave(c, 0)[:, None]
    padded = F.pad(layer, [radius] * 4, mode="replicate").reshape(1, n * c, h + 2 * radius, w + 2 * radius)
    return F.conv2d(padded, kernel, groups=n * c).view(n, c, h, w)


def shadow(dice, alpha):
    """The darkening of the backdrop by a blurred, shifted copy of the subject, for some pictures."""
    n, _, h, w = alpha.shape
    strong = dice.uniform(n, 0.15, 0.6) * dice.chance(n, 0.4)
    small = F.avg_pool2d(F.avg_pool2d(alpha, 4), 3, 1, 1)
    dx, dy = (int(dice.one(-3, 4)) for _ in range(2))
    small = torch.roll(small, (dy, dx), (2, 3))
    dark = F.interpolate(small, (h, w), mode="bilinear", align_corners=False)
    return dark * strong.view(-1, 1, 1, 1)


def over(picture, matte, layer):
    """Puts a premultiplied layer over pictures, and over their mattes."""
    alpha = layer[:, 3:]
    return layer[:, :3] + picture * (1 - alpha), alpha + matte * (1 - alpha)
