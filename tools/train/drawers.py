"""Processes that draw samples for the one that trains, so that a GPU is kept busy.

Most of the time of drawing is that of a processor, which starts many small operations. Batches
come back as bytes in files that are mapped into memory: in none of them is a value finer than
1/255.
"""

import os
import queue
import signal
import tempfile

import torch
from torch import multiprocessing

from draw import Dice
from echo import whole
from pack import Pack

SLOTS = 2  # batches that wait, of each process
MARGIN = 2.0  # room for a batch beside its pixels: the sides of its canvas and the number of samples are rounded
FEWEST = 4  # samples of a batch


class Drawers:
    """Processes that draw batches of about so many pixels with a kind of Composer.

    There is a process for each of seeds. channels are those of its pictures. start begins with
    pictures of a size.
    """

    def __init__(self, composer, a, seeds, pixels, channels):
        context = multiprocessing.get_context("spawn")
        self.folder = tempfile.TemporaryDirectory()
        self.size = context.Value("i", 0)
        self.full = context.Queue()
        self.free = [context.Queue() for _ in seeds]
        self.pixels, self.channels, self.device = pixels, channels + 2, a.device
        self.room = round(MARGIN * pixels * self.channels)
        self.slots = [[slot(p, self.room) for p in self.paths(k)] for k in range(len(seeds))]
        about = self.size, self.full, composer, a, pixels
        self.crew = [context.Process(target=work, args=(k, seed, self.paths(k), self.room, self.free[k], *about), daemon=True)
                     for k, seed in enumerate(seeds)]  # fmt: skip
        for free in self.free:
            for s in range(SLOTS):
                free.put(s)

    def end(self):
        for p in self.crew:
            p.terminate()
            p.join()
        self.folder.cleanup()

    def paths(self, k):
        """Those of the slots of process k."""
        return [os.path.join(self.folder.name, f"{k}-{s}") for s in range(SLOTS)]

    def start(self, size):
        self.ask(size)
        for p in self.crew:
            p.start()

    def ask(self, size):
        """Sets the size of the batches that are not begun yet."""
        if size**2 * FEWEST > self.pixels:
            raise SystemExit(f"{self.pixels} pixels are fewer than {FEWEST} pictures of {size}²")
        self.size.value = size

    def batch(self, size):
        """The bytes (echo.whole) of the next batch, on the device, of that size, unless it was begun before."""
        self.ask(size)
        k, s, shape = self.taken()
        drawn = self.slots[k][s][: shape[0] * self.channels * shape[1] * shape[2]]
        drawn = drawn.view(shape[0], self.channels, *shape[1:]).to(self.device, copy=True)
        self.free[k].put(s)
        return drawn

    def taken(self):
        while True:
            try:
                return self.full.get(timeout=10)
            except queue.Empty:
                if any(p.exitcode for p in self.crew):
                    raise SystemExit("a process that draws samples has ended") from None


def samples(pixels, size):
    """How many samples of a size a batch of about so many pixels has."""
    return round(pixels / size**2)


def slot(path, room):
    return torch.from_file(path, shared=True, size=room, dtype=torch.uint8)


def work(k, seed, paths, room, free, size, full, composer, a, pixels):
    """The work of process k. Ctrl-C is for the process that trains: it ends with a checkpoint, and ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    device = torch.device(a.device)
    slots = [slot(p, room) for p in paths]
    drawn = composer.of(Pack(a.pack, set(a.without)), Dice(device, seed), a.strength)
    while True:
        s, side = free.get(), size.value  # which the other process may change at any time
        with torch.no_grad():
            try:
                batch = whole(drawn.batch(samples(pixels, side), side))
            except torch.OutOfMemoryError:  # others have it for now
                torch.cuda.empty_cache()
                free.put(s)
                continue
        slots[s][: batch.numel()] = batch.flatten().cpu()
        full.put((k, s, (len(batch), *batch.shape[2:])))
