"""Trains the network, for a number of minutes or to the end of its plan.

    python train.py pack.zip run --minutes 9

The next call continues from run/checkpoint.pt, here or on another machine.
run/log.jsonl gets a line every half minute, and the metrics every few minutes.
Training uses a GPU if there is one, for which other processes draw the samples (drawers.py),
otherwise one process per core (crew.py). Each drawn batch is learnt from several times (echo.py).
SIGTERM and SIGINT end a run with a checkpoint.
"""

import argparse
import functools
import json
import os
import pathlib
import signal
import time

import torch

import checkpoint
import crew
import drawers
import echo
import heldout
import infer
import muon
import scores
from compose import Composer
from draw import Dice
from loss import total_loss
from net import WIDTHS, Net, count, runner
from pack import Pack
from schedule import Schedule

PLAN = "96:300000,160:120000,256:40000"


def parser(doc):
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("pack", type=pathlib.Path)
    p.add_argument("run", type=pathlib.Path, help="folder of the checkpoint and the log")
    p.add_argument("--minutes", type=float, help="end with a checkpoint after this time, including reading the pack")
    p.add_argument("--plan", help=f"SIZE:SAMPLES,… or SIZE:SECONDSs,… (default {PLAN}, or the checkpoint's)")
    p.add_argument("--widths", type=widths, help=f"channels of the levels (default {WIDTHS}, or the checkpoint's)")
    p.add_argument("--again", action="store_true", help="begin --plan, or the default one, with the existing weights")
    p.add_argument("--rate", type=float, default=2e-3, help="highest learning rate")
    p.add_argument("--pixels", type=int, help="pixels a batch, default 110000 a process on CPU, 4000000 on GPU")
    p.add_argument("--processes", type=int, help="processes that train together on CPU, default one per core, or draw for a GPU, default 5")
    p.add_argument("--times", type=int, default=3, help="how often each drawn batch is learnt from")
    p.add_argument("--bfloat16", action="store_true", help="compute in bfloat16 on CPU, too: quicker where the processor can")
    p.add_argument("--strength", type=float, default=1.0, help="strength of colour changes and degradations, 0 to 1")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--without", action="append", default=[], metavar="SOURCE", help="leave a source out; repeatable")
    p.add_argument("--metrics", type=float, default=6, help="minutes between metrics")
    p.add_argument("--most", type=int, default=12, help="held-out pictures of each source for metrics")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p


def widths(text):
    """Channels of the levels, from text such as "24,32,64,96,128"."""
    found = tuple(int(v) for v in text.split(","))
    if len(found) != len(WIDTHS) or any(v <= 0 or v % 8 for v in found):
        raise argparse.ArgumentTypeError(f"want {len(WIDTHS)} multiples of 8")
    return found


