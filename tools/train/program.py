"""Runs the bgremove program itself on clips, to measure what its users get."""

import pathlib
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageSequence

RATE = 25


def mattes(program, network, frames, *more):
    """The alpha [h, w], 0 to 1, of a clip's Cases from the program, which gets the arguments more too.

    The clip is sent as lossless H.264 in a MOV.
    """
    with tempfile.TemporaryDirectory() as folder:
        clip = pathlib.Path(folder) / "clip.mov"
        h, w = frames[0].picture.shape[:2]
        encode = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{w}x{h}", "-r", str(RATE),
                  "-i", "-", "-c:v", "libx264rgb", "-qp", "0", clip]  # fmt: skip
        subprocess.run(encode, input=b"".join(f.picture.tobytes() for f in frames), check=True)
        return mattes_of(program, network, clip, len(frames), *more)


def mattes_of(program, network, clip, count, *more):
    """The same of a clip's file, which has so many frames. They come back as an APNG."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "clip.png"
        remove = [program, "remove", clip, "-o", out, "--quiet",
                  "--method", "rembg", "--model", network, "--crop=false", *more]  # fmt: skip
        subprocess.run(remove, check=True)
        with Image.open(out) as f:
            found = [np.asarray(i.convert("RGBA"))[..., 3].astype(np.float32) / 255 for i in ImageSequence.Iterator(f)]
    if len(found) != count:
        raise SystemExit(f"{program} made {len(found)} frames of {count}")
    return found
