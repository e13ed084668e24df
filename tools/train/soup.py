"""Mixes the averaged weights of checkpoints of one training into another checkpoint.

    python soup.py mixed.pt last.pt=0.8 earlier.pt=0.2

The mean of networks that continued from each other's weights is often better than each of
them, at the cost of one (Wortsman et al., "Model soups", ICML 2022). Everything except the
weights comes from the first checkpoint. To continue training, use that one itself.
"""

import argparse
import pathlib

import checkpoint


def part(text):
    """Path and share of a checkpoint, from text such as "run/checkpoint.pt=0.8"."""
    path, _, share = text.rpartition("=")
    if not path or not 0 < float(share) <= 1:
        raise argparse.ArgumentTypeError("want FILE=SHARE, a share over 0 and at most 1")
    return pathlib.Path(path), float(share)


def mean(weights, shares):
    """Makes the first of weights, dicts of tensors by name, the mean of all, each by its share."""
    total = sum(shares)
    for name, value in weights[0].items():
        if value.is_floating_point():
            value.copy_(sum(w[name] * (share / total) for w, share in zip(weights, shares)))


def mix(states, shares):
    """The first state with the average of all states, each by its share."""
    mean([s.average for s in states], shares)
    return states[0]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("mixed", type=pathlib.Path)
    p.add_argument("parts", type=part, nargs="+", metavar="FILE=SHARE")
    a = p.parse_args()
    states = [checkpoint.load(path) for path, _ in a.parts]
    for state, (path, _) in zip(states, a.parts):
        if state is None:
            p.error(f"{path} does not exist")
    checkpoint.save(a.mixed, mix(states, [share for _, share in a.parts]))


if __name__ == "__main__":
    main()
