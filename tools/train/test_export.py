"""Tests of the network's files: checkpoints, .onnx, and integers."""

import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import onnx
import onnxruntime
import torch

import checkpoint
import evaluate
import export
import files
import planes
import quantise
import restore
import reviser
from compose import Batch
from net import Net, runner


class Files(unittest.TestCase):
    def test_are_replaced_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.pt"
            with files.whole(path) as part:
                part.write_text("old")
            with self.assertRaises(EOFError), files.whole(path) as part:
                part.write_text("half")
                raise EOFError
            self.assertEqual([f.read_text() for f in path.parent.iterdir()], ["old"])

    def test_a_network_that_cannot_be_written_leaves_the_last_one(self):
        def cut_short(path, body):
            with open(path, "wb") as f:
                f.write(body[:9])
            raise OSError("no space left")

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            path.touch()
            with mock.patch.object(pathlib.Path, "write_bytes", cut_short), self.assertRaisesRegex(OSError, "no space"):
                export.export(Net().eval(), path, "x", "1", 96, "card")
            self.assertEqual([f.stat().st_size for f in path.parent.iterdir()], [0])


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

    def test_none_is_half_made(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "network.onnx"
            export.export(Net().eval(), path, "x", "1", 96, "card")
            out = quantise.beside(path)
            with mock.patch.object(quantise.arrange, "finish", side_effect=EOFError), self.assertRaises(EOFError):
                quantise.quantise(path, [{"pixels": self.bytes(1, 64, 96, 3)}], out)
            self.assertEqual([f.name for f in out.parent.iterdir()], [path.name])

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


if __name__ == "__main__":
    unittest.main()
