"""Several processes that train one network together.

On a CPU several processes of one thread learn more than one of several threads (README.md):
most of the work is in operations too small to share. Each process draws its own batches.
Before every step all take the mean of their gradients, so that their weights stay equal.
Each has its own batch statistics; those of the first process are kept.
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
        """Replaces the gradients by their mean over all processes, and returns the sums of numbers."""
        if self.size == 1:
            return numbers
        grads = [p.grad for p in parameters]
        flat = torch.cat([g.reshape(-1) for g in grads] + [torch.tensor(numbers, dtype=torch.float32)])
        distributed.all_reduce(flat)
        mean = flat[: -len(numbers)] / self.size
        parts = mean.split([g.numel() for g in grads])
        torch._foreach_copy_(grads, [part.view_as(g) for part, g in zip(parts, grads)])
        return [round(v) for v in flat[-len(numbers) :].tolist()]

    @torch.no_grad()
    def agree(self, net):
        """Gives net the first process's weights and batch statistics."""
        if self.size == 1:
            return
        for v in net.state_dict().values():
            distributed.broadcast(v, 0)


def start(work, size):
    """Runs work(crew) in `size` processes, including this one, until all have finished."""
    if size == 1:
        work(Crew())
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"{folder}/meeting"
        context = multiprocessing.get_context("spawn")
        others = [context.Process(target=follow, args=(work, rank, size, meeting), daemon=True) for rank in range(1, size)]
        for p in others:
            p.start()
        try:
            work(Crew(0, size, meeting))
        except BaseException:  # the others wait for this process, and take SIGTERM for a wish to stop
            for p in others:
                p.kill()
                p.join()
            raise
        finally:
            if distributed.is_initialized():
                distributed.destroy_process_group()
        for p in others:
            p.join()
            if p.exitcode:
                raise SystemExit(f"a process of the crew ended with {p.exitcode}")


def follow(work, rank, size, meeting):
    """The main function of the other processes. Only the first process is told to stop, and it tells them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(Crew(rank, size, meeting))
