"""The tests of the training code: python -m unittest, in this folder."""

import functools
import json
import pathlib
import random
import tempfile
import types
import unittest
import zipfile
from unittest import mock

import numpy as np
import onnx
import onnxruntime
import torch

import adapt
import blend
import cells
import checkpoint
import chooser
import companion
import colours
import crew
import degrade
import drawers
import echo
import evaluate
import export
import heldout
import infer
import layers
import loss
import metrics
import muon
import pack
import planes
import quantise
import restore
import reviser
import soup
import train
import views
from compose import Batch, Composer, Parts
from draw import Dice, cover, near, placement
from net import Net, runner
from schedule import Schedule


class Split(unittest.TestCase):
    def test_one_in_ten_and_always_the_same(self):
        held = [pack.held_out(f"group-{n}") for n in range(5000)]
        self.assertAlmostEqual(np.mean(held), 0.1, delta=0.02)
        sides = [pack.held_out(g) for g in ("ccp-0001", "ccp-0017", "cats-0001")]
        self.assertEqual(sides, [False, True, False])


class Draw(unittest.TestCase):
    def test_anchor_comes_to_centre(self):
        one = torch.ones(1)
        m = placement(torch.tensor([[30.0, 40.0]]), torch.tensor([[5.0, 6.0]]), torch.tensor([[2.0, 3.0]]), one * 0.7, one > 0)
        at = m @ torch.tensor([30.0, 40.0, 1.0])
        torch.testing.assert_close(at, torch.tensor([[5.0, 6.0]]))

    def test_scale(self):
        zero = torch.zeros(1)
        m = placement(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[2.0, 4.0]]), zero, zero > 0)
        torch.testing.assert_close(m @ torch.tensor([2.0, 4.0, 1.0]), torch.tensor([[1.0, 1.0]]))


    def test_near_shows_the_upper_part(self):
        """A subject of 20 × 60 in a picture of 200 × 100 fills a canvas, from above its top to within it."""
        dice, n = Dice("cpu", 5), 50
        size, box = torch.tensor([[200.0, 100.0]]).repeat(n, 1), torch.tensor([[90.0, 30.0, 20.0, 60.0]]).repeat(n, 1)
        one = torch.ones(n)
        zoom, middle = near(dice, size, box, 64, 64, one)
        m = cover(dice, size, 64, 64, zoom, one, most=0.0, middle=middle)
        top, bottom = (m @ torch.tensor([32.0, y, 1.0]) for y in (0.0, 64.0))
        self.assertTrue(bool(((top[:, 1] >= 0) & (top[:, 1] < 45) & (bottom[:, 1] > 35) & (bottom[:, 1] < 70)).all()))
        self.assertTrue(bool(((top[:, 0] - 100).abs() < 5).all()))


class Degrade(unittest.TestCase):
    def test_shape_and_range(self):
        dice = Dice("cpu", 3)
        x = torch.rand(2, 3, 37, 50)
        for change in (degrade.light, degrade.noise, degrade.rescale, degrade.jpeg, degrade.palette, degrade.colours):
            y = change(dice, x)
            self.assertEqual(y.shape, x.shape, change.__name__)
            self.assertTrue(bool(((y >= 0) & (y <= 1)).all()), change.__name__)

    def test_palettes_have_few_colours(self):
        x = torch.rand(3, 3, 37, 50)
        for change in (degrade.ordered, degrade.diffused, lambda dice, x: degrade.diffused(dice, x, most=1)):
            y = change(Dice("cpu", 3), x)
            self.assertEqual(y.shape, x.shape)
            self.assertLessEqual(max(p.reshape(3, -1).unique(dim=1).shape[1] for p in y), 256)

    def test_mild_jpeg_keeps_the_picture(self):
        x = torch.full((1, 3, 16, 16), 0.25)
        self.assertLess(float((degrade.jpeg(Dice("cpu", 1), x) - x).abs().max()), 0.06)


