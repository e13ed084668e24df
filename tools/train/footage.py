"""The real clips that go into a pack: those with masks whole, of others the parts in which no subject is.

DATA/clips.csv lists them. The parts were chosen on contact sheets: what moves in them is
leaves, light and noise, so each can be the backdrop of a subject.
"""

import csv
import pathlib

from PIL import Image

# Parts without a subject: the clip, its part's left, top, right and bottom as shares, first frame and the one after the last.
PARTS = (
    ("sam2/juggle-1", (0, 0, 0.34, 1), 0, 48),
    ("sam2/juggle-1", (0.7, 0, 1, 1), 0, 48),
    ("sam2/juggle-2", (0, 0, 0.33, 1), 0, 48),
    ("sam2/dog-1", (0.4, 0, 1, 0.34), 0, 48),
    ("sam2/dog-2", (0.4, 0, 1, 0.34), 0, 48),
    ("pumavos/chair", (0.45, 0, 1, 1), 6, 30),
    ("intel/store-aisle", (0, 0, 0.49, 1), 0, 48),
    ("intel/bottles-1", (0, 0, 1, 1), 21, 41),
    ("intel/bottles-2", (0, 0, 1, 1), 0, 18),
    ("intel/classroom", (0, 0, 1, 0.45), 0, 45),
    ("intel/faces-walking", (0, 0, 0.4, 1), 0, 19),
    ("mdn/flower", (0.66, 0, 1, 1), 0, 48),
)  # fmt: skip


def rows(data, without):
    """Rows as of manifest.csv, with the frames' paths: of kind clip with masks, of kind moving without."""
    listed = data / "clips.csv"
    if not listed.exists():
        return
    with open(listed, newline="") as f:
        for row in csv.DictReader(f):
            if row["source"] in without:
                continue
            if row["masks"]:
                yield part(data, row, "clip")
            for name, box, first, end in PARTS:
                if row["path"] == f"clips/{name}":
                    yield part(data, row, "moving", box, first, end)


def part(data, row, kind, box=(0, 0, 1, 1), first=0, end=None):
    frames = sorted((data / row["path"]).glob("*.jpg"))[first:end]
    return {**row, "kind": kind, "touches": "", "paths": frames, "box": box}


def picture(path: pathlib.Path, row):
    """A frame's part: RGB, or RGBA with its mask as alpha."""
    with Image.open(path) as f:
        found = f.convert("RGB")
    if row["kind"] == "clip":
        with Image.open(path.with_suffix(".png")) as f:
            found.putalpha(f.convert("L"))
    w, h = found.size
    return found.crop([round(v * s) for v, s in zip(row["box"], (w, h, w, h))])
