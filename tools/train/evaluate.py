"""Measures a network on held-out pictures.

    python evaluate.py pack.zip model.onnx --checkpoint run/checkpoint.pt

Uncertain pixels are decided by colours (colours.py), as in the Go program.
For each source and family it prints IoU at 0.5, the mean absolute error (MAE),
and the F-measure (F) of outlines within 2 pixels, with a longer side of 320.
It prints the mean alpha of pictures without a subject, and the losses from
64-colour dithered GIFs and strong JPEG. With a checkpoint it also prints the
difference between the mattes of ONNX Runtime and PyTorch. The network sees
pictures as the Go program prepares them.
"""

import argparse
import json
import pathlib
import time
import types

import numpy as np
import onnxruntime

import clips
import colours
import heldout
import infer
import metrics
import program
import scores
from pack import Pack


def agreement(run, other, cases, short):
    """The largest and mean difference of two networks' mattes, and the difference of their IoU."""
    worst, total, gap = 0.0, 0.0, 0.0
    for case in cases:
        picture = infer.resize(case.picture, infer.fit(*case.picture.shape[1::-1], short))
        a, b = run(picture), other(picture)
        worst, total = max(worst, float(np.abs(a - b).max())), total + float(np.abs(a - b).mean())
        big = [infer.enlarge(m, *case.picture.shape[1::-1]) for m in (a, b)]
        gap += metrics.iou(big[0], case.matte, case.known) - metrics.iou(big[1], case.matte, case.known)
    return worst, total / len(cases), gap / len(cases)


class OnnxRunner:
    """Like net.runner, but for an .onnx file."""

    def __init__(self, path, threads=1):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        spec = json.loads(self.session.get_modelmeta().custom_metadata_map["bgremove.spec"])
        self.short = spec["input"]["shortSide"]
        self.colours = spec.get("colours", 0)
        self.closer = spec.get("closer", False)

    def __call__(self, picture):
        return self.session.run(["matte"], {"pixels": picture[None]})[0][0, :, :, 0]

    def features(self, picture):
        """What the network sees of a picture, uint8 [planes.FEATURES, h/8, w/8]."""
        return self.session.run(["features"], {"pixels": picture[None]})[0][0]


def milliseconds(path, threads, side=320, runs=30):
    """Median time of one picture of side² pixels."""
    run = OnnxRunner(path, threads)
    picture = np.zeros((side, side, 3), np.uint8)
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        run(picture)
        times.append(1000 * (time.perf_counter() - begin))
    return float(np.median(times))


def compare(a, run, cases):
    """Prints the difference between ONNX Runtime's and PyTorch's mattes. Nothing else here needs PyTorch."""
    import checkpoint
    import export
    from net import runner

    net = export.network(checkpoint.load(a.checkpoint))
    worst, mean, gap = agreement(run, runner(net), cases, a.short)
    print(f"ONNX against PyTorch: largest difference {worst * 255:.2f}/255, mean {mean * 255:.4f}/255, mean IoU {gap:+.6f}")


def ways(a, run):
    """The ways to measure clips: names, and functions for clips.measure."""
    yield "frame by frame", clips.frame_by_frame(run, a.short)
    if run.colours:
        yield "with their colours", clips.with_colours(run, a.short, run.colours)
    if a.program and a.short == run.short:
        for more in (["--no-plate"], []):
            yield (" ".join(["by the program", *more]),
                   lambda frames, more=more: program.mattes(a.program.resolve(), a.onnx.resolve(), frames, *more))  # fmt: skip


FILMED = 1_000_000  # the first seed of films that are measured; training uses lower ones
PLAIN = "nothing glued"  # to the place that looks like a subject
KINDS = {"static": 24, "moving": 24, "empty": 8, f"moving, {PLAIN}": 24, f"empty, {PLAIN}": 8}  # how many of each kind


def overlap(mattes, truths):
    """The mean IoU of the frames that have a subject."""
    whole = np.ones(truths[0].shape, bool)
    return np.mean([metrics.iou(m, t, whole) for m, t in zip(mattes, truths) if t.max() > 0.5])


