"""Who and what stands in drawn clips: cut-outs of a pack, and what is done to them.

None of them is of a group that is measured (clips.taken).
"""

import math

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

import clips

PEOPLE = 0.4  # share of people from scenes among subjects
PHOTOGRAPHED = 0.3  # share of other subjects cut out of photographs
SCENES = ("ccp", "ccp", "ccp", "coco")
OTHERS = ("caltech101", "feral-cats", "oxford-pets")
BLACK = ("silhouettes",)  # sources of black shapes, which are no subjects


class Cast:
    """The items of a pack that clips are drawn from, those that the network has learnt and those held out."""

    def __init__(self, pack):
        self.pack, taken, self.sources = pack, clips.taken(pack), {}
        for item in pack.items:
            if item.kind in ("scene", "cutout") and item.group not in taken and set(item.touches) <= {"B"}:
                self.sources.setdefault((item.kind, item.held), {}).setdefault(item.source, []).append(item)

    def scene(self, dice, sources, held):
        there = self.sources.get(("scene", held), {})
        return dice.choice(there[dice.choice([s for s in sources if s in there])])

    def subject(self, dice, learnt, people=PEOPLE):
        """A person from a scene, an animal or a thing from a photograph, or a drawn or rendered cut-out."""
        if dice.random() < people:
            return self.scene(dice, SCENES, not learnt)
        if dice.random() < PHOTOGRAPHED:
            return self.scene(dice, OTHERS, not learnt)
        there = self.sources["cutout", not learnt]
        return dice.choice(there[dice.choice(sorted(s for s in there if s not in BLACK))])

    def cut(self, item):
        """An item's subject alone, premultiplied. A scene's outline is drawn inwards, for its rim is of the backdrop."""
        a = np.array(self.pack.picture(item))
        if item.kind == "scene":
            low = 0.72 if item.uncertain else 0.5
            alpha = ((a[..., 3] / 255 - low) / 0.25).clip(0, 1) * 255
            inner = Image.fromarray(alpha.round().astype(np.uint8)).filter(ImageFilter.MinFilter(3))
            a[..., 3] = np.minimum(np.asarray(inner.filter(ImageFilter.BoxBlur(0.7))), alpha)
        cut = Image.fromarray(a)
        box = cut.getchannel("A").point(lambda v: 255 * (v > 24)).getbbox() or (0, 0, *cut.size)
        return cut.crop(box).convert("RGBa")


def margined(cut, share=0.35):
    """A cut-out with an empty rim, into which its parts may turn."""
    more = [2 + round(share * v) for v in cut.size]
    out = Image.new(cut.mode, [v + 2 * m for v, m in zip(cut.size, more)])
    out.paste(cut, tuple(more))
    return out


def lit(dice, cut, place):
    """A cut-out a little darker or paler, and of its backdrop's brightness in part."""
    a = np.array(cut).astype(np.float32)
    alpha = a[..., 3:]
    own = a[..., :3].sum() / max(3 * alpha.sum() / 255, 1)
    light = 1 + dice.uniform(0, 0.5) * (np.asarray(place).mean() / max(own, 1) - 1)
    light = min(max(light, 0.5), 1.5) * np.float32([dice.uniform(0.9, 1.1) for _ in range(3)])
    a[..., :3] = np.minimum(a[..., :3] * light, alpha)
    return Image.fromarray(a.round().astype(np.uint8), cut.mode)


def shrunk(cut, scale, pixels):
    """A cut-out and the scale that is left once it is made smaller, as enlarging alone leaves no ragged edges."""
    if pixels or scale > 0.8:
        return cut, scale
    size = [max(1, round(v * scale)) for v in cut.size]
    return cut.resize(size, Image.Resampling.BOX), 1.0


