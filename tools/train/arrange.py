"""Arranges the layers of a network so that ONNX Runtime's kernels for processors run them faster.

quantise.py calls prepare before it quantises a network, and finish after. Where
planes have one scale, no result changes. MLAS, which has the kernels, works in blocks of 16 channels.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Arranged:
    """A model's graph, by the names of its values."""

    def __init__(self, model):
        self.graph = model.graph
        self.stored = {w.name: w for w in self.graph.initializer}

    def of(self, kind):
        """The nodes of a kind."""
        return [n for n in self.graph.node if n.op_type == kind]

    def user(self, value):
        """The first node that has a value as input."""
        return next(n for n in self.graph.node if value in n.input)

    def maker(self, value):
        """The node that makes a value."""
        return next(n for n in self.graph.node if value in n.output)

    def array(self, name):
        """A stored array, or its integers where it is quantised."""
        while name not in self.stored:
            name = self.maker(name).input[0]
        return numpy_helper.to_array(self.stored[name])

    def store(self, name, array):
        """Stores an array under a name, in place of one that has it, and returns the name."""
        if name in self.stored:
            self.graph.initializer.remove(self.stored[name])
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        self.stored[name] = self.graph.initializer[-1]
        return name

    def replace(self, old, *new):
        """Puts nodes in the place of another."""
        i = list(self.graph.node).index(old)
        del self.graph.node[i]
        for k, node in enumerate(new):
            self.graph.node.insert(i + k, node)


def prepare(model):
    """Arranges a network with floats, and returns the middles of its planes for finish."""
    middles = fold_planes(Arranged(model))
    prune(model.graph)
    return middles


def finish(model, middles):
    """Arranges a quantised network."""
    g = Arranged(model)
    widen_head(g)
    copy_channels(g)
    take_planes(g, middles)
    del g.graph.value_info[:]  # shapes of what is no more
    prune(g.graph)


def fold_planes(g):
    """The first layer gets weights for the bytes of planes. Gives the planes' middles, by the layer's name.

    The scale of each plane goes into its weights. Its middle goes into those of one plane more, which is the
    same everywhere, as beyond the border nothing is to be taken off.
    """
    middles = {}
    for planes in g.of("DequantizeLinear"):
        scale, middle = (g.array(name).astype(float) for name in planes.input[1:])
        conv, name = g.user(planes.output[0]), planes.output[0]
        weight = g.array(conv.input[1]) * scale[:, None, None]
        ones = -(weight * middle[:, None, None]).sum(1, keepdims=True) / 255
        conv.input[1] = g.store(f"{name}_weight", np.concatenate([weight, ones], 1).astype(np.float32))
        size, shape, plane, all_planes = (f"{name}_{part}" for part in ("size", "shape", "ones", "bytes"))
        g.replace(
            planes,
            helper.make_node("Shape", [planes.input[0]], [size], name=size, start=2),
            helper.make_node("Concat", [g.store(f"{name}_one", np.array([1, 1])), size], [shape], name=shape, axis=0),
            helper.make_node("ConstantOfShape", [shape], [plane], name=plane, value=numpy_helper.from_array(np.array([255], np.uint8))),
            helper.make_node("Concat", [planes.input[0], plane], [all_planes], name=all_planes, axis=1),
            helper.make_node("Cast", [all_planes], [name], name=f"{name}_float", to=TensorProto.FLOAT),
        )
        middles[conv.name] = middle.astype(int)
    return middles


def take_planes(g, middles):
    """The first layer takes the bytes of planes as they are. Where all are in their middle, it gives nothing but its bias."""
    for conv in [n for n in g.of("Conv") if n.name in middles]:
        integers = g.maker(conv.input[0])
        quantised = g.maker(integers.input[0])
        scale, zero = (g.array(name) for name in quantised.input[1:])
        if scale != 1 or zero != 0:
            raise ValueError(f"the bytes of {conv.name} are scaled by {scale} from {zero}")
        integers.input[0] = g.maker(quantised.input[0]).input[0]
        of_plane = g.array(conv.input[1]).astype(int).sum((2, 3))
        bias = g.maker(conv.input[2]).input[0]
        g.store(bias, (g.array(bias) - of_plane @ np.append(middles[conv.name], 255)).astype(np.int32))


def widen_head(g):
    """The head computes its four values of two by two places at once, which fill a block.

    Otherwise it would fill the block with zeros: its 3×3 convolution would have 2.25 times as many
    products as one of 4×4 with a stride of two.
    """
    head = g.of("Conv")[-1]
    places = g.user(head.output[0])  # the DepthToSpace that makes pixels of values
    weight, bias = (g.array(name).astype(np.float32) for name in head.input[1:])
    wide = np.zeros((2, 2, 2, 2, weight.shape[1], 4, 4), np.float32)  # by row of places, row of pixels, column of places, of pixels
    for y in range(2):
        for x in range(2):
            wide[y, :, x, :, :, y : y + 3, x : x + 3] = weight.reshape(2, 2, -1, 3, 3)
    bias = np.broadcast_to(bias.reshape(1, 2, 1, 2), wide.shape[:4])
    out = f"{head.output[0]}_wide"
    inputs = [g.store(f"{out}_weight", wide.reshape(16, *wide.shape[4:])), g.store(f"{out}_bias", bias.flatten())]
    wide = helper.make_node("Conv", [head.input[0], *inputs], [out], name=out, strides=[2] * 2, pads=[1] * 4, kernel_shape=[4] * 2)
    g.replace(head, wide)
    g.replace(places, helper.make_node("DepthToSpace", [out], list(places.output), name=f"{out}_pixels", blocksize=4, mode="CRD"))


def copy_channels(g):
    """Levels of bytes are enlarged by copies of whole channels. Resize copies each byte by itself."""
    for resize in g.of("Resize"):
        after, before = g.user(resize.output[0]), g.maker(resize.input[0])
        conv = g.maker(g.maker(before.input[0]).input[0])
        channels = len(g.array(conv.input[1]))
        value, nodes = before.input[0], []

        def add(kind, *inputs, **attributes):
            nonlocal value
            name = f"{resize.name}_{len(nodes)}"
            inputs = [g.store(f"{name}_shape", np.array(i)) if isinstance(i, list) else i for i in inputs]
            nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
            value = name

        # Columns twice, then rows. In a shape, 0 keeps a side, and -1 is what is left.
        add("Concat", value, value, axis=1)
        add("Transpose", value, perm=[0, 2, 3, 1])
        add("Reshape", value, [0, 0, -1, channels])
        add("Reshape", value, [-1, 1, 0, channels])
        add("Concat", value, value, axis=1)
        add("Reshape", value, [1, -1, 0, channels])
        add("Transpose", value, perm=[0, 3, 1, 2])
        g.replace(resize, *nodes)
        g.user(after.output[0]).input[0] = value


def prune(graph):
    """Drops nodes and stored arrays that nothing uses any more."""
    used = {v.name for v in graph.output}
    for node in reversed(list(graph.node)):
        if used.isdisjoint(node.output):
            graph.node.remove(node)
        else:
            used.update(node.input)
    for w in [w for w in graph.initializer if w.name not in used]:
        graph.initializer.remove(w)
