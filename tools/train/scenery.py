"""The places of drawn clips: photographs, drawn backdrops and real clips, some with boards, leaves or water."""

import math

from PIL import Image

import motion
import stage

WAVING = 0.5  # share of clips in whose place a part moves
WATER = 0.5  # share of those in which it is the lower part, over about the whole width


def place(pack, dice, camera, footage=None):
    """The place of a clip, wide enough for all that its camera sees. footage is a real clip's item, or none."""
    pictures = moving(pack, dice, footage) if footage else [photograph(pack, dice)]
    w, h = pictures[0].size
    scale = max(camera.size[0] / w, camera.size[1] / h) * dice.uniform(1.0, 1.0 if footage else 1.35) * 1.03
    pictures = [stage.widened(p, scale, camera) for p in pictures]
    return stage.Place(pictures, scale, waves(dice, pictures[0].size, scale) if dice.random() < WAVING else None)


def photograph(pack, dice):
    """A photograph or a drawn backdrop; some have boards."""
    found = Image.fromarray(pack.picture(dice.choice(pack.choose("background", False))))
    if dice.random() < 0.12:
        found = drawn(dice, found.size)
    if dice.random() < 0.2:
        furnish(pack, dice, found)
    if dice.random() < 0.5:
        found = found.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return found


def moving(pack, dice, item):
    """Frames of a real clip, a row of a track each: one after the other or every second, mirrored in half of the cases."""
    turned = dice.random() < 0.5
    found = (Image.fromarray(pack.picture(item, n)) for n in order(dice, item.frames))
    return [p.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if turned else p for p in found]


def order(dice, frames, rows=motion.ROWS):
    """Which frames of a clip are shown: from somewhere on, some backwards, to and fro in short clips."""
    step = dice.choice([1, 1, 2]) if frames >= 2 * rows else 1
    first = dice.randrange(max(frames - step * rows, 0) + 1)
    numbers = [first + step * n for n in range(rows)]
    period = max(2 * frames - 2, 1)
    numbers = [n % period if n % period < frames else period - n % period for n in numbers]
    return numbers[::-1] if dice.random() < 0.25 else numbers


def waves(dice, size, scale):
    """Waves somewhere in a place of a size: as of leaves, or over its lower part as of water."""
    w, h = size
    few, water = [], dice.random() < WATER
    for _ in range(dice.randint(2, 4)):
        way, length = dice.uniform(0, 2 * math.pi), dice.uniform(8, 120) / scale
        k = 2 * math.pi / length
        most = min(dice.uniform(0.5, 5) / scale, 0.12 * length)
        to = dice.uniform(0, 2 * math.pi)
        turn = dice.choice([-1, 1]) * dice.uniform(0.15, 1.2)
        few.append(((k * math.cos(way), k * math.sin(way)), (most * math.cos(to), most * math.sin(to)), turn, dice.uniform(0, 6)))
    if water:
        middle, reach = (w * dice.uniform(0.4, 0.6), h * dice.uniform(0.6, 1)), (w * dice.uniform(0.6, 1.5), h * dice.uniform(0.3, 0.8))
    else:
        middle, reach = (w * dice.uniform(0.3, 0.7), h * dice.uniform(0.2, 0.8)), (w * dice.uniform(0.15, 0.6), h * dice.uniform(0.15, 0.5))
    return stage.Waves(middle, reach, few)


def drawn(dice, size):
    """A flat backdrop, or one of stripes, as cartoons have."""
    place = Image.new("RGB", size, tuple(dice.randrange(256) for _ in range(3)))
    if dice.random() < 0.5:
        other, step = tuple(dice.randrange(256) for _ in range(3)), dice.randint(8, 60)
        for x in range(0, size[0], 2 * step):
            place.paste(other, (x, 0, x + step, size[1]))
    return place


def furnish(pack, dice, place):
    """Hangs boards into a backdrop, in place: of one colour, or of another photograph."""
    for _ in range(dice.randint(1, 4)):
        size = [round(dice.uniform(0.08, 0.45) * place.height) for _ in range(2)]
        if dice.random() < 0.3:
            board = Image.fromarray(pack.picture(dice.choice(pack.choose("background", False)))).resize(size)
        else:
            board = Image.new("RGB", size, tuple(dice.randrange(256) for _ in range(3)))
        board = board.convert("RGBA").rotate(dice.uniform(-20, 20), Image.Resampling.BICUBIC, expand=True)
        place.paste(board, [dice.randrange(-c // 2, v - c // 2) for v, c in zip(place.size, board.size)], board)