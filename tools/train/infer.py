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
    """The matte [h, w] of a uint8 picture, computed at a short side of short pixels."""
    h, w = picture.shape[:2]
    return enlarge(run(resize(picture, fit(w, h, short))), w, h)
