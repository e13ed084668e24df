"""Several processes that train one network together.

On a CPU two processes of one thread each learn 1.6 times as much as one of two threads:
most of the work is in operations too small to be shared out. Each draws batches of its own;
before every step all take the mean of their gradients, so their weights stay the same. Batch
statistics are each one's own, and those of the first are kept.
"""

import signal
import tempfile

import torch
from torch import distributed, multiprocessing


class Crew:
    """One process's place among `size`; rank 0 is the one that was started by hand."""

    def __init__(self, rank=0, size=1, meeting=None):
        self.rank, self.size = rank, size
        if size > 1:
            distributed.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=size)

    def share(self, parameters, *numbers):
        """Makes the gradients the mean of all processes', and returns the sums of numbers."""
        if self.size == 1:
            return numbers
        grads = [p.grad for p in parameters]
        flat = torch.cat([g.reshape(-1) for g in grads] + [torch.tensor(numbers, dtype=torch.float32)])
        distributed.all_reduce(flat)
        mean = flat[: -len(numbers)] / self.size
        parts = mean.split([g.numel() for g in grads])
        torch._foreach_copy_(grads, [part.view_as(g) for part, g in zip(parts, grads)])
        return [round(v) for v in flat[-len(numbers) :].tolist()]


def start(work, size):
    """Runs work(crew) in `size` processes, this one among them, until all are done."""
    if size == 1:
        work(Crew())
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"{folder}/meeting"
        context = multiprocessing.get_context("spawn")
        others = [context.Process(target=follow, args=(work, rank, size, meeting), daemon=True) for rank in range(1, size)]
        for p in others:
            p.start()
        work(Crew(0, size, meeting))
        for p in others:
            p.join()
            if p.exitcode:
                raise SystemExit(f"a process of the crew ended with {p.exitcode}")


def follow(work, rank, size, meeting):
    """The other processes' main: only the first one is told to stop, and tells them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(Crew(rank, size, meeting))
