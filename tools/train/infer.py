"""Runs a network on pictures of any size as the Go program does."""

import numpy as np
from PIL import Image

MULTIPLE = 32  # both sides of a picture must be divisible by it


def fit(w, h, short):
    """The network's size for a picture: both sides are the nearest multiples."""
    scale = short / min(w, h)
    return [max(round(v * scale / MULTIPLE), 1) * MULTIPLE for v in (w, h)]


def resize(picture, size):
    """A uint8 picture at another size; shrinking averages areas."""
    smaller = size[0] < picture.shape[1]
    how = Image.Resampling.BOX if smaller else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(picture).resize(size, how))


def enlarge(matte, w, h):
    """A matte [h, w] scaled to a picture's size."""
    return np.asarray(Image.fromarray(matte.astype(np.float32)).resize((w, h), Image.Resampling.BILINEAR)).clip(0, 1)


def matte(run, picture, short):
    """The matte [h, w] of a uint8 picture, computed at a short side of short pixels.

    The network looks closer, unless run.closer says that it does not.
    """
    first = once(run, picture, short)
    if not getattr(run, "closer", True):
        return first
    near = look(run, picture, short, first, SECOND)
    if np.minimum(first, near).sum() >= LIKENESS * np.maximum(first, near).sum():
        return near
    return np.median([first, near, look(run, picture, short, first, THIRD)], 0)


def once(run, picture, short):
    """The matte [h, w] of a uint8 picture, which the network sees whole."""
    h, w = picture.shape[:2]
    return enlarge(run(resize(picture, fit(w, h, short))), w, h)


# The rest is that of internal/matte/onnx/closer.go: the margin around the subject, and the least
# that the shorter side of a part is of the longer one, at the second and the third look.
SECOND, THIRD = (0.1, 0.5), (0.3, 0.75)
LIKENESS, WHOLE, SMALLEST, ENLARGED = 0.5, 0.9, 0.35, 2


def look(run, picture, short, found, surroundings):
    """The matte by the part of the picture around what is found; found itself where that is nearly the whole picture."""
    r = around(found, surroundings, max(SMALLEST, short / (ENLARGED * min(found.shape))))
    if r is None:
        return found
    closer = np.zeros_like(found)
    closer[r] = once(run, picture[r], short)
    return closer


def around(found, surroundings, least):
    """The part of a picture around what is found of it, as two slices; None if nothing is, or if it is nearly the whole picture."""
    sides = [np.nonzero((found > 0.5).any(axis))[0] for axis in (1, 0)]
    if not len(sides[0]):
        return None
    margin, narrowest = surroundings
    ends = [(s[0], s[-1] + 1) for s in sides]
    more = int(margin * max(b - a for a, b in ends) + 0.5)
    ends = [(a - more, b + more) for a, b in ends]
    side = int(max(narrowest * max(b - a for a, b in ends), least * min(found.shape)))
    part = []
    for (a, b), size in zip(ends, found.shape):
        more = max(side - (b - a), 0)
        part.append(slice(max(a - more // 2, 0), min(b + more - more // 2, size)))
    area = np.prod([s.stop - s.start for s in part])
    return tuple(part) if area <= WHOLE * found.size else None
