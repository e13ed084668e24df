"""The state that a run saves and the next one continues from: a file of a few MB."""

import dataclasses
import pathlib

import torch

import files
from net import WIDTHS


@dataclasses.dataclass
class State:
    """The whole state of a training.

    plan is the current schedule, place the place in it, and seen the number of samples
    drawn under it. before counts the samples drawn under earlier plans, and seconds the time
    spent so far. widths are the network's.
    """

    net: dict
    average: dict
    optimiser: dict
    dice: torch.Tensor
    device: str
    plan: str
    seen: int
    before: int
    seconds: float
    widths: tuple = WIDTHS
    place: float | None = None

    def __post_init__(self):
        if self.place is None:  # of a checkpoint from before plans in seconds
            self.place = self.seen


def save(path, state):
    """Writes the state.

    The optimiser's moments and the average are stored with fewer bits. Training is
    not affected, and the file is a third as large.
    """
    packed = dataclasses.asdict(state)
    packed["average"] = {k: narrow(v, torch.float16) for k, v in state.average.items()}
    packed["optimiser"] = {
        "state": {k: {n: narrow(v, torch.bfloat16) for n, v in s.items()} for k, s in state.optimiser["state"].items()},
        "param_groups": state.optimiser["param_groups"],
    }
    with files.whole(path) as part:
        torch.save(packed, part)


def load(path, device="cpu"):
    """The state that save wrote, with tensors on device, or None without a file."""
    if not pathlib.Path(path).exists():
        return None
    packed = torch.load(path, map_location=device, weights_only=True)
    packed["average"] = {k: widen(v) for k, v in packed["average"].items()}
    for s in packed["optimiser"]["state"].values():
        s.update({k: widen(v) for k, v in s.items()})
    packed["dice"] = packed["dice"].cpu()
    return State(**packed)


def narrow(v, kind):
    return v.to(kind) if v.is_floating_point() and v.dim() > 1 else v


def widen(v):
    return v.float() if v.is_floating_point() else v
