"""Writes a checkpoint's averaged network as an .onnx file.

    python export.py run/checkpoint.pt model.onnx --name NAME --version 1

The file takes uint8 pixels [1, height, width, 3], RGB, with both sides multiples
of 32. It gives the matte [1, height, width, 1], float 0 to 1, and features for the
chooser, uint8 [1, FEATURES, height/8, width/8]. Normalisation is
part of the network, and batch normalisation is folded into the convolutions.
Weights are stored as float16 and widened when the file is loaded. The graph is
written node by node, so that it does not depend on an exporter.
"""

import argparse
import hashlib
import json
import pathlib

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import checkpoint
import files
from infer import MULTIPLE
from net import Net, count
from planes import FEATURE_SCALE, FEATURES

OPSET = 17

LICENCE = "MIT"

# The data card; docs/model.md says more.
SOURCES = (
    "Clothing Co-Parsing (Apache-2.0), Feral cat segmentation (MIT), Oxford-IIIT Pet sample (CC BY-SA 4.0), "
    "COCO 2017 (pictures CC BY 2.0, CC BY-SA 2.0 or no known restrictions; outlines CC BY 4.0), Fluent Emoji (MIT), "
    "FxEmojis (CC BY 4.0), EmojiTwo (CC BY 4.0), Blobmoji (Apache-2.0), Liberated Pixel Cup (CC BY-SA 3.0), "
    "Dungeon Crawl tiles (CC0), DiceBear (CC0, CC BY 4.0), Geirhos et al. silhouettes (CC BY 4.0), Quaternius (CC0), "
    "Kenney (CC0), pybullet-URDF-models and YCB (MIT, CC BY 4.0), AWS RoboMaker worlds (MIT-0), Gazebo models (CC BY 3.0), "
    "Poly Haven (CC0), elementary wallpapers (each its own), Caltech 101 (CC BY 4.0), TACO (CC BY 4.0), "
    "Intel sample videos (CC BY 4.0), Open Images (pictures CC BY 2.0, masks CC BY 4.0)"
)

# What the clips for the small networks have besides.
FOOTAGE = "Segment Anything 2 demo (Apache-2.0), PUMaVOS (CC BY 4.0), MDN (CC0)"


