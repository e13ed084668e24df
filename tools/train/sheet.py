"""Draws a network's results on held-out pictures, or on a clip's frames.

    python sheet.py model.onnx sheet.png --pack pack.zip
    python sheet.py model.onnx sheet.png frame1.png frame2.png …

For held-out pictures it shows the best, the middle and the worst of each family.
Each is shown as picture, truth and result on a checkerboard.
"""

import argparse
import pathlib

import numpy as np
from PIL import Image, ImageDraw

import evaluate
import heldout
import infer
import scores
from pack import Pack

TILE = 150
LABEL = 12


def board(picture, matte):
    """The picture's subject on a checkerboard."""
    h, w = picture.shape[:2]
    y, x = np.mgrid[:h, :w] // 12
    ground = np.where((x + y) % 2, 235, 200)[..., None]
    return (picture * matte[..., None] + ground * (1 - matte[..., None])).round().astype(np.uint8)


def tile(picture, text=""):
    """A picture fitted into TILE² with a line of text below."""
    out = Image.new("RGB", (TILE, TILE + LABEL), "white")
    small = Image.fromarray(picture)
    small.thumbnail((TILE, TILE))
    out.paste(small, ((TILE - small.width) // 2, (TILE - small.height) // 2))
    ImageDraw.Draw(out).text((2, TILE), text, fill="black")
    return out


def arrange(rows):
    """Rows of tiles as one picture."""
    wide = max(len(row) for row in rows)
    out = Image.new("RGB", (wide * TILE, len(rows) * (TILE + LABEL)), "white")
    for y, row in enumerate(rows):
        for x, t in enumerate(row):
            out.paste(t, (x * TILE, y * (TILE + LABEL)))
    return out


def triple(case, run, short):
    m = infer.matte(run, case.picture, short)
    score = scores.judge(case, m)
    text = f"{case.source} {score['mean'] if case.family == 'empty' else score['iou']:.2f}"
    truth = np.where(case.known, case.matte, 0.5)
    grey = np.repeat((truth * 255).astype(np.uint8)[..., None], 3, 2)
    return score, [tile(case.picture, text), tile(grey), tile(board(case.picture, m))]


def held(run, pack, short, most, each=8):
    """Rows with `each` cases of each family, spread from best to worst, four a row."""
    families = {}
    for case in heldout.cases(Pack(pack), most):
        score, tiles = triple(case, run, short)
        rank = -score["mean"] if case.family == "empty" else score["iou"]
        families.setdefault(case.family, []).append((rank, case.name, tiles))
    for found in families.values():
        found.sort(key=lambda f: f[:2], reverse=True)
        spread = np.linspace(0, len(found) - 1, min(each, len(found))).round().astype(int)
        chosen = [found[i][2] for i in spread]
        for k in range(0, len(chosen), 4):
            yield sum(chosen[k : k + 4], [])


def frames(run, paths, short):
    """Rows of frames and their cut-outs, four a row."""
    pairs = []
    for path in paths:
        picture = np.asarray(Image.open(path).convert("RGB"))
        m = infer.matte(run, picture, short)
        pairs.append([tile(picture, path.stem[:24]), tile(board(picture, m))])
    for k in range(0, len(pairs), 4):
        yield sum(pairs[k : k + 4], [])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("sheet", type=pathlib.Path)
    p.add_argument("frames", type=pathlib.Path, nargs="*")
    p.add_argument("--pack", type=pathlib.Path)
    p.add_argument("--short", type=int, help="short side to scale pictures to, instead of the file's own")
    p.add_argument("--most", type=int, default=40, help="pictures of each source to choose from")
    a = p.parse_args()
    if not a.pack and not a.frames:
        p.error("want a pack, or frames")
    run = evaluate.OnnxRunner(a.onnx)
    a.short = a.short or run.short
    rows = list(held(run, a.pack, a.short, a.most)) if a.pack else []
    rows += list(frames(run, a.frames, a.short))
    arrange(rows).save(a.sheet)


if __name__ == "__main__":
    main()