def films(pack):
    """The films that are measured, and of which of KINDS each is."""
    import film

    wanted, seed = dict(KINDS), FILMED
    while any(wanted.values()):
        clip = film.clip(pack, seed)
        seed += 1
        kinds = [kind for kind in kinds_of(clip.plan) if wanted.get(kind)]
        for kind in kinds:
            wanted[kind] -= 1
        if kinds:
            yield clip, kinds


def kinds_of(plan):
    """Those of KINDS that a film of a plan may be."""
    return [plan.kind] if plan.glued else [plan.kind, f"{plan.kind}, {PLAIN}"]


def filmed(a, pack):
    """Prints what the program makes of films by kind, with and without motion, and of empty ones where only what moves is wanted."""
    found = {kind: {} for kind in KINDS}
    for clip, kinds in films(pack):
        empty = clip.plan.kind == "empty"
        for more in [[], ["--no-motion"]] + [["--subject", "moving"]] * empty:
            frames = [types.SimpleNamespace(picture=p) for p in clip.pictures]
            mattes = program.mattes(a.program.resolve(), a.onnx.resolve(), frames, *more)
            value = np.mean(mattes) if empty else overlap(mattes, [t / np.float32(255) for t in clip.truths])
            for kind in kinds:
                found[kind].setdefault(" ".join(more), []).append(value)
    for kind, by in found.items():
        empty = kind.startswith("empty")
        what = "mean alpha" if empty else f"median IoU {np.median(by['']):.3f}, mean"
        means = ", ".join(f"{f'with {more} ' if more else ''}{np.mean(values):.4f}" for more, values in by.items())
        worst = "" if empty else f", worst loss by motion {max(b - a for a, b in zip(by[''], by['--no-motion'])):.3f}"
        print(f"{len(by[''])} films, {kind}, by the program: {what} {means}{worst}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("--checkpoint", type=pathlib.Path, help="compare with this checkpoint in PyTorch")
    p.add_argument("--short", type=int, help="short side to scale pictures to, instead of the file's own")
    p.add_argument("--most", type=int, default=60, help="pictures of each source")
    p.add_argument("--moving", type=int, default=clips.MEASURED, choices=range(1, clips.MEASURED + 1), help="clips of each source")
    p.add_argument("--program", type=pathlib.Path, help="a bgremove to measure as a whole on the clips, at the file's own short side")
    p.add_argument("--threads", type=int, default=1, help="threads of ONNX Runtime, except for the times")
    a = p.parse_args()
    if a.checkpoint and not a.checkpoint.exists():
        p.error(f"{a.checkpoint} does not exist")
    pack = Pack(a.pack)
    cases = list(heldout.cases(pack, a.most))
    run = OnnxRunner(a.onnx, a.threads)
    a.short = a.short or run.short

    def alone(picture):
        return infer.matte(run, picture, a.short)

    def whole(picture):
        return colours.decided(alone(picture), picture, a.short, colours.ColourModel(run.colours)) if run.colours else alone(picture)

    plain = scores.measure(whole, cases)
    print(f"{len(cases)} held-out pictures at a short side of {a.short}\n")
    print("\n".join(scores.table(plain)))
    looks = {"": alone} if run.colours else {}
    if run.closer:
        looks[" by one look"] = lambda picture: infer.once(run, picture, a.short)
    for name, matte in looks.items():
        found = scores.brief(scores.measure(matte, cases))
        print(f"the network alone{name}:", ", ".join(f"{k} {v:.4f}" for k, v in found.items()))
    print("64-colour dithered GIF, IoU lost:", scores.drops(plain, scores.measure(whole, cases, heldout.as_gif)))
    print("JPEG of quality 30, IoU lost:", scores.drops(plain, scores.measure(whole, cases, heldout.as_jpeg)))
    moving = list(clips.clips(pack, a.moving))
    for name, mattes in ways(a, run):
        overlap, flicker = clips.measure(moving, mattes)
        print(f"clips, {name}: IoU {overlap:.4f}, dtSSD {flicker:.2f}")
    if a.program and a.short == run.short:
        filmed(a, pack)
    if a.checkpoint:
        compare(a, run, cases)
    print(f"320×320: {milliseconds(a.onnx, 1):.1f} ms on one thread, {milliseconds(a.onnx, 2):.1f} ms on two\n")
    print("\n".join(scores.floors(plain)))


if __name__ == "__main__":
    main()
