"""The size of pictures and the learning rate over the course of training."""

import dataclasses
import math


@dataclasses.dataclass
class Schedule:
    """Stages of growing pictures, read from text such as "96:200000,160:80000" or "192:90s,256:400s".

    A plan is measured in samples, or with "s" in seconds, which suits a machine that is lent.
    A place in a plan is the number of these that are past.
    """

    stages: list  # of (size, samples or seconds)
    timed: bool = False

    @classmethod
    def read(cls, text):
        stages = [part.split(":") for part in text.split(",")]
        timed = {n.endswith("s") for _, n in stages}
        if len(timed) > 1:
            raise ValueError(f"plan {text}: all stages have seconds, or none has")
        return cls([(int(size), int(n.removesuffix("s"))) for size, n in stages], timed.pop())

    @property
    def length(self):
        return sum(n for _, n in self.stages)

    def size(self, place):
        """The size for the next sample at a place."""
        for size, n in self.stages:
            if place < n:
                return size
            place -= n
        return self.stages[-1][0]

    def progress(self, place):
        """Share of the finished work, counted in pixels or in time, 0 to 1."""
        done = total = 0
        for size, n in self.stages:
            work = 1 if self.timed else size**2
            done += work * min(max(place, 0), n)
            total += work * n
            place -= n
        return done / total

    def rate(self, place, warm=0.03, last=0.01):
        """Factor of the learning rate: a short rise, then a fall along half a cosine."""
        p = self.progress(place)
        if p < warm:
            return max(p / warm, 0.02)
        return last + (1 - last) * 0.5 * (1 + math.cos(math.pi * (p - warm) / (1 - warm)))
