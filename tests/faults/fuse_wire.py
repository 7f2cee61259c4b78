"""The kernel's FUSE protocol (include/uapi/linux/fuse.h, version 7.31): its numbers and the layout of its messages."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MAJOR, MINOR = 7, 31
MAX_WRITE = 1 << 20
# What a message may be at most: the largest write, and its headers.
MESSAGE_BYTES = MAX_WRITE + 8192

OPERATIONS = {
    1: "lookup",
    3: "getattr",
    4: "setattr",
    5: "readlink",
    6: "symlink",
    8: "mknod",
    9: "mkdir",
    10: "unlink",
    11: "rmdir",
    12: "rename",
    13: "link",
    14: "open",
    15: "read",
    16: "write",
    17: "statfs",
    18: "release",
    20: "fsync",
    25: "flush",
    27: "opendir",
    28: "readdir",
    29: "releasedir",
    30: "fsyncdir",
    35: "create",
    45: "rename",
}
FORGET, INIT, INTERRUPT, DESTROY, BATCH_FORGET, RENAME2 = 2, 26, 36, 38, 42, 45

SET_MODE, SET_UID, SET_GID, SET_SIZE, SET_ATIME, SET_MTIME, SET_ATIME_NOW, SET_MTIME_NOW = 1, 2, 4, 8, 16, 32, 128, 256
OPEN_DIRECT_IO = 1
# Writes larger than a page, many directory operations at once, messages of more than 32 pages.
_WANTED_FLAGS = 1 << 5 | 1 << 18 | 1 << 22

_IN = struct.Struct("<IIQQIIII")
_OUT = struct.Struct("<IiQ")
_ATTR = struct.Struct("<6Q10I")
_INIT_OUT = struct.Struct("<4I2H2I2H8I")
_STATFS = struct.Struct("<5Q10I")
READ_IN = WRITE_IN = struct.Struct("<QQIIQII")
SETATTR_IN = struct.Struct("<IIQQQQQQIIIIIIII")


@dataclass
class Request:
    """One question of the kernel: ``operation`` is its name here, ``path`` what it is about, as far as it is known."""

    unique: int
    opcode: int
    node: int
    uid: int
    gid: int
    pid: int
    body: bytes
    path: str = ""
    operation: str = field(init=False)

    def __post_init__(self) -> None:
        self.operation = OPERATIONS.get(self.opcode, "")

    def names(self, offset: int = 0) -> list[str]:
        """The names that follow the fixed part."""
        return [name.decode(errors="surrogateescape") for name in self.body[offset:].split(b"\0")[:-1]]


def request(message: bytes) -> Request:
    """The question in a message from /dev/fuse."""
    _, opcode, unique, node, uid, gid, pid, _ = _IN.unpack_from(message)
    return Request(unique, opcode, node, uid, gid, pid, message[_IN.size :])


def answer(unique: int, body: bytes = b"", error: int = 0) -> bytes:
    """A message for /dev/fuse; ``error`` is an errno."""
    return _OUT.pack(_OUT.size + len(body), -error, unique) + body


def init(body: bytes) -> bytes:
    """What we can, to a kernel that has said what it can."""
    _, _, readahead, flags = struct.unpack_from("<4I", body)
    flags &= _WANTED_FLAGS
    return _INIT_OUT.pack(MAJOR, MINOR, readahead, flags, 64, 48, MAX_WRITE, 1, MAX_WRITE // 4096, 0, *[0] * 8)


def attributes(of: dict[str, int]) -> bytes:
    """`struct fuse_attr`; times are in ns."""
    times = [of["atime"], of["mtime"], of["ctime"]]
    seconds, rests = [time // 10**9 for time in times], [time % 10**9 for time in times]
    size = of["size"] % 2**64
    blocks = of.get("blocks", -(-size // 512) % 2**64)
    return _ATTR.pack(
        of["ino"],
        size,
        blocks,
        *(second % 2**64 for second in seconds),
        *rests,
        of["mode"],
        of["nlink"],
        of["uid"],
        of["gid"],
        0,
        4096,
        0,
    )


def entry(of: dict[str, int], valid_s: int) -> bytes:
    """`struct fuse_entry_out`."""
    return struct.pack("<4Q2I", of["ino"], 0, valid_s, valid_s, 0, 0) + attributes(of)


def attribute_answer(of: dict[str, int], valid_s: int) -> bytes:
    """`struct fuse_attr_out`."""
    return struct.pack("<Q2I", valid_s, 0, 0) + attributes(of)


def opened(flags: int) -> bytes:
    """`struct fuse_open_out`: there are no file handles, a node is enough."""
    return struct.pack("<QIi", 0, flags, 0)


def statfs(of: dict[str, int]) -> bytes:
    """`struct fuse_statfs_out`; a negative count is given as the kernel has it, modulo 2^64."""
    counts = [of[key] % 2**64 for key in ("blocks", "bfree", "bavail", "files", "ffree")]
    return _STATFS.pack(*counts, of["bsize"], 255, of["bsize"], *[0] * 7)


def directory(entries: list[tuple[str, int, int]], offset: int, size: int) -> bytes:
    """As many of the (name, node, mode) from ``offset`` on as fit into ``size`` bytes."""
    found = bytearray()
    for number, (name, node, mode) in enumerate(entries[offset:], offset + 1):
        raw = name.encode(errors="surrogateescape")
        one = struct.pack("<2Q2I", node, number, len(raw), mode >> 12 & 15) + raw
        one += bytes(-len(one) % 8)
        if len(found) + len(one) > size:
            break
        found += one
    return bytes(found)
