"""Start ranks without imports, by forking a process that imported everything once per campaign.

Most of the time of a short single-rank trial is Python's start and its imports. Each trial still has a new rank without
any state of the previous one. It becomes a child of this process, as if started directly: it is waited for, killed with
its parent, and found by the watchdog's variable in its environment.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.parent_death import signal_on_parent_death
from iosonde.ranks.processes import WATCHDOG_VARIABLE

READY_S = 30.0  # for the imports, once
FORK_S = 5.0
GO = signal.SIGUSR1
_PR_SET_CHILD_SUBREAPER = 36
# Library threads would be missing in a forked process.
_SINGLE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass
class ForkedChild:
    """A forked rank."""

    pid: int

    def wait(self) -> int:
        """Return its exit code, -n after signal n."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


# A child process of a watchdog.
ProcessHandle = ForkedChild | subprocess.Popen[bytes]


class CannotForkError(Exception):
    """Nothing was forked; the rank can be started in the ordinary way."""


class ForkedRanks:
    """Fork ranks of ``module``, whose ``main`` reads ``sys.argv``. The helper process starts on first use."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], files: tuple[Path, Path]) -> ForkedChild:
        """Start a rank with these arguments, the complete environment, and files for stdout and stderr. Raises
        CannotForkError."""
        printed = [str(file) for file in files]
        request = {"arguments": arguments, "environment": dict(environment), "files": printed, "parent": os.getpid()}
        try:
            line = self._start_helper(environment[WATCHDOG_VARIABLE])
            with _adopt_orphans():
                line.sendall(json.dumps(request).encode("ascii") + b"\n")
                child = ForkedChild(int(json.loads(_read_answer(line, FORK_S))["pid"]))
            os.kill(child.pid, GO)  # an unreported rank gets no signal, does nothing and ends
            return child
        except (OSError, ValueError, KeyError, EOFError, subprocess.SubprocessError) as error:
            self.close()
            raise CannotForkError(str(error)) from error
        except BaseException:  # an interrupt: the state of the request is unknown
            self.close()
            raise

    def close(self) -> None:
        """End the helper process; the next rank starts another one."""
        process, line = self._process, self._line
        self._process = self._line = None
        if line is not None:
            line.close()
        if process is not None:
            process.kill()
            process.wait()

    def _start_helper(self, token: str) -> socket.socket:
        if self._line is not None:
            return self._line
        ours, theirs = socket.socketpair()
        self._line = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "iosonde.ranks.forked_program", self._module, str(theirs.fileno())],
                env={**os.environ, **_SINGLE_THREAD, WATCHDOG_VARIABLE: create_unused_token(token)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                preexec_fn=signal_on_parent_death(signal.SIGKILL),
            )
        if json.loads(_read_answer(ours, READY_S)) != {"ready": True}:
            raise OSError("a library keeps threads")
        return ours


def create_unused_token(token: str) -> str:
    """Return a placeholder of a token's length that belongs to no trial; a forked rank overwrites it."""
    watchdog, _, number = token.rpartition(":")
    return f"{watchdog}:{'0' * len(number)}"


def _read_answer(line: socket.socket, limit_s: float) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        if not select.select([line], [], [], limit_s)[0]:
            raise OSError("no answer")
        more = line.recv(4096)
        if not more:
            raise EOFError("it ended")
        received += more
    return received


@contextlib.contextmanager
def _adopt_orphans() -> Iterator[None]:
    """Adopt the orphans of descendants during the block, so that a rank forked twice becomes a child."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
