"""The loss: single pixels, each picture's overlap, and edges."""

import torch
from torch.nn import functional as F


def matte_loss(logits, matte, weight):
    """Mean over pictures of binary cross entropy, soft overlap and edge terms.

    logits and matte are [n, 1, h, w]; weight is 0 where the matte is unknown.
    """
    known = weight.sum((1, 2, 3)).clamp(min=1)
    each = F.binary_cross_entropy_with_logits(logits, matte, reduction="none")
    p = torch.sigmoid(logits)
    cross = (each * weight * (1 + 2 * edges(matte))).sum((1, 2, 3)) / known
    return (cross + overlap(p, matte, weight) + 0.5 * pyramid(p, matte, weight)).mean()


def overlap(p, matte, weight):
    """1 − soft intersection over union of each picture; 0 for correct empty ones."""
    both = (p * matte * weight).sum((1, 2, 3))
    any = ((p + matte - p * matte) * weight).sum((1, 2, 3))
    slack = 0.002 * matte[0].numel()
    return 1 - (both + slack) / (any + slack)


def edges(matte):
    """1 within two pixels of a change of the matte, else 0."""
    high = F.max_pool2d(matte, 5, 1, 2)
    low = -F.max_pool2d(-matte, 5, 1, 2)
    return (high - low).clamp(0, 1)


def pyramid(p, matte, weight, levels=4):
    """L1 between Laplacian pyramids (as in matting), with levels weighted by size.

    The coarse levels measure the place of the outline, the fine ones its sharpness.
    """
    total = p.new_zeros(len(p))
    d, w = (p - matte) * weight, weight
    for level in range(levels):
        small = F.avg_pool2d(d, 2)
        band = d - F.interpolate(small, d.shape[2:], mode="nearest")
        total = total + 2**level * band.abs().sum((1, 2, 3)) / w.sum((1, 2, 3)).clamp(min=1)
        d, w = small, F.avg_pool2d(w, 2)
    return total


def total_loss(outputs, matte, weight):
    """The loss of the matte plus, with less weight, that of the coarse matte."""
    logits, aside = outputs
    by = matte.shape[2] // aside.shape[2]
    coarse = F.avg_pool2d(matte, by)
    aside = F.binary_cross_entropy_with_logits(aside, coarse, reduction="none") * F.avg_pool2d(weight, by)
    return matte_loss(logits, matte, weight) + 0.4 * aside.mean()