class Graph:
    """Collects nodes and weights; each method adds one step and returns its result's name."""

    def __init__(self):
        self.nodes, self.weights, self.number = [], [], 0

    def node(self, kind, inputs, **attributes):
        self.number += 1
        out = f"{kind.lower()}{self.number}"
        self.nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    def weight(self, value):
        """A stored array; large ones are stored as float16."""
        array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        self.number += 1
        name = f"w{self.number}"
        if array.dtype == np.float32 and array.size > 64:
            self.weights.append(numpy_helper.from_array(array.astype(np.float16), name))
            return self.node("Cast", [name], to=TensorProto.FLOAT)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def conv(self, x, weight, bias, conv, relu=False):
        pad = conv.padding[0]
        out = self.node(
            "Conv", [x, self.weight(weight), self.weight(bias)], strides=list(conv.stride), pads=[pad] * 4,
            kernel_shape=list(conv.kernel_size), group=conv.groups,
        )  # fmt: skip
        return self.node("Relu", [out]) if relu else out

    def planes(self, name):
        """An input of uint8 pixels as float channels, 0 to 255."""
        return self.node("Transpose", [self.node("Cast", [name], to=TensorProto.FLOAT)], perm=[0, 3, 1, 2])

    def stem(self, picture, net):
        """net.stem, of pixels 0 to 255."""
        x = self.node("Sub", [picture, self.weight(np.float32(127.5))])
        return self.block(self.node("Mul", [x, self.weight(np.float32(4 / 255))]), net.stem)  # (v/255 − 0.5) · 4

    def plain(self, x, conv):
        return self.conv(x, conv.weight, conv.bias, conv)

    def block(self, x, block):
        """net.Conv with its batch normalisation folded in."""
        weight, bias = fold(block)
        return self.conv(x, weight, bias, block.conv, block.relu)

    def pair(self, x, m):
        return self.node("Relu", [self.node("Add", [x, self.block(self.block(x, m.first), m.second)])])

    def inverted(self, x, m):
        return self.node("Add", [x, self.block(self.block(self.block(x, m.widen), m.depth), m.narrow)])

    def sequence(self, x, modules):
        add = {"Conv": self.block, "Pair": self.pair, "Inverted": self.inverted}
        for m in modules:
            x = add[type(m).__name__](x, m)
        return x

    def gate(self, x, m):
        hidden = self.node("Relu", [self.plain(self.node("GlobalAveragePool", [x]), m.hidden)])
        scale = self.node("Sigmoid", [self.plain(hidden, m.scale)])
        return self.node("Add", [self.node("Mul", [x, scale]), self.plain(hidden, m.shift)])

    def join(self, coarse, fine, m):
        scales = self.weight(np.array([1, 1, 2, 2], np.float32))
        up = self.node(
            "Resize", [self.block(coarse, m.coarse), "", scales], mode="nearest",
            coordinate_transformation_mode="asymmetric", nearest_mode="floor",
        )  # fmt: skip
        return self.block(self.node("Relu", [self.node("Add", [up, fine])]), m.mix)

    def finish(self, x2, x4, x8, net):
        """net.Net's matte of shares, and its 1/8 level of the decoder, from the levels of 1/2, 1/4 and 1/8."""
        x16 = self.sequence(x8, net.down16)
        x32 = self.gate(self.sequence(x16, net.down32), net.gate)
        y8 = self.join(self.join(x32, x16, net.up16), x8, net.up8)
        y2 = self.join(self.join(y8, x4, net.up4), x2, net.up2)
        four = self.plain(y2, net.head)
        return self.node("Sigmoid", [self.node("DepthToSpace", [four], blocksize=2, mode="CRD")]), y8

    def adjusted(self, planes, plane, least, change, size):
        """The graph's result "matte": one of the planes, as a share no surer than least, with its logit changed, cut to a size."""
        matte = self.node("Cast", [self.node("Gather", [planes, self.weight(np.array([plane]))], axis=1)], to=TensorProto.FLOAT)
        matte = self.node("Mul", [matte, self.weight(np.float32(1 / 255))])
        matte = self.node("Clip", [matte, self.weight(np.float32(least)), self.weight(np.float32(1 - least))])
        odds = self.node("Div", [matte, self.node("Sub", [self.weight(np.float32(1)), matte])])
        self.result(self.node("Sigmoid", [self.node("Add", [self.node("Log", [odds]), change])]), size)

    def result(self, matte, size):
        """The graph's result "matte", in bytes, of shares cut to a size."""
        matte = self.node("Round", [self.node("Mul", [matte, self.weight(np.float32(255))])])
        matte = self.node("Cast", [matte], to=TensorProto.UINT8)
        matte = self.node("Slice", [matte, self.weight(np.array([0, 0])), size, self.weight(np.array([2, 3]))])
        self.nodes.append(helper.make_node("Identity", [matte], ["matte"]))

    def cut(self, x, first, end):
        """Some of the channels of x."""
        return self.node("Slice", [x, *(self.weight(np.array([v])) for v in (first, end, 1))])

    def whole(self, planes, multiple):
        """Planes with their edges repeated up to a multiple, and the height and width that they had."""
        size = self.node("Slice", [self.node("Shape", [planes]), self.weight(np.array([2])), self.weight(np.array([4]))])
        more = self.node("Mod", [self.node("Neg", [size]), self.weight(np.array([multiple]))])  # of the divisor's sign
        pads = self.node("Concat", [self.weight(np.zeros(6, np.int64)), more], axis=0)
        return self.node("Pad", [planes, pads], mode="edge"), size


def fold(block):
    """Weight and bias of a net.Conv with its batch normalisation folded in."""
    norm = block.norm
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return block.conv.weight * scale.view(-1, 1, 1, 1), norm.bias - norm.running_mean * scale


