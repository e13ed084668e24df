"""The layers that a clip is drawn from: the place, and things that stand in it."""

import dataclasses
import math

import numpy as np
from PIL import Image, ImageFilter

import motion

CELL = 16  # side of a mesh's cells; within one the picture is moved evenly
BLURRED = 4  # most pictures that one of motion blur is the mean of


@dataclasses.dataclass
class Waves:
    """A smooth displacement within a round part of the place that changes with time, as of leaves or water."""

    middle: tuple
    reach: tuple
    waves: list  # of wave vector, displacement at most, turn a frame and phase

    def shifted(self, x, y, time):
        far = ((x - self.middle[0]) / self.reach[0]) ** 2 + ((y - self.middle[1]) / self.reach[1]) ** 2
        share = 1 / (1 + np.exp(np.clip(6 * (far - 1), -30, 30)))
        for (kx, ky), (dx, dy), turn, phase in self.waves:
            swing = share * np.sin(kx * x + ky * y + turn * time + phase)
            x, y = x + dx * swing, y + dy * swing
        return x, y


@dataclasses.dataclass
class Place:
    """What lies behind all: a picture, or one for each row of a track, at a scale with its middle in the screen's."""

    pictures: list
    scale: float
    waves: Waves | None = None

    def to_screen(self, camera, time):
        w, h = self.pictures[0].size
        own = motion.move(np.array(camera.size) / 2) @ motion.spin(0, self.scale) @ motion.move((-w / 2, -h / 2))
        return camera.matrix(time) @ own

    def seen(self, camera, times):
        """The part of the screen that it may cover at times: left, top, right and bottom."""
        return (0, 0, *camera.size)

    def draw(self, camera, time, box):
        back = np.linalg.inv(self.to_screen(camera, time))

        def source(x, y):
            x, y = motion.apply(back, x, y)
            return self.waves.shifted(x, y, time) if self.waves else (x, y)

        picture = self.pictures[min(int(time), len(self.pictures) - 1)]
        return warped(picture, box, source, Image.Resampling.BICUBIC)


def widened(picture, scale, camera):
    """A picture continued by its mirror image as far as the camera sees, at a scale."""
    w, h = picture.size
    place, reach = Place([picture], scale), np.zeros(2)
    for time in range(motion.ROWS):
        back = np.linalg.inv(place.to_screen(camera, time))
        for x in (0, camera.size[0]):
            for y in (0, camera.size[1]):
                reach = np.maximum(reach, np.abs(np.array(list(motion.apply(back, x, y))) - (w / 2, h / 2)))
    more = [max(0, math.ceil(r - v / 2)) + 8 for r, v in zip(reach, (w, h))]
    return Image.fromarray(np.pad(np.asarray(picture), ((more[1],) * 2, (more[0],) * 2, (0, 0)), "symmetric"))


@dataclasses.dataclass
class Thing:
    """A premultiplied cut-out and its track. Subjects are in the truth, glued things are not.
    What is neither only hides others.

    The track is in the world, or on the screen if the camera follows it. Its bend turns the
    upper or lower part, beyond the seam (a share of the height), against the rest.
    """

    cut: Image.Image
    track: motion.Track
    seam: float = 0.5
    upper: bool = False
    depth: float = 1.0
    follows: bool = False
    subject: bool = False
    glued: bool = False
    pixels: bool = False
    shadow: float = 0.0
    fall: tuple = (0.0, 0.0)

    def to_screen(self, camera, time):
        w, h = self.cut.size
        where, size, turn = (motion.at(t, time) for t in (self.track.where, self.track.size, self.track.turn))
        own = motion.move(where) @ motion.spin(turn, size)
        return camera.matrix(time, self.depth, self.follows) @ own @ motion.move((-w / 2, -h / 2))

    def seen(self, camera, times):
        """The part of the screen that it may cover at times: left, top, right and bottom."""
        w, h = self.cut.size
        corners = np.float64([0, w, w, 0]), np.float64([0, 0, h, h])
        points = np.concatenate([np.stack(list(motion.apply(self.to_screen(camera, t), *corners)), 1) for t in times])
        low = np.clip(np.floor(points.min(0)) - 1, 0, camera.size).astype(int)
        return (*low, *np.clip(np.ceil(points.max(0)) + 1, low, camera.size).astype(int))

    def draw(self, camera, time, box):
        back, angle = np.linalg.inv(self.to_screen(camera, time)), motion.at(self.track.bend, time)

        def source(x, y):
            return self.unbent(*motion.apply(back, x, y), angle)

        return warped(self.cut, box, source, Image.Resampling.NEAREST if self.pixels else Image.Resampling.BICUBIC)

    def unbent(self, x, y, angle):
        if not angle:
            return x, y
        w, h = self.cut.size
        beyond = (y / h - self.seam) * (-1 if self.upper else 1) / 0.2
        a = -angle * np.clip(beyond + 0.5, 0, 1) ** 2 * (3 - 2 * np.clip(beyond + 0.5, 0, 1))
        x, y = x - w / 2, y - self.seam * h
        return np.cos(a) * x - np.sin(a) * y + w / 2, np.sin(a) * x + np.cos(a) * y + self.seam * h


