"""Tests of masked.py, with a program that makes the same matte of every clip."""

import contextlib
import io
import pathlib
import shlex
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
from PIL import Image

import masked

SIZE, FRAMES = (40, 30), 3


def square(x):
    """A mask [h, w] of 10 × 10 pixels."""
    m = np.zeros(SIZE[::-1], np.uint8)
    m[10:20, x : x + 10] = 255
    return m


class Masked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        cut = [Image.merge("RGBA", [Image.new("L", SIZE, 40 * n)] * 3 + [Image.fromarray(square(10))]) for n in range(FRAMES)]
        cut[0].save(self.folder / "cut.png", save_all=True, append_images=cut[1:])
        self.program = self.folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$@" > {shlex.quote(str(self.folder))}/args\ncp {shlex.quote(str(self.folder))}/cut.png "$4"\n')
        self.program.chmod(0o755)

    def clip(self, name, masks):
        (self.folder / f"{name}.mp4").touch()
        (self.folder / f"{name}-masks").mkdir()
        for n, m in enumerate(masks):
            Image.fromarray(m).save(self.folder / f"{name}-masks" / f"{n:05}.png")

    def measure(self, *flags):
        out, args = io.StringIO(), ["masked.py", str(self.folder), "net.onnx", "--program", str(self.program), *flags]
        with mock.patch.object(sys, "argv", args), contextlib.redirect_stdout(out):
            masked.main()
        return [line.split() for line in out.getvalue().splitlines()[1:]]

    def test_each_clip_and_the_mean(self):
        self.clip("right", [square(10)] * FRAMES)
        self.clip("half", [square(15)] * FRAMES)
        rows = self.measure("--flag=--no-motion")
        self.assertEqual([r[0] for r in rows], ["half", "right", "mean", "masks,"])
        self.assertEqual([r[-4] for r in rows], ["0.333", "1.000", "0.667", "0.714"])  # 100 of 140 pixels
        self.assertEqual([r[-2] for r in rows], ["0.00"] * 4)
        self.assertEqual([r[-1] for r in rows], ["0.000"] * 4)
        self.assertTrue((self.folder / "args").read_text().endswith(" --no-motion\n"))

    def test_what_does_not_fit_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "no folder of masks"):
            self.measure()
        self.clip("short", [square(10)])
        with self.assertRaisesRegex(SystemExit, "3 frames of 1"):
            self.measure()
        (self.folder / "short.gif").touch()
        with self.assertRaisesRegex(SystemExit, "2 clips are named short"):
            self.measure()

    def test_names_may_look_like_patterns_and_like_others(self):
        self.clip("a[1]", [square(10)] * FRAMES)
        self.clip("a", [square(10)] * FRAMES)
        self.clip("a.slow", [square(10)] * FRAMES)
        self.assertEqual([r[0] for r in self.measure()[:3]], ["a", "a.slow", "a[1]"])

    def test_masks_of_another_size_are_an_error(self):
        self.clip("wide", [np.zeros((30, 50), np.uint8)] * FRAMES)
        with self.assertRaisesRegex(SystemExit, r"\(50, 30\) pixels, and a clip of \(40, 30\)"):
            self.measure()


if __name__ == "__main__":
    unittest.main()
