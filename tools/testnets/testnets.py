"""Writes the small networks that the tests of internal/matte/onnx run.

    pip install onnx
    python tools/testnets/testnets.py testdata/onnx

All except unet separate the subject by its distance from one green, so
that a test knows the right matte. The files are deterministic.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import checker, helper, numpy_helper

GREEN = np.array([0, 177, 64], np.float32) / 255
OPSET = 17


def const(name, value, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def tensor(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def save(folder, name, nodes, inputs, outputs, constants, metadata=None):
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(
        graph,
        producer_name="bgremove testnets",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    if metadata:
        helper.set_model_props(model, metadata)
    checker.check_model(model, full_check=True)
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())


def distance(source, result, dtype=np.float32, axis=1, gain=4.0):
    """Nodes for result = gain * max over channels of |source - GREEN|."""
    shape = [1, 3, 1, 1] if axis == 1 else [1, 1, 1, 3]
    p = result + "_"
    nodes = [
        helper.make_node("Sub", [source, p + "green"], [p + "difference"]),
        helper.make_node("Abs", [p + "difference"], [p + "absolute"]),
        helper.make_node("ReduceMax", [p + "absolute"], [p + "largest"], axes=[axis], keepdims=1),
        helper.make_node("Mul", [p + "largest", p + "gain"], [result]),
    ]
    return nodes, [const(p + "green", GREEN.reshape(shape), dtype), const(p + "gain", gain, dtype)]


def clip(source, result, dtype=np.float32):
    nodes = [helper.make_node("Clip", [source, result + "_lo", result + "_hi"], [result])]
    return nodes, [const(result + "_lo", 0, dtype), const(result + "_hi", 1, dtype)]


def probability(folder):
    d, dc = distance("image", "d")
    c, cc = clip("d", "alpha")
    save(folder, "distance", d + c, [tensor("image", T.FLOAT, [1, 3, 64, 64])],
         [tensor("alpha", T.FLOAT, [1, 1, 64, 64])], dc + cc)


def scaled(folder, name, factor, offset, metadata=None):
    """An open-size network with the output factor * distance + offset."""
    d, dc = distance("image", "d", gain=1)
    c, cc = clip("d4", "p")
    nodes = d + [helper.make_node("Mul", ["d", "four"], ["d4"])] + c + [
        helper.make_node("Mul", ["p", "factor"], ["scaled"]),
        helper.make_node("Add", ["scaled", "offset"], ["out"]),
    ]
    save(folder, name, nodes, [tensor("image", T.FLOAT, ["n", 3, "h", "w"])],
         [tensor("out", T.FLOAT, ["n", 1, "h", "w"])],
         dc + cc + [const("four", 4), const("factor", factor), const("offset", offset)], metadata)


def half(folder):
    """float16 in and out; half_apart keeps its constants in a file of its own."""
    d, dc = distance("image", "d", np.float16)
    c, cc = clip("d", "alpha", np.float16)
    save(folder, "half", d + c, [tensor("image", T.FLOAT16, [1, 3, "h", "w"])],
         [tensor("alpha", T.FLOAT16, [1, 1, "h", "w"])], dc + cc)
    (folder / "half_apart.bin").unlink(missing_ok=True)
    onnx.save(onnx.load(folder / "half.onnx"), folder / "half_apart.onnx", save_as_external_data=True,
              location="half_apart.bin", size_threshold=0)


def octets(folder):
    """uint8 in, NHWC; first output uint8, second two classes of float32."""
    d, dc = distance("unit", "d", axis=3)
    c, cc = clip("d", "subject")
    nodes = [
        helper.make_node("Cast", ["image"], ["wide"], to=T.FLOAT),
        helper.make_node("Div", ["wide", "full"], ["unit"]),
        *d, *c,
        helper.make_node("Mul", ["subject", "full"], ["levels"]),
        helper.make_node("Cast", ["levels"], ["mask"], to=T.UINT8),
        helper.make_node("Sub", ["one", "subject"], ["backdrop"]),
        helper.make_node("Concat", ["backdrop", "subject"], ["classes"], axis=3),
    ]
    save(folder, "octets", nodes, [tensor("image", T.UINT8, [1, 64, 64, 3])],
         [tensor("mask", T.UINT8, [1, 64, 64, 1]), tensor("classes", T.FLOAT, [1, 64, 64, 2])],
         dc + cc + [const("full", 255), const("one", 1)])


def averager(folder, name, kind, dtype):
    """The interface of Robust Video Matting.

    r1 is the running mean of the mattes. r2 counts frames, r3 counts them by
    twos, and r4 adds up downsample_ratio. fgr shows r3, r2 and r4 as levels.
    """
    d, dc = distance("src", "d", dtype)
    c, cc = clip("d", "p", dtype)
    nodes = [
        *d, *c,
        helper.make_node("Add", ["r1i", "p"], ["sum"]),
        helper.make_node("Mul", ["sum", "half"], ["r1o"]),
        helper.make_node("Identity", ["r1o"], ["pha"]),
        helper.make_node("Add", ["r2i", "one"], ["r2o"]),
        helper.make_node("Add", ["r3i", "two"], ["r3o"]),
        helper.make_node("Cast", ["downsample_ratio"], ["ratio"], to=kind),
        helper.make_node("Add", ["r4i", "ratio"], ["r4o"]),
        helper.make_node("Concat", ["r3o", "r2o", "r4o"], ["levels"], axis=1),
        helper.make_node("Div", ["levels", "full"], ["colour"]),
        helper.make_node("Mul", ["src", "zero"], ["black"]),
        helper.make_node("Add", ["black", "colour"], ["fgr"]),
    ]
    state = lambda n: tensor(n, kind, ["n", "c" + n, "h" + n, "w" + n])
    save(folder, name, nodes,
         [tensor("src", kind, ["n", 3, "h", "w"]), *(state(f"r{i}i") for i in range(1, 5)),
          tensor("downsample_ratio", T.FLOAT, [1])],
         [tensor("fgr", kind, ["n", 3, "h", "w"]), tensor("pha", kind, ["n", 1, "h", "w"]),
          *(state(f"r{i}o") for i in range(1, 5))],
         dc + cc + [const(n, v, dtype) for n, v in
                    [("half", 0.5), ("one", 1), ("two", 2), ("zero", 0), ("full", 255)]])


def nan(folder):
    nodes = [
        helper.make_node("ReduceMax", ["image"], ["largest"], axes=[1], keepdims=1),
        helper.make_node("Mul", ["largest", "poison"], ["out"]),
    ]
    save(folder, "nan", nodes, [tensor("image", T.FLOAT, [1, 3, 32, 32])],
         [tensor("out", T.FLOAT, [1, 1, 32, 32])], [const("poison", np.nan)])


class Net:
    """A network of random weights, stored as float16 and cast when loaded."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0
        self.random = np.random.default_rng(1)
        self.parameters = 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def weight(self, shape):
        fan = int(np.prod(shape[1:]))
        value = self.random.normal(0, (2 / fan) ** 0.5, shape)
        self.parameters += value.size
        name, wide = self.name(), self.name()
        self.constants.append(const(name, value, np.float16))
        self.nodes.append(helper.make_node("Cast", [name], [wide], to=T.FLOAT))
        return wide

    def op(self, kind, *inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def conv(self, x, cin, cout, k=3, stride=1, groups=1, act=True):
        w = self.weight((cout, cin // groups, k, k))
        y = self.op("Conv", x, w, kernel_shape=[k, k], strides=[stride] * 2,
                    pads=[k // 2] * 4, group=groups)
        return self.op("Relu", y) if act else y

    def inverted(self, x, cin, cout, stride=1, expand=4):
        mid = cin * expand
        y = self.conv(x, cin, mid, 1)
        y = self.conv(y, mid, mid, 3, stride, mid)
        y = self.conv(y, mid, cout, 1, act=False)
        return self.op("Add", x, y) if stride == 1 and cin == cout else y

    def up(self, x):
        self.constants.append(const(s := self.name(), [1, 1, 2, 2]))
        return self.op("Resize", x, "", s, mode="linear")


def unet(folder):
    n = Net()
    stem = n.conv("image", 3, 16, 3, 2)
    skips, x, cin = [(stem, 16)], stem, 16
    for cout, repeat in [(24, 2), (48, 3), (80, 3)]:
        x = n.inverted(x, cin, cout, 2)
        for _ in range(repeat - 1):
            x = n.inverted(x, cout, cout)
        skips.append((x, cout))
        cin = cout
    for skip, cout in reversed(skips[:-1]):
        x = n.op("Concat", n.up(x), skip, axis=1)
        x = n.conv(x, cin + cout, cin + cout, 3, 1, cin + cout)
        x = n.conv(x, cin + cout, cout, 1)
        x = n.conv(x, cout, cout, 3)
        cin = cout
    x = n.up(n.conv(x, cin, 1, 1, act=False))
    n.nodes.append(helper.make_node("Sigmoid", [x], ["alpha"]))
    save(folder, "unet", n.nodes, [tensor("image", T.FLOAT, [1, 3, 320, 320])],
         [tensor("alpha", T.FLOAT, [1, 1, 320, 320])], n.constants)
    print(f"unet: {n.parameters} parameters")


def timed(folder, name, layers):
    """A network that takes time and still gives a right matte.

    Its matte is decided, as in trained networks: greens that a video codec has
    changed slightly are still 0. It takes pictures as U²-Net does: normalised,
    320×320. Nearly all of its time goes into convolutions with the same
    16×16×3×3 weights; their result is not used.
    """
    random = np.random.default_rng(2)
    mean = np.array([0.485, 0.456, 0.406], np.float32)
    std = np.array([0.229, 0.224, 0.225], np.float32)
    d, dc = distance("colour", "d", gain=5)
    c, cc = clip("far", "alpha")
    constants = [const("margin", -0.25), const("mean", mean.reshape(1, 3, 1, 1)), const("std", std.reshape(1, 3, 1, 1)),
                 const("first", random.normal(0, 0.2, (16, 3, 3, 3))),
                 const("weight", random.normal(0, 0.08, (16, 16, 3, 3))),
                 const("zero", 0), const("one", 1), const("nothing", 1e-9), *dc, *cc]
    nodes = [helper.make_node("Mul", ["image", "std"], ["scaled"]),
             helper.make_node("Add", ["scaled", "mean"], ["colour"]), *d,
             helper.make_node("Conv", ["image", "first"], ["x0"], pads=[1] * 4)]
    for i in range(layers):
        nodes += [helper.make_node("Clip", [f"x{i}", "zero", "one"], [f"y{i}"]),
                  helper.make_node("Conv", [f"y{i}", "weight"], [f"x{i + 1}"], pads=[1] * 4)]
    nodes += [helper.make_node("Clip", [f"x{layers}", "zero", "one"], ["last"]),
              helper.make_node("ReduceMean", ["last"], ["average"], axes=[1], keepdims=1),
              helper.make_node("Mul", ["average", "nothing"], ["faint"]),
              helper.make_node("Sum", ["d", "faint", "margin"], ["far"]), *c]
    spec = {"input": {"mean": mean.tolist(), "std": std.tolist()}, "output": {}}
    save(folder, name, nodes, [tensor("image", T.FLOAT, [1, 3, 320, 320])],
         [tensor("alpha", T.FLOAT, [1, 1, 320, 320])], constants, {"bgremove.spec": json.dumps(spec)})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    probability(folder)
    scaled(folder, "logits", 40, -20)
    scaled(folder, "dull", 0.6, 0.2)
    scaled(folder, "described", 40, -20, {"bgremove.spec": json.dumps({
        "input": {"width": 48, "height": 32, "letterbox": True},
        "output": {"sigmoid": True},
    })})
    half(folder)
    octets(folder)
    averager(folder, "averager", T.FLOAT, np.float32)
    averager(folder, "averager16", T.FLOAT16, np.float16)
    nan(folder)
    unet(folder)
    timed(folder, "quick", 3)
    timed(folder, "brisk", 7)
    timed(folder, "slow", 64)


if __name__ == "__main__":
    main()
