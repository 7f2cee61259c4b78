"""Measurements of a drawn file: its kind, compressed size and speed per codec, entropy, zero blocks and duplicate
blocks. Large files are read in pieces."""

import hashlib
import os
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.engine._native import read_timed

from .codecs import find_codec
from .magic import EMPTY, HEAD_BYTES, LONG_HEAD_BYTES, detect_kind, needs_long_head
from .opening import CHANGED, FAILED, RELEASED, SHORT, Opened, TreeCalls, UnansweredError, WalkedFile, open_drawn_file

FULL_READ_BYTES = 1 << 20  # a file up to here is read whole
PIECES, PIECE_BYTES = 4, 1 << 18
BLOCK_BYTES = 4096
_ZEROS = bytes(BLOCK_BYTES)
_Timed = tuple[bytes, int, bool | None]  # data, duration of the read (ns), whether it was cached

DIGEST_BYTES = 8  # of a block: 10⁷ different blocks collide once in 4·10⁵ surveys


@dataclass(frozen=True)
class Piece:
    """A piece of a file: its bytes, the number of whole blocks and of zero blocks, the digests of the other blocks,
    the entropy of its bytes (bits, order 0). By codec: compressed size (bytes) and CPU seconds of compression and of
    decompression, which returned the same bytes. ``read_s``: duration of the read; ``cached``: whether all of it was in
    this node's cache (None: the file system does not say)."""

    size: int
    blocks: int
    zeros: int
    digests: bytes
    entropy: float
    compressed: Mapping[str, int]
    cpu_s: Mapping[str, float]
    unpack_s: Mapping[str, float]
    read_s: float = 0.0
    cached: bool | None = None


@dataclass(frozen=True)
class Contents:
    """Contents of one file. ``why``: why it could not be read, else ''; ``hung_s``: for how long it had not
    answered."""

    kind: str | None
    pieces: tuple[Piece, ...] = ()
    touched: bool = False
    read_bytes: int = 0
    why: str = field(default="")
    hung_s: float = 0.0


@dataclass(frozen=True)
class LookOptions:
    """Measurements of the bytes of a file; the seed places the pieces of large files, or ``every_piece`` is read."""

    codecs: Sequence[str]
    seed: int
    every_piece: bool = False


def measure_contents(
    root: int, walked_file: WalkedFile, options: LookOptions, calls: TreeCalls | None = None
) -> Contents:
    """Measure one file. It is opened only if it has blocks; a file that changes while it is read counts as
    unreadable."""
    if not walked_file.size:
        return Contents(EMPTY)
    if not walked_file.allocated:
        return Contents(None, why=RELEASED)
    calls = calls or TreeCalls()
    try:
        with open_drawn_file(root, walked_file, calls) as file:
            return _read_contents(file, walked_file, options, calls)
    except UnansweredError as error:
        return Contents(None, why=str(error))


def _read_contents(file: Opened, walked_file: WalkedFile, options: LookOptions, calls: TreeCalls) -> Contents:
    # Timed reads come first: reading the head would bring more of the file into the cache.
    timed: Iterable[_Timed] = (
        _read_piece(file, walked_file, place, calls)
        for place in (_choose_places(walked_file, options) if options.codecs else ())
    )
    timed = timed if options.every_piece else list(timed)  # every piece of a large file does not fit into memory
    head = _read_head(file, walked_file, HEAD_BYTES, calls)
    if needs_long_head(head):
        head = _read_head(file, walked_file, LONG_HEAD_BYTES, calls)
    name = walked_file.path.rpartition(b"/")[2]
    kind = detect_kind(head, walked_file.size, name, lambda neighbor: _is_present(neighbor, file.directory, calls))
    pieces, read = [], len(head)
    for data, ns, cached in timed:
        read += len(data)
        pieces.append(replace(_measure_piece(data, options.codecs), read_s=ns / 1e9, cached=cached))
    return Contents(kind, tuple(pieces), file.touched, read)


def _read_piece(file: Opened, walked_file: WalkedFile, place: tuple[int, int], calls: TreeCalls) -> _Timed:
    """Read and time a piece. Raises UnansweredError on a short read."""
    offset, size = place
    data, ns, cached = calls(read_timed, file.fd, offset, size)
    if len(data) < size:
        raise UnansweredError(_explain_short_read(file, walked_file, calls))
    calls.note_answer()
    return data, ns, cached


def _read_head(file: Opened, walked_file: WalkedFile, size: int, calls: TreeCalls) -> bytes:
    """Read the first bytes. Raises UnansweredError on a short read."""
    size, head = min(size, walked_file.size), b""
    while len(head) < size:
        more = calls(os.pread, file.fd, size - len(head), len(head))
        if not more:
            raise UnansweredError(_explain_short_read(file, walked_file, calls))
        head += more
    calls.note_answer()
    return head


def _explain_short_read(file: Opened, walked_file: WalkedFile, calls: TreeCalls) -> str:
    return SHORT if walked_file.same(calls(os.fstat, file.fd)) else CHANGED


def _is_present(name: bytes, directory: int, calls: TreeCalls) -> bool:
    try:
        calls(os.stat, name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return False
    return True


def _choose_places(walked_file: WalkedFile, options: LookOptions) -> Iterable[tuple[int, int]]:
    """Return the whole of a small file; else a random piece in each quarter, aligned to blocks."""
    if walked_file.size <= FULL_READ_BYTES:
        return [(0, walked_file.size)]
    if options.every_piece:
        return ((offset, PIECE_BYTES) for offset in range(0, walked_file.size - PIECE_BYTES + 1, PIECE_BYTES))
    draw, part = random.Random(f"{options.seed} {walked_file.inode}"), walked_file.size // PIECES
    last = max(1, (part - PIECE_BYTES) // BLOCK_BYTES + 1)
    return [
        ((quarter * part // BLOCK_BYTES + draw.randrange(last)) * BLOCK_BYTES, PIECE_BYTES) for quarter in range(PIECES)
    ]


def _measure_piece(data: bytes, codecs: Iterable[str]) -> Piece:
    blocks = [data[at : at + BLOCK_BYTES] for at in range(0, len(data) - BLOCK_BYTES + 1, BLOCK_BYTES)]
    others = [block for block in blocks if block != _ZEROS]
    digests = b"".join(hashlib.blake2b(block, digest_size=DIGEST_BYTES).digest() for block in others)
    sizes, packing, unpacking = {}, {}, {}
    for name in codecs:
        by, began = find_codec(name), time.thread_time()
        packed = by.pack(data)
        middle = time.thread_time()
        unpacked = by.unpack(packed)
        sizes[name], packing[name], unpacking[name] = len(packed), middle - began, time.thread_time() - middle
        if unpacked != data:  # broken codec or memory: discard this file
            raise UnansweredError(FAILED)
    return Piece(
        len(data), len(blocks), len(blocks) - len(others), digests, _compute_entropy(data), sizes, packing, unpacking
    )


def _compute_entropy(data: bytes) -> float:
    """Return Shannon's entropy of single bytes: 0 to 8 bits. It ignores repetition at a distance, which codecs use."""
    counts = np.bincount(np.frombuffer(data, np.uint8), minlength=256)
    shares = counts[counts > 0] / len(data)
    return max(0.0, float(-(shares * np.log2(shares)).sum()))