class Layers(unittest.TestCase):
    def test_camouflage_goes_towards_the_ground(self):
        dice, ground = Dice("cpu", 3), torch.full((8, 3, 6, 6), 0.9)
        alpha = torch.zeros(8, 1, 6, 6)
        alpha[..., 1:5, 2:4] = 0.8
        layer = torch.cat([0.2 * alpha.expand(-1, 3, -1, -1), alpha], 1)
        made = layers.camouflage(dice, layer, ground, p=1)
        torch.testing.assert_close(made[:, 3:], alpha)
        colour = made[:, :3, 2, 2] / 0.8
        self.assertTrue(bool(((colour > 0.45) & (colour <= 0.9)).all()))
        self.assertTrue(bool((made[:, :3] <= made[:, 3:] + 1e-6).all()))
        torch.testing.assert_close(layers.camouflage(dice, layer, ground, p=0), layer)

    def test_over_keeps_premultiplied_sums(self):
        picture, matte = torch.full((1, 3, 1, 1), 0.5), torch.full((1, 1, 1, 1), 0.5)
        layer = torch.tensor([0.2, 0.2, 0.2, 0.4]).view(1, 4, 1, 1)
        p, m = layers.over(picture, matte, layer)
        torch.testing.assert_close(p, torch.full((1, 3, 1, 1), 0.5))
        torch.testing.assert_close(m, torch.full((1, 1, 1, 1), 0.7))

    def test_recolour_stays_under_alpha(self):
        alpha = torch.rand(64, 1, 4, 4)
        rgb = layers.recolour(Dice("cpu", 2), torch.rand(64, 3, 4, 4) * alpha, 1.0, alpha)
        self.assertTrue(bool((rgb <= alpha + 1e-6).all()))


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
    def test_goes_on_where_it_was_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch("sys.argv", ["train.py", "pack.zip", folder, "--device", "cpu", "--plan", "96:64"]):
                options = train.parser(train.__doc__).parse_args()
            first = train.Trainer(options, crew.Crew())
            first.seen = first.place = 40
            first.save()
            second = train.Trainer(options, crew.Crew())
        self.assertEqual((second.seen, second.place, second.plan), (40, 40, "96:64"))
        for a, b in zip(first.net.parameters(), second.net.parameters()):
            torch.testing.assert_close(a, b)


class Soup(unittest.TestCase):
    def test_shares(self):
        def state(value):
            kept = {"w": torch.full((2,), value), "n": torch.tensor(3)}
            return checkpoint.State({}, kept, {}, torch.zeros(1), "cpu", "64:1", 0, 0, 0)

        mixed = soup.mix([state(1.0), state(5.0)], [3, 1])
        torch.testing.assert_close(mixed.average["w"], torch.full((2,), 2.0))
        self.assertEqual(int(mixed.average["n"]), 3)


class Metrics(unittest.TestCase):
    def test_square_moved_by_a_pixel(self):
        a, b = np.zeros((40, 40)), np.zeros((40, 40))
        a[10:30, 10:30] = 1
        b[10:30, 11:31] = 1
        known = np.ones(a.shape, bool)
        self.assertAlmostEqual(metrics.iou(a, b, known), 19 / 21)
        self.assertAlmostEqual(metrics.mae(a, b, known), 40 / 1600)
        self.assertEqual(metrics.boundary_f(a, b), 1)
        self.assertEqual(metrics.boundary_f(a, np.roll(a, 8, 1)) < 0.7, True)

    def test_nothing(self):
        none = np.zeros((8, 8))
        self.assertEqual(metrics.iou(none, none, none == 0), 1)
        self.assertEqual(metrics.boundary_f(none, none), 1)

    def test_what_is_half_there(self):
        m = np.zeros((160, 200), np.float32)
        m[20:60, 20:60] = 1
        m[100:111, 100:120] = 0.5  # 7 × 16 pixels have two around
        m[80:84, 20:60] = 0.5  # no more than an edge
        self.assertAlmostEqual(metrics.half(m), 7 * 16 / m.sum())
        self.assertEqual(metrics.half(m * 0), 0)

    def test_gif_has_few_colours(self):
        picture = np.random.default_rng(1).integers(0, 256, (32, 32, 3), np.uint8)
        self.assertLessEqual(len(np.unique(heldout.as_gif(picture).reshape(-1, 3), axis=0)), 64)


