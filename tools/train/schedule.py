"""The size of pictures and the learning rate over the course of training."""

import dataclasses
import math


@dataclasses.dataclass
class Schedule:
    """Stages of growing pictures, read from text such as "96:200000,160:80000"."""

    stages: list  # of (size, samples)

    @classmethod
    def read(cls, text):
        stages = [tuple(int(v) for v in part.split(":")) for part in text.split(",")]
        return cls(stages)

    @property
    def samples(self):
        return sum(n for _, n in self.stages)

    def size(self, seen):
        """The size for the sample after the first `seen`."""
        for size, n in self.stages:
            if seen < n:
                return size
            seen -= n
        return self.stages[-1][0]

    def progress(self, seen):
        """Share of the finished work, counted in pixels, 0 to 1."""
        done = total = 0
        for size, n in self.stages:
            done += size**2 * min(max(seen, 0), n)
            total += size**2 * n
            seen -= n
        return done / total

    def rate(self, seen, warm=0.03, last=0.01):
        """Factor of the learning rate: a short rise, then a fall along half a cosine."""
        p = self.progress(seen)
        if p < warm:
            return max(p / warm, 0.02)
        return last + (1 - last) * 0.5 * (1 + math.cos(math.pi * (p - warm) / (1 - warm)))
