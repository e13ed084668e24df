"""Decides by colour where a network is uncertain, as internal/matte/refine/colours.go does.

The Go code also starts again at cuts, and counts in steps where this computes.
"""

import numpy as np

import infer

BINS = 24
SURE = 0.85  # coverage from which on a pixel counts as the subject
KEEP = 0.97  # weight of a frame one frame later
LEAST, MOST = 1e-5, 3.0


class ColourModel:
    """The colours of subject and backdrop in one clip so far; at weight 1 they have full effect."""

    def __init__(self, weight=1.0):
        self.weight = weight
        self.subject, self.backdrop = np.zeros(BINS**3), np.zeros(BINS**3)

    def apply(self, picture, matte):
        """The matte [h, w] of a uint8 picture [h, w, 3], after learning from it."""
        r, g, b = np.moveaxis(picture.astype(int) * BINS >> 8, 2, 0)
        index = (r * BINS + g) * BINS + b
        self.subject = KEEP * self.subject + count(index, np.where(matte > SURE, matte, 0))
        self.backdrop = KEEP * self.backdrop + count(index, np.where(matte < 1 - SURE, 1 - matte, 0))
        says = np.log((shares(self.subject) + LEAST) / (shares(self.backdrop) + LEAST)).clip(-MOST, MOST)
        odds = np.log((matte + 0.5 / 255) / (1 - matte + 0.5 / 255))
        doubt = np.minimum(1, 32 * matte * (1 - matte))
        return 1 / (1 + np.exp(-odds - self.weight * doubt * says[index]))


def count(index, weight):
    return np.bincount(index.ravel(), weight.ravel(), BINS**3)


def shares(h):
    """The share of each colour in the whole, spread over its neighbours."""
    s = h.reshape(BINS, BINS, BINS) / max(h.sum(), 1)
    for axis in range(3):
        p = np.pad(s, [(1, 1) if a == axis else (0, 0) for a in range(3)])
        before, here, after = (np.take(p, range(k, k + BINS), axis) for k in range(3))
        s = (before + 2 * here + after) / 4
    return s.ravel()


def decided(matte, picture, short, model):
    """A picture's matte with its doubts decided by a ColourModel, at the network's size."""
    h, w = picture.shape[:2]
    size = infer.fit(w, h, short)
    return infer.enlarge(model.apply(infer.resize(picture, size), infer.enlarge(matte, *size)), w, h)
