"""Tests of the guide, of its samples, and of what clicks are measured with."""

import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import onnxruntime
import torch

import guide
import hinted
import marked
import planes
import restore
from draw import Dice
from infer import MULTIPLE
from marked import CLICKED, KINDS, Marked
from net import Net

BUNDLED = pathlib.Path(__file__).parents[2] / "internal/network/model/bundled"


class Drawn(Marked):
    """Samples of two things side by side."""

    def __init__(self):
        self.dice = Dice("cpu", 3)

    def things(self, n, h, w):
        parts = torch.zeros(n, 2, h, w)
        parts[:, 0, h // 4 : 3 * h // 4, w // 8 : 3 * w // 8] = 1
        parts[:, 1, h // 4 : 3 * h // 4, 5 * w // 8 : 7 * w // 8] = 1
        return torch.rand(n, 3, h, w), parts, torch.ones(n, 1, h, w)

    def change(self, picture):
        return picture


class Samples(unittest.TestCase):
    @torch.no_grad()
    def test_hints_are_on_what_is_wanted(self):
        drawn = Drawn()
        kinds = {"clicked": 0, "followed": 0, "lost": 0}
        for _ in range(4):
            b = drawn.batch(16, 96)
            self.assertEqual(b.picture.shape[1], planes.MARKED_COUNT)
            self.assertTrue(((b.picture >= 0) & (b.picture <= 1)).all())
            keep, drop, before, trust = b.picture[:, planes.MARKS.start :].split(1, 1)
            self.assertFalse((before[trust == 0] > 0).any())
            for k, d, t, m in zip(keep, drop, trust, b.matte):
                sure = k == CLICKED
                kinds["clicked" if not t.any() else "followed" if m.any() else "lost"] += 1
                if not t.any() and sure.any():
                    self.assertGreater(m[sure].mean(), 0.5)
                    self.assertLess(m[d == CLICKED].mean() if (d == CLICKED).any() else 0, 0.5)
        self.assertTrue(all(kinds.values()), kinds)

    @torch.no_grad()
    def test_what_is_dropped_goes_from_a_matte_of_all(self):
        with mock.patch.dict(marked.KINDS, {k: float(k == "dropped") for k in KINDS}):
            b = Drawn().batch(16, 96)
        keep, drop, before, trust = b.picture[:, planes.MARKS.start :].split(1, 1)
        self.assertFalse(keep.any())
        self.assertTrue((trust == 1).all())
        for d, m, was in zip(drop, b.matte, before):
            self.assertTrue(d.any())
            self.assertLess(m[d == CLICKED].sum(), 1)  # a mark may reach over an edge
            self.assertGreater(was[m > 0.5].mean(), 0.5)

    def test_kinds_are_shares(self):
        self.assertAlmostEqual(sum(KINDS.values()), 1)


class Guide(unittest.TestCase):
    def test_likeness_is_that_to_the_marked_place(self):
        x = torch.zeros(1, 3, 4, 6)
        x[:, 0, :, :3], x[:, 1, :, 3:] = 2, 3
        where = torch.zeros(1, 1, 4, 6)
        self.assertEqual(guide.likeness(x, where).abs().max(), 0)
        where[0, 0, 1, 1] = 1
        like = guide.likeness(x, where)[0, 0]
        self.assertGreater(like[:, :3].min(), 0.99)
        self.assertEqual(like[:, 3:].max(), 0)

    def test_begins_as_the_network_without_hints(self):
        found, _ = restore.weights(BUNDLED / "bgremove-small.onnx")
        nets = Net(), guide.Guide()
        for net in nets:
            restore.fill(list(restore.convolutions(net)), found)
        dice = torch.Generator().manual_seed(1)
        x = torch.rand(2, planes.MARKED_COUNT, 64, 96, generator=dice)
        with torch.inference_mode():
            plain, hinted_ = nets[0].eval()(x[:, :3]), nets[1].eval()(x)
        self.assertLess((plain - hinted_).abs().max(), 1e-3)

    def test_begins_as_a_guide(self):
        torch.manual_seed(5)
        nets = guide.Guide().eval(), guide.Guide().eval()
        torch.nn.init.normal_(nets[0].told.weight, std=0.05)
        with tempfile.TemporaryDirectory() as folder:
            guide.write(nets[0], pathlib.Path(folder) / "guide.onnx")
            guide.fill(nets[1], pathlib.Path(folder) / "guide.onnx")
        x = torch.rand(2, planes.MARKED_COUNT, 64, 96)
        with torch.inference_mode():
            self.assertLess((nets[0](x) - nets[1](x)).abs().max(), 0.05)

    def test_onnx_is_the_network(self):
        torch.manual_seed(4)
        net = guide.Guide().eval()
        torch.nn.init.normal_(net.told.weight, std=0.05)
        given = np.random.default_rng(1).integers(0, 256, (1, planes.MARKED_COUNT, 50, 70), np.uint8)
        given[:, planes.MARKS.start :, :, 30:] = 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "guide.onnx"
            guide.write(net, path)
            found = onnxruntime.InferenceSession(path).run(None, {"planes": given})[0]
        whole = np.pad(given, ((0, 0), (0, 0), (0, -50 % MULTIPLE), (0, -70 % MULTIPLE)), "edge")
        with torch.inference_mode():
            want = torch.sigmoid(net(torch.from_numpy(whole).float() / 255))[..., :50, :70].numpy() * 255
        self.assertLess(float(np.abs(found - want).max()), 2)

    def test_integers_give_nearly_the_same(self):
        given = np.full((1, planes.MARKED_COUNT, 96, 128), 70, np.uint8)
        given[:, planes.MARKS.start :] = 0
        y, x = np.mgrid[:96, :128]
        for middle, colour in ((36, (220, 120, 30)), (92, (40, 60, 200))):
            given[0, :3, np.hypot(y - 48, x - middle) < 24] = colour
        before, trust = (planes.MARKED.index(p) for p in ("MarkBefore", "MarkTrust"))
        given[0, before] = 255 * (np.hypot(y - 48, x - 36) < 24)
        given[0, trust] = 255
        sessions = [onnxruntime.InferenceSession(BUNDLED / f"bgremove-guide{form}.onnx") for form in ("", "-int8")]
        want, found = (s.run(None, {"planes": given})[0][0, 0].astype(float) for s in sessions)
        self.assertGreater(want[48, 36] - want[48, 92], 128)
        self.assertLess(np.abs(found - want).mean(), 4)


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

    def test_are_on_no_frame_without_the_thing(self):
        truth = np.zeros((3, 40, 60), np.float32)
        truth[1:, 10:31, 20:41] = 1  # it comes in the second frame
        found = truth.copy()
        found[2, 10:31, 20:31] = 0
        self.assertRegex(hinted.correction(found, truth), r"--keep=2[45],\d+@0.1")

    def test_pieces(self):
        mask = np.zeros((40, 60), bool)
        mask[10:30, 10:40] = True
        self.assertTrue(hinted.whole(mask))
        mask[:, 30:32] = False
        self.assertFalse(hinted.whole(mask))


if __name__ == "__main__":
    unittest.main()
