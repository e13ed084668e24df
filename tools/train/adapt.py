"""Carries a chooser over to another network, whose features mean other things.

    python adapt.py pack.zip old.onnx new.onnx chooser.onnx adapted.onnx

It finds the linear map from the new network's features to the old one's that is best in the
least squares, on pictures and frames of the pack, and puts it into the chooser's first
convolution of features. So the chooser takes no longer, and need not be trained again. Nothing
stays nothing: that is what the chooser sees of networks without features.
"""

import argparse
import pathlib

import numpy as np
import torch

import chooser
import infer
import restore
import views
from evaluate import OnnxRunner
from pack import Pack
from planes import FEATURE_SCALE, FEATURES

PICTURES = 480  # how many are looked at; one in five only tells how well the map fits
PLACES = 400  # in each


def pictures(pack):
    """Pictures uint8 [h, w, 3] of all kinds that the pack trains with, spread over each kind."""
    kinds = [[(i, f) for i in pack.choose(kind, False) for f in range(max(i.frames, 1))] for kind in ("clip", "moving", "scene", "background")]
    for found in kinds:
        for item, frame in found[:: max(1, len(found) * len(kinds) // PICTURES)]:
            yield pack.picture(item, frame)[..., :3]


def places(old, new, picture, dice):
    """What the networks see at some places of a picture: two arrays [places, FEATURES]."""
    resized = infer.resize(picture, infer.fit(*picture.shape[1::-1], views.SHORT))
    seen = [run.features(resized).reshape(FEATURES, -1).T.astype(np.float64) for run in (new, old)]
    some = dice.permutation(len(seen[0]))[:PLACES]
    return [s[some] for s in seen]


def fit(given, wanted):
    """The matrix [FEATURES, FEATURES] by which given comes nearest to wanted."""
    return np.linalg.lstsq(given, wanted, rcond=None)[0]


def explained(matrix, given, wanted):
    """The share of wanted's variance that the map explains, as a mean over features."""
    left = wanted - np.maximum(given @ matrix, 0)
    return float(np.mean(1 - left.var(0) / wanted.var(0)))


@torch.no_grad()
def change(net, matrix):
    """Makes a chooser see features by the map."""
    first = net.seen[0].conv.weight
    first.copy_(torch.einsum("oikl,ji->ojkl", first.clone(), torch.tensor(matrix, dtype=torch.float32)))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("pack", "old", "new", "chooser", "adapted"):
        p.add_argument(name, type=pathlib.Path)
    a = p.parse_args()
    old, new, dice = OnnxRunner(a.old), OnnxRunner(a.new), np.random.default_rng(1)
    seen = [places(old, new, picture, dice) for picture in pictures(Pack(a.pack))]
    learnt, rest = ([np.concatenate(s) for s in zip(*part)] for part in ([s for i, s in enumerate(seen) if i % 5], seen[::5]))
    matrix = fit(*learnt)
    net = chooser.Chooser()
    restore.fill(list(chooser.convolutions(net)), restore.weights(a.chooser)[0])
    change(net, matrix)
    print(f"{explained(matrix, *rest):.3f} of the variance explained")
    print(f"{chooser.write(net, a.adapted)}  {a.adapted}")


if __name__ == "__main__":
    main()
