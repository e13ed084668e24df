"""Reads a pack once into memory, or a GPU's memory, so that batches read no files."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

LEVELS = 4  # of a picture's pyramid: full size, 1/2, 1/4 and 1/8


class Bank:
    """Pictures of one kind as uint8 tensors [n, c, side, side], one for each level.

    Each picture lies at the top left. Outside it a scene or background repeats its
    edge, and a cut-out is empty. Cut-outs are premultiplied. size holds width and
    height, and box the subject's x, y, width and height, all as floats. items are
    the descriptions of the rows.
    """

    def __init__(self, pack, kind, device, held=False):
        self.items = pack.choose(kind, held)
        side = pack.sizes["held" if held else kind]
        side += -side % 2 ** (LEVELS - 1)
        raw = [pack.zip.read(i.file) for i in self.items]  # one thread must read a zip
        with ThreadPoolExecutor() as pool:
            rows = list(pool.map(lambda r: prepare(*r, side), zip(self.items, raw)))
        full = torch.from_numpy(np.stack([r[0] for r in rows])).to(device)
        self.size = torch.tensor([r[1] for r in rows], dtype=torch.float32, device=device)
        self.box = torch.tensor([r[2] for r in rows], dtype=torch.float32, device=device)
        self.levels = pyramid(full)
        self.device = device

    def __len__(self):
        return len(self.items)

    def flag(self, test):
        """A bool tensor of the items that pass test."""
        return torch.tensor([bool(test(i)) for i in self.items], device=self.device)

    def weights(self, share):
        """The probability of each item that gives each source its share."""
        count = {}
        for i in self.items:
            count[i.source] = count.get(i.source, 0) + 1
        return torch.tensor([share.get(i.source, 1.0) / count[i.source] for i in self.items], device=self.device)


def prepare(item, raw, side):
    """Decoded, premultiplied and padded: uint8 [c, side, side], size, box."""
    with Image.open(io.BytesIO(raw)) as f:
        picture = f.convert("RGB" if item.kind == "background" else "RGBA")
    if item.pixels:
        factor = max(1, side // max(picture.size))
        picture = picture.resize([v * factor for v in picture.size], Image.Resampling.NEAREST)
    elif max(picture.size) > side:
        picture.thumbnail((side, side), Image.Resampling.BOX)
    if item.kind == "cutout":
        picture = picture.convert("RGBa")
    a = np.asarray(picture)
    h, w = a.shape[:2]
    mode = "constant" if item.kind == "cutout" else "edge"
    padded = np.pad(a, ((0, side - h), (0, side - w), (0, 0)), mode=mode)
    return padded.transpose(2, 0, 1), (w, h), box_of(a)


def box_of(a):
    h, w = a.shape[:2]
    if a.shape[2] == 3:
        return 0, 0, w, h
    rows, cols = np.nonzero(a[..., 3].max(1) > 127)[0], np.nonzero(a[..., 3].max(0) > 127)[0]
    if not len(rows):
        return 0, 0, w, h
    return cols[0], rows[0], cols[-1] + 1 - cols[0], rows[-1] + 1 - rows[0]


def pyramid(full, chunk=256):
    levels = [full]
    for _ in range(LEVELS - 1):
        last = levels[-1]
        parts = [F.avg_pool2d(p.float(), 2).round_().to(torch.uint8) for p in last.split(chunk)]
        levels.append(torch.cat(parts))
    return levels
