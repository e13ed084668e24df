"""Trains the guide: a chooser that follows hints of what is wanted and what is not.

    python guide.py folder guide.pt guide.onnx --start chooser.onnx

The folder is cells.py's. Hints are drawn at random, on any of a clip's subjects and of the
things that look like one: clicks, strokes and boxes. What hints keep is the subject, with
nothing else; where hints only drop something, the rest of the subjects stays. Interactive
networks are trained so: N. Xu et al., "Deep Interactive Object Selection", CVPR 2016.
One clip of ten is held out: the metrics are those of one click in the middle frame, and of
the other frames found from it in turn.

The .onnx file is a chooser's, with planes.MARKS after the planes of cells.
"""

import random

import numpy as np
import torch

import cells
import chooser
import companion
import marks
from planes import CELL_COUNT, CELL_MIDDLE, CELL_SCALE, CELLS, MARK_COUNT, MARK_MIDDLE, MARK_SCALE

COVERAGE = CELLS.index("CellCoverage")
DEPTHS = (0, 1, 2, 4, 8)  # how many cells a click is from the edge
VISIBLE = 12  # a thing has so many cells that are wholly its own, to be hinted at
ALONE = 0.1  # share of samples of frames that no hint reaches
CORRECTED = 0.4  # share of hinted frames that come after others, which the hint corrects
ONLY_DROP = 0.2  # share of samples in which nothing is kept by hints
MEASURED = 60  # held-out clips that are measured


def guide():
    return chooser.Chooser(middle=(*CELL_MIDDLE, *MARK_MIDDLE), scale=(*CELL_SCALE, *MARK_SCALE))


class Clip:
    """A clip's cells [n, CELL_COUNT + 1, h, w], features, shares of things [n, k, h, w] and links."""

    def __init__(self, path):
        self.cells = np.load(path, mmap_mode="r")
        self.features, self.things, links = (np.load(cells.beside(path, kind), mmap_mode="r") for kind in ("features", "things", "links"))
        self.links, self.shape = marks.Links(links), self.cells.shape[2:]

    def subjects(self, t):
        return self.cells[t, CELL_COUNT]


class Samples(chooser.Samples):
    """Frames of clips with hints. The folder may grow meanwhile."""

    def opened(self, path):
        clip = Clip(path) if cells.beside(path, "links").exists() else None
        return clip if clip and clip.things.shape[1] else None

    def batch(self, n):
        """Cells with marks, and features, and shares [n, 1, h, w], 0 to 255, of clips of one size."""
        frames = []
        while len(frames) < n:  # things of other clips may be too small
            shape = self.dice.choice(self.clips).shape
            clips = [c for c in self.clips if c.shape == shape]
            found = (self.frame(self.dice.choice(clips)) for _ in range(2 * n))
            frames = [f for f in found if f][:n]
        whole, seen = (np.stack(part) for part in zip(*frames))
        return padded(whole, seen)

    def frame(self, clip):
        """Cells, marks and shares [k, h, w] of a frame, and its features; None where nothing can be hinted at."""
        dice = self.dice
        t = dice.randrange(len(clip.cells))
        at = t if dice.random() < 0.3 else dice.randrange(len(clip.cells))
        hinted = hint(dice, clip, at)
        if hinted is None:
            return None
        target, keep, drop = hinted
        f, seen = np.array(clip.cells[t]), clip.features[t]
        f[CELL_COUNT] = target(t)
        made = np.stack([keep, drop]).astype(np.float32)
        given = [marks.samples(m, clip.features[at]) for m in (keep, drop)]
        before = trust = np.zeros(clip.shape, np.float32)
        step = -1 if t > at else 1 if t < at else dice.choice([-1, 1])
        if dice.random() < ALONE:
            made[:] = 0
        elif t != at or 0 <= t + step < len(clip.cells) and dice.random() < CORRECTED:
            made = marks.spread(clip.links, made, at, t)
            way, trust = clip.links.toward(t, step)
            last = spoilt(dice, target(t + step), clip.cells[t + step, COVERAGE])
            if t == at and dice.random() < 0.5:
                last = np.maximum(last, clip.things[t + step, dice.randrange(clip.things.shape[1])])
            before = marks.carried(way, last[None])[0] * (trust > 0)
        liked = [marks.like(g, seen, *clip.shape) for g in given]
        whole = np.concatenate([f[:CELL_COUNT], marks.planes(*made, before, 255 * trust, *liked), f[CELL_COUNT:]])
        if dice.random() < 0.5:
            whole, seen = whole[..., ::-1], seen[..., ::-1]
        if dice.random() < 0.5:
            chooser.recolour(dice, whole)
        return whole, seen


