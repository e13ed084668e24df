"""Clips of training pictures as the chooser sees them.

    python cells.py pack.zip model.onnx folder --plates plates

The clips and mattes are those of views.py. bgremove's own code measures their motion
(tools/plates). Clips that are there already are left alone: empty the folder after a
change.

The folder gets an array [frames, planes.CELL_COUNT + 1, h, w] a clip: the planes of cells,
and the share of each, of 255, that is truly subject. Its folders get more of each clip:
`features` what the network sees, [frames, planes.FEATURES, h/2, w/2], rounded up; `things` the
share of cells that each subject and each glued thing has, uint8 [frames, things, h, w]; `links`
the ways to cells of the frame before and back, int16 [frames, LINKS, h, w].
"""

import struct

import numpy as np

import infer
import planes
import views

SIDE = 4  # pixels of a cell's side
LINKS = 6  # back to the frame before: x, y; forward from it: x, y, all in WAY of a cell; the trust in both, of 255
WAY = 1 / 64


def cells(program, pictures, mattes):
    """The cells uint8 [n, planes.CELL_COUNT, h, w] and the links of a clip of pictures uint8 [n, y, x, 3] with mattes [n, y, x]."""
    found = views.shown([program, "-cells"], pictures, mattes)
    w, h = struct.unpack("<2I", found[:8])
    frames = np.frombuffer(found[8:], np.uint8).reshape(len(pictures), -1)
    some, links = np.split(frames, [planes.CELL_COUNT * h * w], 1)
    return some.reshape(-1, planes.CELL_COUNT, h, w), np.ascontiguousarray(links).view(np.int16).reshape(-1, LINKS, h, w)


def shares(mattes, h, w):
    """The means uint8 [n, k, h, w] of mattes uint8 [n, k, y, x] over cells."""
    n, k, y, x = mattes.shape
    whole = np.pad(mattes.astype(np.float32), ((0, 0), (0, 0), (0, h * SIDE - y), (0, w * SIDE - x)), "edge")
    return whole.reshape(n, k, h, SIDE, w, SIDE).mean((3, 5)).round().astype(np.uint8)


def features(run, pictures, h, w):
    """What a network sees of pictures uint8 [n, y, x, 3], for a grid of h × w cells."""
    size = infer.fit(*pictures.shape[2:0:-1], views.SHORT)
    return np.stack([nearest(run.features(infer.resize(p, size)), -(-h // 2), -(-w // 2)) for p in pictures])


def nearest(planes, h, w):
    """Planes [c, y, x] at another size."""
    rows, columns = ((np.arange(n) * 2 + 1) * m // (2 * n) for n, m in zip((h, w), planes.shape[1:]))
    return planes[:, rows[:, None], columns]


def beside(path, kind="features"):
    """The path of more of a clip whose cells are at path."""
    return path.parent / kind / path.name


def make(pack, run, program, seed):
    """The arrays of the clip that a seed stands for: its cells, and more by their folders."""
    clip, mattes = views.estimated(pack, run, seed)
    found, links = cells(program, clip.pictures, mattes)
    h, w = found.shape[2:]
    found = np.concatenate([found, shares(clip.truths[:, None], h, w)], 1)
    return found, {"features": features(run, clip.pictures, h, w), "things": shares(clip.things, h, w), "links": links}


def save(path, made):
    """Writes what make has made, the cells last."""
    found, more = made
    for kind, array in more.items():
        beside(path, kind).parent.mkdir(exist_ok=True)
        views.write(beside(path, kind), array)
    views.write(path, found)


if __name__ == "__main__":
    views.every(make, save, __doc__)
