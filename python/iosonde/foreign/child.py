"""A child process for calls that may hang in the kernel; it can be left behind.

A process that waits for a hung file system cannot be ended, not even by SIGKILL, and cannot end itself. So the main
process never touches such a file system: it calls a child, waits until a deadline, and continues.
"""

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
from iosonde.core.message import DEFERRED, spell_deferred
from iosonde.core.parent_death import signal_on_parent_death

LIMIT_S = 30.0  # a busy server answers sooner
_START_S = 30.0
_POLL_S = 0.1
_KILL_S = 0.3  # time for SIGKILL to take effect

# Called about ten times a second during a wait, with the operation and the seconds waited.
OnWait = Callable[[str, float], None]
# Called with the result of the child module's ``progress()`` whenever it changes.
OnAlive = Callable[[Any], None]


class NoAnswerError(errors.TargetFaultError):
    """No answer and no progress within the limit."""


class Child:
    """A process that runs the ``OPERATIONS`` of ``module``; the first call starts it.

    ``limit_s``: seconds without progress after which a call fails. ``stuck_pids``: children that did not answer and
    survived SIGKILL, because they hang inside the kernel.
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
        """Return the answer of an operation on the path ``where``; ``what`` describes it for people ("looking at
        /mnt/x").

        Raises the IosondeError of the operation, and NoAnswerError if it made no progress within the limit. The child
        is then left behind, and the next call starts another one.
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
                "{path} does not answer: {operation} has been hanging since {since} ({seconds:.0f} s){stuck_process}",
                "check its server and the network; a hung process ends when they respond again",
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
                "the helper process for {path} ended ({operation})",
                "check for a lack of memory, then try again",
                path=where,
                operation=what,
            ) from None
        except BaseException:  # an interrupt: the late answer would be taken for that of the next call
            self._abandon_process()
            raise
        if "error" in message:
            raise errors.error_from_json(message["error"])
        return message["answer"]

    def close(self) -> None:
        """End the process."""
        self._abandon_process()

    def _connect(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "iosonde.foreign.child_program", self._module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a child left behind must not keep a pipe open
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C must not reach it
                preexec_fn=signal_on_parent_death(signal.SIGKILL),
            )
        self._socket, self._received = ours, bytearray()
        self._receive_message("starting a process", _START_S)
        return ours

    def _receive_message(self, what: str, limit_s: float) -> dict[str, Any]:
        """Return the next message other than a progress report. Raises _SilenceError, EOFError."""
        assert self._socket is not None
        began = heard = time.monotonic()
        searched = 0  # a long message arrives in many parts: search each only once
        while True:
            end = self._received.find(b"\n", searched)
            searched = len(self._received)
            if end >= 0:
                line = bytes(self._received[:end])
                message: dict[str, Any] = json.loads(line, object_hook=spell_deferred if DEFERRED in line else None)
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
        """End the process. If it hangs, leave it behind and return its id; else return 0."""
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
    """No message within the limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
