"""Trains the reviser: a small network that decides once more with the clean plate in view.

    python reviser.py folder reviser.pt reviser.onnx

The folder is views.py's. Given the picture, the matte of another network and how the
picture differs from the clip's plate, it gives a better matte: what differs from the backdrop
behind it is no backdrop, whatever it looks like. That is background matting (Sengupta et
al., CVPR 2020; Lin et al., CVPR 2021) with a plate that nobody had to shoot. Where
the plate is not known it leaves the matte much as it is. reviser.pt has the weights, and
is gone on from if it is there.

The .onnx file takes a view (planes.py), uint8 [1, COUNT, height, width], of any size, and gives the
matte, uint8 [1, 1, height, width].
"""

import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import companion
import export
from clips import FRAMES
from net import Conv, Join, Pair, count
from planes import COUNT, MATTE, MIDDLE, PLATE, SCALE, UNKNOWN

WIDTHS = (32, 32, 64, 96)  # channels at 1/2, 1/4, 1/8 and 1/16 of the picture's size
MULTIPLE = 16  # what both sides of a picture are brought to
LEAST = 0.01  # the logit of a matte is that of one no surer than this
GRID = 4  # distance of the places among which parts of clips are chosen
TINY = 1e-5  # added under a root, whose slope is endless at 0
SAID = 500  # the loss is printed every so many steps
STEP = 8.0  # how much of a logit a unit of the head is


class Reviser(nn.Module):
    """From views [n, COUNT, h, w], 0 to 255, to mattes [n, 1, h, w], 0 to 1."""

    def __init__(self, widths=WIDTHS):
        super().__init__()
        a, b, c, d = widths
        self.register_buffer("middle", torch.tensor(MIDDLE, dtype=torch.float32).view(1, -1, 1, 1))
        self.register_buffer("scale", torch.tensor(SCALE).view(1, -1, 1, 1))
        self.stem = Conv(COUNT, a, 5, 2)
        self.fine = Conv(a, a)
        self.down4 = nn.Sequential(Conv(a, b, stride=2), Pair(b))
        self.down8 = nn.Sequential(Conv(b, c, stride=2), Pair(c), Pair(c))
        self.down16 = nn.Sequential(Conv(c, d, stride=2), Pair(d), Pair(d))
        self.up8 = Join(d, c, c)
        self.up4 = Join(c, b, b)
        self.up2 = Join(b, a, a)
        self.head = nn.Conv2d(a, 4, 3, padding=1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, view):
        x2 = self.fine(self.stem((view - self.middle) * self.scale))
        x4 = self.down4(x2)
        x8 = self.down8(x4)
        y8 = self.up8(self.down16(x8), x8)
        y2 = self.up2(self.up4(y8, x4), x2)
        matte = (view[:, MATTE : MATTE + 1] / 255).clamp(LEAST, 1 - LEAST)
        return torch.sigmoid(torch.logit(matte) + STEP * F.pixel_shuffle(self.head(y2), 2).float())


def build(net):
    """The graph of a Reviser."""
    g = export.Graph()
    view, size = g.whole("view", MULTIPLE)
    x = g.node("DequantizeLinear", [view, g.weight(net.scale.flatten()), g.weight(np.array(MIDDLE, np.uint8))], axis=1)
    x2 = g.block(g.block(x, net.stem), net.fine)
    x4 = g.sequence(x2, net.down4)
    x8 = g.sequence(x4, net.down8)
    y8 = g.join(g.sequence(x8, net.down16), x8, net.up8)
    y2 = g.join(g.join(y8, x4, net.up4), x2, net.up2)
    change = g.node("DepthToSpace", [g.plain(y2, net.head)], blocksize=2, mode="CRD")
    change = g.node("Mul", [change, g.weight(np.float32(STEP))])
    g.adjusted(view, MATTE, LEAST, change, size)
    return g


def write(net, path):
    """Writes the file and returns its sha256."""
    return export.companion(build(net.eval()), "bgremove-reviser", {"view": COUNT}, count(net), path)


