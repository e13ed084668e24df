"""Tests of the pictures that are drawn to train with."""

import types
import unittest

import numpy as np
import torch

import degrade
import layers
import pack
from compose import Batch, Composer
from draw import Dice, cover, near, placement


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
