"""Clips of training pictures as the reviser sees them: picture, matte and plate.

    python views.py pack.zip model.onnx folder --plates plates

film.py draws the clips. Their mattes are those of a network with doubts decided by colour.
Most subjects are held out from that network, for it errs less where it has learnt, and who
revises must know how it errs (stacking: D. H. Wolpert, Neural Networks 5(2), 1992); none of
them is in the clips that are measured. Mattes, above all of subjects that it has learnt, are
made at a smaller size, or get holes and false parts that move with the subject or stay where
they are. The plate and the motion are found by bgremove's own code (tools/plates). Clips that are there
already are left alone: empty the folder after a change.

The folder gets an array [frames, planes.COUNT + 1, h, w] a clip: the planes of a view and
the true matte.
"""

import argparse
import multiprocessing
import pathlib
import random
import struct
import subprocess

import numpy as np

import files
import film
import infer
import planes
from colours import ColourModel
from evaluate import OnnxRunner
from pack import Pack

SHORT = 256  # short side of the network's pictures
GESTURES = 0.5  # share of still subjects whose head and arms move


def views(program, pictures, mattes):
    """The views uint8 [n, planes.COUNT, h, w] of a clip of pictures uint8 [n, h, w, 3] with mattes [n, h, w]."""
    n, h, w, _ = pictures.shape
    found = shown([program], pictures, mattes)
    return np.frombuffer(found, np.uint8).reshape(n, planes.COUNT, h, w)


def shown(command, pictures, mattes):
    """What tools/plates writes of a clip."""
    n, h, w, _ = pictures.shape
    alpha = (mattes * 255).round().astype(np.uint8)[..., None]
    clip = struct.pack("<3I", n, w, h) + np.concatenate([pictures, alpha], 3).tobytes()
    return subprocess.run(command, input=clip, stdout=subprocess.PIPE, check=True).stdout


def estimated(pack, run, seed):
    """The clip that a seed stands for, and its mattes [n, h, w], 0 to 1, by a network, some of them spoilt."""
    clip, dice = film.clip(pack, seed, GESTURES), random.Random(f"mattes {seed}")
    h, w = clip.truths.shape[1:]
    learnt = clip.plan.learnt
    short = dice.choice([128, 160, 160, 192, 224, SHORT] if learnt else [160, 192, 224, SHORT, SHORT, SHORT])
    size, model, mattes = infer.fit(w, h, SHORT), ColourModel(), []
    for picture in clip.pictures:
        matte = infer.enlarge(infer.matte(run, picture, short), *size)
        matte = model.apply(infer.resize(picture, size), matte)
        mattes.append(infer.resize((matte * 255).round().astype(np.uint8), (w, h)) / np.float32(255))
    mattes = np.stack(mattes)
    if dice.random() < (0.5 if learnt else 0.15):
        mattes = spoil(dice, mattes, clip.truths)
    return clip, mattes


def make(pack, run, program, seed):
    """The array of the clip that a seed stands for."""
    clip, mattes = estimated(pack, run, seed)
    return np.concatenate([views(program, clip.pictures, mattes), clip.truths[:, None]], 1)


def spoil(dice, mattes, truths):
    """Mattes with holes where the subject is, and false parts where it is not, or with no subject for a while."""
    n, h, w = mattes.shape
    y, x = np.mgrid[:h, :w]
    mattes = mattes.copy()
    middle = [[v.mean() if len(v) else s / 2 for v, s in zip(np.nonzero(t > 127), (h, w))] for t in truths]
    if dice.random() < 0.3:  # not seen at all for a while
        begin, end = sorted(dice.randrange(n + 1) for _ in range(2))
        mattes[begin:end] *= dice.uniform(0, 0.4)
    for _ in range(dice.randint(1, 3)):
        hole, moves = dice.random() < 0.6, dice.random() < 0.8
        at = [dice.gauss(0, 0.15) * h, dice.gauss(0, 0.15) * w] if hole else [dice.uniform(-0.5, 0.5) * h, dice.uniform(-0.5, 0.5) * w]
        size = [dice.uniform(0.03, 0.25) * h, dice.uniform(0.03, 0.25) * h]
        value, often = dice.uniform(0, 0.5), dice.choice([0.4, 0.8, 1])
        first = middle[0]
        for t in range(n):
            if dice.random() > often:
                continue
            home = middle[t] if moves else first
            d = ((y - home[0] - at[0]) / size[0]) ** 2 + ((x - home[1] - at[1]) / size[1]) ** 2
            k = 1 / (1 + np.exp(np.clip((d - 1) * 6, -30, 30)))
            to = mattes[t] * value if hole else np.maximum(mattes[t], 1 - value)
            mattes[t] += k * (to - mattes[t])
    return mattes


def write(path, array):
    """Writes an array."""
    with files.whole(path) as part, open(part, "wb") as f:
        np.save(f, array)


def main():
    every(make, write, __doc__)


def every(make, keep, doc):
    """Makes what is wanted of many clips, as the command line says, and keeps each."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path, help="the network whose mattes are revised")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--plates", required=True, help="tools/plates, built")
    p.add_argument("--clips", type=int, default=1200)
    p.add_argument("--first", type=int, default=0, help="the first clip's seed")
    p.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    a = p.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("fork").Pool(a.processes, begin, (make, keep, a)) as pool:
        for done, _ in enumerate(pool.imap_unordered(one, range(a.first, a.first + a.clips)), 1):
            if done % 50 == 0:
                print(f"{done} clips", flush=True)


def begin(make, keep, a):
    global given
    given = make, keep, a, Pack(a.pack), OnnxRunner(a.onnx, 1)


def one(seed):
    make, keep, a, pack, run = given
    path = a.folder / f"{seed:05d}.npy"
    if not path.exists():
        keep(path, make(pack, run, a.plates, seed))


if __name__ == "__main__":
    main()
