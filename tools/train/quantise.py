"""Writes networks in 8-bit integers, as processors run them.

    python quantise.py pack.zip model.onnx reviser.onnx guide.onnx --plates plates

The first is the network that makes the mattes. Each gets a file beside it, model-int8.onnx,
with the same inputs and outputs. Activations are bytes, and weights have one scale for each
channel (B. Jacob et al., "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference", CVPR 2018). The bounds of activations are those of frames
of clips that the reviser was trained on, and of samples of the guide's.

Weights have seven bits. With eight, sums of two products overflow on processors that have
AVX2 and no VNNI instructions. Some layers stay as they are: the last and what follows it, of
which a byte would be too coarse an edge, those that join planes of different kinds, and sums
under a root, which would be divided by nothing. arrange.py makes the rest faster.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import arrange
import files
import infer
import views
from clips import FRAMES
from draw import Dice
from evaluate import OnnxRunner
from marked import Marked
from pack import Pack

CLIPS = 48  # how many clips show the bounds of activations, by one frame each
SAMPLE = 192  # the size of the guide's samples, of which there are as many
KINDS = ["Conv", "Relu", "Add", "Resize"]  # the nodes that become integers


def frame(seed):
    """Which frame of a clip is looked at."""
    return 5 * seed % FRAMES


def pixels(run, program, clip, mattes, t):
    picture = clip.pictures[t]
    return {"pixels": infer.resize(picture, infer.fit(*picture.shape[1::-1], run.short))[None]}


def view(run, program, clip, mattes, t):
    return {"view": views.views(program, clip.pictures, mattes)[t : t + 1]}


def samples(pack):
    """Inputs of the guide."""
    drawn = Marked.of(pack, Dice("cpu", 1))
    return [{"planes": (drawn.batch(1, SAMPLE).picture * 255).round().byte().numpy()} for _ in range(CLIPS)]


SHOWN = {"pixels": pixels, "view": view}  # what networks are shown of clips, by their first input


class Frames(CalibrationDataReader):
    """Inputs of a network, for ONNX Runtime's quantiser."""

    def __init__(self, inputs):
        self.inputs = iter(inputs)

    def get_next(self):
        return next(self.inputs, None)


def plain(path, folder):
    """A network with float32 weights and named nodes."""
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    settings.optimized_model_filepath = str(folder / "plain.onnx")
    onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    model = onnx.load(settings.optimized_model_filepath)
    for i, node in enumerate(model.graph.node):
        node.name = f"{node.op_type}{i}"
    return model


def kept(model):
    """The names of nodes that stay as they are."""
    nodes = list(model.graph.node)
    planes = {n.output[0] for n in nodes if n.op_type == "Concat"}
    roots = {n.input[0] for n in nodes if n.op_type == "Sqrt"}
    last = max(i for i, n in enumerate(nodes) if n.op_type == "Conv")
    first = [n for n in nodes if n.op_type == "Conv" and n.input[0] in planes]
    return [n.name for n in [*first, *(n for n in nodes if n.output[0] in roots), *nodes[last:]]]


def quantise(path, inputs, out):
    """Writes the network at path in integers, with bounds from inputs, dictionaries of arrays."""
    with tempfile.TemporaryDirectory() as folder:
        integers = pathlib.Path(folder) / "integers.onnx"
        model = plain(path, integers.parent)
        middles = arrange.prepare(model)
        quantize_static(
            model, integers, Frames(inputs), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, op_types_to_quantize=KINDS, nodes_to_exclude=kept(model),
        )  # fmt: skip
        model = onnx.load(integers)
    arrange.finish(model, middles)
    onnx.helper.set_model_props(model, {p.key: p.value for p in onnx.load(path).metadata_props})
    with files.whole(out) as part:
        part.write_bytes(model.SerializeToString())


def beside(path):
    """The path of a network in integers."""
    return path.with_name(f"{path.stem}-int8.onnx")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path, nargs="+", help="the network that makes the mattes, and its reviser and guide")
    p.add_argument("--plates", required=True, help="tools/plates, built")
    a = p.parse_args()
    run, pack = OnnxRunner(a.onnx[0], 1), Pack(a.pack)
    names = {path: onnx.load(path).graph.input[0].name for path in a.onnx}
    inputs = {path: samples(pack) if name == "planes" else [] for path, name in names.items()}
    shown = {path: SHOWN[name] for path, name in names.items() if name != "planes"}
    for seed in range(CLIPS if shown else 0):
        clip, mattes = views.estimated(pack, run, seed)
        for path, show in shown.items():
            inputs[path].append(show(run, a.plates, clip, mattes, frame(seed)))
    for path, found in inputs.items():
        quantise(path, found, beside(path))
        print(f"{beside(path)}: {beside(path).stat().st_size} bytes")


if __name__ == "__main__":
    main()
