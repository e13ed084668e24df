"""Packs the training data into one file that is small enough to transfer.

    python pack.py DATA pack.zip

DATA is a folder with manifest.csv, scenes, cutouts and backgrounds, and clips.csv and
clips if there are any (footage.py). The pack is a zip of WebP pictures at training size and
manifest.json. Which side of the
split a picture is on is decided by a hash of its group, so that no subject,
photo or place is in both, and a picture keeps its side whatever else is added.
"""

import argparse
import csv
import dataclasses
import hashlib
import io
import json
import pathlib
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from PIL import Image

import files
import footage

# Pixel art in DATA was enlarged by whole numbers; it is packed as it was drawn.
PIXEL_ART = {"lpc": 4, "crawl": 4}

# Sources whose masks hold 128 for "not known".
UNCERTAIN = {"oxford-pets"}


@dataclasses.dataclass
class Item:
    """One picture of the pack; the fields are those of manifest.json."""

    file: str  # of a clip its folder
    kind: str  # scene, cutout, background, clip (with masks) or moving (a backdrop that moves)
    source: str
    licence: str
    group: str
    held: bool  # held out for validation
    touches: str  # the picture's edges that the subject reaches: L, T, R, B
    pixels: bool = False  # pixel art: to be enlarged with hard edges
    uncertain: bool = False  # alpha near one half means not known
    frames: int = 0  # of a clip


@dataclasses.dataclass
class Sizes:
    """Longest sides in pixels, and WebP quality."""

    scene: int = 256
    cutout: int = 184
    background: int = 320
    held: int = 320
    clip: int = 320
    quality: int = 72


def held_out(group, one_in=10):
    """Whether a group is held out for validation; one in ten is."""
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) % one_in == 0


def reduce(picture, side):
    scale = side / max(picture.size)
    if scale >= 1:
        return picture
    size = [max(1, round(v * scale)) for v in picture.size]
    if picture.mode == "RGBA":  # colours under alpha 0 must not bleed into the edges
        return picture.convert("RGBa").resize(size, Image.Resampling.BOX, reducing_gap=None).convert("RGBA")
    return picture.resize(size, Image.Resampling.BOX)


def load(data, row):
    """The picture of a manifest row: RGB, or RGBA with its matte as alpha."""
    with Image.open(data / row["path"]) as f:
        picture = f.convert("RGBA" if row["kind"] == "cutout" else "RGB")
    mask = None
    if row["mask"]:
        with Image.open(data / row["mask"]) as f:
            mask = f.convert("L")
    return picture, mask


def encode(data, row, sizes):
    """The WebP bytes of a manifest row."""
    picture, mask = load(data, row)
    side = sizes.held if held_out(row["group"]) else getattr(sizes, row["kind"])
    quality = sizes.quality
    factor = PIXEL_ART.get(row["source"])
    if factor:
        picture = picture.resize([v // factor for v in picture.size], Image.Resampling.NEAREST)
    picture = reduce(picture, side)
    if mask is not None:
        nearest = row["source"] in UNCERTAIN
        mask = mask.resize(picture.size, Image.Resampling.NEAREST if nearest else Image.Resampling.BOX)
        picture.putalpha(mask)
    return webp(picture, quality, bool(factor))


def webp(picture, quality, lossless=False):
    out = io.BytesIO()
    picture.save(out, "webp", quality=quality, lossless=lossless, alpha_quality=100, exact=True, method=4)
    return out.getvalue()


def still(picture, side):
    """A clip's frame, reduced; its backdrop keeps its colours under alpha 0."""
    if picture.mode == "RGB":
        return reduce(picture, side)
    colours, mask = reduce(picture.convert("RGB"), side), reduce(picture.getchannel("A"), side)
    colours.putalpha(mask)
    return colours


def describe(number, row):
    return Item(
        file=f"{row['kind']}/{number:05d}" + (".webp" if "paths" not in row else ""),
        kind=row["kind"],
        source=row["source"],
        licence=row["licence"],
        group=row["group"],
        held=held_out(row["group"]),
        touches=row["touches"],
        frames=len(row.get("paths", ())),
        pixels=row["source"] in PIXEL_ART,
        uncertain=row["source"] in UNCERTAIN,
    )


def pack(data, path, sizes, without):
    """Writes the pack and returns its items."""
    with open(data / "manifest.csv", newline="") as f:
        rows = [row for row in csv.DictReader(f) if row["source"] not in without]
    reels = list(footage.rows(data, without))
    items = [describe(n, row) for n, row in enumerate(rows)] + [describe(n, row) for n, row in enumerate(reels)]
    with files.whole(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as z, ThreadPoolExecutor() as pool:
        about = {"sizes": dataclasses.asdict(sizes), "items": [dataclasses.asdict(i) for i in items]}
        write(z, "manifest.json", json.dumps(about).encode(), zipfile.ZIP_DEFLATED)
        for item, body in zip(items, pool.map(lambda row: encode(data, row, sizes), rows)):
            write(z, item.file, body)
        for item, row in zip(items[len(rows) :], reels):
            for n, frame in enumerate(row["paths"]):
                write(z, f"{item.file}/{n:02d}.webp", webp(still(footage.picture(frame, row), sizes.clip), sizes.quality))
    return items


def write(z, name, body, compression=zipfile.ZIP_STORED):
    """Adds a member without a time, so that the same data gives the same file."""
    z.writestr(zipfile.ZipInfo(name), body, compression)


class Pack:
    """The items of a pack, and their pictures on demand."""

    def __init__(self, path, without=()):
        self.zip = zipfile.ZipFile(path)
        about = json.loads(self.zip.read("manifest.json"))
        self.sizes = about["sizes"]
        self.items = [Item(**i) for i in about["items"] if i["source"] not in without]

    def choose(self, kind, held):
        return [i for i in self.items if i.kind == kind and i.held == held]

    def picture(self, item, frame=0):
        """The picture, or a frame of a clip, as uint8 [h, w, 3 or 4]."""
        name = f"{item.file}/{frame:02d}.webp" if item.frames else item.file
        with Image.open(io.BytesIO(self.zip.read(name))) as f:
            return np.asarray(f.convert("RGB" if item.kind in ("background", "moving") else "RGBA"))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("data", type=pathlib.Path)
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("--without", action="append", default=[], metavar="SOURCE", help="leave a source out; repeatable")
    for f in dataclasses.fields(Sizes):
        p.add_argument(f"--{f.name}", type=int, default=f.default)
    a = p.parse_args()
    sizes = Sizes(**{f.name: getattr(a, f.name) for f in dataclasses.fields(Sizes)})
    items = pack(a.data, a.pack, sizes, set(a.without))
    held = sum(i.held for i in items)
    print(f"{a.pack}: {len(items)} pictures, {held} held out, {a.pack.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