class Trainer:
    """Network, its running average, optimiser and samples of one run."""

    network, composer = Net, Composer

    def __init__(self, a, crew):
        self.a, self.crew = a, crew
        self.begin = time.monotonic()
        self.device = torch.device(a.device)
        self.gpu = self.device.type == "cuda"
        a.run.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(a.seed)
        last = checkpoint.load(a.run / "checkpoint.pt", self.device)
        self.widths = a.widths or (last.widths if last else WIDTHS)
        self.net, self.average = (self.network(self.widths).to(self.device, memory_format=torch.channels_last) for _ in range(2))
        self.average.eval()
        self.average.load_state_dict(self.net.state_dict())
        self.seen = self.before = 0
        self.place = self.seconds = 0.0
        self.numbers = [numbers(net) for net in (self.average, self.net)]
        self.optimiser = muon.Muon(muon.groups(self.net), a.rate)
        self.dice = self.fresh_dice()
        plan = self.resume(last) if last else None
        self.plan = a.plan or plan or PLAN
        self.schedule = Schedule.read(self.plan)
        self.asked = False  # this process alone has been asked to stop
        self.stop = False  # all processes have agreed to stop
        self.ready = []  # drawn batches that were not given to echo yet

    def resume(self, s):
        """Restores a checkpoint's state and returns its plan, or with --again its weights alone, and None."""
        self.net.load_state_dict(s.net)
        self.average.load_state_dict(s.average)
        self.seconds = s.seconds
        if self.a.again:
            self.before = s.before + s.seen
        else:
            self.seen, self.before, self.place = s.seen, s.before, s.place
            self.optimiser.load_state_dict(s.optimiser)
        self.dice = self.fresh_dice()
        if self.a.again:
            return None
        if s.device == self.device.type and self.crew.rank == 0:
            self.dice.generator.set_state(s.dice)
        return s.plan

    def fresh_dice(self):
        return Dice(self.device, self.seed(self.crew.rank))

    def seed(self, process):
        """That of a different random sequence for each process and each continued run."""
        return self.a.seed + self.before + self.seen + 7919 * process

    def save(self):
        state = checkpoint.State(
            net=self.net.state_dict(),
            average=self.average.state_dict(),
            optimiser=self.optimiser.state_dict(),
            dice=self.dice.generator.get_state(),
            device=self.device.type,
            plan=self.plan,
            seen=self.seen,
            before=self.before,
            seconds=self.seconds,
            widths=self.widths,
            place=self.place,
        )
        checkpoint.save(self.a.run / "checkpoint.pt", state)

    def load(self):
        """Reads the pack into the device's memory."""
        self.pack = Pack(self.a.pack, set(self.a.without))
        self.pixels = self.a.pixels or (4_000_000 if self.gpu else 110_000)
        if self.gpu:
            seeds = [self.seed(k) for k in range(self.a.processes or 5)]
            self.drawers = drawers.Drawers(self.composer, self.a, seeds, self.pixels, self.net.stem.conv.in_channels)
            self.drawers.start(self.schedule.size(self.place))
        else:
            self.drawn = self.composer.of(self.pack, self.dice, self.a.strength)
        self.echo = echo.Echo(self.drawers.batch if self.gpu else self.draw, self.a.times, self.seed(self.crew.rank))
        self.cases = self.held()

    def held(self):
        """What metrics is measured on."""
        return list(heldout.cases(self.pack, self.a.most))

    def fresh(self):
        """Readies a run that nothing was learnt in yet."""

    @torch.no_grad()
    def draw(self, size):
        """The bytes of the next batch that a CPU draws. It draws several at once, which is cheaper."""
        if not self.ready:
            n = max(4, round(self.pixels / size**2))
            self.ready = list(echo.whole(self.drawn.batch(4 * n, size)).split(n))
        return self.ready.pop()

    def samples(self):
        """The next batch."""
        return self.echo.batch(self.schedule.size(self.place))

    def narrow(self):
        """bfloat16 where it is fast."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.gpu or self.a.bfloat16)

    def step(self):
        """Learns from one batch of each process; returns this process's loss, still on the device."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.a.rate * self.schedule.rate(self.place)
        batch = self.samples()
        picture = batch.picture.contiguous(memory_format=torch.channels_last)
        with self.narrow():
            outputs = self.net(picture)
        loss = total_loss([o.float() for o in outputs], batch.matte, batch.weight)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        drawn, stops, milliseconds = self.crew.share(self.net.parameters(), len(picture), self.asked, self.clock())
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.seen += drawn
        self.place += milliseconds / 1000 if self.schedule.timed else drawn
        self.stop = stops > 0
        self.follow()
        return loss.detach()

    def clock(self):
        """Milliseconds since the step before, of the first process: all must have the same."""
        before, self.now = self.now, time.monotonic()
        return round(1000 * (self.now - before)) if self.crew.rank == 0 else 0

    @torch.no_grad()
    def follow(self):
        """Moves the running average of the weights, more slowly as training proceeds."""
        samples = self.before + self.seen
        decay = min(0.9995, (1 + samples / 64) / (10 + samples / 64))
        torch._foreach_lerp_(*self.numbers, 1 - decay)

    def write(self, **facts):
        line = {"minutes": round(self.seconds / 60, 2), "samples": self.before + self.seen, **facts}
        with open(self.a.run / "log.jsonl", "a") as f:
            f.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def metrics(self):
        short = min(max(self.schedule.size(self.place) // 32 * 32, 96), 256)
        run = runner(self.average, self.device)
        found = scores.measure(lambda picture: infer.matte(run, picture, short), self.cases)
        self.write(short=short, **{k: round(v, 4) for k, v in scores.brief(found).items()})

    def run(self):
        """Trains until the plan is finished, the time is up or a stop is requested."""
        book = Book(self)
        self.now = time.monotonic()
        while not self.stop and self.place < self.schedule.length:
            loss = self.step()
            if self.crew.rank == 0:
                book.note(loss)
                self.asked |= bool(self.a.minutes) and time.monotonic() - self.begin > 60 * self.a.minutes
        if self.crew.rank == 0:
            self.save()
            if self.gpu:
                self.drawers.end()
            self.metrics()


class Book:
    """The records that the first process writes during training: log lines, checkpoints, metrics."""

    def __init__(self, trainer):
        self.trainer = trainer
        self.last = self.told = self.saved = self.tested = time.monotonic()
        self.losses, self.seen = [], trainer.seen

    def note(self, loss):
        """Records a step's loss, and does due work."""
        t, now = self.trainer, time.monotonic()
        t.seconds, self.last = t.seconds + now - self.last, now
        self.losses.append(loss)
        if now - self.told > 30:
            rate = t.optimiser.param_groups[0]["lr"]
            speed = (t.seen - self.seen) / (now - self.told)
            t.write(size=t.schedule.size(t.place), loss=round(float(torch.stack(self.losses).mean()), 4),
                    rate=float(f"{rate:.3g}"), speed=round(speed, 1))  # fmt: skip
            self.told, self.losses, self.seen = now, [], t.seen
        if now - self.saved > 120:
            t.save()
            self.saved = now
        if now - self.tested > 60 * t.a.metrics:
            t.metrics()
            self.tested = self.told = self.last = time.monotonic()
            self.losses, self.seen = [], t.seen


def numbers(net):
    """Weights and batch statistics."""
    return [v for v in net.state_dict().values() if v.is_floating_point()]


def work(a, kind, crew):
    """The whole training of one process, by a kind of Trainer."""
    if crew.size > 1:
        torch.set_num_threads(1)
    trainer = kind(a, crew)

    def end(*_):
        trainer.asked = True

    signal.signal(signal.SIGTERM, end)
    if crew.rank == 0:
        signal.signal(signal.SIGINT, end)
        print(f"{count(trainer.net)} weights, {crew.size} × {a.device}, plan {trainer.plan}, {trainer.seen} seen", flush=True)
    trainer.load()
    if trainer.before + trainer.seen == 0:
        trainer.fresh()
        crew.agree(trainer.net)
        crew.agree(trainer.average)
    trainer.run()


def begin(a, kind):
    """Trains as the command line a says."""
    size = 1 if a.device.startswith("cuda") else a.processes or len(os.sched_getaffinity(0))
    crew.start(functools.partial(work, a, kind), size)


def main():
    begin(parser(__doc__).parse_args(), Trainer)


if __name__ == "__main__":
    main()
