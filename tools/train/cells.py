"""Clips of training pictures as the chooser sees them.

    python cells.py pack.zip model.onnx folder --plates plates

The clips and mattes are those of views.py. bgremove's own code measures their motion
(tools/plates). Clips that are there already are left alone: empty the folder after a
change.

The folder gets an array [frames, planes.CELL_COUNT + 1, h, w] a clip: the planes of cells,
and the share of each, of 255, that is truly subject.
"""

import struct

import numpy as np

import planes
import views

SIDE = 4  # pixels of a cell's side


def cells(program, pictures, mattes):
    """The cells uint8 [n, planes.CELL_COUNT, h, w] of a clip of pictures uint8 [n, y, x, 3] with mattes [n, y, x]."""
    found = views.shown([program, "-cells"], pictures, mattes)
    w, h = struct.unpack("<2I", found[:8])
    return np.frombuffer(found[8:], np.uint8).reshape(len(pictures), planes.CELL_COUNT, h, w)


def shares(truths, h, w):
    """The means uint8 [n, h, w] of mattes uint8 [n, y, x] over cells."""
    n, y, x = truths.shape
    whole = np.pad(truths.astype(np.float32), ((0, 0), (0, h * SIDE - y), (0, w * SIDE - x)), "edge")
    return whole.reshape(n, h, SIDE, w, SIDE).mean((2, 4)).round().astype(np.uint8)


def make(pack, run, program, seed):
    """The array of the clip that a seed stands for."""
    clip, mattes = views.estimated(pack, run, seed)
    found = cells(program, clip.pictures, mattes)
    return np.concatenate([found, shares(clip.truths, *found.shape[2:])[:, None]], 1)


if __name__ == "__main__":
    views.every(make, __doc__)