def warped(picture, box, source, how):
    """A part of the screen whose points come from where source says in a picture; empty beyond the picture."""
    left, top, right, bottom = (int(v) for v in box)
    xs, ys = [*range(left, right, CELL), right], [*range(top, bottom, CELL), bottom]
    x, y = source(*np.meshgrid(np.float64(xs), np.float64(ys)))
    p = np.stack([x, y], 2)
    corners = np.concatenate([p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]], 2).tolist()
    xs, ys = [v - left for v in xs], [v - top for v in ys]
    mesh = [((xs[i], ys[j], xs[i + 1], ys[j + 1]), corners[j][i]) for j in range(len(ys) - 1) for i in range(len(xs) - 1)]
    return picture.transform((right - left, bottom - top), Image.Transform.MESH, mesh, how)


def exposed(layer, camera, number, shutter):
    """The part of the screen that a layer covers in a frame, and the layer there as float [h, w, c].

    It is blurred by its motion while the shutter is open, a share of a frame.
    """
    box = layer.seen(camera, [number, number + shutter])
    if box[0] >= box[2] or box[1] >= box[3]:
        return None, None
    steps = min(max(math.ceil(speed(layer, camera, number, shutter) / 1.5), 1), BLURRED)
    times = [number + shutter * n / steps for n in range(steps)]
    return box, sum(np.asarray(layer.draw(camera, time, box), np.float32) for time in times) / steps


def speed(layer, camera, number, shutter):
    """How many pixels a layer goes while the shutter is open, at most."""
    w, h = camera.size
    points = np.float64([0, w, 0, w, w / 2]), np.float64([0, 0, h, h, h / 2])
    back = np.linalg.inv(layer.to_screen(camera, number))
    there = motion.apply(layer.to_screen(camera, number + shutter) @ back, *points)
    return max(float(np.abs(t - p).max()) for t, p in zip(there, points))


def drawn(place, things, camera, number, shutter):
    """A frame as float [h, w, 3], 0 to 255, and mattes [1 + 2k, h, w], 0 to 1.

    These are the subjects' own, those of each of k subjects and glued things, and these as if nothing
    hid them. The first things are farthest.
    """
    _, picture = exposed(place, camera, number, shutter)
    whole, parts, unhidden = np.zeros(picture.shape[:2], np.float32), [], []
    for thing in things:
        if thing.subject or thing.glued:
            parts.append(np.zeros_like(whole))
            unhidden.append(np.zeros_like(whole))
        box, layer = exposed(thing, camera, number, shutter)
        if box is None:
            continue
        alpha, (left, top, right, bottom) = layer[..., 3:] / 255, box
        if thing.shadow:
            whole[:] = 0
            whole[top:bottom, left:right] = alpha[..., 0]
            picture = shaded(picture, whole, thing.shadow, thing.fall)
        picture[top:bottom, left:right] = layer[..., :3] + picture[top:bottom, left:right] * (1 - alpha)
        for part in parts:
            part[top:bottom, left:right] *= 1 - alpha[..., 0]
        if thing.subject or thing.glued:
            parts[-1][top:bottom, left:right] = unhidden[-1][top:bottom, left:right] = alpha[..., 0]
    shown = [t for t in things if t.subject or t.glued]
    truth = sum((p for p, t in zip(parts, shown) if t.subject), np.zeros_like(whole))
    return picture, np.stack([truth, *parts, *unhidden])


def shaded(picture, alpha, dark, fall):
    """A picture with a thing's soft shadow on it, fallen by shares of its size."""
    h, w = alpha.shape
    shade = Image.fromarray((alpha * 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.02 * w))
    shade = shade.transform(shade.size, Image.Transform.AFFINE, (1, 0, -fall[0] * w, 0, 1, -fall[1] * h))
    return picture * (1 - dark * np.asarray(shade, np.float32)[..., None] / 255)
