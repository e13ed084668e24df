"""Trains the chooser: a small network that decides from a clip's motion which cells are subject.

    python chooser.py folder chooser.pt chooser.onnx

The folder is cells.py's. A network that sees one picture at a time marks posts, pots and
tables, and misses parts of unusual subjects. Along tracks through the clip the chooser sees
what moves against the camera, what stands nearer than the backdrop and so only seems to
move, and how often each place was marked. The network's own features tell it what a thing
is. One clip of ten is held out; the metrics of those are printed.

The .onnx file takes cells (planes.py), uint8 [1, CELL_COUNT, height, width], of any size,
and features, uint8 [1, FEATURES, height/2, width/2], rounded up. It gives the share of
each cell that is subject, uint8 [1, 1, height, width].
"""

import math
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import cells
import companion
import export
from net import Conv, Gate, Join, Pair, count
from planes import CELL_COUNT, CELL_MIDDLE, CELL_SCALE, CELLS, FEATURE_SCALE, FEATURES

WIDTHS = (16, 32, 48, 64)  # channels at the size of the cells, and at 1/2, 1/4 and 1/8 of it
MULTIPLE = 8  # what both sides are brought to
LEAST = 0.02  # the logit of a share is that of one no surer than this
STEP = 4.0  # how much of a logit a unit of the head is
COVERAGE = CELLS.index("CellCoverage")
HELD = 10  # one clip of so many is held out
SAID = 2500  # the metrics are printed every so many steps
ENLARGED, PART = 0.5, 0.55  # share of samples that are a part of their frame, and the least share of its sides
FORGOTTEN = 0.1  # share of the features that a sample lacks
UNSEEN = 0.1  # share of samples without features
COLOURS = slice(CELLS.index("CellRed"), CELLS.index("CellBlue") + 1)


class Chooser(nn.Module):
    """From cells [n, CELL_COUNT, h, w] and features [n, FEATURES, h/2, w/2], 0 to 255, to shares [n, 1, h, w], 0 to 1.

    h and w are multiples of MULTIPLE.
    """

    def __init__(self, widths=WIDTHS):
        super().__init__()
        a, b, c, d = widths
        self.register_buffer("middle", torch.tensor(CELL_MIDDLE, dtype=torch.float32).view(1, -1, 1, 1))
        self.register_buffer("scale", torch.tensor(CELL_SCALE).view(1, -1, 1, 1))
        self.stem = Conv(CELL_COUNT, a)
        self.fine = Conv(a, a)
        self.down2 = nn.Sequential(Conv(a, b, stride=2), Pair(b))
        self.seen = nn.Sequential(Conv(FEATURES, b), Conv(b, b, relu=False))
        nn.init.zeros_(self.seen[1].norm.weight)
        self.down4 = nn.Sequential(Conv(b, c, stride=2), Pair(c))
        self.down8 = nn.Sequential(Conv(c, d, stride=2), Pair(d), Pair(d))
        self.gate = Gate(d)
        self.up4 = Join(d, c, c)
        self.up2 = Join(c, b, b)
        self.up1 = Join(b, a, a)
        self.head = nn.Conv2d(a, 1, 3, padding=1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, motion, features):
        x1 = self.fine(self.stem((motion - self.middle) * self.scale))
        x2 = F.relu(self.down2(x1) + self.seen(features * FEATURE_SCALE))
        x4 = self.down4(x2)
        y4 = self.up4(self.gate(self.down8(x4)), x4)
        y1 = self.up1(self.up2(y4, x2), x1)
        share = (motion[:, COVERAGE : COVERAGE + 1] / 255).clamp(LEAST, 1 - LEAST)
        return torch.sigmoid(torch.logit(share) + STEP * self.head(y1))


