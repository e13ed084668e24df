"""Clips of training pictures as the reviser sees them: picture, matte and plate.

    python views.py pack.zip model.onnx folder --plates plates

Each clip lays a subject on a photograph that is trained on, as clips.py does with
held-out ones. Some subjects get holes that one sees through, or parts in a colour of the
backdrop; some backdrops get boards; some clips have a shadow, turn or zoom, or went through H.264. Their mattes
are those of a network with doubts decided by colour. Most subjects are held out from that
network, for it errs less where it has learnt, and who revises must know how it errs (stacking:
D. H. Wolpert, Neural Networks 5(2), 1992); none of them is in the clips that are measured.
Mattes, above all of subjects that it has learnt, are made at a smaller size, or get holes and
false parts that move with the subject or stay where they are. The plate is found by
bgremove's own code (tools/plates). Clips that are there already are left alone: empty the folder
after a change.

The folder gets an array [frames, 12, h, w] a clip: the eleven bytes of a view
(internal/matte/plate) and the true matte.
"""

import argparse
import math
import multiprocessing
import pathlib
import random
import struct
import subprocess

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

import clips
import heldout
import infer
from colours import ColourModel
from evaluate import OnnxRunner
from pack import Pack

CHANNELS = 11  # of a view, as in internal/matte/plate
SHORT = 256  # short side of the network's pictures
LEARNT = 0.25  # share of clips whose subject the network has learnt
PEOPLE = 0.15  # share of people from scenes among other subjects


