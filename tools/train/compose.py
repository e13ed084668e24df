"""Makes training samples: unchanged pictures, subjects on other backdrops, and no subjects.

Everything is drawn on the device in batches, from the Banks of one pack.
"""

import dataclasses
import math

import torch
from torch.nn import functional as F

import backdrop
import degrade
import layers
from data import Bank
from draw import centres, cover, draw, near
from infer import MULTIPLE

# The kinds of samples, and their frequencies.
KINDS = {"scene": 0.35, "transplant": 0.07, "cutout": 0.41, "empty": 0.17}

# The relative frequencies of scenes and cut-outs from each source.
SCENES = {
    "ccp": 0.6, "coco": 0.2, "oxford-pets": 0.9, "feral-cats": 0.9, "caltech101": 0.4, "taco": 0.12, "intel": 0.08,
    "openimages": 0.02,
}  # fmt: skip
CUTOUTS = {
    "fluent-emoji": 1.8, "household-3d": 1.7, "furniture-3d": 2.4, "gazebo-3d": 1.9, "models-3d": 0.7, "lowpoly-3d": 2.4,
    "kenney-3d": 0.9, "kenney-iso": 0.6, "kenney-2d": 0.5, "fxemoji": 0.6, "emojitwo": 0.9, "blobmoji": 0.7,
    "dicebear": 1.0, "silhouettes": 0.7, "lpc": 1.2, "crawl": 1.1, "caltech101": 2.2,
}  # fmt: skip

# Shapes of the canvas, width to height; whole batches share one.
SHAPES = (0.6, 0.7, 0.8, 1.0, 1.0, 1.0, 1.25, 1.5, 1.78)


@dataclasses.dataclass
class Batch:
    """Pictures [n, 3, h, w], mattes and weights [n, 1, h, w], values 0 to 1."""

    picture: torch.Tensor
    matte: torch.Tensor
    weight: torch.Tensor


@dataclasses.dataclass
class Parts:
    """The parts of samples.

    ground [n, 3, h, w] has its own matte and weight [n, 1, h, w]. The premultiplied layer
    [n, 4, h, w] may be empty. shade [n, 1, h, w] is the layer's shadow on the ground.
    """

    ground: torch.Tensor
    matte: torch.Tensor
    weight: torch.Tensor
    layer: torch.Tensor
    shade: torch.Tensor

    def fields(self):
        return [getattr(self, f.name) for f in dataclasses.fields(self)]

    def join(self):
        """The finished samples."""
        picture, matte = layers.over(self.ground * (1 - self.shade), self.matte, self.layer)
        weight = torch.maximum(self.weight, (self.layer[:, 3:] > 0.5).float())
        return Batch(picture.clamp(0, 1), matte.clamp(0, 1), weight)


