"""Measures the program on clips with true masks.

    python masked.py FOLDER model.onnx --program bgremove
    python masked.py FOLDER model.onnx --program bgremove --flag=--no-motion

The folder has clips of any format, such as bear.mp4. Beside each is a folder bear-masks with a
picture for each frame, white where the subject is. It prints for each clip, and in the mean of
all, IoU at 0.5, the F-measure of outlines within 2 pixels, dtSSD (clips.py), and the area that is
half there (metrics.half). The last row has the same of the true masks, grown by one pixel: what the
smallest of errors costs.
"""

import argparse
import pathlib

import numpy as np
from PIL import Image

import metrics
import program
from clips import dtssd
from evaluate import overlap

MASKS = "-masks"


def masks(folder):
    """The masks [h, w] of a folder, 0 to 1, in the order of their names."""
    pictures = (np.asarray(Image.open(f).convert("L"), np.float32) for f in sorted(folder.iterdir()))
    return [(p > 127).astype(np.float32) for p in pictures]


def judged(mattes, truths):
    """IoU, F, dtSSD and the area half there of a clip's mattes."""
    f = np.mean([metrics.boundary_f(m, t) for m, t in zip(mattes, truths)])
    return overlap(mattes, truths), f, dtssd(mattes, truths), np.mean([metrics.half(m) for m in mattes])


def grown(truths):
    return [metrics.grow(t > 0.5, 1).astype(np.float32) for t in truths]


def measured(a):
    """The names of clips, and for each what is judged of the program's mattes, and of the grown masks."""
    for folder in sorted(a.folder.glob("*" + MASKS)):
        name = folder.name.removesuffix(MASKS)
        clips = [f for f in a.folder.iterdir() if f.stem == name and f.is_file()]
        if len(clips) != 1:
            raise SystemExit(f"{folder}: {len(clips)} clips are named {name}")
        truths = masks(folder)
        mattes = program.mattes_of(a.program.resolve(), a.onnx.resolve(), clips[0], len(truths), *a.flag)
        if mattes[0].shape != truths[0].shape:
            raise SystemExit(f"{folder}: masks of {truths[0].shape[::-1]} pixels, and a clip of {mattes[0].shape[::-1]}")
        yield name, judged(mattes, truths), judged(grown(truths), truths)


def row(name, numbers):
    return f"{name:22}{numbers[0]:8.3f}{numbers[1]:8.3f}{numbers[2]:8.2f}{numbers[3]:8.3f}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("--program", type=pathlib.Path, required=True, help="the bgremove to measure")
    p.add_argument("--flag", action="append", default=[], help="one for it, such as --flag=--no-motion")
    a = p.parse_args()
    print(f"{'':22}{'IoU':>8}{'F':>8}{'dtSSD':>8}{'half':>8}")
    ours, masks_grown = [], []
    for name, numbers, of_grown in measured(a):
        print(row(name, numbers), flush=True)
        ours.append(numbers)
        masks_grown.append(of_grown)
    if not ours:
        raise SystemExit(f"{a.folder}: there is no folder of masks, such as bear{MASKS} beside bear.mp4")
    print(row(f"mean of {len(ours)}", np.mean(ours, 0)))
    print(row("masks, a pixel larger", np.mean(masks_grown, 0)))


if __name__ == "__main__":
    main()