def padded(whole, seen):
    """The guide's two inputs and the shares, as float, of frames [n, k + 1, h, w] and features."""
    whole, seen = chooser.edged(whole, chooser.MULTIPLE), chooser.edged(seen, chooser.MULTIPLE // 2)
    return (whole[:, :-1], seen), whole[:, -1:]


def hint(dice, clip, t):
    """What is wanted, as a function of the frame, and the marks that keep and drop in frame t; None if there is nothing."""
    shown = [k for k, m in enumerate(clip.things[t]) if (m > 240).sum() >= VISIBLE]
    if not shown:
        return None
    keep, drop = np.zeros(clip.shape, np.uint8), np.zeros(clip.shape, np.uint8)
    if dice.random() < ONLY_DROP:
        gone = dice.choice(shown)
        mark(dice, drop, clip.things[t, gone])
        return lambda n: kept(clip.subjects(n), clip.things[n, gone]), keep, drop
    wanted = {dice.choice(shown)} if dice.random() < 0.8 else set(dice.sample(shown, dice.randint(1, len(shown))))
    for k in wanted:
        for _ in range(dice.choice([1, 1, 1, 2, 3])):
            mark(dice, keep, clip.things[t, k])

    def target(n):
        return np.minimum(clip.things[n, sorted(wanted)].sum(0, dtype=int), 255).astype(np.uint8)

    if dice.random() < 0.3:
        rest = [k for k in shown if k not in wanted]
        mark(dice, drop, clip.things[t, dice.choice(rest)] if rest and dice.random() < 0.7 else 255 - target(t))
    return target, keep, drop


def kept(subjects, gone):
    """The shares of subjects without one of them, or without a thing that is none."""
    return np.where(gone > 127, 0, subjects)


def mark(dice, marks_, shares):
    """Adds a click, a stroke or a box to marks, on a thing with shares [h, w]."""
    y, x = inside(dice, shares, dice.choice(DEPTHS))
    if y is None:
        return
    how = dice.random()
    if how < 0.75:
        np.maximum(marks_, marks.clicked(marks_.shape, y, x), out=marks_)
    elif how < 0.9:  # a stroke to another place of the thing, where it is on it
        other = inside(dice, shares, 0)
        for s in np.linspace(0, 1, 12):
            a, b = round(y + s * (other[0] - y)), round(x + s * (other[1] - x))
            if shares[a, b] > 200:
                marks_[a, b] = marks.CLICKED
    else:
        ys, xs = np.nonzero(shares > 127)
        off = [dice.randint(-2, 2) for _ in range(4)]
        box = marks_[max(ys.min() + off[0], 0) : ys.max() + 1 + off[1], max(xs.min() + off[2], 0) : xs.max() + 1 + off[3]]
        np.maximum(box, marks.BOXED, out=box)


def inside(dice, shares, depth):
    """A cell of a thing, so many cells from its edge if there is one."""
    area = shares > 200
    if not area.any():
        return None, None
    for _ in range(depth):
        smaller = area.copy()
        smaller[1:] &= area[:-1]
        smaller[:-1] &= area[1:]
        smaller[:, 1:] &= area[:, :-1]
        smaller[:, :-1] &= area[:, 1:]
        if not smaller.any():
            break
        area = smaller
    places = np.argwhere(area)
    return places[dice.randrange(len(places))]


def spoilt(dice, shares, coverage):
    """Shares as they may have been found for the frame before: moved, with holes and false parts, or unsure."""
    h, w = shares.shape
    found = shares.astype(np.float32)
    if dice.random() < 0.5:
        found = np.roll(found, (dice.randint(-2, 2), dice.randint(-2, 2)), (0, 1))
    if dice.random() < 0.15:
        found = np.maximum(found, coverage) if dice.random() < 0.5 else np.minimum(found, coverage)
    y, x = np.mgrid[:h, :w]
    for _ in range(dice.choice([0, 0, 1, 2, 3])):
        if dice.random() < 0.7 and (shares > 127).any():
            places = np.argwhere(shares > 127)
            middle = places[dice.randrange(len(places))]
        else:
            middle = dice.randrange(h), dice.randrange(w)
        size = [dice.uniform(0.03, 0.2) * h for _ in range(2)]
        near = ((y - middle[0]) / size[0]) ** 2 + ((x - middle[1]) / size[1]) ** 2 < 1
        found[near] = dice.choice([0, 0, 255, dice.uniform(0, 255)])
    if dice.random() < 0.3:
        found = 128 + (found - 128) * dice.uniform(0.3, 1)
    return found if dice.random() < 0.97 else np.zeros_like(found)


@torch.no_grad()
def follow(net, clip, at, keep, drop):
    """The shares [n, h, w], 0 to 255, of a clip with marks in frame `at`: found there, and from there on both sides in turn."""
    found = np.zeros((len(clip.cells), *clip.shape), np.float32)
    given = [marks.samples(m, clip.features[at]) for m in (keep, drop)]
    for step in (0, 1, -1):
        made, t = np.stack([keep, drop]).astype(np.float32), at + step
        while 0 <= t < len(found):
            before = trust = np.zeros(clip.shape, np.float32)
            if step:
                way, trust = clip.links.toward(t, -step)
                made = marks.carried(way, made) * trust
                before = marks.carried(way, found[t - step][None])[0] * (trust > 0)
            seen = clip.features[t]
            liked = [marks.like(g, seen, *clip.shape) for g in given]
            whole = np.concatenate([clip.cells[t, :CELL_COUNT], marks.planes(*made, before, 255 * trust, *liked), clip.cells[t, CELL_COUNT:]])
            inputs, _ = padded(whole[None], seen[None])
            found[t] = 255 * net(*inputs)[0, 0, : clip.shape[0], : clip.shape[1]].numpy()
            if not step:
                break
            t += step
    return found


def measure(net, clips):
    """Means of IoU by one click on each thing of clips, of those that the mattes have, and where the mattes have less than half."""
    net.eval()
    rows = []
    for clip in clips[:MEASURED]:
        at, dice = len(clip.cells) // 2, random.Random(7)
        for k in range(clip.things.shape[1]):
            target = clip.things[:, k]
            if (target[at] > 240).sum() < VISIBLE:
                continue
            keep = marks.clicked(clip.shape, *inside(dice, target[at], 8))
            found = follow(net, clip, at, keep, np.zeros_like(keep))
            there = (target > 127).any((1, 2))
            rows.append([iou(clip.cells[:, COVERAGE], target, there), iou(found, target, there)])
    net.train()
    wrong = [row for row in rows if row[0] < 0.5]
    return f"IoU {gain(rows)} by a click on {len(rows)} held-out things, {gain(wrong)} on the {len(wrong)} of less than half"


def gain(rows):
    before, after = np.mean(rows or [[0, 0]], 0)
    return f"{before:.3f} to {after:.3f}"


def iou(found, truth, there):
    a, b = found > 127, truth > 127
    return float(((a & b).sum((1, 2)) / np.maximum((a | b).sum((1, 2)), 1))[there].mean())


def train(net, samples, most, batch, rate):
    """Learns from `most` samples, batch frames at a time."""

    def report():
        samples.look()
        return f" of {len(samples.clips)} clips, {measure(net, samples.held)}"

    companion.learn(net, lambda: samples.batch(batch), chooser.loss, max(most // batch, 1), rate, chooser.SAID, report)


def main():
    a = companion.parser(__doc__, samples=300_000).parse_args()
    companion.main(
        a, guide(), chooser.convolutions, lambda: Samples(a.folder, a.seed),
        lambda net, samples: train(net, samples, a.samples, a.batch, a.rate), lambda net, path: chooser.write(net, path, "bgremove-guide"),
    )  # fmt: skip


if __name__ == "__main__":
    main()
