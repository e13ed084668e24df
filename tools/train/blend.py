"""Mixes the weights of choosers that began with the same weights into one.

    python blend.py folder mixed.onnx first.onnx=0.5 second.pt=0.5

The folder is cells.py's. The mean of such networks is often better than each of them (Wortsman
et al., "Model soups", ICML 2022). Its batch statistics are those of the folder's clips.
"""

import argparse
import pathlib

import torch

import chooser
import companion
import soup
from net import Conv

BATCHES, SIZE = 200, 16  # what the batch statistics are of


def network(path, samples):
    """The chooser of an .onnx file, or of the weights that training keeps."""
    net = chooser.Chooser()
    if path.suffix == ".onnx":
        companion.restored(net, chooser.convolutions(net), path, (samples.batch(SIZE)[0] for _ in range(60)))
    else:
        net.load_state_dict(torch.load(path, weights_only=True))
    return net


@torch.no_grad()
def blend(nets, shares, batches):
    """The first of nets with the mean of all weights, each by its share, and with batch statistics of batches."""
    soup.mean([net.state_dict() for net in nets], shares)
    settle(nets[0], batches)
    return nets[0]


def settle(net, batches):
    """Gives a net the batch statistics of inputs, tuples."""
    for m in (m.norm for m in net.modules() if isinstance(m, Conv)):
        m.reset_running_stats()
        m.momentum = None  # the mean of all batches
    net.train()
    for given in batches:
        net(*given)
    net.eval()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("parts", type=soup.part, nargs="+", metavar="FILE=SHARE")
    a = p.parse_args()
    samples = chooser.Samples(a.folder, 1)
    net = blend([network(path, samples) for path, _ in a.parts], [share for _, share in a.parts], (samples.batch(SIZE)[0] for _ in range(BATCHES)))
    print(f"{chooser.write(net, a.onnx)}  {a.onnx}, {chooser.measure(net, samples.held)}")


if __name__ == "__main__":
    main()