def limb(cut, spot, width, length):
    """A long round piece of a premultiplied cut-out, from a spot (row, column) of it, below the middle of the picture."""
    y, x = (int(v) for v in spot)
    part = cut.crop((x - width // 2, y - length // 2, x - width // 2 + width, y - length // 2 + length))
    mask = Image.new("L", part.size)
    ImageDraw.Draw(mask).rounded_rectangle([0, 0, width - 1, length - 1], width // 2, 255)
    out = Image.new(cut.mode, (width, 2 * length))
    out.paste(Image.composite(part, Image.new(cut.mode, part.size), mask), (0, length))
    return out


def piece(dice, picture, kinds=("post", "post", "hedge", "hedge", "block")):
    """A piece of a photograph as a cut-out that stands nearer than the place, and its kind: a post, a hedge or a block."""
    w, h = picture.size
    mask = Image.new("L", (w, h))
    draw = ImageDraw.Draw(mask)
    kind = dice.choice(kinds)
    if kind == "post":
        draw.rectangle([0.42 * w, 0, (0.42 + dice.uniform(0.03, 0.2)) * w, h], 255)
    elif kind == "hedge":
        top, step = dice.uniform(0.45, 0.75) * h, w / 12
        line = [(n * step, top + dice.gauss(0, 0.05) * h) for n in range(13)]
        draw.polygon([*line, (w, h), (0, h)], 255)
    else:
        turn, points = dice.uniform(0, 1), dice.randint(4, 7)
        reach = [dice.uniform(0.25, 0.5) for _ in range(points)]
        angles = [2 * math.pi * (n + turn) / points for n in range(points)]
        draw.polygon([((0.5 + r * math.cos(a)) * w, (0.5 + r * math.sin(a)) * h) for r, a in zip(reach, angles)], 255)
    cut = picture.convert("RGBA")
    cut.putalpha(mask.filter(ImageFilter.BoxBlur(dice.choice([0.5, 1, 2]))))
    return kind, cut.crop(mask.getbbox()).convert("RGBa")


def pattern(dice, size):
    """A mask of bars, or of some round and angular places."""
    mask = Image.new("L", size)
    draw, long = ImageDraw.Draw(mask), max(size)
    if dice.random() < 0.4:
        line, space, turn = dice.uniform(0.03, 0.25) * long, dice.uniform(0.02, 0.12) * long, dice.uniform(0, math.pi)
        x, y = long * math.cos(turn), long * math.sin(turn)
        for n in range(round(2 * long / (line + space))):
            at = (n * (line + space) - long) / long
            middle = size[0] / 2 - at * y, size[1] / 2 + at * x
            draw.line([(middle[0] - 2 * x, middle[1] - 2 * y), (middle[0] + 2 * x, middle[1] + 2 * y)], 255, round(line))
        corner = [dice.uniform(-0.2, 0.6) * v for v in size]
        keep = Image.new("L", size)
        ImageDraw.Draw(keep).rectangle([*corner, *(c + dice.uniform(0.3, 0.8) * v for c, v in zip(corner, size))], 255)
        return ImageChops.multiply(mask, keep)
    for _ in range(dice.randint(1, 5)):
        at = [dice.random() * v for v in size]
        reach = [dice.uniform(0.03, 0.2) * long for _ in range(2)]
        if dice.random() < 0.5:
            draw.ellipse([at[0] - reach[0], at[1] - reach[1], at[0] + reach[0], at[1] + reach[1]], 255)
        else:
            draw.polygon([tuple(a + dice.uniform(-1, 1) * r for a, r in zip(at, reach)) for _ in range(dice.randint(3, 5))], 255)
    return mask


def pierced(cut, mask):
    """A premultiplied cut-out with holes, through which a network seldom sees."""
    return Image.composite(Image.new(cut.mode, cut.size), cut, mask)


def painted(cut, mask, colour):
    """A premultiplied cut-out with parts in a colour of the backdrop, which a network takes for that."""
    a = np.array(cut)
    share = 0.8 * np.asarray(mask, np.float32)[..., None] / 255
    paint = np.float32(colour) * a[..., 3:] / 255
    a[..., :3] = (a[..., :3] * (1 - share) + paint * share).round()
    return Image.fromarray(a, cut.mode)
