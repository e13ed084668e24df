"""Draws the clips that the chooser and the reviser learn from: a seed stands for a clip.

Their motion is that of real footage. Cameras stand, shake, pan, zoom or follow the subject;
some things stand glued in the place, which are no subjects; subjects pause, bend or
hardly move. Some clips are real ones with their own masks.
"""

import dataclasses
import functools
import random

import numpy as np
from PIL import Image

import cast
import heldout
import motion
import recording
import scenery
import stage
from clips import FRAMES

KINDS = {"static": 0.33, "moving": 0.55, "empty": 0.06, "real": 0.06}
STATIC = {"still": 0.5, "shake": 0.5}
MOVING = {"still": 0.16, "shake": 0.14, "pan": 0.11, "zoom": 0.09, "track": 0.5}
GLUED = {"static": 0.1, "moving": 0.82, "empty": 0.2}  # share with glued things; .45 of all
FOOTAGE = 0.15  # share of real backdrops where the camera is about still
TWO = 0.18  # share of moving clips with two subjects
LEARNT = 0.25  # share of clips whose subject the network has learnt
SHAPES = (0.56, 0.75, 1.0, 1.33, 1.33, 1.78, 1.78, 1.78)


@dataclasses.dataclass
class Plan:
    """What kind of clip a seed stands for."""

    kind: str
    camera: str
    size: tuple
    learnt: bool
    glued: int
    two: bool = False
    rests: bool = False  # the second subject stands still
    footage: object = None
    gestures: bool = False  # the subject stands still, but for its head and arms


@dataclasses.dataclass
class Clip:
    """Pictures uint8 [n, h, w, 3], and true mattes uint8 [n, h, w].

    things are the mattes of each thing, uint8 [n, k, h, w], and unhidden the same as if nothing hid it.
    """

    plan: Plan
    pictures: np.ndarray
    truths: np.ndarray
    things: np.ndarray
    unhidden: np.ndarray


def weighted(dice, shares):
    return dice.choices(list(shares), list(shares.values()))[0]


def plan(pack, dice):
    kind = weighted(dice, KINDS)
    if kind == "real" and not pack.choose("clip", False):
        kind = "moving"
    camera = weighted(dice, MOVING if kind in ("moving", "empty") else STATIC)
    shape = dice.choice(SHAPES)
    size = (heldout.LONG, round(heldout.LONG / shape)) if shape >= 1 else (round(heldout.LONG * shape), heldout.LONG)
    two = kind == "moving" and dice.random() < TWO
    rests = two and dice.random() < 0.6
    glued = 0 if kind == "real" or rests or dice.random() >= GLUED[kind] else dice.choice([1, 1, 2, 3])
    learnt = kind == "real" or dice.random() < LEARNT
    places = pack.choose("moving", False)
    footage = dice.choice(places) if places and kind != "real" and camera in STATIC and dice.random() < FOOTAGE else None
    return Plan(kind, camera, size, learnt, glued, two, rests, footage)


def clip(pack, seed, gestures=0.0):
    """The clip that a seed stands for. A share of the still subjects make gestures: in training, not where it is measured."""
    dice = random.Random(f"film {seed}")
    grain = np.random.default_rng(dice.randrange(2**32))
    p = plan(pack, dice)
    p.gestures = p.kind == "static" and random.Random(f"gestures {seed}").random() < gestures
    if p.kind == "real":
        pictures, truths = real(pack, dice)
        mattes = np.stack([truths] * 3, 1)
    else:
        pictures, mattes = filmed(pack, dice, grain, p)
    pictures, mattes = recording.recorded(dice, grain, pictures, mattes)
    k = mattes.shape[1] // 2
    return Clip(p, pictures, mattes[:, 0], mattes[:, 1 : 1 + k], mattes[:, 1 + k :])


@functools.lru_cache(2)
def cast_of(pack):
    return cast.Cast(pack)


