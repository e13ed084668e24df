"""Tests of the chooser and the reviser, and of the clips that they learn from."""

import os
import pathlib
import random
import tempfile
import unittest

import numpy as np
import onnxruntime
import torch

import adapt
import blend
import cells
import chooser
import companion
import planes
import reviser
import views


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

    def test_many_clips_are_few_open_files(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for n in range(8):
                np.save(folder / f"{n}.npy", np.zeros((reviser.FRAMES, planes.COUNT + 1, 32, 48), np.uint8))
            opened = len(os.listdir("/proc/self/fd"))
            samples = reviser.Samples(folder, 32, 1)
            self.assertEqual(len(samples.clips), 8)
            samples.batch(8)
            self.assertEqual(len(os.listdir("/proc/self/fd")), opened)


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


if __name__ == "__main__":
    unittest.main()
