"""Tests of the training loop, its processes and its checkpoints: python -m unittest, in this folder."""

import functools
import json
import math
import multiprocessing
import os
import pathlib
import queue
import signal
import tempfile
import types
import unittest
import zipfile
from unittest import mock

import torch

import checkpoint
import crew
import drawers
import echo
import loss
import muon
import soup
import train
from compose import SHAPES, Batch, Composer
from net import Net
from schedule import Schedule


class Loss(unittest.TestCase):
    def test_right_is_better_than_wrong_and_unknown_counts_nothing(self):
        matte = torch.zeros(1, 1, 32, 32)
        matte[..., 8:24, 8:24] = 1
        weight = torch.ones_like(matte)
        right, wrong = (matte * 2 - 1) * 9, (1 - matte * 2) * 9
        self.assertLess(float(loss.matte_loss(right, matte, weight)), 0.02)
        self.assertGreater(float(loss.matte_loss(wrong, matte, weight)), 2)
        weight[..., :16] = 0
        half = torch.where(weight > 0, right, wrong)
        self.assertLess(float(loss.matte_loss(half, matte, weight)), 0.02)


class Plan(unittest.TestCase):
    def test_stages_and_rate(self):
        s = Schedule.read("96:100,160:50")
        self.assertEqual([s.size(n) for n in (0, 99, 100, 149, 150)], [96, 96, 160, 160, 160])
        self.assertEqual(s.progress(150), 1)
        self.assertLess(s.rate(150), 0.02)
        self.assertEqual(max(s.rate(n) for n in range(150)), s.rate(next(n for n in range(150) if s.progress(n) >= 0.03)))

    def test_seconds(self):
        s = Schedule.read("192:60s,256:120s")
        self.assertTrue(s.timed)
        self.assertEqual((s.size(59.5), s.size(60.2), s.length), (192, 256, 180))
        self.assertAlmostEqual(s.progress(90), 0.5)
        with self.assertRaisesRegex(ValueError, "seconds"):
            Schedule.read("192:60s,256:120")


class Optimiser(unittest.TestCase):
    def test_orthogonal(self):
        for shape in ((2, 8, 40), (2, 40, 8)):
            values = torch.linalg.svdvals(muon.orthogonal(torch.randn(*shape, generator=torch.manual_seed(1))))
            self.assertTrue(bool(((values > 0.6) & (values < 1.3)).all()), values)

    def test_every_weight_is_stepped_once(self):
        net = Net()
        parts = muon.groups(net)
        self.assertEqual(sorted(map(id, net.parameters())), sorted(id(p) for g in parts for p in g["params"]))
        before = [p.detach().clone() for p in net.parameters()]
        for p in net.parameters():
            p.grad = torch.randn_like(p)
        muon.Muon(parts, 1e-3).step()
        for p, b in zip(net.parameters(), before):
            self.assertTrue(0 < float((p.detach() - b).abs().mean()) < 3e-3, p.shape)

    def test_goes_on_from_a_checkpoint(self):
        def trained(part):
            torch.manual_seed(2)
            layer = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Conv2d(8, 8, 3), torch.nn.Conv2d(8, 1, 3))
            optimiser = muon.Muon(muon.groups(layer), 0.01)
            for n in range(8):
                if n == part:
                    state, optimiser = optimiser.state_dict(), muon.Muon(muon.groups(layer), 0.01)
                    optimiser.load_state_dict(state)
                optimiser.zero_grad()
                layer(torch.ones(2, 3, 9, 9)).square().mean().backward()
                optimiser.step()
            return layer[1].weight

        torch.testing.assert_close(trained(None), trained(4))


class Training(unittest.TestCase):
    def options(self, folder, *more):
        with mock.patch("sys.argv", ["train.py", "pack.zip", folder, "--device", "cpu", *more]):
            return train.parser(train.__doc__).parse_args()

    def test_goes_on_where_it_was_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            options = self.options(folder, "--plan", "96:64")
            first = train.Trainer(options, crew.Crew())
            first.seen = first.place = 40
            first.save()
            second = train.Trainer(options, crew.Crew())
        self.assertEqual((second.seen, second.place, second.plan), (40, 40, "96:64"))
        for a, b in zip(first.net.parameters(), second.net.parameters()):
            torch.testing.assert_close(a, b)

    def test_begins_a_plan_again_with_the_weights(self):
        for seen in (0, 40):  # restore.py's checkpoints have seen nothing
            with tempfile.TemporaryDirectory() as folder:
                first = train.Trainer(self.options(folder, "--plan", "192:1"), crew.Crew())
                first.seen = first.place = seen
                first.before = 7
                first.save()
                second = train.Trainer(self.options(folder, "--again"), crew.Crew())
            self.assertEqual((second.before, second.seen, second.place, second.plan), (7 + seen, 0, 0, train.PLAN))
            torch.testing.assert_close(second.net.head.weight, first.net.head.weight)


class Soup(unittest.TestCase):
    def test_shares(self):
        def state(value):
            kept = {"w": torch.full((2,), value), "n": torch.tensor(3)}
            return checkpoint.State({}, kept, {}, torch.zeros(1), "cpu", "64:1", 0, 0, 0)

        mixed = soup.mix([state(1.0), state(5.0)], [3, 1])
        torch.testing.assert_close(mixed.average["w"], torch.full((2,), 2.0))
        self.assertEqual(int(mixed.average["n"]), 3)


def share_gradients(folder, member):
    """The work of one process of a crew in the test below."""
    weight = torch.nn.Parameter(torch.zeros(3))
    weight.grad = torch.tensor([1.0, 2.0, 3.0]) * (member.rank + 1)
    sums = member.share([weight], 5 + member.rank, member.rank == 1)
    torch.save((weight.grad, sums), pathlib.Path(folder) / str(member.rank))