def build(net):
    """The graph of a Chooser."""
    g = export.Graph()
    motion, size = g.whole("cells", MULTIPLE)
    x = g.node("DequantizeLinear", [motion, g.weight(net.scale.flatten()), g.weight(net.middle.flatten().to(torch.uint8))], axis=1)
    x1 = g.block(g.block(x, net.stem), net.fine)
    features, _ = g.whole("features", MULTIPLE // 2)
    seen = g.node("DequantizeLinear", [features, g.weight(np.float32(FEATURE_SCALE))])
    x2 = g.node("Relu", [g.node("Add", [g.sequence(x1, net.down2), g.sequence(seen, net.seen)])])
    x4 = g.sequence(x2, net.down4)
    y4 = g.join(g.gate(g.sequence(x4, net.down8), net.gate), x4, net.up4)
    y1 = g.join(g.join(y4, x2, net.up2), x1, net.up1)
    g.adjusted(motion, COVERAGE, LEAST, g.node("Mul", [g.plain(y1, net.head), g.weight(np.float32(STEP))]), size)
    return g


def convolutions(net):
    """The net's modules with weights, in the order of build."""
    for part in (net.stem, net.fine, net.down2, net.seen, net.down4, net.down8):
        yield from (m for m in part.modules() if isinstance(m, Conv))
    yield from (net.gate.hidden, net.gate.scale, net.gate.shift)
    for join in (net.up4, net.up2, net.up1):
        yield from (join.coarse, join.mix)
    yield net.head


def write(net, path):
    """Writes the file and returns its sha256."""
    planes = {"cells": CELL_COUNT, "features": FEATURES}
    return export.companion(build(net.eval()), "bgremove-chooser", planes, count(net), path)


class Samples:
    """Frames of clips. The folder may grow meanwhile."""

    def __init__(self, folder, seed):
        self.folder, self.dice, self.known = folder, random.Random(seed), set()
        self.clips, self.held = [], []
        self.look()

    def look(self):
        """Opens the clips that the folder has got."""
        for f in sorted(set(self.folder.glob("*.npy")) - self.known):
            self.known.add(f)
            (self.held if int(f.stem) % HELD == 0 else self.clips).append(Clip(f))
        if not self.clips:
            raise SystemExit(f"{self.folder} has no cells: make them with cells.py")

    def batch(self, n):
        """Cells and features, and shares [n, 1, h, w], 0 to 255, of clips of one size."""
        shape = self.dice.choice(self.clips).shape
        clips = [c for c in self.clips if c.shape == shape]
        frames = [self.frame(self.dice.choice(clips)) for _ in range(n)]
        return padded(*(np.stack(part) for part in zip(*frames)))

    def frame(self, clip):
        dice = self.dice
        n = dice.randrange(clip.frames)
        f, seen = clip.cells[n], clip.features[n]
        if dice.random() < 0.5:
            f, seen = f[..., ::-1], seen[..., ::-1]
        if dice.random() < 0.15:
            f, seen = f[..., ::-1, :], seen[..., ::-1, :]
        if dice.random() < ENLARGED:
            f, seen = enlarged(dice, f, seen)
        if dice.random() < 0.5:
            f = f.copy()
            recolour(dice, f)
        if dice.random() < UNSEEN:
            return f, np.zeros_like(seen)
        seen = seen.copy()
        seen[[k for k in range(len(seen)) if dice.random() < FORGOTTEN]] = 0
        return f, seen


def enlarged(dice, frame, seen):
    """A part of a frame's cells [k, h, w] and of its features, in their sizes."""
    sizes = [math.ceil(n * dice.uniform(PART, 1)) for n in seen.shape[1:]]
    firsts = [dice.randrange(n - size + 1) for n, size in zip(seen.shape[1:], sizes)]

    def part(planes, side):
        rows, columns = (slice(side * first, side * (first + size)) for first, size in zip(firsts, sizes))
        return cells.nearest(planes[:, rows, columns], *planes.shape[1:])

    return part(frame, 2), part(seen, 1)


def recolour(dice, frame):
    """Gives the cells [k, h, w] of a frame other colours."""
    colours = frame[COLOURS][dice.sample(range(3), 3)].astype(np.float32)
    frame[COLOURS] = np.clip(colours * dice.uniform(0.5, 1.1) + dice.uniform(-20, 40), 0, 255)


class Clip:
    """A clip's cells, with the true shares, uint8 [n, CELL_COUNT + 1, h, w], and its features [n, FEATURES, h/2, w/2].

    Its files are opened anew each time: thousands of clips would be too many open files.
    """

    def __init__(self, path):
        self.path = path
        self.frames, count, *self.shape = self.cells.shape
        if count != CELL_COUNT + 1 or self.features.shape[1] != FEATURES:
            raise SystemExit(f"{path} has cells of another kind: empty the folder and make them anew with cells.py")

    @property
    def cells(self):
        return np.load(self.path, mmap_mode="r")

    @property
    def features(self):
        return np.load(cells.beside(self.path), mmap_mode="r")


def padded(frames, seen):
    """The chooser's two inputs and the shares, as float, of frames [n, CELL_COUNT + 1, h, w] and features with their edges repeated."""
    frames, seen = edged(frames, MULTIPLE), edged(seen, MULTIPLE // 2)
    return (frames[:, :CELL_COUNT], seen), frames[:, CELL_COUNT:]


def edged(planes, multiple):
    """Planes [n, c, h, w] as float, with their edges repeated up to multiples."""
    h, w = planes.shape[2:]
    whole = np.pad(planes, ((0, 0), (0, 0), (0, -h % multiple), (0, -w % multiple)), "edge")
    return torch.from_numpy(whole).float()


def loss(found, truth):
    found = found.clamp(1e-4, 1 - 1e-4)
    cross = -(truth * found.log() + (1 - truth) * (1 - found).log())
    return (cross + 3 * (found - truth) ** 2).mean()


@torch.no_grad()
def measure(net, clips):
    """Means over clips of IoU before and after, of those with a subject, and of coverage where there is none."""
    net.eval()
    sums = {True: np.zeros(3), False: np.zeros(3)}
    for clip in clips:
        given, truth = padded(clip.cells, clip.features)
        h, w = clip.shape
        before, after, truth = given[0][:, COVERAGE, :h, :w] / 255, net(*given)[:, 0, :h, :w], truth[:, 0, :h, :w] / 255
        there = bool((truth > 0.5).any())
        sums[there] += [1, *((iou(m, truth) if there else m.mean()).item() for m in (before, after))]
    net.train()
    (n, *subjects), (m, *empty) = sums[True], sums[False]
    return f"IoU {subjects[0] / max(n, 1):.3f} to {subjects[1] / max(n, 1):.3f} in {n:.0f} held-out clips, coverage {empty[0] / max(m, 1):.3f} to {empty[1] / max(m, 1):.3f} in {m:.0f} without a subject"


def iou(found, truth):
    """Of frames [n, h, w] that have a subject."""
    a, b = found > 0.5, truth > 0.5
    either = (a | b).sum((1, 2))
    return ((a & b).sum((1, 2)) / either.clamp(1))[b.any(2).any(1)].mean()


def train(net, samples, most, batch, rate, bfloat16=False):
    """Learns from `most` samples, batch frames at a time."""

    def report():
        samples.look()
        return f" of {len(samples.clips)} clips, {measure(net, samples.held)}"

    companion.learn(net, lambda: samples.batch(batch), loss, max(most // batch, 1), rate, SAID, report, bfloat16)


def main():
    a = companion.parser(__doc__, samples=300_000).parse_args()
    companion.main(
        a, Chooser(), convolutions, lambda: Samples(a.folder, a.seed),
        lambda net, samples: train(net, samples, a.samples, a.batch, a.rate, a.bfloat16), write,
    )  # fmt: skip


if __name__ == "__main__":
    main()
