"""What recording makes of drawn frames: light, noise, a small picture, H.264, or a GIF's few colours."""

import math
import subprocess

import numpy as np
from PIL import Image

BAYER = np.float32([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16 - 0.47
SMALL = 0.1  # share of small pictures
GIF = 0.15  # share of clips with few colours
COMPRESSED = 0.5  # share of the others that went through H.264


def recorded(dice, grain, pictures, truths):
    """Pictures [n, h, w, 3], 0 to 255, and mattes [n, k, h, w], 0 to 1, as they come from a file: both uint8."""
    if dice.random() < SMALL:
        pictures, truths = smaller(pictures, truths, dice.randint(100, 200))
    pictures = pictures * light(dice, len(pictures))[:, None, None, None]
    noise, coarse = max(dice.uniform(-1.5, 4), 0), dice.random() < 0.3
    pictures = pictures + noise * noisy(grain, pictures.shape, coarse)
    pictures = np.clip(pictures, 0, 255).round().astype(np.uint8)
    truths = np.clip(truths * 255, 0, 255).round().astype(np.uint8)
    if dice.random() < GIF:
        return few_colours(dice, pictures), truths
    if dice.random() < COMPRESSED:
        return compressed(pictures, truths, dice.randint(18, 34))
    return pictures, truths


def light(dice, n):
    """Each frame's brightness: flicker, and sometimes a drift as of automatic exposure."""
    t = np.linspace(-0.5, 0.5, n)
    flicker = dice.choice([0, 0, 0.02, 0.04]) * np.sin(dice.uniform(0, 6) + 20 * t)
    return 1 + flicker + (dice.random() < 0.15) * dice.uniform(-0.15, 0.15) * t


def noisy(grain, shape, coarse):
    """Noise of strength one, of which coarse is that of pixels of twice the size, as after scaling."""
    if not coarse:
        return grain.standard_normal(shape, np.float32)
    n, h, w, c = shape
    half = grain.standard_normal((n, h // 2 + 1, w // 2 + 1, c), np.float32)
    return half.repeat(2, 1).repeat(2, 2)[:, :h, :w]


def smaller(pictures, truths, long):
    """The same with a longer side of long."""
    h, w = truths.shape[2:]
    size = [max(1, round(v * long / max(w, h))) for v in (w, h)]

    def reduced(a):
        return np.asarray(Image.fromarray(a).resize(size, Image.Resampling.BOX))

    seen = [np.stack([reduced(np.ascontiguousarray(p[..., c])) for c in range(3)], 2) for p in pictures]
    return np.stack(seen), np.stack([np.stack([reduced(m) for m in t]) for t in truths])


def few_colours(dice, pictures):
    """What a GIF's palette makes of pictures: one for all or one for each, with or without dither."""
    colours, how, shared = dice.choice([16, 32, 64, 128, 256]), dice.choice(["diffused", "ordered", "none"]), dice.random() < 0.7
    spread = 1.2 * 256 / colours ** (1 / 3) * 0.4
    of_all = palette(np.concatenate(pictures[:: len(pictures) // 3]), colours) if shared else None
    out = []
    for p in pictures:
        if how == "ordered":
            h, w = p.shape[:2]
            tile = np.tile(BAYER, (math.ceil(h / 4), math.ceil(w / 4)))[:h, :w, None]
            p = np.clip(p + spread * tile, 0, 255).astype(np.uint8)
        dither = Image.Dither.FLOYDSTEINBERG if how == "diffused" else Image.Dither.NONE
        found = Image.fromarray(p).quantize(palette=of_all or palette(p, colours), dither=dither)
        out.append(np.array(found.convert("RGB")))
    return np.stack(out)


def palette(picture, colours):
    return Image.fromarray(picture[::2, ::2]).quantize(colours, Image.Quantize.MEDIANCUT)


def compressed(pictures, truths, crf):
    """What H.264 of a constant quality makes of the pictures; both sides become even."""
    h, w = (v // 2 * 2 for v in truths.shape[-2:])
    pictures, truths = pictures[:, :h, :w], truths[..., :h, :w]
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{w}x{h}", "-r", "25"]
    there = ["ffmpeg", "-v", "error", *raw, "-i", "-", "-c:v", "libx264", "-preset", "veryfast", "-threads", "1", "-crf", str(crf),
             "-pix_fmt", "yuv420p", "-f", "matroska", "-"]  # fmt: skip
    back = ["ffmpeg", "-v", "error", "-threads", "1", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    film = subprocess.run(there, input=np.ascontiguousarray(pictures).tobytes(), stdout=subprocess.PIPE, check=True).stdout
    seen = subprocess.run(back, input=film, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(seen, np.uint8).reshape(-1, h, w, 3), truths
