"""The daemon of `faultfs`: mounts, answers the kernel, does wrong what its rules say, listens on a control socket.

One thread and one loop: a request that hangs is one that is kept unanswered, so that nothing here ever waits for it.
Started by faultfs.py; ends (and unmounts) when its standard input ends, so also with a test that was killed.
"""

from __future__ import annotations

import ctypes
import errno
import heapq
import json
import os
import select
import shutil
import socket
import sys
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import fault_rules
import fuse_wire as wire
from fault_rules import Rule
from fuse_tree import Tree
from fuse_wire import Request

_libc = ctypes.CDLL(None, use_errno=True)
MNT_DETACH = 2
MS_NOSUID, MS_NODEV = 2, 4


def mount(path: str, options: dict[str, Any]) -> int:
    """Mount on ``path``; the descriptor of /dev/fuse. Raises OSError."""
    device = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    data = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,max_read={wire.MAX_WRITE}"
    kind = f"fuse.{options['subtype']}".encode()
    if _libc.mount(b"faultfs", path.encode(), kind, MS_NOSUID | MS_NODEV, data.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return device


class Server:
    """The loop. ``pending`` are requests that hang, ``later`` answers that are due at a time."""

    def __init__(self, device: int, tree: Tree, control: socket.socket) -> None:
        self.device, self.tree, self.control = device, tree, control
        self.rules: list[Rule] = []
        self.pending: dict[int, tuple[Request, bytes | None, float]] = {}
        self.later: list[tuple[float, int, Request, bytes | None]] = []
        self.calls: dict[str, int] = {}
        self.interrupts = 0
        self.ended = False

    def run(self) -> None:
        """Until it is unmounted, told to stop, or its standard input ends."""
        poll = select.poll()
        for source in (self.device, self.control, 0):
            poll.register(source, select.POLLIN)
        while not self.ended:
            timeout_s = max(0.0, self.later[0][0] - time.monotonic()) if self.later else None
            for source, event in poll.poll(timeout_s and timeout_s * 1000):
                if source == 0:
                    self.ended = self.ended or not os.read(0, 4096)
                elif source == self.device:
                    self.ended = self.ended or not self._listen(event)
                else:
                    self._obey()
            while self.later and self.later[0][0] <= time.monotonic():
                _, _, request, body = heapq.heappop(self.later)
                self._answer(request, body)

    def _listen(self, event: int) -> bool:
        """All the questions that wait; False once the kernel has ended the connection."""
        if event & select.POLLERR:
            return False
        while True:
            try:
                message = os.read(self.device, wire.MESSAGE_BYTES)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return error.errno == errno.EAGAIN
            self._ask(wire.request(message))

    def _ask(self, request: Request) -> None:
        if request.opcode == wire.INIT:
            self._send(wire.answer(request.unique, wire.init(request.body)))
        elif request.opcode == wire.FORGET:
            self.tree.forget(request.node, int.from_bytes(request.body[:8], "little"))
        elif request.opcode == wire.BATCH_FORGET:
            for at in range(8, len(request.body), 16):
                self.tree.forget(*(int.from_bytes(request.body[i : i + 8], "little") for i in (at, at + 8)))
        elif request.opcode == wire.INTERRUPT:
            self.interrupts += 1  # whoever waits was signalled, and waits on: a hard mount
        elif request.opcode != wire.DESTROY:
            if not request.operation:
                self._send(wire.answer(request.unique, error=errno.ENOSYS))
                return
            request.path = self.tree.path_of(request)
            self.calls[request.operation] = self.calls.get(request.operation, 0) + 1
            self._apply(request, next((r for r in self.rules if r.fits(request.operation, request.path)), None))

    def _apply(self, request: Request, rule: Rule | None) -> None:
        """Answer, or not, as the rule says."""
        kind = rule.do if rule else ""
        early = self._result(request) if rule and rule.late else None
        if not rule:
            self._answer(request, None)
        elif kind == "hang":
            self.pending[request.unique] = (request, early, time.time())
        elif kind == "delay":
            heapq.heappush(self.later, (time.monotonic() + rule.seconds, request.unique, request, early))
        elif kind == "error":
            self._send(wire.answer(request.unique, error=rule.number))
        elif kind == "drop":
            size = len(request.body) - wire.WRITE_IN.size if request.operation == "write" else 0
            self._send(wire.answer(request.unique, size.to_bytes(8, "little") if request.operation == "write" else b""))
        elif kind == "lie":
            self._answer(request, self._lie(request, rule))
        else:
            self._answer(request, self._corrupted(request, rule))

    def _corrupted(self, request: Request, rule: Rule) -> bytes:
        """Data that was changed on its way; a short write says that it was short."""
        if request.operation == "read":
            body = self._result(request)
            return body if body[:1] == b"!" and len(body) == 5 else b"=" + _changed(body[1:], rule)
        at = wire.WRITE_IN.size
        return self._result(replace(request, body=request.body[:at] + _changed(request.body[at:], rule)))

    def _lie(self, request: Request, rule: Rule) -> bytes:
        """A right answer with some wrong numbers."""
        body = self._result(request)
        if body[:1] == b"!":
            return body
        if request.operation == "statfs":
            return b"=" + wire.statfs(_told(self.tree.sizes(), rule))
        if request.operation == "readdir":
            return b"=" + self.tree.readdir(request, tuple(rule.values.get("names", ())))
        at = 16 if request.operation in ("getattr", "setattr") else 40
        node = self.tree.nodes[int.from_bytes(body[1 + at : 9 + at], "little")]
        return body[: 1 + at] + wire.attributes(_told(node.attributes(), rule)) + body[1 + at + 88 :]

    def _result(self, request: Request) -> bytes:
        """`=` and the body of the right answer, or `!` and an errno."""
        try:
            return b"=" + getattr(self.tree, request.operation)(request)
        except OSError as error:
            return b"!" + (error.errno or errno.EIO).to_bytes(4, "little")

    def _answer(self, request: Request, result: bytes | None) -> None:
        result = self._result(request) if result is None else result
        failed = result[:1] == b"!"
        number = int.from_bytes(result[1:], "little") if failed else 0
        self._send(wire.answer(request.unique, b"" if failed else result[1:], number))

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # ENOENT: whoever asked is gone
            os.write(self.device, message)

    def release(self) -> None:
        """Answer what hangs."""
        waiting, self.pending = self.pending, {}
        for request, result, _ in waiting.values():
            self._answer(request, result)

    def _obey(self) -> None:
        connection, _ = self.control.accept()
        with connection, suppress(OSError):
            connection.settimeout(5)
            line = connection.makefile("rb").readline()
            try:
                said = self._do(json.loads(line))
            except (ValueError, TypeError) as error:
                said = {"error": str(error)}
            connection.sendall(json.dumps(said).encode() + b"\n")

    def _do(self, told: dict[str, Any]) -> dict[str, Any]:
        if "rules" in told:
            made = fault_rules.rules(told["rules"])
            self.rules = made + (self.rules if told.get("keep") else [])
        self.tree.capacity_bytes = told.get("capacity_bytes", self.tree.capacity_bytes)
        self.tree.inodes = told.get("inodes", self.tree.inodes)
        self.tree.read_only = told.get("read_only", self.tree.read_only)
        if told.get("release"):
            self.release()
        self.ended = bool(told.get("stop"))
        if told.get("tree"):
            return self.tree.entries()
        hung = [
            {"operation": request.operation, "path": request.path, "pid": request.pid, "since": since}
            for request, _, since in self.pending.values()
        ]
        return {
            "hung": hung,
            "delayed": len(self.later),
            "calls": self.calls,
            "interrupts": self.interrupts,
            "rules": [rule.told() for rule in self.rules],
            "sizes": self.tree.sizes(),
        }


def _changed(data: bytes, rule: Rule) -> bytes:
    if rule.do == "short":
        return data[: rule.at or len(data) // 2]
    if rule.do == "zero":
        return bytes(len(data))
    changed = bytearray(data)
    if changed:
        changed[rule.at % len(changed)] ^= 1
    return bytes(changed)


def _told(numbers: dict[str, int], rule: Rule) -> dict[str, int]:
    """Blocks follow from the size, unless they are what is wrong."""
    told = {key: rule.values.get(key, number) + rule.shift.get(key, 0) for key, number in numbers.items()}
    return told | ({"blocks": rule.values["blocks"]} if "blocks" in rule.values else {})


def main() -> None:
    """`fuse_server.py MOUNTPOINT CONTROL OPTIONS`: OPTIONS as JSON. Says `mounted` on stdout once it is."""
    path, control_path, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    control = socket.socket(socket.AF_UNIX)
    control.bind(control_path)
    control.listen(8)
    device = mount(path, options)
    tree = Tree(options["capacity_bytes"], options["inodes"], options["valid_s"], int(options["direct_io"]))
    server = Server(device, tree, control)
    print("mounted", flush=True)
    try:
        server.run()
    finally:
        server.release()
        _libc.umount2(path.encode(), MNT_DETACH)
        shutil.rmtree(os.path.dirname(control_path), ignore_errors=True)  # faultfs.py made it for us


if __name__ == "__main__":
    main()