def real(pack, dice):
    """A real clip and its masks, differently cut and lit."""
    item = dice.choice(pack.choose("clip", False))
    frames = [Image.fromarray(pack.picture(item, n)) for n in scenery.order(dice, item.frames, FRAMES)]
    w, h = frames[0].size
    share = dice.uniform(0.7, 1)
    box = [dice.uniform(0, v * (1 - share)) for v in (w, h)]
    box += [b + v * share for b, v in zip(box, (w, h))]
    size = (heldout.LONG, round(heldout.LONG * h / w)) if w >= h else (round(heldout.LONG * w / h), heldout.LONG)
    frames = [Image.merge("RGBA", [c.resize(size, Image.Resampling.BICUBIC, box) for c in f.split()]) for f in frames]
    if dice.random() < 0.5:
        frames = [f.transpose(Image.Transpose.FLIP_LEFT_RIGHT) for f in frames]
    a = np.stack([np.asarray(f, np.float32) for f in frames])
    gain = np.float32([dice.uniform(0.8, 1.15) * dice.uniform(0.95, 1.05) for _ in range(3)])
    return np.clip(a[..., :3] * gain, 0, 255), a[..., 3] / 255


def filmed(pack, dice, grain, p):
    """A drawn clip, not yet recorded: pictures 0 to 255 and stage.drawn's mattes, both float."""
    camera = motion.camera(dice, grain, p.camera, p.size)
    place = scenery.place(pack, dice, camera, p.footage)
    things = [] if p.kind == "empty" else subjects(pack, dice, grain, p, camera, place)
    glued = [glue(pack, dice, p, camera, place, things) for _ in range(p.glued)]
    if p.camera not in STATIC or dice.random() < 0.3:
        glued += [screen(pack, dice, p, camera) for _ in range(dice.choice([0, 0, 1, 2]))]
    glued.sort(key=lambda g: g.depth)
    order = glued + things
    if dice.random() < 0.08:  # something before the subject
        order.append(screen(pack, dice, p, camera, 1.3, ("post", "hedge")))
    shutter = dice.uniform(0.2, 0.6) if dice.random() < 0.6 else 0
    frames = [stage.drawn(place, order, camera, n, shutter) for n in range(FRAMES)]
    return (np.stack(part) for part in zip(*frames))


def subjects(pack, dice, grain, p, camera, place):
    first = subject(pack, dice, grain, p, camera, place, p.kind == "static")
    if p.gestures:
        return [first, *arms(dice, first)]
    if not p.two:
        return [first]
    second = subject(pack, dice, grain, p, camera, place, p.rests)
    return [second, first] if dice.random() < 0.5 else [first, second]


def arms(dice, subject):
    """Things like arms that swing before a still subject, whose head may turn."""
    if dice.random() < 0.6:
        subject.seam, subject.upper = dice.uniform(0.3, 0.45), True  # the cut-out's rim is part of its height
        subject.track.turn_part(dice, dice.uniform(3, 20))
    return [arm(dice, subject) for _ in range(dice.choice([0, 1, 1, 2, 2]))]


def arm(dice, subject):
    """A long piece of a subject that swings about a place of it."""
    shown = np.argwhere(np.asarray(subject.cut)[..., 3] > 127)
    low, high = shown.min(0), shown.max(0) + 1
    length = dice.uniform(0.2, 0.5) * (high - low)[0]
    spot = shown[dice.randrange(len(shown))]
    cut = cast.limb(subject.cut, spot, max(round(length * dice.uniform(0.25, 0.5)), 2), max(round(length), 2))
    y, x = low + (high - low) * [dice.uniform(0.25, 0.6), dice.uniform(0.25, 0.75)]
    w, h = subject.cut.size
    where = subject.track.where + subject.track.size[:, None] * [x - w / 2, y - h / 2]
    track = motion.Track(where, subject.track.size, subject.track.turn.copy(), np.zeros(motion.ROWS))
    track.swing(dice)
    return stage.Thing(cut, track, follows=subject.follows, subject=True, pixels=subject.pixels)