def convolutions(net):
    """The net's modules with weights, in the order of build."""
    for part in (net.stem, net.fine, net.down4, net.down8, net.down16):
        yield from (m for m in part.modules() if isinstance(m, Conv))
    for join in (net.up8, net.up4, net.up2):
        yield from (join.coarse, join.mix)
    yield net.head


class Samples:
    """Parts of clips, two frames that follow each other of each. The folder may grow meanwhile.

    A clip's file is opened anew for each part: thousands of clips would be too many open files.
    """

    def __init__(self, folder, size, seed):
        self.folder, self.known, self.clips, self.batches = folder, set(), [], 0
        self.size, self.dice = size, random.Random(seed)
        self.look()

    def look(self):
        """Notes the clips that the folder has got."""
        for f in sorted(set(self.folder.glob("*.npy")) - self.known):
            if np.load(f, mmap_mode="r").shape[:2] != (FRAMES, COUNT + 1):
                raise SystemExit(f"{f} is a view of another kind: empty the folder and make them anew with views.py")
            self.known.add(f)
            self.clips.append(f)
        if not self.clips:
            raise SystemExit(f"{self.folder} has no views: make them with views.py")

    def batch(self, n):
        """Views [2n, COUNT, size, size] and mattes [2n, 1, size, size], 0 to 255, of n places."""
        self.batches += 1
        if self.batches % 256 == 0:
            self.look()
        parts = np.stack([self.part() for _ in range(n)]).reshape(2 * n, COUNT + 1, self.size, self.size)
        parts = torch.from_numpy(parts).float()
        return (parts[:, :COUNT],), parts[:, COUNT:]

    def part(self):
        dice, s = self.dice, self.size
        clip = np.load(dice.choice(self.clips), mmap_mode="r")
        t = dice.randrange(FRAMES - 1)
        h, w = clip.shape[2:]
        y, x = dice.randrange(h), dice.randrange(w)
        if dice.random() < 0.8:  # where something is to be decided
            matte, truth = clip[t, [MATTE, COUNT], ::GRID, ::GRID].astype(int)
            places = np.argwhere(((matte > 8) & (matte < 247)) | (abs(matte - truth) > 24))
            if len(places):
                y, x = GRID * places[dice.randrange(len(places))]
        y, x = (max(min(v - dice.randrange(s), side - s), 0) for v, side in ((y, h), (x, w)))
        part = np.array(clip[t : t + 2, :, y : y + s, x : x + s])
        if min(h, w) < s:  # a small picture ends where its edge is repeated
            part = np.pad(part, ((0, 0), (0, 0), (0, max(s - h, 0)), (0, max(s - w, 0))), "edge")
        if dice.random() < 0.15:  # nothing is known of the plate
            for plane in PLATE:
                part[:, plane] = UNKNOWN[plane]
        if dice.random() < 0.5:
            part = part[..., ::-1]
        return part[..., ::-1, :] if dice.random() < 0.3 else part


def loss(found, truth):
    """Of mattes [2n, 1, h, w]: absolute and squared errors, and clips.dtssd's root of squared errors of changes over time."""
    off = found - truth
    step = off[1::2] - off[::2]
    return off.abs().mean() + 3 * (off**2).mean() + 2 * ((step**2).mean((1, 2, 3)) + TINY).sqrt().mean()


def train(net, samples, most, batch, rate, bfloat16=False):
    """Learns from `most` samples, batch places of two frames each at a time."""
    companion.learn(net, lambda: samples.batch(batch), loss, max(most // (2 * batch), 1), rate, SAID, bfloat16=bfloat16)


def main():
    p = companion.parser(__doc__, samples=560_000)
    p.add_argument("--size", type=int, default=128, help="side of the parts of pictures trained on")
    a = p.parse_args()
    companion.main(
        a, Reviser(), convolutions, lambda: Samples(a.folder, a.size, a.seed),
        lambda net, samples: train(net, samples, a.samples, a.batch, a.rate, a.bfloat16), write,
    )  # fmt: skip


if __name__ == "__main__":
    main()
