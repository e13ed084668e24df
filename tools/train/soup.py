"""Mixes the averaged weights of checkpoints of one training into another checkpoint.

    python soup.py mixed.pt last.pt=0.8 earlier.pt=0.2

Networks that have gone on from each other's weights lie in one valley, and their mean
is often better than each, at the cost of one (Wortsman et al., "Model soups", ICML 2022).
All but the weights is the first checkpoint's; to train on, take that one itself.
"""

import argparse
import pathlib

import checkpoint


def part(text):
    """Path and share of a checkpoint, from text as "run/checkpoint.pt=0.8"."""
    path, _, share = text.rpartition("=")
    if not path or not 0 < float(share) <= 1:
        raise argparse.ArgumentTypeError("want FILE=SHARE, a share over 0 and at most 1")
    return pathlib.Path(path), float(share)


def mix(states, shares):
    """The first of the states, its average replaced by that of all, each by its share."""
    total = sum(shares)
    for name, value in states[0].average.items():
        if value.is_floating_point():
            value.copy_(sum(s.average[name] * (share / total) for s, share in zip(states, shares)))
    return states[0]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("mixed", type=pathlib.Path)
    p.add_argument("parts", type=part, nargs="+", metavar="FILE=SHARE")
    a = p.parse_args()
    states = [checkpoint.load(path) for path, _ in a.parts]
    for state, (path, _) in zip(states, a.parts):
        if state is None:
            p.error(f"{path} is not there")
    checkpoint.save(a.mixed, mix(states, [share for _, share in a.parts]))


if __name__ == "__main__":
    main()
