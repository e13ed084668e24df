"""Scores of networks on held-out pictures, by picture, source and family."""

import numpy as np

import metrics

# Families of subjects that are placed on photographs.
COMPOSITES = ("emoji", "characters", "objects")

# The bounds that the default network must meet: metric, family, bound.
FLOORS = [("iou", "people", 0.88), ("iou", "pets", 0.80), ("iou", "emoji", 0.88), ("iou", "objects", 0.88),
          ("iou", "characters", 0.88), ("mae", "all", 0.06), ("f", "all", 0.65), ("mean", "empty", 0.02)]  # fmt: skip


def measure(matte, cases, change=None):
    """A list of dicts, one per case: name, source, family, iou, mae, f (None if not sharp), mean.

    matte gives that of a uint8 picture, which change may change before.
    """
    return [judge(case, matte(change(case.picture) if change else case.picture)) for case in cases]


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
    """Mean of one number over the cases that have it."""
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
    """A readable table: sources within families, families, all."""
    yield f"{'':22}{'n':>5}{'IoU':>8}{'MAE':>8}{'F':>8}"
    for family, part in by(subjects(found), "family").items():
        for source, some in by(part, "source").items():
            yield row(f"  {source}", some)
        yield row(family, part)
    yield row("composites", [f for f in found if f["family"] in COMPOSITES])
    yield row("all", subjects(found))
    empty = by(found, "family").get("empty", [])
    largest = max((f["mean"] for f in empty), default=0)
    yield f"empty: {len(empty)} pictures, mean alpha {average(empty, 'mean'):.4f}, largest {largest:.4f}"


def drops(plain, changed):
    """The loss of IoU from a degradation, by family."""
    a, b = brief(plain), brief(changed)
    return ", ".join(f"{k} {a[k] - b[k]:+.4f}" for k in a if k not in ("empty", "mae", "f"))


def floors(found):
    """Lines that say which of the required bounds are met."""
    groups = by(found, "family") | {"all": subjects(found)}
    for key, family, bound in FLOORS:
        value = average(groups.get(family, []), key)
        good = value >= bound if key in ("iou", "f") else value <= bound
        yield f"{'reached' if good else 'MISSED ':8} {family} {key} {value:.4f}, floor {bound}"
