"""A file system in memory that answers FUSE requests rightly; what is wrong on purpose is added by fuse_server.py."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import struct
import time
from dataclasses import dataclass, field
from typing import Any

import fuse_wire as wire
from fuse_wire import Request

ROOT = 1
BLOCK_BYTES = 4096
LARGEST_FILE_BYTES = 1 << 30


@dataclass
class Node:
    """A file, a directory or a symbolic link (``content`` is where it leads)."""

    number: int
    mode: int
    uid: int
    gid: int
    name: str = ""
    parent: Node | None = None
    nlink: int = 1
    lookups: int = 0
    children: dict[str, Node] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    atime: int = 0
    mtime: int = 0
    ctime: int = 0

    @property
    def blocks(self) -> int:
        return -(-len(self.content) // BLOCK_BYTES)

    def path(self) -> str:
        """From the root of the mount, `/` first; of a removed file its last one."""
        parts, node = [], self
        while node.parent:
            parts.append(node.name)
            node = node.parent
        return "/" + "/".join(reversed(parts))

    def attributes(self) -> dict[str, int]:
        times = {"atime": self.atime, "mtime": self.mtime, "ctime": self.ctime}
        size = len(self.content) if not stat.S_ISDIR(self.mode) else BLOCK_BYTES
        return {
            "ino": self.number,
            "size": size,
            "mode": self.mode,
            "nlink": self.nlink,
            "uid": self.uid,
            "gid": self.gid,
            **times,
        }


class Tree:
    """The nodes by number. Each method of an operation's name answers one request, or raises OSError."""

    def __init__(self, capacity_bytes: int, inodes: int, valid_s: int = 0, open_flags: int = 0) -> None:
        self.capacity_bytes, self.inodes, self.valid_s, self.open_flags = capacity_bytes, inodes, valid_s, open_flags
        self.used_blocks = 0
        self.nodes = {ROOT: Node(ROOT, stat.S_IFDIR | 0o755, os.getuid(), os.getgid(), nlink=2, lookups=1)}
        self._last = ROOT
        self.read_only = False

    def path_of(self, request: Request) -> str:
        """What a request is about."""
        node = self.nodes.get(request.node)
        path = node.path() if node else "?"
        offset = {
            "lookup": 0,
            "unlink": 0,
            "rmdir": 0,
            "mkdir": 8,
            "mknod": 16,
            "create": 16,
            "symlink": 0,
            "link": 8,
            "rename": 16 if request.opcode == wire.RENAME2 else 8,
        }.get(request.operation)
        return path.rstrip("/") + "/" + request.names(offset)[0] if offset is not None else path

    def entries(self) -> dict[str, Any]:
        """Everything by path: kind, size, and of files the digest of their content."""
        found, ahead = {}, [self.nodes[ROOT]]
        while ahead:
            node = ahead.pop()
            ahead += node.children.values()
            digest = hashlib.sha256(node.content).hexdigest() if not stat.S_ISDIR(node.mode) else ""
            found[node.path()] = [stat.filemode(node.mode)[0], len(node.content), digest]
        return found

    def lookup(self, request: Request) -> bytes:
        return self._entry(self._child(self._node(request), request.names()[0]))

    def getattr(self, request: Request) -> bytes:
        return wire.attribute_answer(self._node(request).attributes(), self.valid_s)

    def setattr(self, request: Request) -> bytes:
        self._writable()
        node = self._node(request)
        valid, _, _, size, _, atime, mtime, _, atime_ns, mtime_ns, _, mode, _, uid, gid, _ = wire.SETATTR_IN.unpack(
            request.body
        )
        if valid & wire.SET_SIZE:
            self._resize(node, size)
        if valid & wire.SET_MODE:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        node.uid = uid if valid & wire.SET_UID else node.uid
        node.gid = gid if valid & wire.SET_GID else node.gid
        now = time.time_ns()
        if valid & wire.SET_ATIME:
            node.atime = now if valid & wire.SET_ATIME_NOW else atime * 10**9 + atime_ns
        if valid & wire.SET_MTIME:
            node.mtime = now if valid & wire.SET_MTIME_NOW else mtime * 10**9 + mtime_ns
        node.ctime = now
        return wire.attribute_answer(node.attributes(), self.valid_s)

    def readlink(self, request: Request) -> bytes:
        return bytes(self._node(request).content)

    def symlink(self, request: Request) -> bytes:
        name, leads_to = request.names()
        node = self._make(request, name, stat.S_IFLNK | 0o777)
        node.content[:] = leads_to.encode(errors="surrogateescape")
        return self._entry(node)

    def mknod(self, request: Request) -> bytes:
        (mode,) = struct.unpack_from("<I", request.body)
        return self._entry(self._make(request, request.names(16)[0], mode))

    def mkdir(self, request: Request) -> bytes:
        (mode,) = struct.unpack_from("<I", request.body)
        node = self._make(request, request.names(8)[0], stat.S_IFDIR | mode & 0o7777)
        node.nlink = 2
        self._node(request).nlink += 1
        return self._entry(node)

    def create(self, request: Request) -> bytes:
        _, mode = struct.unpack_from("<2I", request.body)
        return self._entry(self._make(request, request.names(16)[0], mode)) + wire.opened(self.open_flags)

    def unlink(self, request: Request) -> bytes:
        self._writable()
        parent, name = self._node(request), request.names()[0]
        self._remove(parent, self._child(parent, name))
        return b""

    def rmdir(self, request: Request) -> bytes:
        self._writable()
        parent, name = self._node(request), request.names()[0]
        node = self._child(parent, name)
        if not stat.S_ISDIR(node.mode):
            raise OSError(errno.ENOTDIR, name)
        if node.children:
            raise OSError(errno.ENOTEMPTY, name)
        parent.nlink -= 1
        node.nlink = 1
        self._remove(parent, node)
        return b""

    def rename(self, request: Request) -> bytes:
        self._writable()
        offset = 16 if request.opcode == wire.RENAME2 else 8
        to, flags = (
            struct.unpack_from("<QI", request.body) if offset == 16 else (*struct.unpack_from("<Q", request.body), 0)
        )
        parent, (old, new) = self._node(request), request.names(offset)
        target, node = self.nodes[to], self._child(parent, old)
        there = target.children.get(new)
        if flags & ~1:
            raise OSError(errno.EINVAL, "only RENAME_NOREPLACE")
        if there is not None and there is not node:
            if flags:
                raise OSError(errno.EEXIST, new)
            if there.children:
                raise OSError(errno.ENOTEMPTY, new)
            self._remove(target, there)
        del parent.children[old]
        if stat.S_ISDIR(node.mode):
            parent.nlink -= 1
            target.nlink += 1
        target.children[new], node.parent, node.name = node, target, new
        parent.mtime = target.mtime = node.ctime = time.time_ns()
        return b""

    def link(self, request: Request) -> bytes:
        raise OSError(errno.EPERM, "no hard links")

    def open(self, request: Request) -> bytes:
        self._node(request)
        return wire.opened(self.open_flags)

    def opendir(self, request: Request) -> bytes:
        self._node(request)
        return wire.opened(0)

    def read(self, request: Request) -> bytes:
        _, offset, size, *_ = wire.READ_IN.unpack_from(request.body)
        return bytes(self._node(request).content[offset : offset + size])

    def write(self, request: Request) -> bytes:
        self._writable()
        node = self._node(request)
        _, offset, _, *_ = wire.WRITE_IN.unpack_from(request.body)
        data = request.body[wire.WRITE_IN.size :]
        if offset + len(data) > len(node.content):
            self._resize(node, offset + len(data))
        node.content[offset : offset + len(data)] = data
        node.mtime = node.ctime = time.time_ns()
        return struct.pack("<2I", len(data), 0)

    def statfs(self, request: Request) -> bytes:
        return wire.statfs(self.sizes())

    def sizes(self) -> dict[str, int]:
        """What statfs tells."""
        blocks = self.capacity_bytes // BLOCK_BYTES
        free = max(0, blocks - self.used_blocks)
        return {
            "blocks": blocks,
            "bfree": free,
            "bavail": free,
            "files": self.inodes,
            "ffree": max(0, self.inodes - len(self.nodes)),
            "bsize": BLOCK_BYTES,
        }

    def readdir(self, request: Request, more: tuple[str, ...] = ()) -> bytes:
        _, offset, size, *_ = wire.READ_IN.unpack_from(request.body)
        node = self._node(request)
        parent = node.parent or node
        listed = [(".", node.number, node.mode), ("..", parent.number, parent.mode)]
        listed += [(name, child.number, child.mode) for name, child in node.children.items()]
        listed += [(name, 2**40 + number, stat.S_IFREG) for number, name in enumerate(more)]
        return wire.directory(listed, offset, size)

    def release(self, request: Request) -> bytes:
        return b""

    flush = fsync = fsyncdir = releasedir = release

    def forget(self, number: int, lookups: int) -> None:
        """The kernel no longer refers to a node."""
        node = self.nodes.get(number)
        if node:
            node.lookups -= lookups
            self._drop(node)

    def _node(self, request: Request) -> Node:
        if request.node not in self.nodes:
            raise OSError(errno.ESTALE, "no such node")
        return self.nodes[request.node]

    def _child(self, parent: Node, name: str) -> Node:
        if name not in parent.children:
            raise OSError(errno.ENOENT, name)
        return parent.children[name]

    def _writable(self) -> None:
        if self.read_only:
            raise OSError(errno.EROFS, "read-only")

    def _make(self, request: Request, name: str, mode: int) -> Node:
        self._writable()
        parent = self._node(request)
        if name in parent.children:
            raise OSError(errno.EEXIST, name)
        if len(self.nodes) >= self.inodes:
            raise OSError(errno.ENOSPC, name)
        self._last += 1
        now = time.time_ns()
        node = Node(self._last, mode, request.uid, request.gid, name, parent, atime=now, mtime=now, ctime=now)
        self.nodes[node.number] = parent.children[name] = node
        parent.mtime = parent.ctime = now
        return node

    def _entry(self, node: Node) -> bytes:
        node.lookups += 1
        return wire.entry(node.attributes(), self.valid_s)

    def _remove(self, parent: Node, node: Node) -> None:
        del parent.children[node.name]
        node.nlink -= 1
        parent.mtime = parent.ctime = time.time_ns()
        self._drop(node)

    def _drop(self, node: Node) -> None:
        gone = node.parent is not None and node.parent.children.get(node.name) is not node
        if gone and node.lookups <= 0 and self.nodes.pop(node.number, None):
            self.used_blocks -= node.blocks

    def _resize(self, node: Node, size: int) -> None:
        if size > LARGEST_FILE_BYTES:
            raise OSError(errno.EFBIG, "too large for a file system in memory")
        more = -(-size // BLOCK_BYTES) - node.blocks
        if more > 0 and (self.used_blocks + more) * BLOCK_BYTES > self.capacity_bytes:
            raise OSError(errno.ENOSPC, "full")
        self.used_blocks += more
        if size < len(node.content):
            del node.content[size:]
        else:
            node.content += bytes(size - len(node.content))
        node.mtime = node.ctime = time.time_ns()