def build(net):
    """The graph of a Net, from pixels to matte."""
    g = Graph()
    x2 = g.stem(g.planes("pixels"), net)
    x4 = g.sequence(x2, net.down4)
    matte, y8 = g.finish(x2, x4, g.sequence(x4, net.down8), net)
    g.nodes.append(helper.make_node("Transpose", [matte], ["matte"], perm=[0, 2, 3, 1]))
    byte = [g.weight(np.float32(FEATURE_SCALE)), g.weight(np.uint8(0))]
    g.nodes.append(helper.make_node("QuantizeLinear", [y8, *byte], ["features"]))
    return g


def export(net, path, name, version, short, card):
    """Writes the file and returns its sha256."""
    g = build(net.eval())
    port = helper.make_tensor_value_info
    graph = helper.make_graph(
        g.nodes, name,
        [port("pixels", TensorProto.UINT8, [1, "height", "width", 3])],
        [
            port("matte", TensorProto.FLOAT, [1, "height", "width", 1]),
            port("features", TensorProto.UINT8, [1, FEATURES, "rows", "columns"]),
        ],
        g.weights,
    )  # fmt: skip
    spec = {
        "kind": "frame",
        "input": {"shortSide": short, "multiple": MULTIPLE, "layout": "nhwc", "mean": [0, 0, 0], "std": [1, 1, 1]},
        "output": {"name": "matte"},
        "colours": 1,
        "closer": True,
        "plate": True,
    }
    facts = {
        "bgremove.spec": json.dumps(spec),
        "name": name,
        "version": version,
        "licence": LICENCE,
        "input": f"RGB uint8 [1, height, width, 3], sides multiples of {MULTIPLE}, shorter side about {short}",
        "output": "matte float32 [1, height, width, 1], 0 background to 1 subject; "
        f"features uint8 [1, {FEATURES}, height/8, width/8], for the chooser",
        "card": card,
    }
    return save(graph, facts, path)


def companion(g, name, planes, weights, path):
    """Writes a small network beside the one that estimates mattes and returns its sha256.

    planes is how many planes each of its inputs has, by name; it gives a matte of the
    size of the first.
    """
    port = helper.make_tensor_value_info
    graph = helper.make_graph(
        g.nodes, name,
        [port(p, TensorProto.UINT8, [1, n, f"{p} height", f"{p} width"]) for p, n in planes.items()],
        [port("matte", TensorProto.UINT8, [1, 1, "height", "width"])],
        g.weights,
    )  # fmt: skip
    card = f"{weights} weights. Trained on pictures and clips of: {SOURCES}, {FOOTAGE}"
    return save(graph, {"name": name, "version": "1", "licence": LICENCE, "card": card}, path)


def save(graph, facts, path):
    """Writes a graph with its metadata and returns the file's sha256."""
    model = helper.make_model(
        graph, producer_name="bgremove tools/train", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8
    )
    helper.set_model_props(model, facts)
    onnx.checker.check_model(model, full_check=True)
    body = model.SerializeToString()
    with files.whole(path) as part:
        part.write_bytes(body)
    return hashlib.sha256(body).hexdigest()


def network(state):
    """The averaged network of a checkpoint's state."""
    net = Net(state.widths)
    net.load_state_dict(state.average)
    return net.eval()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("checkpoint", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("--name", default="bgremove-small")
    p.add_argument("--version", default="1")
    p.add_argument("--short", type=int, default=256, help="short side to scale pictures to")
    a = p.parse_args()
    state = checkpoint.load(a.checkpoint)
    if state is None:
        p.error(f"{a.checkpoint} does not exist")
    net = network(state)
    card = f"{count(net)} weights, {state.before + state.seen} composed samples in {state.seconds / 3600:.1f} h. Trained on: {SOURCES}"
    digest = export(net, a.onnx, a.name, a.version, a.short, card)
    print(f"{digest}  {a.onnx} ({a.onnx.stat().st_size / 2**20:.2f} MiB)")


if __name__ == "__main__":
    main()