def views(program, pictures, mattes):
    """The views uint8 [n, CHANNELS, h, w] of a clip of pictures uint8 [n, h, w, 3] with mattes [n, h, w]."""
    n, h, w, _ = pictures.shape
    alpha = (mattes * 255).round().astype(np.uint8)[..., None]
    clip = struct.pack("<3I", n, w, h) + np.concatenate([pictures, alpha], 3).tobytes()
    found = subprocess.run([program], input=clip, stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(found, np.uint8).reshape(n, CHANNELS, h, w)


def make(pack, run, program, seed):
    """The array of the clip that a seed stands for."""
    dice = random.Random(f"clip {seed}")
    learnt = dice.random() < LEARNT
    frames = film(pack, dice, subject(pack, dice, learnt))
    pictures = np.stack([f.picture for f in frames])
    truths = np.stack([(f.matte * 255).round().astype(np.uint8) for f in frames])
    h, w = truths.shape[1:]
    short = dice.choice([128, 160, 160, 192, 224, SHORT] if learnt else [160, 192, 224, SHORT, SHORT, SHORT])
    size, model, mattes = infer.fit(w, h, SHORT), ColourModel(), []
    for picture in pictures:
        matte = infer.enlarge(run(infer.resize(picture, infer.fit(w, h, short))), *size)
        matte = model.apply(infer.resize(picture, size), matte)
        mattes.append(infer.resize((matte * 255).round().astype(np.uint8), (w, h)) / np.float32(255))
    mattes = np.stack(mattes)
    if dice.random() < (0.5 if learnt else 0.15):
        mattes = spoil(dice, mattes, truths)
    return np.concatenate([views(program, pictures, mattes), truths[:, None]], 1)


def subject(pack, dice, learnt):
    """A cut-out that the network has learnt or not, or a person from a held-out scene."""
    taken = clips.taken(pack)
    if not learnt and dice.random() < PEOPLE:
        return dice.choice([i for i in pack.choose("scene", True) if i.source in ("ccp", "coco") and i.group not in taken])
    sources = {}
    for source, items in clips.subjects(pack, not learnt).items():
        if spare := [i for i in items if i.group not in taken]:
            sources[source] = spare
    return dice.choice(sources[dice.choice(sorted(sources))])


def film(pack, dice, item):
    """Frames, as heldout.Cases, of a subject on one of the pack's photographs."""
    place = Image.fromarray(pack.picture(dice.choice(pack.choose("background", False))))
    if dice.random() < 0.2:
        place = drawn(dice, place.size)
    if dice.random() < 0.4:
        furnish(pack, dice, place)
    w, h = heldout.LONG, round(heldout.LONG / dice.choice([0.75, 1.0, 1.33, 1.78]))
    if h > w:
        w, h = round(w * w / h), w
    cut = Image.fromarray(pack.picture(item))
    cut = cut.crop(cut.getchannel("A").getbbox()).convert("RGBa")
    if dice.random() < 0.25:
        cut = pierced(cut, pattern(dice, cut.size))
    if dice.random() < 0.25:
        cut = painted(cut, pattern(dice, cut.size), place.getpixel(tuple(dice.randrange(v) for v in place.size)))
    size = dice.uniform(0.3, 1.8 if item.kind == "scene" else 1.2) * min(w / cut.width, h / cut.height)
    going = 0.0 if dice.random() < 0.25 else dice.uniform(0.05, 0.4)
    way, at = dice.uniform(0, 2 * math.pi), [dice.uniform(*((0.3, 0.7) if dice.random() < 0.6 else (0, 1))) for _ in range(2)]
    camera, phase, turning = dice.choice(["still", "shake", "pan"]), dice.uniform(0, 6), dice.uniform(0, 12)
    flicker, noise = dice.choice([0, 0.02, 0.04]), max(dice.uniform(-1.5, 4), 0)
    lens = (dice.uniform(-0.08, 0.08), dice.uniform(-3, 3)) if dice.random() < 0.25 else (0, 0)
    dark = dice.uniform(0.2, 0.6) if dice.random() < 0.35 else 0
    idle = dice.choice([0, 0.7])
    fall = [dice.uniform(-0.15, 0.15), dice.uniform(0, 0.15)]
    grain = np.random.default_rng(dice.randrange(2**32))
    frames = []
    for n in range(clips.FRAMES):
        t = n / (clips.FRAMES - 1) - 0.5
        ground = clips.background(zoomed(place, lens, t), w, h, camera, t, dice)
        bob = (3 if going else idle) * math.sin(phase + 9 * t)
        x, y = w * (at[0] + going * math.cos(way) * t), h * (at[1] + going * math.sin(way) * t) + bob
        degrees = turning * math.sin(phase + 4 * t) * (going > 0)
        layer = clips.stand(cut, w, h, x, y, size * (1 + 0.4 * going * t), degrees, item.pixels)
        if dark:
            ground = shaded(ground, layer, dark, fall)
        frames.append(clips.frame(item, n, ground, layer, 1 + flicker * math.sin(phase + 20 * t), grain, noise))
    if dice.random() < 0.4:
        compress(frames, dice.randint(18, 34))
    return frames


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
        size = [round(dice.uniform(0.1, 0.6) * place.height) for _ in range(2)]
        if dice.random() < 0.3:
            board = Image.fromarray(pack.picture(dice.choice(pack.choose("background", False)))).resize(size)
        else:
            board = Image.new("RGB", size, tuple(dice.randrange(256) for _ in range(3)))
        board = board.convert("RGBA").rotate(dice.uniform(-20, 20), Image.Resampling.BICUBIC, expand=True)
        place.paste(board, [dice.randrange(-c // 2, v - c // 2) for v, c in zip(place.size, board.size)], board)


def zoomed(place, lens, t):
    """A photograph nearer or farther, and turned, as time goes."""
    zoom, turn = lens
    if not zoom and not turn:
        return place
    scale, a = 1 + zoom * t, math.radians(turn * t)
    cos, sin = math.cos(a) / scale, math.sin(a) / scale
    x, y = place.width / 2, place.height / 2
    how = (cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y)
    return place.transform(place.size, Image.Transform.AFFINE, how, Image.Resampling.BICUBIC)


def shaded(ground, layer, dark, fall):
    """A backdrop with a subject's soft shadow on it, fallen by shares of its size."""
    w, h = ground.size
    shade = layer.getchannel("a").filter(ImageFilter.GaussianBlur(0.02 * w))
    shade = shade.transform(shade.size, Image.Transform.AFFINE, (1, 0, -fall[0] * w, 0, 1, -fall[1] * h))
    light = 1 - dark * np.asarray(shade, np.float32)[..., None] / 255
    return Image.fromarray((np.asarray(ground) * light).round().astype(np.uint8))


def compress(frames, crf):
    """What H.264 of a constant quality makes of the frames' pictures, in place."""
    h, w = (v // 2 * 2 for v in frames[0].picture.shape[:2])
    for f in frames:
        f.picture, f.matte, f.known = f.picture[:h, :w], f.matte[:h, :w], f.known[:h, :w]
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{w}x{h}", "-r", "25"]
    there = ["ffmpeg", "-v", "error", *raw, "-i", "-", "-c:v", "libx264", "-preset", "veryfast", "-threads", "1", "-crf", str(crf),
             "-pix_fmt", "yuv420p", "-f", "matroska", "-"]  # fmt: skip
    back = ["ffmpeg", "-v", "error", "-threads", "1", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    film = subprocess.run(there, input=b"".join(f.picture.tobytes() for f in frames), stdout=subprocess.PIPE, check=True).stdout
    seen = subprocess.run(back, input=film, stdout=subprocess.PIPE, check=True).stdout
    for f, picture in zip(frames, np.frombuffer(seen, np.uint8).reshape(-1, h, w, 3)):
        f.picture = picture


def spoil(dice, mattes, truths):
    """Mattes with holes where the subject is, and false parts where it is not, or with no subject for a while."""
    n, h, w = mattes.shape
    y, x = np.mgrid[:h, :w]
    mattes = mattes.copy()
    middle = [[v.mean() if len(v) else s / 2 for v, s in zip(np.nonzero(t > 127), (h, w))] for t in truths]
    if dice.random() < 0.3:  # not seen at all for a while
        begin, end = sorted(dice.randrange(n + 1) for _ in range(2))
        mattes[begin:end] *= dice.uniform(0, 0.4)
    for _ in range(dice.randint(1, 3)):
        hole, moves = dice.random() < 0.6, dice.random() < 0.8
        at = [dice.gauss(0, 0.15) * h, dice.gauss(0, 0.15) * w] if hole else [dice.uniform(-0.5, 0.5) * h, dice.uniform(-0.5, 0.5) * w]
        size = [dice.uniform(0.03, 0.25) * h, dice.uniform(0.03, 0.25) * h]
        value, often = dice.uniform(0, 0.5), dice.choice([0.4, 0.8, 1])
        first = middle[0]
        for t in range(n):
            if dice.random() > often:
                continue
            home = middle[t] if moves else first
            d = ((y - home[0] - at[0]) / size[0]) ** 2 + ((x - home[1] - at[1]) / size[1]) ** 2
            k = 1 / (1 + np.exp(np.clip((d - 1) * 6, -30, 30)))
            to = mattes[t] * value if hole else np.maximum(mattes[t], 1 - value)
            mattes[t] += k * (to - mattes[t])
    return mattes


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path, help="the network whose mattes are revised")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--plates", required=True, help="tools/plates, built")
    p.add_argument("--clips", type=int, default=1200)
    p.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    a = p.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("fork").Pool(a.processes, begin, (a,)) as pool:
        for done, _ in enumerate(pool.imap_unordered(save, range(a.clips)), 1):
            if done % 50 == 0:
                print(f"{done} clips", flush=True)


def begin(a):
    global given
    given = a, Pack(a.pack), OnnxRunner(a.onnx, 1)


def save(seed):
    a, pack, run = given
    path = a.folder / f"{seed:05d}.npy"
    if not path.exists():
        part = path.with_suffix(".part")
        with open(part, "wb") as f:
            np.save(f, make(pack, run, a.plates, seed))
        part.rename(path)


if __name__ == "__main__":
    main()
