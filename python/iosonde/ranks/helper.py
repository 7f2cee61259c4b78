"""The asking side of a helper process: what may hang in the kernel is done by one that can be left behind.

A process that waits for a file system which does not answer cannot be ended, not even by SIGKILL, and cannot end
itself. So this process never touches such a file system: it asks, waits for as long as the limit, and goes on.
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
from iosonde.ranks.processes import ends_with_us

LIMIT_S = 30.0  # longer than a busy server takes to answer
START_S = 30.0
LOOK_S = 0.1
KILL_S = 0.3  # for SIGKILL to take effect

# Told while an answer is waited for, about ten times a second: what is done, and for how many seconds already.
OnWait = Callable[[str, float], None]


class NoAnswerError(errors.TargetFaultError):
    """Nothing was answered within the limit."""


class Helper:
    """Runs the ``OPERATIONS`` of ``module`` in a process of its own, which is started when it is first needed.

    ``limit_s``: how long an operation may take without getting on. ``left`` are the ids of processes that did not
    answer, and that SIGKILL did not end: they hang inside the kernel.
    """

    def __init__(self, module: str, limit_s: float = LIMIT_S, on_wait: OnWait | None = None) -> None:
        self.limit_s = limit_s
        self.left: list[int] = []
        self._module, self._on_wait = module, on_wait
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._received = b""

    def call(self, operation: str, where: str, what: str, **arguments: Any) -> Any:
        """The answer of an operation on ``where`` (a directory); ``what`` says it in words ("looking at it").

        Raises the IosondeError that it raised; NoAnswerError if no answer came within the limit: the process is left
        behind then, and the next call starts another one.
        """
        since = time.strftime("%H:%M:%S")
        try:
            line = self._started()
            line.sendall(json.dumps({"operation": operation, "arguments": arguments}).encode("ascii") + b"\n")
            message = self._message(what, self.limit_s)
        except _SilentError as silent:
            hanging = self._leave()
            raise NoAnswerError(
                f"{where} does not answer: {what} hangs since {since} ({silent.seconds:.0f} s)"
                + (f"; process {hanging} hangs in the kernel and is left behind" if hanging else ""),
                "look whether its server runs and the network is up; what hangs ends when they answer again",
            ) from None
        except (OSError, ValueError, EOFError):
            self._leave()
            raise errors.SystemFaultError(
                f"the process that looks after {where} ended ({what})", "look whether memory was short; try again"
            ) from None
        except BaseException:  # an interrupt: its answer would be taken for that of the next request
            self._leave()
            raise
        if "error" in message:
            error = message["error"]
            raise getattr(errors, error["kind"])(error["message"], error["hint"])
        return message["answer"]

    def close(self) -> None:
        """Let the process end."""
        if self._process is not None:
            self._leave()

    def _started(self) -> socket.socket:
        if self._line is not None:
            return self._line
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "iosonde.ranks.helper_program", self._module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # left behind, it must hold nobody's pipe open
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for us
                preexec_fn=ends_with_us(signal.SIGKILL),
            )
        self._line, self._received = ours, b""
        self._message("starting a process", START_S)
        return ours

    def _message(self, what: str, limit_s: float) -> dict[str, Any]:
        """The next line but signs of life. Raises _SilentError, EOFError."""
        assert self._line is not None
        asked = heard = time.monotonic()
        while True:
            line, sign, rest = self._received.partition(b"\n")
            if sign:
                self._received, heard = rest, time.monotonic()
                message: dict[str, Any] = json.loads(line)
                if "alive" not in message:
                    return message
            elif select.select([self._line], [], [], LOOK_S)[0]:
                more = self._line.recv(2**16)
                if not more:
                    raise EOFError
                self._received += more
            elif time.monotonic() - heard > limit_s:
                raise _SilentError(time.monotonic() - asked)
            if self._on_wait:
                self._on_wait(what, time.monotonic() - asked)

    def _leave(self) -> int:
        """End the process, or leave it where it hangs; its id then, else 0."""
        process, line = self._process, self._line
        self._process = self._line = None
        if line is not None:
            line.close()
        if process is None:
            return 0
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KILL_S)
            return 0
        self.left.append(process.pid)
        return process.pid


class _SilentError(Exception):
    """No sign of life within the limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
