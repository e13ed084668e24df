"""How cameras and subjects of drawn clips move: tracks, one row for each frame and one more.

The row beyond the last frame is for motion blur, which lasts while the shutter is open.
"""

import dataclasses
import math

import numpy as np

from clips import FRAMES

ROWS = FRAMES + 1
CAMERAS = ("still", "shake", "pan", "zoom", "track")
FASTEST = 0.06  # a camera's speed, in widths a frame
SPEEDS = ((0.0005, 0.003), (0.002, 0.01), (0.005, 0.02), (0.005, 0.02), (0.02, 0.045), (0.045, 0.08))  # subjects', as often as each other


@dataclasses.dataclass
class Camera:
    """A camera's path over the world, in pixels of the screen, and its zoom and turn about the middle.

    shift is where it is carried, jitter what an unsteady hand adds, both [ROWS, 2].
    """

    shift: np.ndarray
    jitter: np.ndarray
    zoom: np.ndarray
    turn: np.ndarray
    size: tuple

    def matrix(self, time, depth=1.0, follows=False):
        """What brings a point of the world to the screen, [3, 3].

        Layers of greater depth factors are nearer and move faster; what the camera follows is
        not carried away, but jitters.
        """
        shift = at(self.jitter, time) + (0 if follows else at(self.shift, time))
        middle = np.array(self.size) / 2
        moved = move(-middle - depth * shift)
        return move(middle) @ spin(at(self.turn, time), at(self.zoom, time) ** (0 if follows else depth)) @ moved


def camera(dice, grain, kind, size):
    """A camera of a kind, for a screen of a size."""
    w, h = size
    shift, jitter, zoom, turn = np.zeros((ROWS, 2)), np.zeros((ROWS, 2)), np.ones(ROWS), np.zeros(ROWS)
    if kind == "shake" or (kind != "still" and dice.random() < 0.5):
        strength = w / 320 * (dice.uniform(0.3, 2.2) if kind == "shake" else dice.uniform(0.1, 1))
        jitter = strength * wander(grain, 2)
        turn = math.radians(dice.uniform(0.02, 0.3)) * wander(grain, 1)[:, 0]
    if kind == "pan":
        shift = carried(dice, w * dice.uniform(0.002, 0.02))
    elif kind == "track":
        slow = dice.random() < 0.5
        shift = carried(dice, w * (dice.uniform(0.006, 0.025) if slow else dice.uniform(0.025, FASTEST)))
    if kind == "zoom" or (kind in ("pan", "track") and dice.random() < 0.25):
        zoom = np.exp(dice.choice([-1, 1]) * dice.uniform(0.03, 0.3) * (np.linspace(-0.5, 0.5, ROWS)))
        turn = turn + math.radians(dice.uniform(-4, 4) * (dice.random() < 0.3)) * np.linspace(-0.5, 0.5, ROWS)
    return Camera(shift, jitter, zoom, turn, size)


