"""glassfs: a file system that shows another directory, as it is. ``glass.py DIRECTORY MOUNTPOINT`` returns once it is
mounted; it ends when it is unmounted.

What tests/glass_sample.py makes a Git repository of, to try the gate of docs/start/ci.md with a file system.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

import fuse_wire as wire
from fuse_wire import Request

_libc = ctypes.CDLL(None, use_errno=True)


def mount(path: str) -> int:
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},default_permissions"
    if _libc.mount(b"glassfs", path.encode(), b"fuse.glassfs", 0, options.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return device


class Glass:
    """Each method of an operation's name answers one request, or raises OSError. Nodes are known by their paths."""

    def __init__(self, below: str) -> None:
        self.paths = {1: below}
        self.numbers = {below: 1}

    def lookup(self, request: Request) -> bytes:
        return self._entry(self._child(request))

    def getattr(self, request: Request) -> bytes:
        return wire.attribute_answer(_about(self.paths[request.node], request.node), 0)

    def setattr(self, request: Request) -> bytes:
        path, (valid, _, _, size, *_) = self.paths[request.node], wire.SETATTR_IN.unpack(request.body)
        if valid & wire.SET_SIZE:
            os.truncate(path, size)
        if valid & wire.SET_MODE:
            os.chmod(path, wire.SETATTR_IN.unpack(request.body)[11] & 0o7777)
        return self.getattr(request)

    def mkdir(self, request: Request) -> bytes:
        path = self._child(request, 8)
        os.mkdir(path, struct.unpack_from("<I", request.body)[0] & 0o7777)
        return self._entry(path)

    def create(self, request: Request) -> bytes:
        flags, mode = struct.unpack_from("<2I", request.body)
        path = self._child(request, 16)
        handle = os.open(path, flags & ~os.O_NOFOLLOW | os.O_CREAT, mode & 0o7777)
        return self._entry(path) + _opened(handle)

    def open(self, request: Request) -> bytes:
        (flags,) = struct.unpack_from("<I", request.body)
        return _opened(os.open(self.paths[request.node], flags & ~(os.O_CREAT | os.O_EXCL)))

    def read(self, request: Request) -> bytes:
        handle, offset, size, *_ = wire.READ_IN.unpack_from(request.body)
        return os.pread(handle, size, offset)

    def write(self, request: Request) -> bytes:
        handle, offset, *_ = wire.WRITE_IN.unpack_from(request.body)
        data = request.body[wire.WRITE_IN.size :]
        return struct.pack("<2I", os.pwrite(handle, data, offset), 0)

    def fsync(self, request: Request) -> bytes:
        os.fsync(struct.unpack_from("<Q", request.body)[0])
        return b""

    def release(self, request: Request) -> bytes:
        os.close(struct.unpack_from("<Q", request.body)[0])
        return b""

    def unlink(self, request: Request) -> bytes:
        os.unlink(self._child(request))
        return b""

    def rmdir(self, request: Request) -> bytes:
        os.rmdir(self._child(request))
        return b""

    def readdir(self, request: Request) -> bytes:
        _, offset, size, *_ = wire.READ_IN.unpack_from(request.body)
        path = self.paths[request.node]
        names = [(name, os.lstat(os.path.join(path, name))) for name in (".", "..", *sorted(os.listdir(path)))]
        return wire.directory([(name, about.st_ino, about.st_mode) for name, about in names], offset, size)

    def statfs(self, request: Request) -> bytes:
        found = os.statvfs(self.paths[request.node])
        names = ("blocks", "bfree", "bavail", "files", "ffree", "bsize")
        return wire.statfs({name: getattr(found, f"f_{name}") for name in names})

    def opendir(self, request: Request) -> bytes:
        return wire.opened(0)

    def flush(self, request: Request) -> bytes:
        return b""

    releasedir = fsyncdir = flush

    def _child(self, request: Request, offset: int = 0) -> str:
        return os.path.join(self.paths[request.node], request.names(offset)[0])

    def _entry(self, path: str) -> bytes:
        about = os.lstat(path)
        number = self.numbers.setdefault(path, about.st_ino)
        self.paths[number] = path
        return wire.entry(_about(path, number), 0)


def _about(path: str, number: int) -> dict[str, int]:
    found = os.lstat(path)
    return {
        "ino": number,
        "size": found.st_size,
        "mode": found.st_mode,
        "nlink": found.st_nlink,
        "uid": found.st_uid,
        "gid": found.st_gid,
        "atime": found.st_atime_ns,
        "mtime": found.st_mtime_ns,
        "ctime": found.st_ctime_ns,
    }


def _opened(handle: int) -> bytes:
    return struct.pack("<QIi", handle, 0, 0)


def answered(glass: Glass, request: Request) -> bytes | None:
    """What the kernel is told; None where it wants no answer."""
    if request.opcode in (wire.FORGET, wire.BATCH_FORGET, wire.INTERRUPT):
        return None
    if request.opcode == wire.INIT:
        return wire.answer(request.unique, wire.init(request.body))
    try:
        return wire.answer(request.unique, getattr(glass, request.operation)(request))
    except OSError as error:
        return wire.answer(request.unique, error=error.errno or errno.EIO)
    except AttributeError:
        return wire.answer(request.unique, error=errno.ENOSYS)


def serve(device: int, glass: Glass) -> None:
    """Until it is unmounted."""
    while True:
        try:
            said = answered(glass, wire.request(os.read(device, wire.MESSAGE_BYTES)))
            if said is not None:
                os.write(device, said)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            if error.errno not in (errno.ENOENT, errno.EINTR):
                raise


def main() -> None:
    below, place = map(os.path.realpath, sys.argv[1:3])
    device = mount(place)
    if os.fork():
        os._exit(0)  # the mount is there, and the child answers for it
    os.setsid()
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    serve(device, Glass(below))


if __name__ == "__main__":
    main()
