"""User commands around the measurement: remount, drop server caches, set a factor and read it back.

They change the system and may leave something running on purpose (a mount's daemon): so they run on all CPUs, and not
on the core that the rank is bound to.
"""

from iosonde.core.errors import SystemFaultError
from iosonde.foreign.reading import read_tail
from iosonde.ranks import binding, temporary

from .command import OUTLIVES, ShellCommand
from .command import run as run_command

# A mount that hangs must not hold the campaign for hours.
TIMEOUT_S = 600.0
_TAIL_BYTES = 4096


def run(command: str, environment: dict[str, str], what: str = "the hook") -> str:
    """Run ``command`` with /bin/sh and return its output, at most the last 4 KiB. Raises SystemFaultError."""
    with temporary.hold_directory("hook") as folder:
        path = folder / "output"
        shell_command = ShellCommand(
            command, environment, cpus=binding.get_cpus_before_binding(), leftover_policy=OUTLIVES, timeout_s=TIMEOUT_S
        )
        result = run_command(shell_command, path)
        output = read_tail(path, _TAIL_BYTES)
    if result.exit_code == 0 and not result.fault:
        return output
    ended = "ended with {exit_code}" if result.signal is None else "ended by signal {signal}"
    if result.ended_by:
        ended = "ran longer than {limit_s:.0f} s"
    raise SystemFaultError(
        "timeout" if result.ended_by else "command-failed",
        "{what} '{command}' " + ended + ": {output}",
        "try it by hand on that node",
        what=what,
        command=command,
        exit_code=result.exit_code,
        signal=result.signal,
        limit_s=TIMEOUT_S,
        output=result.fault or output[-300:].strip() or "no output",
    )
