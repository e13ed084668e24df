"""What hints say of each cell of a clip, as the guide is shown it (planes.MARKS).

A hint marks cells of one frame. Marks are carried along the clip's motion to the other
frames, and fade where it is not trusted. The matte found for the neighbouring frame comes
the same way, as in F. Perazzi et al., "Learning Video Object Segmentation from Static
Images", CVPR 2017. internal/matte/subject does the same.
"""

import numpy as np

from cells import WAY
from planes import MARK_COUNT

CLICKED, NEAR, BOXED = 255, 128, 100  # a mark of a click's cell, of those around it, and of a box
SAMPLES = 32  # most places that a hint's features are taken from


class Links:
    """How the cells of each frame of a clip belong to those of the frame before: cells.py's array."""

    def __init__(self, array):
        self.array = array

    def toward(self, t, step):
        """The way x and y, in cells, from each cell of frame t to frame t + step, 1 or -1, and the trust in it, 0 to 1."""
        way = self.array[t, [0, 1, 4]] if step < 0 else self.array[t + 1, [2, 3, 5]]
        return way[:2] * np.float32(WAY), way[2] / np.float32(255)


def carried(way, planes):
    """Planes [k, h, w] of the frame that way leads to, at the cells where it starts; 0 beyond the picture."""
    h, w = planes.shape[1:]
    y, x = np.mgrid[:h, :w].astype(np.float32)
    x, y = x + way[0], y + way[1]
    there = (x >= 0) & (y >= 0) & (x <= w - 1) & (y <= h - 1)
    x, y = np.clip(x, 0, w - 1), np.clip(y, 0, h - 1)
    x0, y0 = np.minimum(x.astype(int), max(w - 2, 0)), np.minimum(y.astype(int), max(h - 2, 0))
    x1, y1, fx, fy = np.minimum(x0 + 1, w - 1), np.minimum(y0 + 1, h - 1), x - x0, y - y0
    top = planes[:, y0, x0] * (1 - fx) + planes[:, y0, x1] * fx
    return (top + (planes[:, y1, x0] * (1 - fx) + planes[:, y1, x1] * fx - top) * fy) * there


def spread(links, marks, t, to):
    """Marks [k, h, w] of frame t, as they come to frame `to`."""
    step = 1 if to > t else -1
    marks = marks.astype(np.float32)
    for n in range(t + step, to + step, step):
        way, trust = links.toward(n, -step)
        marks = carried(way, marks) * trust
    return marks


def samples(marks, seen):
    """The features [n, FEATURES] of the surest marks of one kind [h, w], of length 1."""
    y, x = np.nonzero(marks > NEAR) if (marks > NEAR).any() else np.nonzero(marks == BOXED)
    some = np.arange(min(len(y), SAMPLES)) * len(y) // max(min(len(y), SAMPLES), 1)
    found = seen[:, y[some] // 2, x[some] // 2].T.astype(np.float32)
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1)


def like(given, seen, h, w):
    """How alike the features [FEATURES, h/2, w/2] of places are to any of given ones, of 255, for h × w cells."""
    if len(given) == 0:
        return np.zeros((h, w), np.float32)
    seen = seen.astype(np.float32)
    cosine = np.einsum("nf,fyx->nyx", given, seen / (np.linalg.norm(seen, axis=0) + 1)).max(0)
    return 255 * np.clip(cosine, 0, 1).repeat(2, 0).repeat(2, 1)[:h, :w]


def planes(keep, drop, before, trust, liked, disliked):
    """planes.MARKS, uint8, of planes [h, w], 0 to 255; before is 0 where trust is."""
    made = np.stack([keep, drop, before, trust, liked, disliked])
    assert len(made) == MARK_COUNT
    return np.clip(made + 0.5, 0, 255).astype(np.uint8)


def clicked(shape, y, x):
    """The marks uint8 of a click on a cell."""
    marks = np.zeros(shape, np.uint8)
    marks[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] = NEAR
    marks[y, x] = CLICKED
    return marks
