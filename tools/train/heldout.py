"""Held-out pictures with known mattes, the same ones on every machine.

Scenes are used whole. Each held-out cut-out is placed once on a held-out
photograph; its file name decides place and size. No training uses these.
"""

import dataclasses
import io
import random

import numpy as np
from PIL import Image

LONG = 320  # longest side in pixels, for measuring boundaries

FAMILIES = {
    "ccp": "people", "coco": "coco", "oxford-pets": "pets", "feral-cats": "pets",
    "fluent-emoji": "emoji", "fxemoji": "emoji", "emojitwo": "emoji", "blobmoji": "emoji",
    "household-3d": "objects", "furniture-3d": "objects", "gazebo-3d": "objects", "models-3d": "objects",
    "lowpoly-3d": "objects", "kenney-3d": "objects", "kenney-iso": "objects",
    "lpc": "characters", "crawl": "characters", "kenney-2d": "characters", "dicebear": "characters",
}  # fmt: skip


@dataclasses.dataclass
class Case:
    """A picture uint8 [h, w, 3], its matte 0 to 1, and the known part of the matte, [h, w]."""

    name: str
    source: str
    family: str
    picture: np.ndarray
    matte: np.ndarray
    known: np.ndarray
    sharp: bool  # whether the outline is exact enough to measure boundaries


def cases(pack, most=60):
    """All cases, at most `most` of each source, in the pack's order."""
    places = pack.choose("background", True)
    taken = {}
    for item in pack.choose("scene", True) + pack.choose("cutout", True) + places:
        taken.setdefault(item.source if item.kind != "background" else "empty", []).append(item)
    for source, items in taken.items():
        if source != "empty" and source not in FAMILIES:
            continue
        random.Random(source).shuffle(items)
        for item in items[:most]:
            yield make(pack, item, places)


def make(pack, item, places):
    if item.kind == "scene":
        return scene(pack, item)
    if item.kind == "background":
        picture = photograph(pack, item, random.Random(item.file))
        none = np.zeros(picture.shape[:2], np.float32)
        return Case(item.file, item.source, "empty", picture, none, none == 0, False)
    return composite(pack, item, places)


def scene(pack, item):
    a = pack.picture(item)
    matte = a[..., 3].astype(np.float32) / 255
    known = np.ones(matte.shape, bool)
    if item.uncertain:
        known = np.abs(matte - 0.5) > 0.44
        matte = (matte > 0.5).astype(np.float32)
    picture = np.ascontiguousarray(a[..., :3])
    return Case(item.file, item.source, FAMILIES[item.source], picture, matte, known, not item.uncertain)


def photograph(pack, item, dice):
    """A part of a held-out background with LONG as its longer side."""
    shape = dice.choice([0.75, 1.0, 1.33, 1.78])
    w, h = (LONG, round(LONG / shape)) if shape >= 1 else (round(LONG * shape), LONG)
    full = Image.fromarray(pack.picture(item))
    scale = max(w / full.width, h / full.height) * dice.uniform(1, 1.3)
    cw, ch = w / scale, h / scale
    x, y = dice.uniform(0, full.width - cw), dice.uniform(0, full.height - ch)
    return np.asarray(full.resize((w, h), Image.Resampling.BICUBIC, (x, y, x + cw, y + ch)))


def composite(pack, item, places):
    dice = random.Random(item.file)
    picture = photograph(pack, dice.choice(places), dice)
    h, w = picture.shape[:2]
    cut = Image.fromarray(pack.picture(item))
    cut = cut.crop(cut.getchannel("A").getbbox()).convert("RGBa")
    scale = dice.uniform(0.4, 0.9) * min(w / cut.width, h / cut.height)
    if item.pixels:
        scale = max(1, round(scale))
    size = [max(1, round(v * scale)) for v in cut.size]
    cut = cut.resize(size, Image.Resampling.NEAREST if item.pixels else Image.Resampling.BICUBIC)
    x = against(dice, item.touches, "L", "R", w - size[0])
    y = against(dice, item.touches, "T", "B", h - size[1])
    layer = Image.new("RGBa", (w, h))
    layer.paste(cut, (x, y))
    a = np.asarray(layer).astype(np.float32)
    alpha = a[..., 3:] / 255
    whole = np.clip(a[..., :3] + picture * (1 - alpha), 0, 255).round().astype(np.uint8)
    matte = alpha[..., 0]
    return Case(item.file, item.source, FAMILIES[item.source], whole, matte, np.ones(matte.shape, bool), True)


def against(dice, touches, first, last, room):
    if first in touches:
        return 0
    if last in touches:
        return room
    return dice.randint(0, max(room, 0))


def as_gif(picture, colours=64, sparse=1):
    """The picture with error diffusion and its own palette, found from each sparse-th row and column."""
    p = Image.fromarray(picture[::sparse, ::sparse]).quantize(colours, Image.Quantize.MEDIANCUT)
    return np.array(Image.fromarray(picture).quantize(palette=p, dither=Image.Dither.FLOYDSTEINBERG).convert("RGB"))


def as_jpeg(picture, quality=30):
    """The picture after strong JPEG compression."""
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "jpeg", quality=quality)
    with Image.open(out) as f:
        return np.asarray(f.convert("RGB"))