def fail_first(member):
    """The work of a crew whose first process fails while the other waits for it."""
    if member.rank == 0:
        raise ValueError("no more")
    signal.signal(signal.SIGTERM, lambda *_: None)  # as train.work does
    member.share([], 1)


class Crew(unittest.TestCase):
    def test_none_outlives_the_first(self):
        with self.assertRaisesRegex(ValueError, "no more"):
            crew.start(fail_first, 2)
        self.assertEqual(multiprocessing.active_children(), [])

    def test_all_have_the_mean_gradient_and_the_sums(self):
        with tempfile.TemporaryDirectory() as folder:
            crew.start(functools.partial(share_gradients, folder), 2)
            for rank in range(2):
                gradient, sums = torch.load(pathlib.Path(folder) / str(rank))
                torch.testing.assert_close(gradient, torch.tensor([1.5, 3.0, 4.5]))
                self.assertEqual(sums, [11, 1])


class Squares(Composer):
    """A composer that needs no pictures: a square of half the light is the subject."""

    def __init__(self, dice):
        self.dice = dice

    @classmethod
    def of(cls, pack, dice, strength):
        return cls(dice)

    def batch(self, n, size):
        matte = torch.zeros(n, 1, size, size)
        matte[:, :, : size // 2, : size // 2] = 1
        return Batch(matte.expand(-1, 3, -1, -1) * 0.5, matte, 1 - matte)


class Drawn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with zipfile.ZipFile(pathlib.Path(folder.name) / "pack.zip", "w") as z:
            z.writestr("manifest.json", json.dumps({"sizes": {}, "items": []}))
        with mock.patch("sys.argv", ["train.py", f"{folder.name}/pack.zip", folder.name, "--device", "cpu"]):
            self.options = train.parser(train.__doc__).parse_args()

    def drawers(self, *seeds):
        """Processes that draw five squares of 64² at once."""
        drawn = drawers.Drawers(Squares, self.options, seeds, 5 * 64**2, 3)
        drawn.start(64)
        self.addCleanup(drawn.end)
        return drawn

    def test_other_processes_draw(self):
        drawn = self.drawers(1, 2)
        for _ in range(6):  # more than may wait
            b = drawn.batch(64)
            self.assertEqual(b.shape, (5, 5, 64, 64))
            self.assertEqual(float(b[:, 3].float().mean()), 255 / 4)
            self.assertTrue((b[:, :3] == b[:, 3:4] // 2 + b[:, 3:4] % 2).all())
            self.assertTrue((b[:, 4] == 255 - b[:, 3]).all())
        with self.assertRaisesRegex(SystemExit, "fewer than 4 pictures of 80"):
            drawn.batch(80)

    def test_an_interrupt_is_not_for_them(self):
        drawn = self.drawers(1)
        drawn.batch(64)  # the process has begun
        os.kill(drawn.crew[0].pid, signal.SIGINT)
        for _ in range(drawers.SLOTS + 2):  # more than may have been drawn before
            drawn.batch(64)

    def test_a_size_may_change_at_any_time(self):
        asked, sizes, free = [], iter((64, 256)), queue.Queue()

        class Asked(Squares):
            def batch(self, n, size):
                asked.append((n, size))
                raise EOFError  # ends the work

        class Changing:
            value = property(lambda _: next(sizes))

        free.put(0)
        with mock.patch.object(signal, "signal"), mock.patch.object(torch, "set_num_threads"), self.assertRaises(EOFError):
            drawers.work(0, 1, [], 0, free, Changing(), None, Asked, self.options, 8 * 64**2)
        self.assertEqual(asked, [(8, 64)])

    def test_there_is_room_for_every_canvas(self):
        for pixels in (110_000, 1_800_000, 4_000_000):
            for size in range(32, 385):
                if size**2 * drawers.FEWEST <= pixels:
                    dice = types.SimpleNamespace(one=mock.Mock(side_effect=range(len(SHAPES))))
                    canvas = max(math.prod(Composer.canvas(types.SimpleNamespace(dice=dice), size)) for _ in SHAPES)
                    self.assertLessEqual(canvas * drawers.samples(pixels, size), drawers.MARGIN * pixels, (pixels, size))


class Echoed(unittest.TestCase):
    def test_each_batch_comes_as_often_as_asked_and_mirrored_in_between(self):
        with mock.patch.object(echo, "KEPT", 1):
            given = echo.Echo(lambda size: echo.whole(Squares(None).batch(2, size)), 3, 1)
            batches = [given.batch(8) for _ in range(6)]
        self.assertEqual([bool(b.matte[0, 0, 0, 0]) for b in batches], [True, False, True] * 2)
        b = batches[0]
        self.assertEqual((b.picture.shape, b.matte.shape), ((2, 3, 8, 8), (2, 1, 8, 8)))
        torch.testing.assert_close(b.picture, b.matte.expand(-1, 3, -1, -1) * 128 / 255)
        torch.testing.assert_close(b.weight, 1 - b.matte)

    def test_others_come_between(self):
        made = iter(range(100))
        given = echo.Echo(lambda _: torch.full((1, 5, 1, 1), next(made), dtype=torch.uint8), 2, 1)
        seen = [round(float(given.batch(1).matte) * 255) for _ in range(40)]
        self.assertLessEqual(max(seen.count(v) for v in seen), 2)
        self.assertNotEqual(seen, sorted(seen))


if __name__ == "__main__":
    unittest.main()
