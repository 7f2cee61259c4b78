"""A child process that does what may hang in the kernel, and that can be left behind.

A process that waits for a file system which does not answer cannot be ended, not even by SIGKILL, and cannot end
itself. So the main process never touches such a file system: it asks a child, waits until a deadline, and goes on.
"""

from __future__ import annotations

import contextlib
import json
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from iosonde.core import errors
from iosonde.core.parent_death import signal_on_parent_death

LIMIT_S = 30.0  # longer than a busy server takes to answer
_START_S = 30.0
_POLL_S = 0.1
_KILL_S = 0.3  # for SIGKILL to take effect

# Called about ten times a second while an answer is awaited: what is done, and for how many seconds already.
OnWait = Callable[[str, float], None]
# Called with what ``progress()`` of the child's module returned, whenever that changed.
OnAlive = Callable[[Any], None]


class NoAnswerError(errors.TargetFaultError):
    """No answer, and no progress, within the limit."""


class Child:
    """A process that runs the ``OPERATIONS`` of ``module``, started by the first call.

    ``limit_s``: seconds without progress after which a call fails. ``stuck_pids``: children that did not answer and
    that SIGKILL did not end: they hang inside the kernel.
    """

    def __init__(
        self, module: str, limit_s: float = LIMIT_S, on_wait: OnWait | None = None, on_alive: OnAlive | None = None
    ) -> None:
        self.limit_s = limit_s
        self.stuck_pids: list[int] = []
        self._module, self._on_wait, self._on_alive = module, on_wait, on_alive
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._received = bytearray()

    def call(self, operation: str, where: str, what: str, **arguments: Any) -> Any:
        """Return the answer of an operation on ``where`` (a path); ``what`` names it in words ("looking at /mnt/x").

        Raises the IosondeError that the operation raised, and NoAnswerError if it made no progress within the limit:
        the child is left behind then, and the next call starts another one.
        """
        try:
            channel = self._connect()
            channel.sendall(json.dumps({"operation": operation, "arguments": arguments}).encode("ascii") + b"\n")
            message = self._receive_message(what, self.limit_s)
        except _SilenceError as silence:
            pid, since = (
                self._abandon_process(),
                time.strftime("%H:%M:%S", time.localtime(time.time() - silence.seconds)),
            )
            raise NoAnswerError(
                "no-response",
                "{path} does not answer: {operation} hangs since {since} ({seconds:.0f} s){stuck_process}",
                "check its server and the network; a process that hangs ends when they answer again",
                path=where,
                operation=what,
                since=since,
                seconds=silence.seconds,
                stuck_process=f"; process {pid} hangs in the kernel and is left behind" if pid else "",
            ) from None
        except (OSError, ValueError, EOFError):
            self._abandon_process()
            raise errors.SystemFaultError(
                "helper-process-died",
                "the process that looks after {path} ended ({operation})",
                "check whether memory was short; try again",
                path=where,
                operation=what,
            ) from None
        except BaseException:  # an interrupt: its answer would be taken for that of the next request
            self._abandon_process()
            raise
        if "error" in message:
            raise errors.error_from_json(message["error"])
        return message["answer"]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._abandon_process()

    def _connect(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "iosonde.foreign.child_program", self._module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # left behind, it must hold nobody's pipe open
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for us
                preexec_fn=signal_on_parent_death(signal.SIGKILL),
            )
        self._socket, self._received = ours, bytearray()
        self._receive_message("starting a process", _START_S)
        return ours

    def _receive_message(self, what: str, limit_s: float) -> dict[str, Any]:
        """Return the next message that is no sign of life. Raises _SilenceError, EOFError."""
        assert self._socket is not None
        began = heard = time.monotonic()
        searched = 0  # a long message comes in many parts: none is looked through twice
        while True:
            end = self._received.find(b"\n", searched)
            searched = len(self._received)
            if end >= 0:
                message: dict[str, Any] = json.loads(self._received[:end])
                del self._received[: end + 1]
                searched, heard = 0, time.monotonic()
                if "alive" not in message:
                    return message
                if self._on_alive:
                    self._on_alive(message["alive"])
            elif select.select([self._socket], [], [], _POLL_S)[0]:
                received = self._socket.recv(2**16)
                if not received:
                    raise EOFError
                self._received += received
            elif time.monotonic() - heard > limit_s:
                raise _SilenceError(time.monotonic() - heard)
            if self._on_wait:
                self._on_wait(what, time.monotonic() - began)

    def _abandon_process(self) -> int:
        """End the process, or leave it where it hangs and return its id; 0 if it ended."""
        process, channel = self._process, self._socket
        self._process = self._socket = None
        if channel is not None:
            channel.close()
        if process is None:
            return 0
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_KILL_S)
            return 0
        self.stuck_pids.append(process.pid)
        return process.pid


class _SilenceError(Exception):
    """No sign of life within the limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
