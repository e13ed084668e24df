"""Measures of a matte's quality. All take arrays [h, w]: mattes 0 to 1, known bool."""

import numpy as np


def iou(matte, truth, known):
    """Intersection over union at 0.5; 1 when both are empty."""
    a, b = (matte > 0.5) & known, (truth > 0.5) & known
    union = (a | b).sum()
    return float((a & b).sum() / union) if union else 1.0


def mae(matte, truth, known):
    """Mean absolute error."""
    return float(np.abs(matte - truth)[known].mean())


def boundary_f(matte, truth, reach=2):
    """F-measure of outlines at 0.5: pixels within reach pixels of the other outline match.

    The frame's edge is not an outline.
    """
    a, b = outline(matte > 0.5), outline(truth > 0.5)
    if not a.any() or not b.any():
        return float(a.any() == b.any())
    precision, recall = a[grow(b, reach)].sum() / a.sum(), b[grow(a, reach)].sum() / b.sum()
    return float(2 * precision * recall / max(precision + recall, 1e-9))


def half(matte, reach=1 / 80):
    """The area that is half there, as a share of the matte's alpha: from 0.1 to 0.9 with all around.

    That is all within the reach, a share of the shorter side, on both axes: no edge is so soft.
    """
    reach = max(round(reach * min(matte.shape)), 1)
    between = (matte > 0.1) & (matte < 0.9)
    for axis in (0, 1):
        sums = np.cumsum(np.pad(between, [(reach + 1, reach) if i == axis else (0, 0) for i in (0, 1)]), axis)
        n, side = between.shape[axis], 2 * reach + 1
        between = np.take(sums, range(side, n + side), axis) - np.take(sums, range(n), axis) == side
    return float(between.sum() / max(matte.sum(), 1))


def outline(mask):
    """Pixels of the mask with a neighbour outside it, above, below or beside."""
    p = np.pad(mask, 1, mode="edge")
    inner = p[:-2, 1:-1] & p[2:, 1:-1] & p[1:-1, :-2] & p[1:-1, 2:]
    return mask & ~inner


def grow(mask, reach):
    """All pixels within a disc of radius reach of the mask."""
    h, w = mask.shape
    p = np.pad(mask, reach)
    out = np.zeros_like(mask)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if dx * dx + dy * dy <= reach * reach:
                out |= p[reach + dy : reach + dy + h, reach + dx : reach + dx + w]
    return out
