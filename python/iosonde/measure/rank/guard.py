"""Guard of a command whose rank is killed: after kill -9 the rank cannot end the command itself."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """A small shell that waits for our end, of whatever kind, and then kills a command's process group.

    It starts before the command and receives the command's group through a pipe. The pipe's end tells it that we are
    gone.
    """

    pid: int
    pipe: int

    @staticmethod
    def start() -> Guard:
        """Start a guard that watches nothing yet."""
        end, mine = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, end, 0)]
        words = ["sh", "-c", 'read -r group || exit; read -r nothing; kill -9 "-$group"']
        try:
            pid = os.posix_spawn("/bin/sh", words, {"PATH": os.defpath}, file_actions=actions, setsid=True)
        except OSError:
            os.close(mine)
            raise
        finally:
            os.close(end)
        return Guard(pid, mine)

    def watch(self, group: int) -> None:
        """Watch over this process group."""
        with suppress(BrokenPipeError):  # somebody killed it
            os.write(self.pipe, b"%d\n" % group)

    def dismiss(self) -> None:
        """End the guard, because the command has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)
