"""Who ends a command whose rank was killed: with kill -9 the rank has no moment left to do it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """A small shell that waits for our end, however we end, and then kills a command's process group.

    It is there before the command starts, and is told its group through a pipe; what it reads in the end is that we are
    gone.
    """

    pid: int
    pipe: int

    @staticmethod
    def start() -> Guard:
        """One that watches over nothing yet."""
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
        """The command has ended: nobody has to be watched any more."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)
