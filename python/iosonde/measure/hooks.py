"""The user's own commands around a phase (remount, drop server caches): run by the shell, once per node.

``posix_spawn`` with output to a file: a process that has MPI up must not fork, and a pipe could fill.
"""

from __future__ import annotations

import os
import tempfile

from iosonde.core.errors import SystemFaultError


def run(command: str, environment: dict[str, str]) -> None:
    """Run ``command`` with /bin/sh; raises SystemFaultError with the end of its output if it fails."""
    with tempfile.TemporaryFile() as output:
        handle = output.fileno()
        actions = [(os.POSIX_SPAWN_DUP2, handle, 1), (os.POSIX_SPAWN_DUP2, handle, 2)]
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", command], os.environ | environment, file_actions=actions)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code:
            output.seek(0)
            said = output.read()[-300:].decode("utf-8", "replace").strip()
            raise SystemFaultError(
                f"the hook '{command}' ended with {code}: {said or 'no output'}",
                "try it by hand on that node; it runs once per node before each read phase",
            )
