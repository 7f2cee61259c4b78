"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import InputError


def replace_file(path: Path, content: bytes) -> Path:
    """Put ``content`` in the place of ``path``, as ``whole_file`` does. Raises InputError where that cannot be."""
    with whole_file(path) as file:
        file.write(content)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` that takes its place when the block ends well. Raises InputError where it cannot.

    A link is followed, and what is no file (``/dev/stdout``, a pipe) is written to: neither is replaced.
    """
    place = path.resolve()
    try:
        if place.exists() and not place.is_file() and not place.is_dir():
            with place.open("wb") as file:
                yield file
            return
        handle, beside = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            Path(beside).chmod(0o666 & ~_umask())
            Path(beside).replace(place)
        finally:
            with suppress(FileNotFoundError):
                Path(beside).unlink()
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}", "name a file in a directory that is there, yours and has room"
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
