"""Output of a command, kept up to a limit: its beginning and its end, with a line that counts the cut bytes between.

The output goes to a file, not through a pipe, so excess output is freed while the command runs, as a hole in that file.
If the file system has no holes, the space is freed when the command has ended.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path

# Kept of one command in a trial, over all ranks that run it; every rank keeps at least the minimum.
RETAINED_BYTES = 64 * 2**20
MIN_RANK_BYTES = 2**20
_LINE_BYTES = 64 * 2**10  # the cut moves up to this far to a line end: half a number would be another number
_PIECE_BYTES = 2**20
_PUNCH_HOLE = 0x01 | 0x02  # fallocate(2): keep the size
_MARK = b"[iosonde: %d bytes were cut here; keep_output of the step keeps more]\n"


def limit_of(keep_output: int | None, ranks: int) -> int:
    """Return how many bytes of a command's output each of ``ranks`` ranks keeps."""
    return keep_output or max(RETAINED_BYTES // ranks, MIN_RANK_BYTES)


def free_middle(handle: int, retained_bytes: int) -> None:
    """Free the space of all output so far except the first and last ``retained_bytes / 2``."""
    head = retained_bytes // 2
    middle = os.fstat(handle).st_size - 2 * head
    if middle > 0:
        libc = ctypes.CDLL(None, use_errno=True)  # no error matters: the limit on the output still holds
        libc.fallocate(handle, _PUNCH_HOLE, ctypes.c_int64(head), ctypes.c_int64(middle))


def cut_middle(path: Path, retained_bytes: int) -> int:
    """Shorten an output to about ``retained_bytes``, between lines if it has any. Return how many bytes were cut."""
    with suppress(OSError), open(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= retained_bytes + _LINE_BYTES:
            return 0
        descriptor, half = file.fileno(), retained_bytes // 2
        start = max(half - _LINE_BYTES, 0)
        before = os.pread(descriptor, half - start, start)
        head = start + (before.rfind(b"\n") + 1 or len(before))
        tail = size - half
        tail += os.pread(descriptor, _LINE_BYTES, tail).find(b"\n") + 1
        mark = _MARK % (tail - head)
        mark = mark if b"\n" in before else b"\n" + mark
        to = head + os.pwrite(descriptor, mark, head)
        for place in range(tail, size, _PIECE_BYTES):
            to += os.pwrite(descriptor, os.pread(descriptor, min(_PIECE_BYTES, size - place), place), to)
        os.ftruncate(descriptor, to)
        return tail - head
    return 0
