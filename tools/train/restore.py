"""Makes a checkpoint from an .onnx file by export.py, so that training can continue from it.

    python restore.py pack.zip model.onnx run/checkpoint.pt
    python train.py pack.zip run --again --plan 160:50000

The mattes are the file's, also with more channels (--widths), to which they pay no heed yet
(T. Chen et al., "Net2Net", ICLR 2016). The rest of the training's state is found again. Batch
statistics come from samples, and the head that is only supervised is learnt again.
Weights get the sizes that training leaves; batch normalisation cancels them. The
optimiser begins anew, which --again does anyway.
"""

import argparse
import pathlib
import re

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional as F

import checkpoint
import muon
import train
from compose import Composer
from draw import Dice
from net import WIDTHS, Conv, Net
from pack import Pack

# The root mean square of weights after long training, of convolutions and of depthwise ones.
WHOLE, DEPTHWISE = 0.05, 0.2


def weights(path):
    """Weight and bias of each convolution of a file, in the graph's order, and its metadata."""
    model = onnx.load(path)
    kept = {w.name: numpy_helper.to_array(w).astype(np.float32) for w in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Cast" and node.input[0] in kept:
            kept[node.output[0]] = kept[node.input[0]]
    found = [tuple(torch.tensor(kept[name]) for name in n.input[1:]) for n in model.graph.node if n.op_type == "Conv"]
    return found, {p.key: p.value for p in model.metadata_props}


def convolutions(net):
    """The net's modules with weights, in the order of export.build."""
    for part in (net.stem, net.down4, net.down8, net.down16, net.down32):
        yield from (m for m in part.modules() if isinstance(m, Conv))
    yield from (net.gate.hidden, net.gate.scale, net.gate.shift)
    for join in (net.up16, net.up8, net.up4, net.up2):
        yield from (join.coarse, join.mix)
    yield net.head


@torch.no_grad()
def fill(modules, found):
    """Gives modules the weights found; batch normalisation does nothing but add the bias.

    Where a module has more channels than were found, the first ones take nothing from the
    others, and the others begin at random.
    """
    if len(modules) != len(found):
        raise SystemExit(f"the file has {len(found)} convolutions where the network has {len(modules)}")
    for m, (weight, bias) in zip(modules, found):
        conv = m.conv if isinstance(m, Conv) else m
        out, into = weight.shape[:2]
        conv.weight[:out].zero_()
        conv.weight[:out, :into] = weight
        if isinstance(m, Conv):
            m.norm.weight.fill_((1 + m.norm.eps) ** 0.5)
            m.norm.bias[:out] = bias
        else:
            m.bias[:out] = bias


@torch.no_grad()
def settle(net, inputs):
    """Sets sizes of weights and batch statistics to what inputs, tuples, make them, the outputs as before."""
    blocks = [m for m in net.modules() if isinstance(m, Conv)]
    sums = {m: [0, 0.0, 0.0] for m in blocks}

    def count(block):
        def hook(_, __, out):
            total = sums[block]
            x = out.double()
            total[0] += x.numel() / x.shape[1]
            total[1] = total[1] + x.sum((0, 2, 3))
            total[2] = total[2] + x.square().sum((0, 2, 3))

        return block.conv.register_forward_hook(hook)

    hooks = [count(m) for m in blocks]
    net.eval()
    for x in inputs:
        net(*x)
    for h in hooks:
        h.remove()
    for m in blocks:
        n, s, q = sums[m]
        mean, var = (s / n).float(), (q / n - (s / n) ** 2).float()
        size = m.conv.weight.square().mean((1, 2, 3)).sqrt()
        k = (DEPTHWISE if m.conv.groups > 1 else WHOLE) / size.clamp(min=1e-6)
        m.conv.weight.mul_(k.view(-1, 1, 1, 1))
        m.norm.running_mean.copy_(mean * k)
        m.norm.running_var.copy_(var * k * k)
        m.norm.bias.add_(mean)
        m.norm.weight.copy_((m.norm.running_var + m.norm.eps).sqrt() / k)


def learn_aside(net, batches):
    """Learns only the head that training supervises in addition to the matte."""
    net.eval()
    seen = []
    hook = net.up8.register_forward_hook(lambda _, __, out: seen.append(out))
    optimiser = torch.optim.Adam(net.aside.parameters(), 0.02)
    for b in batches:
        with torch.no_grad():
            net(b.picture)
        out = net.aside(seen.pop())
        matte = F.avg_pool2d(b.matte, b.matte.shape[2] // out.shape[2])
        loss = F.binary_cross_entropy_with_logits(out, matte)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    hook.remove()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("checkpoint", type=pathlib.Path)
    p.add_argument("--size", type=int, default=192, help="size of the pictures for the statistics")
    p.add_argument("--batches", type=int, default=60)
    p.add_argument("--widths", type=train.widths, default=WIDTHS, help="channels of the levels, none fewer than the file's")
    a = p.parse_args()
    found, facts = weights(a.onnx)
    card = re.match(r"\d+ weights, (\d+) composed samples in ([\d.]+) h", facts.get("card", ""))
    if card is None:
        p.error(f"{a.onnx} was not written by export.py")
    net = Net(a.widths)
    fill(list(convolutions(net)), found)
    dice = Dice("cpu", 1)
    composer = Composer.of(Pack(a.pack), dice, 0.95)

    def batches():
        return (composer.batch(8, a.size) for _ in range(a.batches))

    settle(net, ((b.picture,) for b in batches()))
    learn_aside(net, batches())
    state = checkpoint.State(
        net=net.state_dict(), average=net.state_dict(), optimiser=muon.Muon(muon.groups(net), 1e-3).state_dict(),
        dice=dice.generator.get_state(), device="cpu", plan=f"{a.size}:1", seen=0, before=int(card[1]),
        seconds=float(card[2]) * 3600, widths=a.widths,
    )  # fmt: skip
    a.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.save(a.checkpoint, state)
    print(f"{a.checkpoint}: {card[1]} samples so far")


if __name__ == "__main__":
    main()
