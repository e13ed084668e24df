"""Held-out clips with known mattes: a still subject moves before a moving backdrop.

Each clip lays one held-out cut-out on one held-out photograph. The subject drifts,
bobs, turns and changes size; the camera stands, shakes or pans. Light and grain
change a little from frame to frame, as in real recordings, which is what makes
networks that know one picture flicker.
"""

import math
import random

import numpy as np
from PIL import Image

import heldout
import infer
import metrics
from colours import ColourModel, decided

FRAMES = 16
MEASURED = 4  # cut-outs of each source


def clips(pack, most=MEASURED):
    """Lists of Cases, one a frame, of at most `most` cut-outs of each source."""
    places = pack.choose("background", True)
    for item in measured(pack, most):
        yield clip(pack, item, places)


def measured(pack, most=MEASURED):
    """The held-out cut-outs that clips are made of, at most `most` of each source."""
    for source, items in subjects(pack, True).items():
        random.Random(source).shuffle(items)
        yield from items[:most]


def taken(pack):
    """The groups of the cut-outs that clips are made of: the chooser and the reviser learn from no item of these."""
    return {item.group for item in measured(pack)}


def subjects(pack, held):
    """The whole cut-outs of each source, those held out or the others."""
    taken = {}
    for item in pack.choose("cutout", held):
        if item.source in heldout.FAMILIES and not item.touches:
            taken.setdefault(item.source, []).append(item)
    return taken


def clip(pack, item, places):
    dice = random.Random(item.file)
    place = Image.fromarray(pack.picture(dice.choice(places)))
    w, h = heldout.LONG, round(heldout.LONG / dice.choice([1.0, 1.33, 1.78]))
    cut = Image.fromarray(pack.picture(item))
    cut = cut.crop(cut.getchannel("A").getbbox()).convert("RGBa")
    size = dice.uniform(0.4, 0.7) * min(w / cut.width, h / cut.height)
    path = [dice.uniform(0.3, 0.7) for _ in range(2)] + [dice.uniform(-0.3, 0.3) for _ in range(2)]
    camera, phase = dice.choice(["still", "shake", "pan"]), dice.uniform(0, 6)
    grain = np.random.default_rng(dice.randrange(2**32))
    frames = []
    for n in range(FRAMES):
        t = n / (FRAMES - 1) - 0.5
        ground = background(place, w, h, camera, t, dice)
        x, y = w * (path[0] + path[2] * t), h * (path[1] + path[3] * t) + 3 * math.sin(phase + 9 * t)
        layer = stand(cut, w, h, x, y, size * (1 + 0.15 * t), 12 * math.sin(phase + 4 * t), item.pixels)
        frames.append(frame(item, n, ground, layer, 1 + 0.04 * math.sin(phase + 20 * t), grain))
    return frames


def background(place, w, h, camera, t, dice):
    """The part of the photograph that the camera shows at time t, −0.5 to 0.5."""
    scale = 0.85 * min(place.width / w, place.height / h)
    free = [place.width - w * scale, place.height - h * scale]
    dx, dy = {"still": (0, 0), "shake": (dice.gauss(0, 0.012), dice.gauss(0, 0.012)), "pan": (0.12 * t, 0)}[camera]
    x = min(max(free[0] / 2 + dx * place.width, 0), free[0])
    y = min(max(free[1] / 2 + dy * place.height, 0), free[1])
    return place.resize((w, h), Image.Resampling.BICUBIC, (x, y, x + w * scale, y + h * scale))


def stand(cut, w, h, x, y, size, degrees, pixels):
    """The premultiplied cut-out on an empty canvas, its centre at x, y."""
    a = math.radians(degrees)
    cos, sin = math.cos(a) / size, math.sin(a) / size
    shift = [cut.width / 2 - cos * x - sin * y, cut.height / 2 + sin * x - cos * y]
    how = Image.Resampling.NEAREST if pixels else Image.Resampling.BICUBIC
    return cut.transform((w, h), Image.Transform.AFFINE, (cos, sin, shift[0], -sin, cos, shift[1]), how)


def frame(item, number, ground, layer, light, grain, noise=2.5):
    a = np.asarray(layer).astype(np.float32)
    alpha = a[..., 3:] / 255
    whole = (a[..., :3] + np.asarray(ground) * (1 - alpha)) * light
    whole = np.clip(whole + grain.normal(0, noise, whole.shape), 0, 255).round().astype(np.uint8)
    matte = alpha[..., 0]
    name = f"{item.file}#{number}"
    known = np.ones(matte.shape, bool)
    return heldout.Case(name, item.source, heldout.FAMILIES[item.source], whole, matte, known, True)


def dtssd(mattes, truths):
    """Root of the mean squared difference of changes from frame to frame (Erofeev et al. 2015), times 100."""
    changes = np.diff(np.stack(mattes), axis=0) - np.diff(np.stack(truths), axis=0)
    return 100 * float(np.sqrt((changes**2).mean((1, 2))).mean())


def measure(some, mattes):
    """Mean IoU and dtSSD of clips, whose mattes a function of their frames gives."""
    overlap, flicker = [], []
    for frames in some:
        found = list(mattes(frames))
        overlap += [metrics.iou(m, f.matte, f.known) for m, f in zip(found, frames)]
        flicker.append(dtssd(found, [f.matte for f in frames]))
    return float(np.mean(overlap)), float(np.mean(flicker))


def frame_by_frame(run, short):
    """Mattes by a network that knows nothing of other frames."""
    return lambda frames: (infer.matte(run, f.picture, short) for f in frames)


def with_colours(run, short, weight):
    """The same, doubts decided by the clip's colours."""

    def mattes(frames):
        model = ColourModel(weight)
        for f in frames:
            yield decided(infer.matte(run, f.picture, short), f.picture, short, model)

    return mattes
