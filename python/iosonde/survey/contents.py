"""What is measured of a drawn file: its kind, what a codec makes of it, blocks of zeros. Of a large file, pieces."""

from __future__ import annotations

import bz2
import lzma
import os
import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from .magic import EMPTY, HEAD_BYTES, LONG_HEAD_BYTES, kind_of, needs_long_head
from .opening import RELEASED, Opened, UnansweredError, WalkedFile, opened

WHOLE_BYTES = 1 << 20  # a file up to here is read whole
PIECES, PIECE_BYTES = 4, 1 << 18
BLOCK_BYTES = 4096
_ZEROS = bytes(BLOCK_BYTES)
_AT_ONCE = 8
_T = TypeVar("_T")

CODECS: Mapping[str, Callable[[bytes], bytes]] = {
    "zlib": lambda data: zlib.compress(data, 6),
    "bz2": lambda data: bz2.compress(data, 9),
    "lzma": lambda data: lzma.compress(data, preset=6),
}


@dataclass(frozen=True)
class Piece:
    """One piece of a file: its bytes, how many of its whole blocks there are and are zeros, and by codec what it was
    compressed to (bytes) and how long that took (seconds of CPU)."""

    size: int
    blocks: int
    zeros: int
    compressed: Mapping[str, int]
    cpu_s: Mapping[str, float]


@dataclass(frozen=True)
class Contents:
    """Of one file. ``why``: why it could not be looked at, else ''."""

    kind: str | None
    pieces: tuple[Piece, ...] = ()
    touched: bool = False
    read_bytes: int = 0
    why: str = field(default="")


@dataclass(frozen=True)
class LookAsked:
    """What is done with the bytes of a file; the seed places the pieces of large ones."""

    codecs: Sequence[str]
    seed: int


def look_at_all(
    root: str, files: Sequence[WalkedFile], asked: LookAsked, on_done: Callable[[int], object] | None = None
) -> list[Contents]:
    """Each file's contents, several at a time. ``on_done`` is told how many are done."""
    handle = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            work = [pool.submit(look_at, handle, one, asked) for one in files]
            try:
                return [one.result() for one in _told(work, on_done)]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        os.close(handle)


def _told(work: Sequence[_T], on_done: Callable[[int], object] | None) -> Iterator[_T]:
    for done, one in enumerate(work):
        yield one
        if on_done:
            on_done(done + 1)


def look_at(root: int, seen: WalkedFile, asked: LookAsked) -> Contents:
    """One file. It is opened only if it has blocks; what changes while it is read counts as no answer."""
    if not seen.size:
        return Contents(EMPTY)
    if not seen.allocated:
        return Contents(None, why=RELEASED)
    try:
        with opened(root, seen) as file:
            return _contents(file, seen, asked)
    except UnansweredError as error:
        return Contents(None, why=str(error))


def _contents(file: Opened, seen: WalkedFile, asked: LookAsked) -> Contents:
    head = os.pread(file.fd, HEAD_BYTES, 0)
    if needs_long_head(head):
        head = os.pread(file.fd, LONG_HEAD_BYTES, 0)
    kind = kind_of(head, seen.size, seen.path.rpartition(b"/")[2], lambda name: _is_there(name, file.directory))
    pieces, read = [], len(head)
    for offset, size in _places(seen, asked.seed) if asked.codecs else ():
        data = os.pread(file.fd, size, offset)
        read += len(data)
        if data:
            pieces.append(_piece(data, asked.codecs))
    return Contents(kind, tuple(pieces), file.touched, read)


def _is_there(name: bytes, directory: int) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return False
    return True


def _places(seen: WalkedFile, seed: int) -> Iterable[tuple[int, int]]:
    """The whole of a small file; of a large one a piece at random in each quarter, on a block's begin."""
    if seen.size <= WHOLE_BYTES:
        return [(0, seen.size)]
    draw, part = random.Random(f"{seed} {seen.inode}"), seen.size // PIECES
    last = max(1, (part - PIECE_BYTES) // BLOCK_BYTES + 1)
    return [((quarter * part // BLOCK_BYTES + draw.randrange(last)) * BLOCK_BYTES, PIECE_BYTES)
            for quarter in range(PIECES)]  # fmt: skip


def _piece(data: bytes, codecs: Iterable[str]) -> Piece:
    whole = len(data) // BLOCK_BYTES
    zeros = sum(data[at * BLOCK_BYTES : (at + 1) * BLOCK_BYTES] == _ZEROS for at in range(whole))
    sizes, times = {}, {}
    for codec in codecs:
        began = time.thread_time()
        sizes[codec] = len(CODECS[codec](data))
        times[codec] = time.thread_time() - began
    return Piece(len(data), whole, zeros, sizes, times)
