"""Samples for the guide: pictures of several things, with hints at some of them.

Each sample is a picture of up to four things, some of them alike, over a photograph or with a
scene's own subject. One or some of the things are wanted. The guide is shown marks, as of
clicks, strokes and boxes (N. Xu et al., "Deep Interactive Object Selection", CVPR 2016), and
often the matte that was found for the frame before, as the motion brings it: moved, torn, with
parts of other things (F. Perazzi et al., "Learning Video Object Segmentation from Static
Images", CVPR 2017). Some marks correct such a matte. Others say what is to go from a matte of all
things.
"""

import dataclasses

import torch
from torch.nn import functional as F

import layers
from compose import Batch, Composer, Parts

CLICKED, BOXED = 1.0, 0.4  # a mark of a click or a stroke, and of a box
RADIUS = 1 / 50  # of a click, of the picture's shorter side

# What is known beside the picture, and how often.
KINDS = {"clicked": 0.38, "followed": 0.24, "corrected": 0.2, "lost": 0.05, "dropped": 0.13}
TWICE = 0.3  # share of further things that are a copy of one that is there
FURTHER = (1.0, 0.6, 0.35)  # how often there is one more thing
SOME = 0.12  # share of samples in which several things are wanted
SMALLEST = 0.002  # of the picture, of a thing that is wanted


