"""Files that a user asks for: they appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError


def replace_file(path: Path, content: bytes) -> Path:
    """Write ``content`` beside ``path``, then put it in its place. Raises InputError where that cannot be."""
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}", "name a file in a directory that is there and yours"
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(beside).chmod(0o666 & ~_umask())
        Path(beside).replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}", "make room, or name another file") from error
    finally:
        with suppress(FileNotFoundError):
            Path(beside).unlink()
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
