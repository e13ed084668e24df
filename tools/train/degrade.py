"""Changes that pictures suffer on their way into a clip: light, noise, scaling, JPEG, GIF.

Each function takes pictures [n, 3, h, w] of values 0 to 1 and returns as many.
"""

import math

import torch
from torch.nn import functional as F

from heldout import as_gif

# JPEG's luminance table (ITU-T T.81, table K.1); chrominance uses its coarser end.
TABLE = """
16 11 10 16 24 40 51 61  12 12 14 19 26 58 60 55  14 13 16 24 40 57 69 56  14 17 22 29 51 87 80 62
18 22 37 56 68 109 103 77  24 35 55 64 81 104 113 92  49 64 78 87 103 121 120 101  72 92 95 98 112 100 103 99
"""

YCC = [[0.299, 0.587, 0.114], [-0.1687, -0.3313, 0.5], [0.5, -0.4187, -0.0813]]


def degrade(dice, x, strength=1.0):
    """Some of the pictures get one or several degradations, fewer at less strength."""
    for p, change in ((0.1, light), (0.1, colours), (0.2, noise), (0.25, rescale), (0.25, jpeg), (0.5, palette)):
        x = on_some(dice, x, p * strength, change)
    return (x.clamp(0, 1) * 255).round() / 255


def on_some(dice, x, p, change):
    chosen = dice.chance(len(x), p).nonzero()[:, 0]
    if len(chosen):
        x = x.clone()
        x[chosen] = change(dice, x[chosen])
    return x


def light(dice, x):
    """Other gammas, as at night or against the light."""
    return x.clamp(0, 1) ** torch.exp(dice.uniform(len(x), -0.6, 0.9)).view(-1, 1, 1, 1)


def colours(dice, x):
    """Grey or few tones, as in old films and cartoons."""
    if dice.one() < 0.5:
        return x.mean(1, keepdim=True).expand_as(x)
    steps = dice.uniform(len(x), 3, 8).round().view(-1, 1, 1, 1)
    return (x * steps).round() / steps


def noise(dice, x):
    return (x + dice.normal(*x.shape) * dice.uniform(len(x), 0.005, 0.07).view(-1, 1, 1, 1)).clamp(0, 1)


def rescale(dice, x):
    """Scaled down and up again, smoothly or in hard squares."""
    h, w = x.shape[2:]
    by = dice.one(1.3, 3.2)
    small = F.interpolate(x, (round(h / by), round(w / by)), mode="area")
    if dice.one() < 0.35:
        return F.interpolate(small, (h, w), mode="nearest")
    return F.interpolate(small, (h, w), mode="bilinear", align_corners=False)


def jpeg(dice, x):
    """Rounds 8×8 cosine coefficients, as JPEG and H.264 key frames do."""
    n, _, h, w = x.shape
    high, wide = -h % 8, -w % 8
    y = F.pad(x, (0, wide, 0, high), mode="replicate")
    ycc = x.new_tensor(YCC)
    y = torch.einsum("ij,njhw->nihw", ycc, y * 255 - 128)
    rows, cols = y.shape[2] // 8, y.shape[3] // 8
    blocks = y.view(n, 3, rows, 8, cols, 8).transpose(3, 4)
    cos = cosines(x)
    strength = (dice.uniform(n, 0, 1) ** 2 * 3 + 0.15).view(-1, 1, 1, 1, 1, 1)
    table = x.new_tensor([int(v) for v in TABLE.split()]).view(8, 8)
    step = torch.stack([table, table.clamp(min=40), table.clamp(min=40)])[None, :, None, None] * strength
    freq = cos @ blocks @ cos.T
    freq = (freq / step).round() * step
    y = (cos.T @ freq @ cos).transpose(3, 4).reshape(n, 3, rows * 8, cols * 8)[:, :, :h, :w]
    return ((torch.einsum("ij,njhw->nihw", torch.linalg.inv(ycc), y) + 128) / 255).clamp(0, 1)


def cosines(x):
    k = torch.arange(8, device=x.device, dtype=x.dtype)
    c = torch.cos((2 * k + 1) * k[:, None] * math.pi / 16) / 2
    c[0] /= math.sqrt(2)
    return c


def palette(dice, x):
    """Few colours, as in a GIF; some pictures are larger than the network sees them."""
    h, w = x.shape[2:]
    by = dice.one(1, 1.7) if dice.one() < 0.4 else 1
    large = F.interpolate(x, (round(h * by), round(w * by)), mode="bilinear", align_corners=False)
    few = diffused(dice, large) if dice.one() < 0.75 else ordered(dice, large)
    return F.interpolate(few, (h, w), mode="area")


def diffused(dice, x, most=3):
    """The best palette (median cut) with error diffusion (Floyd and Steinberg 1976).

    Error diffusion goes pixel by pixel, which is slow on a GPU. Only the first `most` pictures
    get it, a twentieth of a GPU's batch; the rest get ordered instead.
    """
    count = 2 ** int(dice.one(4, 8.99))
    shown = (x[:most].permute(0, 2, 3, 1) * 255).round().byte().cpu().numpy()
    made = [torch.from_numpy(as_gif(a, count, sparse=3)) for a in shown]  # finding the palette takes most of the time
    made = torch.stack(made).to(x.device).permute(0, 3, 1, 2) / 255
    return torch.cat([made, ordered(dice, x[most:])]) if len(x) > most else made


def ordered(dice, x):
    """A palette of the picture's own pixels, with ordered dither, grain or no dither."""
    n, c, h, w = x.shape
    count = 2 ** int(dice.one(4, 8.99))
    flat = x.permute(0, 2, 3, 1).reshape(n, h * w, c)
    chosen = (dice.uniform(n * count) * (h * w)).long().view(n, count, 1).clamp(max=h * w - 1)
    colour = torch.gather(flat, 1, chosen.expand(-1, -1, c))
    distance = torch.cdist(colour, colour)
    distance.diagonal(dim1=1, dim2=2).fill_(9)
    step = distance.topk(min(4, count - 1), largest=False).values.mean((1, 2)).view(-1, 1, 1)
    how = dice.one()
    if how < 0.45:
        board = bayer(x).repeat(-(-h // 8), -(-w // 8))[:h, :w].reshape(1, h * w, 1)
        flat = flat + board * step * 1.5
    elif how < 0.65:
        flat = flat + (dice.uniform(n * h * w).view(n, h * w, 1) - 0.5) * step * 1.5
    near = torch.cat([nearest(f, c) for f, c in zip(flat.split(4), colour.split(4))])  # gigabytes at once otherwise
    return torch.gather(colour, 1, near.expand(-1, -1, c)).view(n, h, w, c).permute(0, 3, 1, 2)


def nearest(points, centres):
    """For each of points [n, m, c] the index [n, m, 1] of the nearest of centres [n, k, c]."""
    squares = centres.square().sum(2)[:, None]
    return torch.baddbmm(squares, points, centres.mT, alpha=-2).argmin(2, keepdim=True)  # the points' own squares are alike for all


def bayer(x):
    """8×8 ordered dither (Bayer 1973), values −0.5 to 0.5."""
    board = x.new_zeros(1, 1)
    for _ in range(3):
        board = torch.cat([torch.cat([4 * board, 4 * board + 2], 1), torch.cat([4 * board + 3, 4 * board + 1], 1)])
    return board / 63 - 0.5
