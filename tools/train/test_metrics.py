"""Tests of what measures networks: metrics, looks, and doubts decided by colour."""

import contextlib
import io
import unittest
from unittest import mock

import numpy as np

import colours
import evaluate
import heldout
import infer
import metrics
import sheet


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


class Arguments(unittest.TestCase):
    def refused(self, program, *arguments):
        said = io.StringIO()
        with mock.patch("sys.argv", [program.__name__, *arguments]), contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            program.main()
        return said.getvalue()

    def test_wrong_ones_are_told_before_the_work(self):
        self.assertIn("nothing.pt does not exist", self.refused(evaluate, "no pack", "no network", "--checkpoint", "nothing.pt"))
        self.assertIn("want a pack, or frames", self.refused(sheet, "no network", "sheet.png"))


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


if __name__ == "__main__":
    unittest.main()