class Clips(unittest.TestCase):
    def test_truth_of_a_spoiled_matte_is_not_touched(self):
        truths = np.zeros((4, 48, 64), np.uint8)
        truths[:, 16:32, 20:44] = 255
        mattes = (truths / 255).astype(np.float32)
        spoiled = [views.spoil(random.Random(seed), mattes, truths) for seed in range(8)]
        self.assertTrue(all(0 <= s.min() and s.max() <= 1 for s in spoiled))
        self.assertGreater(np.mean([np.abs(s - mattes).mean() for s in spoiled]), 0.005)
        np.testing.assert_array_equal(mattes, truths / 255)


class Revising(unittest.TestCase):
    def test_nothing_is_revised_at_first(self):
        net = reviser.Reviser().eval()
        view = torch.randint(0, 256, (1, planes.COUNT, 32, 48)).float()
        torch.testing.assert_close(net(view), (view[:, 3:4] / 255).clamp(0.01, 0.99), rtol=1e-3, atol=1e-3)

    def test_onnx_is_the_network(self):
        torch.manual_seed(4)
        net = reviser.Reviser().eval()
        torch.nn.init.normal_(net.head.weight, std=0.02)
        view = np.random.default_rng(1).integers(0, 256, (1, planes.COUNT, 30, 45), np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "reviser.onnx"
            self.assertEqual(len(reviser.write(net, path)), 64)
            found = onnxruntime.InferenceSession(path).run(None, {"view": view})[0]
        with torch.inference_mode():
            whole = torch.nn.functional.pad(torch.from_numpy(view).float(), (0, 3, 0, 2), "replicate")
            want = net(whole)[..., :30, :45].numpy() * 255
        self.assertLess(float(np.abs(found - want).max()), 2)

    def test_learns_from_parts_of_clips(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            clip = np.zeros((reviser.FRAMES, planes.COUNT + 1, 32, 48), np.uint8)
            clip[:, [7, -1], 8:24, 16:32] = 255  # what differs is the subject
            np.save(folder / "0.npy", clip)
            samples = reviser.Samples(folder, 32, 1)
            (view,), truth = samples.batch(2)
            self.assertEqual((tuple(view.shape), tuple(truth.shape)), ((4, planes.COUNT, 32, 32), (4, 1, 32, 32)))
            (wide,), _ = reviser.Samples(folder, 64, 1).batch(2)  # a clip smaller than a part
            self.assertEqual(tuple(wide.shape), (4, planes.COUNT, 64, 64))
            torch.manual_seed(3)
            net = reviser.Reviser()
            before = float(reviser.loss(net(view), truth / 255).detach())
            reviser.train(net, samples, 240, 2, 5e-3)
            self.assertLess(float(reviser.loss(net(view), truth / 255).detach()), 0.7 * before)


class Choosing(unittest.TestCase):
    def test_enlarged_chooser_samples(self):
        frame = np.stack(np.mgrid[:38, :60]).astype(np.uint8)
        seen = np.stack(np.mgrid[:19, :30]).astype(np.uint8) * 2
        for seed in range(20):
            with self.subTest(seed=seed):
                found, features = chooser.enlarged(random.Random(seed), frame, seen)
                self.assertEqual((found.shape, features.shape), (frame.shape, seen.shape))
                self.assertLessEqual(np.abs(found[:, ::2, ::2].astype(int) - features).max(), 2)  # the same places
                for axis, n in enumerate(frame.shape[1:]):
                    size = found[axis].max() - found[axis].min() + 1
                    self.assertTrue(chooser.PART * n - 1 <= size <= n)

    def test_nothing_is_chosen_at_first(self):
        net = chooser.Chooser().eval()
        given, seen = (torch.randint(0, 256, (1, n, h, w)).float() for n, h, w in ((planes.CELL_COUNT, 16, 24), (planes.FEATURES, 8, 12)))
        torch.testing.assert_close(net(given, seen), (given[:, :1] / 255).clamp(chooser.LEAST, 1 - chooser.LEAST), rtol=1e-3, atol=1e-3)

    def test_onnx_is_the_network(self):
        torch.manual_seed(4)
        net = chooser.Chooser().eval()
        torch.nn.init.normal_(net.head.weight, std=0.05)
        torch.nn.init.ones_(net.seen[1].norm.weight)
        dice = np.random.default_rng(1)
        given, seen = (dice.integers(0, 256, (1, n, h, w), np.uint8) for n, h, w in ((planes.CELL_COUNT, 13, 22), (planes.FEATURES, 7, 11)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "chooser.onnx"
            self.assertEqual(len(chooser.write(net, path)), 64)
            found = onnxruntime.InferenceSession(path).run(None, {"cells": given, "features": seen})[0]
            inputs, back = (chooser.edged(given, 8), chooser.edged(seen, 4)), chooser.Chooser()
            companion.restored(back, chooser.convolutions(back), path, [inputs])
        with torch.inference_mode():
            want = net(*inputs)[..., :13, :22].numpy() * 255
            again = back.eval()(*inputs)[..., :13, :22].numpy() * 255
        self.assertLess(float(np.abs(found - want).max()), 2)
        self.assertLess(float(np.abs(again - want).max()), 2)

    @torch.no_grad()
    def test_a_blend_is_the_mean_by_shares(self):
        torch.manual_seed(6)
        inputs = tuple(torch.rand(2, n, h, w) * 255 for n, h, w in ((planes.CELL_COUNT, 16, 24), (planes.FEATURES, 8, 12)))
        nets = [chooser.Chooser() for _ in range(2)]
        torch.nn.init.normal_(nets[0].head.weight, std=0.05)
        nets[1].load_state_dict(nets[0].state_dict())
        blend.settle(nets[0], [inputs])
        want = nets[0](*inputs)
        torch.testing.assert_close(blend.blend(nets, [0.3, 0.9], [inputs])(*inputs), want, rtol=1e-3, atol=1e-4)
        nets[1].head.weight.neg_()
        torch.testing.assert_close(
            blend.blend(nets, [0.5, 0.5], [inputs])(*inputs), (inputs[0][:, :1] / 255).clamp(chooser.LEAST, 1 - chooser.LEAST)
        )

    @torch.no_grad()
    def test_sees_other_features_by_a_map(self):
        torch.manual_seed(5)
        old = chooser.Chooser().eval()
        torch.nn.init.normal_(old.head.weight, std=0.05)
        torch.nn.init.ones_(old.seen[1].norm.weight)
        new = chooser.Chooser().eval()
        new.load_state_dict(old.state_dict())
        dice = np.random.default_rng(2)
        turn = np.eye(planes.FEATURES) + dice.normal(0, 0.1, (planes.FEATURES, planes.FEATURES))
        given = dice.uniform(0, 255, (500, planes.FEATURES))
        found = adapt.fit(given, given @ turn)
        np.testing.assert_allclose(found, turn, atol=1e-9)
        adapt.change(new, found)
        cells, seen = torch.rand(1, planes.CELL_COUNT, 16, 24) * 255, torch.rand(1, planes.FEATURES, 8, 12) * 255
        mapped = torch.einsum("nihw,io->nohw", seen, torch.tensor(turn, dtype=torch.float32))
        torch.testing.assert_close(new(cells, seen), old(cells, mapped), rtol=1e-3, atol=1e-3)

    def learns(self, clip, seen):
        """Whether a chooser learns from a clip of cells and features."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ("1.npy", "10.npy"):
                cells.save(folder / name, (clip, seen))
            samples = chooser.Samples(folder, 1)
            self.assertEqual((len(samples.clips), len(samples.held)), (1, 1))
            torch.manual_seed(1)
            net = chooser.Chooser()
            given, truth = samples.batch(4)
            before = float(chooser.loss(net(*given), truth / 255).detach())
            chooser.train(net, samples, 400, 4, 5e-3)
            self.assertLess(float(chooser.loss(net(*given), truth / 255).detach()), 0.7 * before)

    def test_learns_what_moves(self):
        clip = np.zeros((4, planes.CELL_COUNT + 1, 16, 24), np.uint8)
        clip[:, 0, 2:14, 2:22] = 255  # the matte has both halves
        clip[:, [planes.CELLS.index("TrackMotion"), -1], 2:14, 2:12] = 255  # one moves
        self.learns(clip, np.zeros((4, planes.FEATURES, 8, 12), np.uint8))

    def test_learns_what_things_are(self):
        clip = np.zeros((4, planes.CELL_COUNT + 1, 16, 24), np.uint8)
        clip[:, 0, 2:14, 2:22] = 255  # the matte has both halves
        clip[:, -1, 2:14, 2:12] = 255  # one is a subject
        seen = np.zeros((4, planes.FEATURES, 8, 12), np.uint8)
        seen[:, 5, 1:7, 1:6] = 200
        self.learns(clip, seen)

    def test_features_fit_the_cells(self):
        found = cells.nearest(np.arange(12).reshape(1, 3, 4), 2, 3)
        np.testing.assert_array_equal(found, [[[0, 2, 3], [8, 10, 11]]])

    def test_shares_are_means(self):
        mattes = np.zeros((1, 6, 9), np.uint8)
        mattes[0, :, :2] = 200
        found = cells.shares(mattes, 2, 3)
        self.assertEqual((tuple(found.shape), int(found[0, 0, 0]), int(found[0, 1, 2])), ((1, 2, 3), 100, 0))


class Network(unittest.TestCase):
    def test_checkpoint_comes_back(self):
        net = Net()
        optimiser = torch.optim.AdamW(net.parameters())
        sum(o.sum() for o in net(torch.rand(2, 3, 64, 64))).backward()
        optimiser.step()
        state = checkpoint.State(
            net.state_dict(), net.state_dict(), optimiser.state_dict(), torch.zeros(3), "cpu", "96:1", 5, 6, 7.0
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "checkpoint.pt"
            self.assertIsNone(checkpoint.load(path))
            checkpoint.save(path, state)
            back = checkpoint.load(path)
        self.assertEqual((back.seen, back.before, back.plan), (5, 6, "96:1"))
        for k, v in net.state_dict().items():
            torch.testing.assert_close(back.net[k], v)
            torch.testing.assert_close(back.average[k], v, rtol=1e-3, atol=1e-4)
        optimiser.load_state_dict(back.optimiser)

    def test_onnx_is_the_network(self):
        torch.manual_seed(2)
        net = Net().eval()
        picture = np.random.default_rng(1).integers(0, 256, (64, 96, 3), np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            self.assertEqual(len(export.export(net, path, "test", "1", 256, "none")), 64)
            found = evaluate.OnnxRunner(path)(picture)
        self.assertLess(float(np.abs(found - runner(net)(picture)).max()), 1 / 255)

    def test_training_goes_on_from_onnx(self):
        torch.manual_seed(3)
        net = Net()
        for m in net.modules():
            if isinstance(m, torch.nn.BatchNorm2d):
                torch.nn.init.uniform_(m.weight, 0.5, 1.5)
                torch.nn.init.normal_(m.bias, std=0.2)
        samples = [Batch(torch.rand(4, 3, 64, 64), (torch.rand(4, 1, 64, 64) > 0.5).float(), torch.ones(4, 1, 64, 64)) for _ in range(8)]
        for b in samples:
            net(b.picture)  # updates the batch statistics
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            export.export(net.eval(), path, "test", "1", 256, "card")
            found, facts = restore.weights(path)
        self.assertEqual(facts["card"], "card")
        back = Net()
        restore.fill(list(restore.convolutions(back)), found)
        restore.settle(back, [(b.picture,) for b in samples])
        restore.learn_aside(back, samples)
        picture = samples[0].picture
        torch.testing.assert_close(back(picture), net(picture), rtol=0.01, atol=0.02)
        self.assertAlmostEqual(float(back.down4[0].conv.weight.detach().square().mean()) ** 0.5, restore.WHOLE, places=4)
        seen = []
        back.up4.mix.conv.register_forward_hook(lambda _, __, out: seen.append(out.detach()))
        for b in samples:
            back(b.picture)
        norm = back.up4.mix.norm
        torch.testing.assert_close(norm.running_mean, torch.cat(seen).mean((0, 2, 3)), rtol=0.01, atol=0.01)
        torch.testing.assert_close(norm.running_var, torch.cat(seen).var((0, 2, 3)), rtol=0.01, atol=0.01)

    def test_further_channels_change_nothing_yet(self):
        torch.manual_seed(4)
        net = Net((24, 32, 64, 96, 128))
        for m in net.modules():
            if isinstance(m, torch.nn.BatchNorm2d):
                torch.nn.init.uniform_(m.weight, 0.5, 1.5)
        samples = [torch.rand(4, 3, 64, 64) for _ in range(8)]
        for x in samples:
            net(x)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            export.export(net.eval(), path, "test", "1", 256, "card")
            found, _ = restore.weights(path)
        wide = Net((24, 40, 64, 128, 192))
        restore.fill(list(restore.convolutions(wide)), found)
        restore.settle(wide, [(x,) for x in samples])
        torch.testing.assert_close(wide(samples[0]), net(samples[0]), rtol=0.01, atol=0.02)
        wide.train()(samples[0])[0].sum().backward()
        self.assertTrue(all(p.grad.abs().sum() > 0 for k, p in wide.named_parameters() if p.dim() > 1 and "aside" not in k))


def share_gradients(folder, member):
    """The work of one process of a crew in the test below."""
    weight = torch.nn.Parameter(torch.zeros(3))
    weight.grad = torch.tensor([1.0, 2.0, 3.0]) * (member.rank + 1)
    sums = member.share([weight], 5 + member.rank, member.rank == 1)
    torch.save((weight.grad, sums), pathlib.Path(folder) / str(member.rank))


class Crew(unittest.TestCase):
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
    def test_other_processes_draw(self):
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(pathlib.Path(folder) / "pack.zip", "w") as z:
                z.writestr("manifest.json", json.dumps({"sizes": {}, "items": []}))
            with mock.patch("sys.argv", ["train.py", f"{folder}/pack.zip", folder, "--device", "cpu"]):
                options = train.parser(train.__doc__).parse_args()
            drawn = drawers.Drawers(Squares, options, [1, 2], 5 * 64**2, 3)
            drawn.start(64)
            for _ in range(6):  # more than may wait
                b = drawn.batch(64)
                self.assertEqual(b.shape, (5, 5, 64, 64))
                self.assertEqual(float(b[:, 3].float().mean()), 255 / 4)
                self.assertTrue((b[:, :3] == b[:, 3:4] // 2 + b[:, 3:4] % 2).all())
                self.assertTrue((b[:, 4] == 255 - b[:, 3]).all())
            with self.assertRaisesRegex(SystemExit, "fewer than 4 pictures of 80"):
                drawn.batch(80)
            drawn.end()


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


class Integers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)
        self.dice = np.random.default_rng(1)

    def bytes(self, *shape):
        return self.dice.integers(0, 256, shape, np.uint8)

    def both(self, write, *inputs):
        """What a network of floats and one of integers give for the first of the inputs, as whole numbers."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "network.onnx"
            write(path)
            quantise.quantise(path, inputs, quantise.beside(path))
            files = path, quantise.beside(path)
            models = [onnxruntime.InferenceSession(p) for p in files]
            self.assertEqual(*(m.get_modelmeta().custom_metadata_map for m in models))
            self.assertGreater(*(p.stat().st_size for p in files))
            results = [m.run(None, inputs[0]) for m in models]
            self.kinds = [node.op_type for node in onnx.load(files[1]).graph.node]
        return [[values.astype(float) * (255 if values.dtype == np.float32 else 1) for values in r] for r in results]

    def test_network(self):
        net = Net().eval()
        torch.nn.init.normal_(net.head.weight, std=0.3)
        (want, seen), (found, also) = self.both(
            lambda path: export.export(net, path, "x", "1", 96, "card"), *({"pixels": self.bytes(1, 64, 96, 3)} for _ in range(3))
        )
        self.assertGreater(want.std(), 10)
        self.assertLess(np.abs(want - found).mean(), 4)
        self.assertLess(np.abs(seen - also).mean(), 2)
        self.assertNotIn("Resize", self.kinds)

    def test_arranged_layers_give_the_same(self):
        net = Net().eval()
        torch.nn.init.normal_(net.head.weight, std=0.3)
        inputs = [{"pixels": self.bytes(1, 64, 96, 3)} for _ in range(3)]

        def found():
            return self.both(lambda path: export.export(net, path, "x", "1", 96, "card"), *inputs)[1]

        matte, seen = found()
        with mock.patch.object(quantise.arrange, "finish"):
            want, also = found()
        self.assertIn("Resize", self.kinds)
        np.testing.assert_allclose(matte, want, atol=0.01)
        np.testing.assert_array_equal(seen, also)

    def test_reviser(self):
        net = reviser.Reviser().eval()
        torch.nn.init.normal_(net.head.weight, std=0.02)
        (want,), (found,) = self.both(
            lambda path: reviser.write(net, path), *({"view": self.bytes(1, planes.COUNT, 35, 48)} for _ in range(3))
        )
        self.assertTrue(0 < np.abs(want - found).mean() < 2, np.abs(want - found).mean())
        head = self.kinds.index("DepthToSpace")  # what follows decides how soft an edge can be
        self.assertNotIn("QuantizeLinear", self.kinds[head:])

    def test_planes_in_their_middle_give_nothing_but_the_bias(self):
        net = reviser.Reviser().eval()
        middle = np.zeros((1, planes.COUNT, 32, 48), np.uint8) + np.array(planes.MIDDLE, np.uint8)[:, None, None]
        torch.nn.init.normal_(net.head.weight, std=0.05)
        (want,), (found,) = self.both(
            lambda path: reviser.write(net, path), {"view": middle}, *({"view": self.bytes(*middle.shape)} for _ in range(3))
        )
        self.assertLess(np.abs(want - found)[..., 12:-12, 12:-12].max(), 2)


class Looks(unittest.TestCase):
    def test_parts_are_those_of_the_go_program(self):
        for surroundings, (x0, y0, x1, y1), least, width, height in (
            (infer.SECOND, (100, 50, 200, 150), 0.35, 120, 120),
            (infer.SECOND, (100, 95, 300, 105), 0.35, 240, 120),
            (infer.SECOND, (100, 95, 110, 105), 0.35, 70, 70),
            (infer.SECOND, (100, 95, 110, 105), 0.6, 120, 120),
            (infer.SECOND, (0, 0, 100, 100), 0.35, 110, 110),
            (infer.THIRD, (150, 50, 200, 150), 0.35, 120, 160),
            (infer.SECOND, (10, 10, 390, 190), 0.35, None, None),
            (infer.SECOND, (0, 0, 0, 0), 0.35, None, None),
        ):
            found = np.zeros((200, 400))
            found[y0:y1, x0:x1] = 1
            part = infer.around(found, surroundings, least)
            self.assertEqual(part and found[part].shape, width and (height, width))
            if part:
                self.assertEqual(found[part].sum(), found.sum())

    def looked(self, *looks):
        """The matte of a square on black by a network that finds it in some looks, and how often it looked."""
        picture, count = np.zeros((128, 256, 3), np.uint8), iter(looks)
        picture[40:80, 160:200] = 255
        return infer.matte(lambda seen: seen[..., 0] / 255 * next(count), picture, 64), count

    def test_where_two_looks_differ_a_third_decides(self):
        for looks, found in (((1, 1), True), ((0,), False), ((1, 0, 1), True), ((1, 0, 0), False)):
            matte, count = self.looked(*looks)
            self.assertEqual(bool(matte[60, 180] > 0.5), found)
            self.assertEqual(list(count), [])


class Colours(unittest.TestCase):
    def test_doubts_are_decided_and_the_sure_stays(self):
        picture = np.full((8, 8, 3), (10, 20, 200), np.uint8)
        picture[:, 4:] = (250, 200, 30)
        matte = np.zeros((8, 8))
        matte[:, 4:] = 1
        doubtful = matte.copy()
        doubtful[6:] = 0.5
        decided = colours.ColourModel().apply(picture, doubtful)
        self.assertLess(float(np.abs(decided - matte).max()), 0.06)
        self.assertLess(float(np.abs(decided[:6] - matte[:6]).max()), 0.003)


class Bars(unittest.TestCase):
    def test_no_subject_in_them_and_all_is_known(self):
        n = 400
        b = Batch(torch.ones(n, 3, 32, 64), torch.ones(n, 1, 32, 64), torch.zeros(n, 1, 32, 64))
        out = Composer.bars(types.SimpleNamespace(dice=Dice("cpu", 2)), b)
        barred = (out.matte == 0).any(3).any(2)[:, 0]
        self.assertAlmostEqual(float(barred.float().mean()), 0.06, delta=0.03)
        torch.testing.assert_close(out.weight, 1 - out.matte)
        torch.testing.assert_close(out.matte, out.matte.flip(2, 3))
        self.assertTrue(bool((out.matte[:, :, 12:20, 24:40] == 1).all()))
        torch.testing.assert_close(out.picture[~barred], b.picture[~barred])


if __name__ == "__main__":
    unittest.main()