class Composer:
    """Draws batches; all its randomness comes from dice.

    strength is the share of samples with changed colours and degradations: 1 for
    long trainings, less for those of fewer than a million samples.
    """

    def __init__(self, scenes, cutouts, backgrounds, dice, strength=1.0):
        self.scenes, self.cutouts, self.backgrounds, self.dice = scenes, cutouts, backgrounds, dice
        self.strength = strength
        self.scene_weights = scenes.weights(SCENES)
        self.cutout_weights = cutouts.weights(CUTOUTS)
        self.uncertain = scenes.flag(lambda i: i.uncertain)
        self.square = scenes.flag(lambda i: i.source == "feral-cats")
        self.touch = {id(b): layers.touching(b) for b in (scenes, cutouts)}
        self.black = cutouts.flag(lambda i: i.source == "silhouettes")

    @classmethod
    def of(cls, pack, dice, strength=1.0):
        """A composer of all training items of a pack."""
        return cls(*(Bank(pack, kind, dice.device) for kind in ("scene", "cutout", "background")), dice, strength)

    def canvas(self, size):
        """Width and height of about size² pixels, in one of SHAPES."""
        shape = SHAPES[int(self.dice.one(0, len(SHAPES) - 1e-6))]
        sides = size * shape**0.5, size / shape**0.5
        return [max(1, round(v / MULTIPLE)) * MULTIPLE for v in sides]

    def batch(self, n, size):
        """n samples of about size² pixels."""
        w, h = self.canvas(size)
        b = self.bars(self.parts(n, h, w).join())
        return dataclasses.replace(b, picture=self.change(b.picture))

    def bars(self, b):
        """Adds bars without a subject at two sides of some samples, as in films of another shape."""
        dice, h, w = self.dice, *b.picture.shape[2:]
        rows = dice.chance(len(b.picture), 0.06).nonzero()[:, 0]
        if not len(rows):
            return b
        n, picture = len(rows), b.picture[rows]
        x, y, _ = (centres(h, w, picture.device) / torch.tensor([[w], [h], [1]], device=picture.device)).view(3, h, w)
        across = torch.where(dice.chance(n, 0.5).view(-1, 1, 1, 1), x, y)
        inside = (across - 0.5).abs() < 0.5 - dice.uniform(n, 0.04, 0.26).view(-1, 1, 1, 1)
        blurred = F.interpolate(F.avg_pool2d(picture, 16), (h, w), mode="bilinear") * 0.7
        plain = dice.uniform(3 * n).view(n, 3, 1, 1) * dice.chance(n, 0.2).view(-1, 1, 1, 1)
        bar = torch.where(dice.chance(n, 0.3).view(-1, 1, 1, 1), blurred, plain)
        barred = Batch(torch.where(inside, picture, bar), b.matte[rows] * inside, torch.where(inside, b.weight[rows], 1.0))
        return Batch(*(torch.index_copy(getattr(b, k), 0, rows, getattr(barred, k)) for k in ("picture", "matte", "weight")))

    def change(self, picture):
        """Colours and degradations of whole pictures."""
        picture = layers.recolour(self.dice, picture, 0.7 * self.strength)
        return degrade.degrade(self.dice, picture, self.strength)

    def parts(self, n, h, w):
        """The parts of n samples, in random order, with the frequencies of KINDS."""
        kind = self.dice.pick(n, torch.tensor(list(KINDS.values()), device=self.dice.device))
        where = [(kind == i).nonzero()[:, 0] for i in range(len(KINDS))]
        made = [getattr(self, k)(len(rows), h, w) for k, rows in zip(KINDS, where) if len(rows)]
        order = torch.argsort(torch.cat(where))
        return Parts(*(torch.cat(field)[order] for field in zip(*(p.fields() for p in made))))

    def scene(self, n, h, w):
        """Original pictures, cut differently; some with an added object."""
        dice = self.dice
        aspect = (self.scenes.size[:, 0] / self.scenes.size[:, 1]).log() - math.log(w / h)
        index = dice.pick(n, self.scene_weights * torch.exp(-((aspect / 0.35) ** 2)))
        zoom = torch.where(dice.chance(n, 0.65), dice.uniform(n, 1, 1.1), dice.uniform(n, 1.1, 1.9))
        stretch = torch.where(self.square[index], dice.uniform(n, 1, 1.5), dice.uniform(n, 0.9, 1.1))
        size = self.scenes.size[index]
        close, middle = near(dice, size, self.scenes.box[index], h, w, stretch)
        chosen = dice.chance(n, 0.15)
        zoom, middle = torch.where(chosen, close, zoom), torch.where(chosen[:, None], middle, math.nan)
        drawn = draw(self.scenes, index, cover(dice, size, h, w, zoom, stretch, middle=middle), h, w)
        picture, alpha = drawn[:, :3], drawn[:, 3:]
        unsure = self.uncertain[index].view(-1, 1, 1, 1)
        weight = torch.where(unsure & ((alpha - 0.5).abs() < 0.44), 0.0, 1.0)
        matte = torch.where(unsure, (alpha > 0.5).float(), alpha)
        return self.add(Parts(picture, matte, weight, *self.nothing(n, h, w)), 0.06, self.cutouts)

    def transplant(self, n, h, w):
        """Subjects of scenes on other backdrops."""
        return self.composite(n, h, w, self.scenes)

    def cutout(self, n, h, w):
        """Cut-outs on a backdrop."""
        return self.composite(n, h, w, self.cutouts)

    def empty(self, n, h, w):
        """Backdrops without a subject."""
        picture = backdrop.backdrop(self.dice, self.backgrounds, n, h, w)
        none = picture.new_zeros(n, 1, h, w)
        return Parts(picture, none, none + 1, *self.nothing(n, h, w))

    def composite(self, n, h, w, bank):
        """One to three subjects, the first of them from bank, on a backdrop."""
        parts = self.add(self.empty(n, h, w), 1.0, bank)
        parts = self.add(parts, 0.28, bank if self.dice.one() < 0.6 else self.cutouts)
        return self.add(parts, 0.1, self.cutouts)

    def nothing(self, n, h, w):
        """An empty layer and its shade."""
        empty = torch.zeros(n, 5, h, w, device=self.dice.device)
        return empty[:, :4].clone(), empty[:, 4:].clone()

    def add(self, parts, chance, bank):
        """Puts a further subject in front of some of the samples."""
        n, _, h, w = parts.ground.shape
        rows = self.dice.chance(n, chance).nonzero()[:, 0]
        if len(rows):
            more = layers.camouflage(self.dice, self.layer(len(rows), h, w, bank), parts.ground[rows])
            rgb, alpha = layers.over(parts.layer[rows, :3], parts.layer[rows, 3:], more)
            parts.layer[rows] = torch.cat([rgb, alpha], 1)
            shade = layers.shadow(self.dice, more[:, 3:])
            parts.shade[rows] = torch.maximum(parts.shade[rows], shade)
        return parts

    def layer(self, n, h, w, bank):
        """Subjects as premultiplied layers [n, 4, h, w] for a canvas."""
        dice = self.dice
        if bank is self.scenes:
            index = dice.pick(n, self.scene_weights)
            stretch = torch.where(self.square[index], dice.uniform(n, 1, 1.4), 1.0)
        else:
            index, stretch = dice.pick(n, self.cutout_weights), torch.ones(n, device=dice.device)
        matrix = layers.place(dice, bank.box[index], self.touch[id(bank)][index], stretch, h, w)
        layer = draw(bank, index, matrix, h, w)
        rgb, alpha = layer[:, :3], layer[:, 3:]
        if bank is self.scenes:
            low = torch.where(self.uncertain[index], 0.72, 0.5).view(-1, 1, 1, 1)
            alpha = ((alpha - low) / 0.25).clamp(0, 1) * layers.inside(bank.size[index], matrix, h, w)
            rgb = rgb * alpha
        else:
            plain = self.black[index] | dice.chance(n, 0.03)
            rgb = backdrop.fill(dice, self.backgrounds, rgb, alpha, plain)
        return layers.finish(dice, torch.cat([rgb, alpha], 1))