def carried(dice, speed):
    """A path of about one direction, most often level, at a speed that changes a little."""
    way = dice.choice([0, math.pi]) + dice.gauss(0, 0.12) if dice.random() < 0.8 else dice.uniform(0, 2 * math.pi)
    t = np.linspace(0, 1, ROWS)
    steps = speed * np.clip(1 + dice.uniform(0, 0.5) * np.sin(dice.uniform(0, 6) + dice.uniform(2, 6) * t), 0, None)
    bend = way + dice.uniform(-0.3, 0.3) * t
    path = np.cumsum(np.stack([steps * np.cos(bend), steps * np.sin(bend)], 1), 0)
    return path - path[ROWS // 2]


def wander(grain, columns):
    """A smooth random walk about nothing, of steps of about one."""
    steps = grain.normal(0, 1, (ROWS + 6, columns))
    smooth = np.stack([np.convolve(c, [0.1, 0.2, 0.4, 0.2, 0.1], "valid") for c in steps.T], 1) / 0.51
    path = np.cumsum(smooth, 0)[:ROWS]
    return path - path.mean(0)


@dataclasses.dataclass
class Track:
    """Where a thing's middle is [ROWS, 2], its scale, its turn, and the bend of a part of it, in radians, [ROWS] each."""

    where: np.ndarray
    size: np.ndarray
    turn: np.ndarray
    bend: np.ndarray

    @classmethod
    def rest(cls, where, size):
        """The track of a thing that does not move."""
        return cls(np.tile(np.float64(where), (ROWS, 1)), np.full(ROWS, float(size)), np.zeros(ROWS), np.zeros(ROWS))

    def sway(self, dice, grain):
        """Lets it move by about a pixel, as who sits and talks does."""
        self.where += dice.uniform(0, 0.25) * wander(grain, 2)
        self.turn += math.radians(dice.uniform(0, 0.15)) * wander(grain, 1)[:, 0]
        if dice.random() < 0.5:
            pace = dice.uniform(0, 6) + dice.uniform(0.2, 0.8) * np.arange(ROWS)
            self.bend += math.radians(dice.uniform(0.2, 1.5)) * np.sin(pace)

    def turn_part(self, dice, degrees):
        """Lets the part that bends turn to and fro, up to an angle."""
        self.bend += math.radians(degrees) * to_and_fro(dice)

    def swing(self, dice):
        """Lets it turn about its middle, as an arm about a shoulder."""
        self.turn += dice.uniform(-1.6, 1.6) + math.radians(dice.uniform(10, 60)) * to_and_fro(dice)

    def travel(self, dice, speed, size, grounded):
        """Sends it on its way at a speed in pixels a frame, with a gait; what is grounded stays about level and upright."""
        way, goes = progress(dice)
        heading = dice.choice([0, math.pi]) + dice.gauss(0, 0.4)
        self.where += speed * way[:, None] * [math.cos(heading), (0.2 if grounded else 1) * math.sin(heading)]
        pace = phases(goes, rate=dice.uniform(0.3, 1.6), first=dice.uniform(0, 6))
        self.where[:, 1] += dice.uniform(0, 0.012) * size[1] * np.sin(2 * pace)
        self.turn += math.radians(dice.uniform(0, 3 if grounded else 10)) * np.sin(pace * dice.choice([0.3, 1]))
        if dice.random() < 0.6:
            self.bend += math.radians(dice.uniform(2, 25)) * np.sin(pace)
        if dice.random() < 0.3:
            self.size *= np.exp(dice.uniform(-0.025, 0.025) * way)


def to_and_fro(dice):
    """Where something between -1 and 1 is that goes to and fro, and may pause."""
    _, goes = progress(dice)
    return np.sin(phases(goes, first=dice.uniform(0, 6), rate=dice.uniform(0.25, 1.3)))


def phases(goes, first, rate):
    """The angles of what goes on at a rate from about a first one, with progress's shares of speed."""
    return np.cumsum(np.append(goes, goes[-1])) * rate + first


def progress(dice):
    """How many frames a subject is on its way, 0 somewhere in the middle, and what share of its speed it has in each.

    Some start late, some stop early, some pause.
    """
    goes = np.ones(ROWS - 1)
    kind = dice.choice(["on", "on", "late", "early", "pause"])
    n = dice.randint(ROWS // 4, 2 * ROWS // 3)
    if kind == "late":
        goes[:n] = 0
    elif kind == "early":
        goes[n:] = 0
    elif kind == "pause":
        first = dice.randrange(ROWS // 2)
        goes[first : first + ROWS // 3] = 0
    goes = np.convolve(np.pad(goes, 1, "edge"), [0.25, 0.5, 0.25], "valid")
    way = np.concatenate([[0], np.cumsum(goes)])
    return way - way[dice.randrange(ROWS // 4, 3 * ROWS // 4)], goes


def at(track, time):
    """A track's value at a time in frames."""
    n = min(int(time), ROWS - 2)
    return track[n] + (time - n) * (track[n + 1] - track[n])


def move(shift):
    return np.array([[1, 0, shift[0]], [0, 1, shift[1]], [0, 0, 1.0]])


def spin(angle, scale=1.0):
    cos, sin = scale * math.cos(angle), scale * math.sin(angle)
    return np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1.0]])


def apply(matrix, x, y):
    """Points through a matrix."""
    return (matrix[i, 0] * x + matrix[i, 1] * y + matrix[i, 2] for i in range(2))
