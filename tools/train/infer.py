"""Runs a network on pictures of any size as the Go program does."""

import numpy as np
import torch
from PIL import Image

from net import MULTIPLE, clues


def fit(w, h, short):
    """The network's size for a picture: both sides the nearest multiples."""
    scale = short / min(w, h)
    return [max(round(v * scale / MULTIPLE), 1) * MULTIPLE for v in (w, h)]


def resize(picture, size):
    """A uint8 picture at another size; areas are averaged."""
    smaller = size[0] < picture.shape[1]
    how = Image.Resampling.BOX if smaller else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(picture).resize(size, how))


def enlarge(matte, w, h):
    """A matte [h, w] brought to a picture's size."""
    return np.asarray(Image.fromarray(matte.astype(np.float32)).resize((w, h), Image.Resampling.BILINEAR)).clip(0, 1)


def torch_runner(net, device="cpu"):
    """A function from a uint8 picture [h, w, 3] at network size to its matte [h, w].

    Networks for clips may be given the plate, as the picture, and the previous matte.
    """

    def planes(a):
        return None if a is None else torch.from_numpy(np.array(a)).to(device)

    @torch.inference_mode()
    def run(picture, plate=None, previous=None):
        x = planes(picture).permute(2, 0, 1)[None] / 255
        more = None
        if net.extra is not None:
            plate = None if plate is None else planes(plate).permute(2, 0, 1)[None] / 255
            previous = None if previous is None else planes(previous)[None, None]
            more = clues(x, plate, previous)
        return torch.sigmoid(net(x, more))[0, 0].float().cpu().numpy()

    return run


def matte(run, picture, short):
    """The matte [h, w] of a uint8 picture, computed at a short side of short pixels."""
    h, w = picture.shape[:2]
    return enlarge(run(resize(picture, fit(w, h, short))), w, h)
