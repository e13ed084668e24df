"""Tests of the guide and of the marks that it is shown."""

import pathlib
import random
import tempfile
import unittest

import numpy as np
import onnxruntime
import torch

import cells
import chooser
import guide
import hinted
import marks
import planes


def links(n, h, w, x=0, y=0, trust=255):
    """Links of a picture that moves by x and y cells a frame."""
    array = np.zeros((n, cells.LINKS, h, w), np.int16)
    for plane, value in enumerate((-x * 64, -y * 64, x * 64, y * 64, trust, trust)):
        array[:, plane] = value
    return marks.Links(array)


class Marks(unittest.TestCase):
    def test_move_with_the_picture_and_fade(self):
        marked = marks.clicked((8, 12), 3, 4)[None]
        there = marks.spread(links(6, 8, 12, x=1, trust=128), marked, 1, 3)
        self.assertAlmostEqual(float(there[0, 3, 6]), 255 * (128 / 255) ** 2, places=3)
        self.assertEqual(float(there[0, 3, 3]), 0)
        back = marks.spread(links(6, 8, 12, x=1), marked, 3, 1)
        self.assertEqual((float(back[0, 3, 2]), float(back[0, 4, 3])), (255, 128))

    def test_between_cells_and_beyond_the_picture(self):
        way = np.full((2, 3, 4), 0.5, np.float32)
        planes_ = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
        found = marks.carried(way, planes_)[0]
        np.testing.assert_allclose(found, [[2.5, 3.5, 4.5, 0], [6.5, 7.5, 8.5, 0], [0, 0, 0, 0]])

    def test_likeness_is_that_of_the_surest_marks(self):
        seen = np.zeros((planes.FEATURES, 3, 4), np.uint8)
        seen[0, :, :2], seen[1, :, 2:] = 200, 200
        given = marks.samples(marks.clicked((5, 8), 2, 1), seen)
        self.assertEqual(len(given), 1)
        like = marks.like(given, seen, 5, 8)
        self.assertGreater(like[:, :4].min(), 250)
        self.assertEqual(like[:, 4:].max(), 0)
        self.assertEqual(marks.like(marks.samples(np.zeros((5, 8), np.uint8), seen), seen, 5, 8).max(), 0)
        self.assertEqual(len(marks.samples(np.full((5, 8), marks.BOXED, np.uint8), seen)), marks.SAMPLES)


def folder_of_clips(folder):
    """Two clips with two things, of which the mattes have both and features tell one from the other."""
    found = np.zeros((4, planes.CELL_COUNT + 1, 16, 24), np.uint8)
    things = np.zeros((4, 2, 16, 24), np.uint8)
    things[:, 0, 3:13, 2:10], things[:, 1, 3:13, 14:22] = 255, 255
    found[:, 0], found[:, -1] = things.sum(1), things.sum(1)
    seen = np.zeros((4, planes.FEATURES, 8, 12), np.uint8)
    seen[:, 3, :, :6], seen[:, 4, :, 6:] = 180, 180
    for name in ("1.npy", "10.npy"):
        cells.save(folder / name, (found, {"features": seen, "things": things, "links": links(4, 16, 24).array}))


class Guide(unittest.TestCase):
    def test_learns_to_keep_what_is_clicked_on(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            folder_of_clips(folder)
            samples = guide.Samples(folder, 1)
            torch.manual_seed(1)
            net = guide.guide()
            guide.train(net, samples, 1200, 8, 5e-3)
            clip = samples.held[0]
            keep = marks.clicked(clip.shape, 8, 5)
            net.eval()
            found = guide.follow(net, clip, 2, keep, np.zeros_like(keep))
            self.assertGreater(float(found[:, 5:11, 4:8].mean()), 170)
            self.assertLess(float(found[:, 5:11, 16:20].mean()), 85)
            drop = guide.follow(net, clip, 2, np.zeros_like(keep), keep)
            self.assertLess(float(drop[:, 5:11, 4:8].mean()), float(drop[:, 5:11, 16:20].mean()))

    def test_onnx_is_the_network(self):
        torch.manual_seed(4)
        net = guide.guide().eval()
        torch.nn.init.normal_(net.head.weight, std=0.05)
        dice = np.random.default_rng(1)
        shapes = (planes.CELL_COUNT + planes.MARK_COUNT, 13, 22), (planes.FEATURES, 7, 11)
        given, seen = (dice.integers(0, 256, (1, *shape), np.uint8) for shape in shapes)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "guide.onnx"
            chooser.write(net, path, "bgremove-guide")
            found = onnxruntime.InferenceSession(path).run(None, {"cells": given, "features": seen})[0]
        with torch.inference_mode():
            want = net(chooser.edged(given, 8), chooser.edged(seen, 4))[..., :13, :22].numpy() * 255
        self.assertLess(float(np.abs(found - want).max()), 2)

    def test_hints_are_on_what_is_wanted(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            folder_of_clips(folder)
            clip = guide.Samples(folder, 1).held[0]
        for seed in range(60):
            target, keep, drop = guide.hint(random.Random(seed), clip, 1)
            sure = target(1) > 127
            self.assertTrue(keep.any() or drop.any())
            self.assertTrue(sure[keep == marks.CLICKED].all())
            self.assertFalse(sure[drop == marks.CLICKED].any())


class Clicks(unittest.TestCase):
    def test_are_on_the_middle_and_on_the_largest_error(self):
        truth = np.zeros((3, 40, 60), np.float32)
        truth[:, 10:31, 20:41] = 1
        self.assertEqual(hinted.click("keep", truth[0] > 0.5, 1), "--keep=30,20@0.06")
        found = truth.copy()
        found[2, 10:31, 20:31] = 0
        self.assertRegex(hinted.correction(found, truth), r"--keep=2[45],\d+@0.1")
        found = truth.copy()
        found[0, :, 45:] = 1
        self.assertRegex(hinted.correction(found, truth), r"--drop=5[12],\d+@0.02")
        self.assertIsNone(hinted.correction(truth, truth))


if __name__ == "__main__":
    unittest.main()