class Marked(Composer):
    """Draws batches of pictures [n, MARKED_COUNT, h, w] with the mattes of what is wanted."""

    def batch(self, n, size):
        w, h = self.canvas(size)
        picture, things, weight = self.things(n, h, w)
        kind = self.dice.pick(n, torch.tensor(list(KINDS.values()), device=self.dice.device))
        kinds = {k: (kind == i).float().view(-1, 1, 1, 1) for i, k in enumerate(KINDS)}
        wanted, other = self.wanted(things, kinds["dropped"])
        marks = self.marks(wanted, other, **kinds)
        return Batch(torch.cat([self.change(picture), *marks], 1), wanted * marks.there, weight)

    def things(self, n, h, w):
        """Pictures, the visible parts of their things [n, k, h, w], and weights."""
        half = self.dice.chance(n, 0.4)
        rows = [half.nonzero()[:, 0], (~half).nonzero()[:, 0]]
        made = [f(len(r), h, w) for f, r in zip((self.scene, self.empty), rows) if len(r)]
        order = torch.argsort(torch.cat(rows))
        p = Parts(*(torch.cat(field)[order] for field in zip(*(m.fields() for m in made))))
        p.layer.zero_()
        p.shade.zero_()
        things, last = [p.matte], None
        for chance in FURTHER:
            rows = self.dice.chance(n, chance).nonzero()[:, 0]
            more = torch.zeros(n, 4, h, w, device=self.dice.device)
            if len(rows):
                drawn = self.further(last[rows] if last is not None else None, len(rows), h, w)
                more[rows] = layers.camouflage(self.dice, drawn, p.ground[rows])
            alpha = more[:, 3:]
            things = [t * (1 - alpha) for t in things] + [alpha]
            shade = layers.shadow(self.dice, alpha)
            p.ground = more[:, :3] + p.ground * (1 - shade) * (1 - alpha)
            p.weight = torch.maximum(p.weight, (alpha > 0.5).float())
            last = more
        return p.ground.clamp(0, 1), torch.cat(things, 1).clamp(0, 1), p.weight

    def further(self, last, n, h, w):
        """One more thing for each sample, perhaps a copy of the last one."""
        parts = [(n - n // 2, self.scenes), (n // 2, self.cutouts)]
        drawn = torch.cat([self.layer(m, h, w, bank) for m, bank in parts if m])
        drawn = drawn[torch.argsort(self.dice.uniform(n))]
        if last is None:
            return drawn
        scale, to = self.dice.uniform(n, 0.7, 1.3), self.dice.uniform(2 * n, -0.6, 0.6).view(n, 2, 1)
        way = torch.cat([torch.diag_embed(torch.stack([scale, scale], 1)), to], 2)
        copy = F.grid_sample(last, F.affine_grid(way, list(last.shape), align_corners=False), align_corners=False)
        return torch.where(self.dice.chance(n, TWICE).view(-1, 1, 1, 1), copy, drawn)

    def wanted(self, things, dropped):
        """The mattes [n, 1, h, w] of what is wanted, and of the other things: the one to go where something is dropped."""
        n = len(things)
        big = (things > 0.5).float().mean((2, 3))
        p = (big > SMALLEST).float() * (0.2 + big.clamp(max=0.8).sqrt())
        p[:, 0] += (p.sum(1) == 0) * 1e-6  # where nothing can be wanted, any place is
        chosen = F.one_hot(self.dice.pick_rows(p), things.shape[1]).float()
        more = self.dice.chance(n, SOME)[:, None] & (self.dice.uniform(n * things.shape[1]).view(n, -1) < 0.5)
        more = more & (big > SMALLEST) & (dropped.view(n, 1) == 0)
        chosen = torch.maximum(chosen, more.float())
        chosen = torch.where(dropped.view(n, 1) > 0, 1 - chosen, chosen)[:, :, None, None]
        return (things * chosen).sum(1, keepdim=True).clamp(0, 1), (things * (1 - chosen)).sum(1, keepdim=True).clamp(0, 1)

    def marks(self, wanted, other, clicked, followed, corrected, lost, dropped):
        """The planes of planes.MARKS, each [n, 1, h, w]; there is 0 for samples in which the thing is gone.

        Which samples are of which of KINDS is [n, 1, 1, 1], 0 or 1. Of those that are dropped, other is what is to go.
        """
        dice, n = self.dice, len(wanted)
        spoilt = self.spoilt(torch.where(dropped > 0, (wanted + other).clamp(max=1), wanted), other, corrected, dropped)
        before = spoilt * (followed + corrected + dropped)
        trust = torch.where(dropped > 0, 1.0, self.trust(wanted) * (1 - clicked))
        missing, extra = wanted * (1 - before), before * (1 - wanted)
        keep = self.hinted(torch.where(corrected > 0, missing, wanted), wanted, 0.5)
        often = dice.chance(n, 0.3).float().view(-1, 1, 1, 1)
        around = torch.where(dice.chance(n, 0.5).view(-1, 1, 1, 1), other, 1 - wanted)
        wrong = torch.where(dropped > 0, other, torch.where(corrected > 0, extra, around))
        drop = self.hinted(wrong, 1 - wanted, 0.2) * torch.maximum(often, corrected + dropped)
        one = dice.chance(n, 0.35).float().view(-1, 1, 1, 1)  # corrections by one mark alone
        first = (missing.sum((2, 3), keepdim=True) > extra.sum((2, 3), keepdim=True)).float()
        keep = keep * (1 - corrected * one * (1 - first)) * (1 - lost) * (1 - dropped)
        drop = drop * (1 - corrected * one * first) * (1 - lost)
        faded = torch.where(followed > 0, dice.uniform(n).view(-1, 1, 1, 1) * (dice.uniform(n).view(-1, 1, 1, 1) < 0.6), 1.0)
        return Marks(keep * faded, drop * faded, before * (trust > 0), trust, 1 - lost)

    def hinted(self, first, whole, boxes):
        """Marks [n, 1, h, w] on parts: clicks, strokes within the whole, or boxes, of which some samples have that share times a fifth."""
        dice, (n, _, h, w) = self.dice, first.shape
        area = self.inner(first)
        at = self.places(area)
        marks = self.discs(at, h, w)
        for chance in (0.3, 0.15):
            more = self.discs(self.places(self.inner(first)), h, w)
            marks = torch.maximum(marks, more * dice.chance(n, chance).view(-1, 1, 1, 1))
        stroke = self.discs(at, h, w, self.places(area)) * (whole > 0.8)
        marks = torch.where(dice.chance(n, 0.12).view(-1, 1, 1, 1), stroke, marks)
        box = self.box(first) * BOXED
        marks = torch.where(dice.chance(n, 0.2 * boxes).view(-1, 1, 1, 1), box, marks)
        return marks * (first > 0.5).any(3, keepdim=True).any(2, keepdim=True)

    def inner(self, mask):
        """The parts [n, 1, h/2, w/2] of masks that lie deep inside, by a random depth for each."""
        half = F.avg_pool2d(mask, 2)
        area = (half > 0.8).float()
        area = torch.where(area.sum((2, 3), keepdim=True) > 0, area, half)
        depth = torch.floor(self.dice.uniform(len(mask), 0, 5)).view(-1, 1, 1, 1)
        for step, reach in enumerate((1, 1, 2, 4)):
            across = F.max_pool2d(-F.pad(area, [reach] * 4), (2 * reach + 1, 1), 1)
            less = -F.max_pool2d(across, (1, 2 * reach + 1), 1)
            go = (depth > step) & (less.sum((2, 3), keepdim=True) > 0)
            area = torch.where(go, less, area)
        return area

    def places(self, area):
        """A place x, y [n, 2] in each of the areas that inner gives."""
        w = area.shape[3]
        k = self.dice.pick_rows(area.flatten(1) + 1e-9)
        return 2 * torch.stack([k % w, k // w], 1).float() + 1

    def discs(self, at, h, w, to=None):
        """What a round brush marks at places [n, 2], or on its way from there to others."""
        radius = RADIUS * min(h, w) * self.dice.uniform(len(at), 0.8, 1.3).view(-1, 1, 1, 1)
        y, x = torch.meshgrid(torch.arange(h, device=at.device) + 0.5, torch.arange(w, device=at.device) + 0.5, indexing="ij")
        x, y = x - at[:, :1, None, None], y - at[:, 1:, None, None]
        if to is not None:
            way = (to - at)[:, :, None, None]
            t = ((x * way[:, :1] + y * way[:, 1:]) / (way.square().sum(1, keepdim=True) + 1e-6)).clamp(0, 1)
            x, y = x - t * way[:, :1], y - t * way[:, 1:]
        return (x**2 + y**2 <= radius**2).float() * CLICKED

    def box(self, mask):
        """Boxes around masks, a little off."""
        n, _, h, w = mask.shape
        columns, rows = (mask > 0.5).any(2).float()[:, 0], (mask > 0.5).any(3).float()[:, 0]
        inside = []
        for line in (columns, rows):
            m = line.shape[1]
            k = torch.arange(m, device=mask.device)
            off = self.dice.normal(n, 2) * 0.015 * m
            first = torch.where(line > 0, k, m).amin(1) + off[:, 0]
            last = torch.where(line > 0, k, -1).amax(1) + off[:, 1]
            inside.append(((k >= first[:, None]) & (k <= last[:, None])).float())
        return inside[1][:, None, :, None] * inside[0][:, None, None, :]

    def trust(self, like):
        """How far the way from the frame before is trusted: less in some places."""
        n = len(like)
        field = self.field(like, 5) + self.dice.uniform(n, 0, 3).view(-1, 1, 1, 1)
        trust = torch.sigmoid(3 * field) * self.dice.uniform(n, 0.7, 1).view(-1, 1, 1, 1)
        return trust * (trust > 0.06)

    def field(self, like, cells):
        """A smooth random field of about unit size [n, 1, h, w]."""
        small = self.dice.normal(len(like), 1, cells, cells)
        return F.interpolate(small, like.shape[2:], mode="bicubic", align_corners=False)

    def spoilt(self, wanted, other, corrected, still):
        """Mattes as they may have been found for the frame before; those to be corrected have larger errors, and still ones do not move."""
        dice, n = self.dice, len(wanted)

        def some(p):
            return dice.chance(n, p).float().view(-1, 1, 1, 1)

        found = wanted
        hole = torch.sigmoid(12 * (self.field(wanted, 6) - 1.1 + 0.8 * corrected)) * some(0.5)
        found = found * (1 - hole)
        stuck = torch.sigmoid(12 * (self.field(wanted, 4) + 1 - 2 * some(0.5))) * torch.maximum(some(0.2), corrected * some(0.6))
        found = torch.maximum(found, other * stuck)
        blob = torch.sigmoid(12 * (self.field(wanted, 6) - 1.5)) * torch.maximum(some(0.2), corrected * some(0.5))
        found = torch.maximum(found, blob)
        found = torch.where(still > 0, found, self.moved(found))
        small = F.avg_pool2d(found, 4)
        found = torch.where(some(0.4) > 0, F.interpolate(small, found.shape[2:], mode="bilinear", align_corners=False), found)
        weak = dice.uniform(n, 0.4, 1).view(-1, 1, 1, 1)
        return torch.where(some(0.2) > 0, 0.5 + (found - 0.5) * weak, found)

    def moved(self, mattes):
        """Mattes a little moved, turned, scaled and bent."""
        dice, (n, _, h, w) = self.dice, mattes.shape
        strength = dice.normal(n).abs() * dice.chance(n, 0.8)
        s, a = 1 + 0.04 * strength * dice.normal(n), 0.05 * strength * dice.normal(n)
        to = 0.03 * strength[:, None] * dice.normal(n, 2)
        way = torch.stack([s * a.cos(), -s * a.sin(), to[:, 0], s * a.sin(), s * a.cos(), to[:, 1]], 1).view(n, 2, 3)
        grid = F.affine_grid(way, list(mattes.shape), align_corners=False)
        bend = torch.cat([self.field(mattes, 5), self.field(mattes, 5)], 1).permute(0, 2, 3, 1)
        grid = grid + 0.02 * strength.view(-1, 1, 1, 1) * bend
        return F.grid_sample(mattes, grid, align_corners=False)


@dataclasses.dataclass
class Marks:
    """The planes of planes.MARKS, in that order, each [n, 1, h, w], and whether the thing is there [n, 1, 1, 1]."""

    keep: torch.Tensor
    drop: torch.Tensor
    before: torch.Tensor
    trust: torch.Tensor
    there: torch.Tensor

    def __iter__(self):
        return iter((self.keep, self.drop, self.before, self.trust))
