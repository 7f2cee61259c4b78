"""Open pipes of this process that a shell names by a path, such as ``/dev/fd/63`` for ``<(command)``.

They are read like standard input. A FIFO with a name in a file system is excluded: it may never have a writer.
"""

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from iosonde.core.errors import InputError
from iosonde.core.units import format_size

MAX_BYTES = 2 << 30
_BLOCK_BYTES = 1 << 20
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})", re.ASCII)


def open_pipe(path: Path) -> BinaryIO | None:
    """Open the pipe of this process that ``path`` names; None if it names anything else."""
    match = _DESCRIPTOR.fullmatch("/dev/fd/0" if str(path) == "/dev/stdin" else str(path))
    try:
        if match is None or not stat.S_ISFIFO(os.fstat(number := int(match[1])).st_mode):
            return None
        return os.fdopen(os.dup(number), "rb")
    except OSError:  # no such descriptor
        return None


def copy_pipe(source: BinaryIO, path: Path, copy: Path) -> int:
    """Copy the content of the pipe ``path`` to the file ``copy``, as it can be read only once. Return the number of
    bytes.

    Raises InputError for more than ``MAX_BYTES``, OSError.
    """
    count = 0
    with source, copy.open("wb") as file:
        while block := source.read(_BLOCK_BYTES):
            count += len(block)
            if count > MAX_BYTES:
                raise InputError(
                    "file-too-large",
                    "{path} yields more than {max_bytes}",
                    "split it",
                    path=path,
                    max_bytes=format_size(MAX_BYTES),
                )
            file.write(block)
    return count
