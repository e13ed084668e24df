"""Trains the guide: a network that follows hints of what is wanted and what is not.

    python guide.py pack.zip run --start model.onnx --minutes 60
    python guide.py pack.zip run --write guide.onnx
    python guide.py pack.zip other --start guide.onnx --minutes 60

It is the network of net.py, shown besides the picture what hints mark, and what was found for
the frame before. marked.py draws its samples. It begins with the weights of a network without
hints, to which the new planes mean nothing yet, or with those of a guide whose checkpoint is
lost. As with train.py, the next call continues from run/checkpoint.pt.

The .onnx file takes planes, uint8 [1, MARKED_COUNT, height, width], of any size: those of
planes.MARKED. It gives the matte uint8 [1, 1, height, width].
"""

import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import checkpoint
import export
import restore
import train
from data import Bank
from infer import MULTIPLE
from marked import Marked
from net import WIDTHS, Conv, Net, count
from planes import MARKED, MARKED_COUNT, MARKS

SLACK = 1e-3  # what likeness adds to the product of squares


class Guide(Net):
    """Mattes of what is marked, of pictures [n, MARKED_COUNT, h, w], 0 to 1, otherwise as Net's.

    At 1/8 of the size it is told the marks, and how like the features there are to those at
    the marks: the cosine of their angle.
    """

    def __init__(self, widths=WIDTHS):
        super().__init__(widths)
        self.stem = Conv(MARKED_COUNT, widths[0], stride=2)
        self.told = nn.Conv2d(len(MARKS) + 3, widths[2], 3, padding=1)
        nn.init.zeros_(self.told.weight)
        nn.init.zeros_(self.told.bias)

    def forward(self, picture):
        x2 = self.stem(torch.cat([(picture[:, :3] - 0.5) * 4, picture[:, 3:]], 1))
        x4 = self.down4(x2)
        x8 = self.down8(x4)
        marks = F.max_pool2d(picture[:, 3:], 8)
        keep, drop, before, trust = marks.split(1, 1)
        alike = [likeness(x8, m) for m in (keep, drop, before * trust)]
        return self.finish(x2, x4, F.relu(x8 + self.told(torch.cat([marks, *alike], 1))))


def likeness(x, where):
    """How like the features x [n, c, h, w] of each place are to their sum where [n, 1, h, w] says: 0 to 1, or 0 without such a place."""
    given = (x * where).sum((2, 3), keepdim=True)
    squares = (x * x).sum(1, keepdim=True) * (given * given).sum(1, keepdim=True)
    return (x * given).sum(1, keepdim=True) / (squares + SLACK).sqrt()


def fill(net, path):
    """Gives a Guide the weights of a network's file, or of a guide's, which has one convolution more."""
    found, _ = restore.weights(path)
    modules = list(restore.convolutions(net))
    if len(found) > len(modules):
        before = sum(isinstance(m, Conv) for part in (net.stem, net.down4, net.down8) for m in part.modules())
        modules.insert(before, net.told)
    restore.fill(modules, found)


