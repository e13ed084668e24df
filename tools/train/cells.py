"""Clips of training pictures as the chooser sees them.

    python cells.py pack.zip model.onnx folder --plates plates

The clips and mattes are those of views.py. bgremove's own code measures their motion
(tools/plates). Clips that are there already are left alone: empty the folder after a
change.

The folder gets an array [frames, planes.CELL_COUNT + 1, h, w] a clip: the planes of cells,
and the share of each, of 255, that is truly subject. Its folder `features` gets what the
network sees, [frames, planes.FEATURES, h/2, w/2], rounded up.
"""

import struct

import numpy as np

import infer
import planes
import views

SIDE = 4  # pixels of a cell's side


def cells(program, pictures, mattes):
    """The cells uint8 [n, planes.CELL_COUNT, h, w] of a clip of pictures uint8 [n, y, x, 3] with mattes [n, y, x]."""
    found = views.shown([program, "-cells"], pictures, mattes)
    w, h = struct.unpack("<2I", found[:8])
    return np.frombuffer(found[8:], np.uint8).reshape(len(pictures), planes.CELL_COUNT, h, w)


def shares(mattes, h, w):
    """The means uint8 [n, h, w] of mattes uint8 [n, y, x] over cells."""
    n, y, x = mattes.shape
    whole = np.pad(mattes.astype(np.float32), ((0, 0), (0, h * SIDE - y), (0, w * SIDE - x)), "edge")
    return whole.reshape(n, h, SIDE, w, SIDE).mean((2, 4)).round().astype(np.uint8)


def features(run, pictures, h, w):
    """What a network sees of pictures uint8 [n, y, x, 3], for a grid of h × w cells."""
    size = infer.fit(*pictures.shape[2:0:-1], views.SHORT)
    return np.stack([nearest(run.features(infer.resize(p, size)), -(-h // 2), -(-w // 2)) for p in pictures])


def nearest(planes, h, w):
    """Planes [c, y, x] at another size."""
    rows, columns = ((np.arange(n) * 2 + 1) * m // (2 * n) for n, m in zip((h, w), planes.shape[1:]))
    return planes[:, rows[:, None], columns]


def beside(path):
    """The path of the features of a clip whose cells are at path."""
    return path.parent / "features" / path.name


def make(pack, run, program, seed):
    """The cells and the features of the clip that a seed stands for."""
    clip, mattes = views.estimated(pack, run, seed)
    found = cells(program, clip.pictures, mattes)
    h, w = found.shape[2:]
    found = np.concatenate([found, shares(clip.truths, h, w)[:, None]], 1)
    return found, features(run, clip.pictures, h, w)


def save(path, made):
    """Writes what make has made, the cells last."""
    found, seen = made
    beside(path).parent.mkdir(exist_ok=True)
    views.write(beside(path), seen)
    views.write(path, found)


if __name__ == "__main__":
    views.every(make, save, __doc__)
