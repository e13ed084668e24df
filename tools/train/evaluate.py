"""Measures a network on held-out pictures.

    python evaluate.py pack.zip model.onnx --checkpoint run/checkpoint.pt

Prints, for each source and family: IoU at 0.5, mean absolute error (MAE), and the
F-measure of outlines within 2 pixels where the longer side has 320 (F); the mean
alpha of pictures without a subject; what 64-colour dithered GIFs and strong JPEG
cost; and with a checkpoint how far ONNX Runtime's mattes are from PyTorch's. The
network sees pictures as the Go program brings them to it.
"""

import argparse
import pathlib
import time

import numpy as np

import clips
import heldout
import infer
import metrics
from data import Pack

# The least that the default network must reach: metric, family, bound.
FLOORS = [("iou", "people", 0.88), ("iou", "pets", 0.80), ("iou", "emoji", 0.88), ("iou", "objects", 0.88),
          ("iou", "characters", 0.88), ("mae", "all", 0.06), ("f", "all", 0.65), ("mean", "empty", 0.02)]  # fmt: skip


def measure(run, cases, short, change=None):
    """A list of dicts, one a case: name, source, family, iou, mae, f (None if not sharp), mean."""
    return [judge(case, infer.matte(run, change(case.picture) if change else case.picture, short)) for case in cases]


def judge(case, m):
    return {
        "name": case.name,
        "source": case.source,
        "family": case.family,
        "iou": metrics.iou(m, case.matte, case.known),
        "mae": metrics.mae(m, case.matte, case.known),
        "f": metrics.boundary_f(m, case.matte) if case.sharp else None,
        "mean": float(m.mean()),
    }


def average(found, key):
    """Mean of one number over cases that have it."""
    values = [f[key] for f in found if f[key] is not None]
    return float(np.mean(values)) if values else float("nan")


def by(found, field):
    groups = {}
    for f in found:
        groups.setdefault(f[field], []).append(f)
    return groups


def subjects(found):
    return [f for f in found if f["family"] != "empty"]


def brief(found):
    """IoU of each family and of all, the mean alpha of empty pictures, MAE and F."""
    groups = by(found, "family")
    out = {k: average(v, "mean" if k == "empty" else "iou") for k, v in groups.items()}
    full = subjects(found)
    return out | {"all": average(full, "iou"), "mae": average(full, "mae"), "f": average(full, "f")}


def row(name, found):
    """One line of the table."""
    return f"{name:22}{len(found):5d}{average(found, 'iou'):8.3f}{average(found, 'mae'):8.4f}{average(found, 'f'):8.3f}"


def table(found):
    """Lines for people to read: sources within families, families, all."""
    yield f"{'':22}{'n':>5}{'IoU':>8}{'MAE':>8}{'F':>8}"
    for family, part in by(subjects(found), "family").items():
        for source, some in by(part, "source").items():
            yield row(f"  {source}", some)
        yield row(family, part)
    yield row("all", subjects(found))
    empty = by(found, "family").get("empty", [])
    largest = max((f["mean"] for f in empty), default=0)
    yield f"empty: {len(empty)} pictures, mean alpha {average(empty, 'mean'):.4f}, largest {largest:.4f}"


def drops(plain, changed):
    """What a degradation costs in IoU, by family."""
    a, b = brief(plain), brief(changed)
    return ", ".join(f"{k} {a[k] - b[k]:+.4f}" for k in a if k not in ("empty", "mae", "f"))


def floors(found):
    """Lines that say which floors are reached."""
    groups = by(found, "family") | {"all": subjects(found)}
    for key, family, bound in FLOORS:
        value = average(groups.get(family, []), key)
        good = value >= bound if key in ("iou", "f") else value <= bound
        yield f"{'reached' if good else 'MISSED ':8} {family} {key} {value:.4f}, floor {bound}"


def agreement(run, other, cases, short):
    """Largest and mean difference of two networks' mattes, and of their IoU."""
    worst, total, gap = 0.0, 0.0, 0.0
    for case in cases:
        picture = infer.resize(case.picture, infer.fit(*case.picture.shape[1::-1], short))
        a, b = run(picture), other(picture)
        worst, total = max(worst, float(np.abs(a - b).max())), total + float(np.abs(a - b).mean())
        big = [infer.enlarge(m, *case.picture.shape[1::-1]) for m in (a, b)]
        gap += metrics.iou(big[0], case.matte, case.known) - metrics.iou(big[1], case.matte, case.known)
    return worst, total / len(cases), gap / len(cases)


def onnx_runner(path, threads=1):
    """A function from a uint8 picture at network size to its matte [h, w]."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    return lambda picture: session.run(None, {"pixels": picture[None]})[0][0, :, :, 0]


def milliseconds(path, threads, side=320, runs=30):
    """Median time of one picture of side² pixels."""
    run = onnx_runner(path, threads)
    picture = np.zeros((side, side, 3), np.uint8)
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        run(picture)
        times.append(1000 * (time.perf_counter() - begin))
    return float(np.median(times))


def compare(a, run, cases):
    """ONNX against PyTorch."""
    import checkpoint
    import export

    net = export.network(checkpoint.load(a.checkpoint))
    worst, mean, gap = agreement(run, infer.torch_runner(net), cases, a.short)
    print(f"ONNX against PyTorch: largest difference {worst * 255:.2f}/255, mean {mean * 255:.4f}/255, mean IoU {gap:+.6f}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("--checkpoint", type=pathlib.Path, help="compare with this checkpoint in PyTorch")
    p.add_argument("--short", type=int, default=256, help="short side that pictures are brought to")
    p.add_argument("--most", type=int, default=60, help="pictures of each source")
    a = p.parse_args()
    pack = Pack(a.pack)
    cases = list(heldout.cases(pack, a.most))
    run = onnx_runner(a.onnx, 2)
    plain = measure(run, cases, a.short)
    print(f"{len(cases)} held-out pictures at a short side of {a.short}\n")
    print("\n".join(table(plain)))
    print("64-colour dithered GIF, IoU lost:", drops(plain, measure(run, cases, a.short, heldout.as_gif)))
    print("JPEG of quality 30, IoU lost:", drops(plain, measure(run, cases, a.short, heldout.as_jpeg)))
    overlap, flicker = clips.measure(run, list(clips.clips(pack)), a.short)
    print(f"clips, frame by frame: IoU {overlap:.4f}, dtSSD {flicker:.2f}")
    if a.checkpoint:
        compare(a, run, cases)
    print(f"320×320: {milliseconds(a.onnx, 1):.1f} ms on one thread, {milliseconds(a.onnx, 2):.1f} ms on two\n")
    print("\n".join(floors(plain)))


if __name__ == "__main__":
    main()
