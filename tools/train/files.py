"""Writes files as a whole or not at all."""

import contextlib
import pathlib


@contextlib.contextmanager
def whole(path):
    """Gives a path to write to. What is there at the end replaces the file at path, unless there was an error."""
    path = pathlib.Path(path)
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