def subject(pack, dice, grain, p, camera, place, still):
    """A subject and its way over the screen."""
    w, h = p.size
    item = cast_of(pack).subject(dice, p.learnt, 0.6 if still else cast.PEOPLE)
    cut = dressed(dice, cast_of(pack).cut(item), place.pictures[0])
    grounded = "B" in item.touches
    size = (dice.uniform(0.6, 1.1) if grounded else dice.uniform(0.3, 1.0)) * min(w / cut.width, h / cut.height)
    if grounded and dice.random() < 0.3:
        size *= dice.uniform(1, 1.4)
    cut, size = cast.shrunk(cut, size, item.pixels)
    middle = (dice.uniform(0.25, 0.75), dice.uniform(0.35, 0.7)) if dice.random() < 0.8 else (dice.random(), dice.random())
    track = motion.Track.rest(np.multiply(middle, p.size), size)
    if still:
        track.sway(dice, grain)
    else:
        speed = dice.uniform(*((0, 0.006) if p.camera == "track" else dice.choice(motion.SPEEDS)))
        track.travel(dice, w * speed, p.size, grounded)
    if grounded:  # what is cut off stays below the screen's edge
        bottom = track.where[:, 1] + track.size * cut.height / 2
        track.where[:, 1] += max(0, (h - bottom).max()) + 0.03 * h
    thing = stage.Thing(cast.margined(cut), track, subject=True, pixels=item.pixels)
    thing.seam, thing.upper = dice.uniform(0.35, 0.65), grounded or dice.random() < 0.4
    thing.follows = p.camera == "track" or (p.camera == "pan" and dice.random() < 0.5)
    if dice.random() < 0.4:
        thing.shadow, thing.fall = dice.uniform(0.15, 0.6), (dice.uniform(-0.15, 0.15), dice.uniform(0, 0.15))
    return thing


def dressed(dice, cut, picture):
    """A cut-out in the light of its backdrop; some have holes or parts in a colour of it."""
    if dice.random() < 0.12:
        cut = cast.pierced(cut, cast.pattern(dice, cut.size))
    if dice.random() < 0.2:
        colour = picture.getpixel(tuple(dice.randrange(v) for v in picture.size))
        cut = cast.painted(cut, cast.pattern(dice, cut.size), colour)
    return cast.lit(dice, cut, picture)


def glue(pack, dice, p, camera, place, things):
    """Something that looks like a subject and stands in the place; some of them partly behind the subject."""
    w, h = p.size
    item = cast_of(pack).subject(dice, dice.random() < 0.7, 0.3)
    cut = cast.lit(dice, cast_of(pack).cut(item), place.pictures[0])
    size = (dice.uniform(0.15, 0.5) if dice.random() < 0.65 else dice.uniform(0.5, 1)) * min(w / cut.width, h / cut.height)
    cut, size = cast.shrunk(cut, size, item.pixels)
    depth = 1.0 if p.camera in STATIC or dice.random() < 0.4 else dice.uniform(1.02, 1.5)
    time = dice.uniform(0, FRAMES - 1)
    spot = [dice.uniform(0, w), dice.uniform(0.3, 0.9) * h]
    if things and dice.random() < 0.5:
        at = things[0].to_screen(camera, time) @ [things[0].cut.width / 2, things[0].cut.height / 2, 1]
        spot = [min(max(at[n] + dice.gauss(0, 0.2) * w, 0), p.size[n]) for n in range(2)]
    if "B" in item.touches:
        spot[1] = h - size * cut.height / 2 + 0.05 * h
    thing = fixed(cut, camera, spot, time, size, depth)
    thing.glued, thing.pixels, thing.fall = True, item.pixels, (dice.uniform(-0.1, 0.1), 0.03)
    thing.shadow = dice.choice([0, dice.uniform(0.15, 0.5)])
    return thing


def screen(pack, dice, p, camera, near=1.05, kinds=("post", "post", "hedge", "hedge", "block")):
    """A piece of a photograph that stands nearer than the place."""
    w, h = p.size
    kind, cut = cast.piece(dice, Image.fromarray(pack.picture(dice.choice(pack.choose("background", False)))), kinds)
    time, depth = dice.uniform(0, FRAMES - 1), dice.uniform(near, near + 0.6)
    size = {"post": 1.4 * h / cut.height, "hedge": 1.6 * w / cut.width, "block": dice.uniform(0.2, 0.7) * h / cut.height}[kind]
    spot = [dice.uniform(0, w), {"post": h / 2, "hedge": h * dice.uniform(0.95, 1.15), "block": dice.uniform(0.2, 0.8) * h}[kind]]
    return fixed(cut, camera, spot, time, size, depth)


def fixed(cut, camera, spot, time, size, depth):
    """A thing that stands in the world, at a spot of the screen at a time."""
    at = np.linalg.inv(camera.matrix(time, depth)) @ [*spot, 1]
    return stage.Thing(cut, motion.Track.rest(at[:2], size), depth=depth)