class Trainer(train.Trainer):
    """train.Trainer for the guide."""

    network, composer = Guide, Marked

    def fresh(self):
        """Begins with the weights of a file."""
        if not self.a.start:
            return
        fill(self.net, self.a.start)
        batches = [self.samples() for _ in range(40)]
        restore.settle(self.net, ((b.picture,) for b in batches))
        restore.learn_aside(self.net, batches)
        self.average.load_state_dict(self.net.state_dict())
        self.net.train()

    @torch.no_grad()
    def metrics(self):
        """Mean IoU on samples that are not trained on, by what is known of them."""
        sums = []
        for b in self.cases:
            found, truth = self.average(b.picture) > 0, b.matte > 0.5
            known = b.weight > 0
            either = ((found | truth) & known).sum((1, 2, 3))
            iou = torch.where(either > 0, (found & truth & known).sum((1, 2, 3)) / either.clamp(1), 1.0)
            trust, keep = (b.picture[:, MARKED.index(p)] for p in ("MarkTrust", "MarkKeep"))
            seen = [trust.amax((1, 2)), trust.amin((1, 2)), keep.amax((1, 2))]
            sums.append(torch.stack([*seen, truth.float().mean((1, 2, 3)), iou], 1))
        trusted, least, kept, there, iou = torch.cat(sums).T
        rest = (trusted > 0) & (least < 1)
        groups = {"clicked": trusted == 0, "followed": rest & (kept < 0.9), "corrected": rest & (kept >= 0.9), "dropped": least == 1}
        self.write(**{k: round(iou[m & (there > 0)].mean().item(), 4) for k, m in groups.items()})

    @torch.no_grad()
    def held(self):
        dice = train.Dice(self.device, 77)
        drawn = Marked(*(Bank(self.pack, kind, self.device, held=True) for kind in ("scene", "cutout", "background")), dice)
        return [drawn.batch(24, 160) for _ in range(self.a.most)]


def build(net):
    """The graph of a Guide."""
    g = export.Graph()
    whole, size = g.whole("planes", MULTIPLE)
    planes = g.node("Cast", [whole], to=export.TensorProto.FLOAT)
    rgb, marks = g.cut(planes, 0, 3), g.node("Mul", [g.cut(planes, MARKS.start, MARKS.stop), g.weight(np.float32(1 / 255))])
    x = g.node("Mul", [g.node("Sub", [rgb, g.weight(np.float32(127.5))]), g.weight(np.float32(4 / 255))])
    x2 = g.block(g.node("Concat", [x, marks], axis=1), net.stem)
    x4 = g.sequence(x2, net.down4)
    x8 = g.sequence(x4, net.down8)
    small = g.node("MaxPool", [marks], kernel_shape=[8, 8], strides=[8, 8])
    before = g.node("Mul", [g.cut(small, 2, 3), g.cut(small, 3, 4)])
    alike = [like(g, x8, m) for m in (g.cut(small, 0, 1), g.cut(small, 1, 2), before)]
    told = g.plain(g.node("Concat", [small, *alike], axis=1), net.told)
    matte, _ = g.finish(x2, x4, g.node("Relu", [g.node("Add", [x8, told])]), net)
    g.result(matte, size)
    return g


def like(g, x, where):
    """likeness, in a graph."""
    sides, channels = g.weight(np.array([2, 3])), g.weight(np.array([1]))

    def square(v):
        return g.node("ReduceSum", [g.node("Mul", [v, v]), channels], keepdims=1)

    given = g.node("ReduceSum", [g.node("Mul", [x, where]), sides], keepdims=1)
    squares = g.node("Add", [g.node("Mul", [square(x), square(given)]), g.weight(np.float32(SLACK))])
    return g.node("Div", [g.node("ReduceSum", [g.node("Mul", [x, given]), channels], keepdims=1), g.node("Sqrt", [squares])])


def write(net, path):
    """Writes the .onnx file and returns its sha256."""
    return export.companion(build(net.eval()), "bgremove-guide", {"planes": MARKED_COUNT}, count(net), path)


def main():
    p = train.parser(__doc__)
    p.add_argument("--start", type=pathlib.Path, help="an .onnx file of export.py, or of --write, whose weights a new run begins with")
    p.add_argument("--write", type=pathlib.Path, help="train nothing, and write the .onnx file")
    a = p.parse_args()
    if not a.write:
        train.begin(a, Trainer)
        return
    state = checkpoint.load(a.run / "checkpoint.pt")
    if state is None:
        p.error(f"{a.run} has no checkpoint")
    net = Guide(state.widths)
    net.load_state_dict(state.average)
    print(f"{write(net, a.write)}  {a.write} ({a.write.stat().st_size / 2**20:.2f} MiB)")


if __name__ == "__main__":
    main()
