"""The network: it takes a picture and gives its matte as logits.

It has an encoder of five halvings and a light decoder that adds the encoder's
levels, as U-Nets do. The finer levels use plain 3×3 convolutions in residual
pairs, which ONNX Runtime runs near the machine's peak. The two coarsest use
inverted residuals (MobileNetV2) with 5×5 depthwise convolutions, which there
save weights and see far. A gate from the whole picture's mean (as in SENet and
PP-LiteSeg) tells the coarsest level about the rest of the picture. Edges come
from the half-size level. Its head gives four values a position, one for each
pixel (sub-pixel convolution), so that nothing is computed at full size.

All channel counts are multiples of 8, because ONNX Runtime's convolutions work
in blocks of 8 or 16.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# Channels at 1/2, 1/4, 1/8, 1/16 and 1/32 of the picture's size.
WIDTHS = (24, 32, 64, 128, 256)


class Conv(nn.Module):
    """Convolution, batch normalisation and, unless last, ReLU."""

    def __init__(self, cin, cout, size=3, stride=1, groups=1, relu=True):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, size, stride, size // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(cout)
        self.relu = relu

    def forward(self, x):
        x = self.norm(self.conv(x))
        return F.relu(x) if self.relu else x


class Pair(nn.Module):
    """Two 3×3 convolutions with a shortcut (ResNet's basic block)."""

    def __init__(self, c):
        super().__init__()
        self.first = Conv(c, c)
        self.second = Conv(c, c, relu=False)
        nn.init.zeros_(self.second.norm.weight)

    def forward(self, x):
        return F.relu(x + self.second(self.first(x)))


class Inverted(nn.Module):
    """Widen, 5×5 depthwise, narrow, with a shortcut (MobileNetV2)."""

    def __init__(self, c, expand=3):
        super().__init__()
        self.widen = Conv(c, c * expand, 1)
        self.depth = Conv(c * expand, c * expand, 5, groups=c * expand)
        self.narrow = Conv(c * expand, c, 1, relu=False)
        nn.init.zeros_(self.narrow.norm.weight)

    def forward(self, x):
        return x + self.narrow(self.depth(self.widen(x)))


class Gate(nn.Module):
    """Scales and shifts each channel by the content of the whole picture."""

    def __init__(self, c):
        super().__init__()
        self.hidden = nn.Conv2d(c, c // 2, 1)
        self.scale = nn.Conv2d(c // 2, c, 1)
        self.shift = nn.Conv2d(c // 2, c, 1)
        nn.init.zeros_(self.shift.weight)

    def forward(self, x):
        g = F.relu(self.hidden(x.mean((2, 3), keepdim=True)))
        return x * torch.sigmoid(self.scale(g)) + self.shift(g)


class Join(nn.Module):
    """Enlarges the coarser level, adds the finer one, and mixes both."""

    def __init__(self, coarse, fine, cout):
        super().__init__()
        self.coarse = Conv(coarse, fine, 1, relu=False)
        self.mix = Conv(fine, cout)

    def forward(self, coarse, fine):
        up = F.interpolate(self.coarse(coarse), scale_factor=2.0, mode="nearest")
        return self.mix(F.relu(up + fine))


class Net(nn.Module):
    """Mattes of pictures with sides that are multiples of infer.MULTIPLE.

    forward takes float pictures of values 0 to 1, shape [n, 3, h, w], and gives logits
    [n, 1, h, w]. In training it also gives the logits of the 1/8 level, which are
    supervised in addition to the matte.
    """

    def __init__(self, widths=WIDTHS):
        super().__init__()
        a, b, c, d, e = widths
        self.stem = Conv(3, a, stride=2)
        self.down4 = nn.Sequential(Conv(a, b, stride=2), Pair(b))
        self.down8 = nn.Sequential(Conv(b, c, stride=2), Pair(c), Pair(c))
        self.down16 = nn.Sequential(Conv(c, d, stride=2), *(Inverted(d) for _ in range(3)))
        self.down32 = nn.Sequential(Conv(d, e, stride=2), *(Inverted(e) for _ in range(3)))
        self.gate = Gate(e)
        self.up16 = Join(e, d, c)
        self.up8 = Join(c, c, b)
        self.up4 = Join(b, b, a)
        self.up2 = Join(a, a, a)
        self.head = nn.Conv2d(a, 4, 3, padding=1)
        self.aside = nn.Conv2d(b, 1, 1)

    def forward(self, picture):
        x2 = self.stem((picture - 0.5) * 4)
        x4 = self.down4(x2)
        return self.finish(x2, x4, self.down8(x4))

    def finish(self, x2, x4, x8):
        """What forward gives, from the levels of 1/2, 1/4 and 1/8."""
        x16 = self.down16(x8)
        x32 = self.gate(self.down32(x16))
        y8 = self.up8(self.up16(x32, x16), x8)
        y2 = self.up2(self.up4(y8, x4), x2)
        logits = F.pixel_shuffle(self.head(y2), 2)
        return (logits, self.aside(y8)) if self.training else logits


def count(net):
    """Number of weights."""
    return sum(p.numel() for p in net.parameters())


def runner(net, device="cpu"):
    """A function from a uint8 picture [h, w, 3] at network size to its matte [h, w]."""

    @torch.inference_mode()
    def run(picture):
        x = torch.from_numpy(np.array(picture)).to(device).permute(2, 0, 1)[None] / 255
        return torch.sigmoid(net(x))[0, 0].float().cpu().numpy()

    return run
