"""Measures what clicks do to the program's mattes, on films of seeds that training does not see.

    python hinted.py pack.zip model.onnx --program bgremove

A thing is a subject, or something glued to the backdrop that looks like one. Where the program
by itself has less than half of a thing right, a click on its middle in the middle frame says
that it is wanted. A second click is on the middle of the largest error in the worst frame.
Where the program has more of a thing, a click keeps it. Where it has others as well, a click
drops it.

Other things hide parts of some of them, or cut them into pieces there. A click shows one piece. So
things that are in one, and those of which next to nothing is hidden, are also reported alone.
"""

import argparse
import pathlib
import types

import numpy as np

import film
import program
from evaluate import FILMED, overlap
from pack import Pack

VISIBLE = 400  # pixels of a thing in the middle frame
KEPT = 0.7  # the share of a thing that the program must keep, to be kept or dropped by a click
ALONE = 0.2  # of others, the program keeps less than this beside a thing that it has alone
HIDDEN = 0.1  # others hide no more than this share of a thing over the clip, if it is in the open
WHOLE = 0.9  # the share of a thing in the piece that is clicked, if it is in one


class Film:
    """A clip with the program's mattes of it by hints."""

    def __init__(self, a, pack, seed):
        self.a, clip = a, film.clip(pack, seed)
        self.frames = [types.SimpleNamespace(picture=p) for p in clip.pictures]
        self.things = clip.things / np.float32(255)
        self.hidden = 1 - clip.things.sum((0, 2, 3)) / np.maximum(clip.unhidden.sum((0, 2, 3)), 1)
        self.middle = len(self.frames) // 2

    def mattes(self, *hints):
        return np.stack(program.mattes(self.a.program.resolve(), self.a.onnx.resolve(), self.frames, *hints))

    def shown(self, k):
        """Whether a thing is in one piece in the middle frame, and whether it is in the open."""
        return whole(self.things[self.middle, k] > 0.5), self.hidden[k] <= HIDDEN

    def visible(self):
        return [k for k in range(self.things.shape[1]) if (self.things[self.middle, k] > 0.9).sum() >= VISIBLE]


def click(kind, mask, frame):
    """A hint on the place of a mask that is farthest from its edge."""
    y, x = innermost(mask)
    return f"--{kind}={x},{y}@{(frame + 0.5) / program.RATE}"


def beside(mask):
    """What the pixels above, below, left and right of each have in a mask."""
    p = np.pad(mask, 1)
    return p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]


def innermost(mask):
    area = mask
    while True:
        smaller = area & np.all(beside(area), 0)
        if not smaller.any():
            places = np.argwhere(area)
            return places[len(places) // 2]
        area = smaller


def whole(mask):
    """Whether a mask is nearly all in the piece that a click shows."""
    y, x = innermost(mask)
    piece = np.zeros_like(mask)
    piece[y, x] = True
    size = 0
    while piece.sum() > size:
        size = piece.sum()
        piece = mask & (piece | np.any(beside(piece), 0))
    return size >= WHOLE * mask.sum()


def correction(found, truth):
    """The hint on the largest error of the worst frame."""
    both, either = ((found > 0.5) & (truth > 0.5)).sum((1, 2)), ((found > 0.5) | (truth > 0.5)).sum((1, 2))
    t = int(np.where(either > 0, both / np.maximum(either, 1), 1).argmin())
    missing, extra = (truth[t] > 0.5) & (found[t] <= 0.5), (truth[t] <= 0.5) & (found[t] > 0.5)
    if not missing.any() and not extra.any():
        return None
    kind, mask = ("keep", missing) if missing.sum() >= extra.sum() else ("drop", extra)
    return click(kind, mask, t)


def wanted(f, found, k):
    """Whether a thing is in one piece and in the open, and its IoU by itself, by one click and by two; None where the program has it."""
    truth = f.things[:, k]
    before = overlap(found, truth)
    if before >= 0.5:
        return None
    first = click("keep", truth[f.middle] > 0.5, f.middle)
    one = f.mattes(first)
    second = correction(one, truth)
    two = f.mattes(first, second) if second else one
    return *f.shown(k), before, overlap(one, truth), overlap(two, truth)


def right(f, found, k):
    """Whether the program has a thing alone, its IoU by itself, and by a click; None where it has too little of it."""
    truth = f.things[:, k]
    thing = truth > 0.5
    others = (f.things.sum(1) > 0.5) & ~thing
    if found[thing].mean() < KEPT:
        return None
    one = f.mattes(click("keep", thing[f.middle], f.middle))
    return not others.any() or found[others].mean() < ALONE, overlap(found, truth), overlap(one, truth)


def unwanted(f, found, k):
    """Whether a thing is in one piece and in the open, and the alpha that a click removes of it, that it had, and of the others; None where there is no such case."""
    thing = f.things[:, k] > 0.5
    others = (f.things.sum(1) > 0.5) & ~thing
    if not others.any() or min(found[thing].mean(), found[others].mean()) < KEPT:
        return None
    left = f.mattes(click("drop", thing[f.middle], f.middle))
    gone = found - np.minimum(left, found)
    return *f.shown(k), gone[thing].sum(), found[thing].sum(), gone[others].sum(), found[others].sum()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("onnx", type=pathlib.Path)
    p.add_argument("--program", type=pathlib.Path, required=True)
    p.add_argument("--things", type=int, default=24, help="how many of each kind to measure")
    p.add_argument("--seed", type=int, default=FILMED, help="of the first film")
    a = p.parse_args()
    pack, seed, clicks, kept, drops = Pack(a.pack), a.seed, [], [], []
    while len(clicks) < a.things or len(drops) < a.things // 3:
        f = Film(a, pack, seed)
        seed += 1
        shown = f.visible()
        found = f.mattes() if shown else None
        for k in shown:
            if len(clicks) < a.things and (row := wanted(f, found, k)):
                clicks.append(row)
            if len(kept) < a.things and (row := right(f, found, k)):
                kept.append(row)
            if len(drops) < a.things // 3 and (row := unwanted(f, found, k)):
                drops.append(row)
        report(seed - a.seed, clicks, kept, drops)


def report(films, clicks, kept, drops):
    """Prints the means so far, of all things, of those in one piece and of those in the open."""
    print(f"{films} films", flush=True)
    for about, rows in groups(clicks):
        before, one, two = rows[:, 2:].mean(0)
        print(f"  {len(rows)} things{about} of less than half: IoU {before:.3f}, by a click {one:.3f}, by two {two:.3f}", flush=True)
    for about, rows in (("alone", [r for r in kept if r[0]]), ("with others", [r for r in kept if not r[0]])):
        if rows:
            _, before, one = np.mean(rows, 0)
            print(f"  {len(rows)} things that are kept {about}: IoU {before:.3f}, by a click {one:.3f}", flush=True)
    for about, rows in groups(drops):
        gone, had, lost, others = rows[:, 2:].T
        shares = f"{(gone / had).mean():.3f} of them, and {(lost / others).mean():.3f} of the others"
        print(f"  {len(rows)} things{about} beside others: a click removes {shares} ({lost.sum() / others.sum():.3f} of all their alpha)", flush=True)


def groups(rows):
    """All rows, and those of things in one piece and in the open, as arrays with their name, if there are any."""
    for about, some in (("", rows), (" in one piece", [r for r in rows if r[0]]), (" in the open", [r for r in rows if r[1]])):
        if some:
            yield about, np.array(some)


if __name__ == "__main__":
    main()
