"""Learns from each drawn batch several times.

Drawing a batch takes about as long as learning from it, on a GPU longer. So each is given several
times, with others between (D. Choi et al., "Faster Neural Network Training with Data Echoing",
2019).
"""

import random

import torch

from compose import Batch

KEPT = 24  # batches that are given several times, at once


def whole(batch):
    """A Batch as bytes [n, channels of its pictures + 2, h, w]: in none of them is a value finer than 1/255."""
    return (torch.cat([batch.picture, batch.matte, batch.weight], 1) * 255).round().byte()


class Echo:
    """Gives each batch as often as times says, every second time mirrored.

    fresh(size) draws the bytes of a new one.
    """

    def __init__(self, fresh, times, seed):
        self.fresh, self.times = fresh, times
        self.kept, self.random = [], random.Random(seed)

    def batch(self, size):
        """The next Batch, of that size, unless it was drawn before."""
        if len(self.kept) < (KEPT if self.times > 1 else 1):
            self.kept.append((self.fresh(size), 0))
        place = self.random.randrange(len(self.kept))
        drawn, given = self.kept[place]
        if given + 1 < self.times:
            self.kept[place] = drawn.flip(3), given + 1
        else:
            self.kept.pop(place)
        drawn = drawn / 255
        return Batch(drawn[:, :-2], drawn[:, -2:-1], drawn[:, -1:])
