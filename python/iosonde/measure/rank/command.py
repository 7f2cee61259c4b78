"""A user command, run by /bin/sh on this node: started, watched, ended, with nothing left behind.

``posix_spawn`` with output to a file: a process that uses MPI must not fork, and a pipe could fill. The command has its
own session, so that all of it can be ended; a daemon that left the session is found by a variable in its environment.
If we are killed ourselves, a guard ends it.
"""

import os
import resource
import select
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.ranks.heartbeat import Pulse
from iosonde.ranks.machine import mount
from iosonde.ranks.processes import WATCHDOG_VARIABLE, find_family

from .guard import Guard
from .output import RETAINED_BYTES, cut_middle, free_middle

# Default time limit of a step: a command that hangs must not hold a night's campaign.
DEFAULT_TIMEOUT_S = 4 * 3600.0
# Output limit of one command on one rank: it is ended before it fills the node's temporary directory.
OUTPUT_BYTES = 4 * 2**30
GRACE_S = 5.0  # between SIGTERM and SIGKILL
KILL_S = 2.0  # for SIGKILL to take effect
LOOK_S = 0.25  # how often time and output are checked; the end is noticed at once
NEARLY_FULL_BYTES = 64 * 1024
# Cut from an output that filled the directory, to leave room for the trial's own results.
ROOM_BYTES = 512 * 2**10
# Fate of processes that a command leaves in the background: they end with it, with the trial, or not at all.
ENDS, STAYS, OUTLIVES = "ends", "stays", "outlives"
STEP_VARIABLE = "IOSONDE_STEP_ID"
TRIAL_VARIABLE = "IOSONDE_TRIAL_ID"
# Variables that mark a process as a rank: an MPI program among the commands must not see them.
_OF_RANKS = (
    "PMI_",
    "PMIX_",
    "HYDI_",
    "HYDRA_PROXY",
    "I_MPI_HYDRA_",
    "MPI_LOCAL",
    "OMPI_COMM_WORLD_",
    "OMPI_UNIVERSE_SIZE",
    "OMPI_APP_CTX_",
    "OMPI_NUM_APP_CTX",
    "OMPI_FIRST_RANKS",
    "OMPI_COMMAND",
    "OMPI_ARGV",
    "OMPI_FILE_LOCATION",
    "OMPI_MCA_ess",
    "OMPI_MCA_orte",
    "OMPI_MCA_pmix",
    "PRTE_LAUNCHED",
    "PRTE_MCA_ess",
)
# All variables of MPI libraries and schedulers: those that a launcher gives its ranks, and those that a user sets.
OF_LAUNCHERS = ("OMPI_", "PMIX_", "PRTE_", "PMI_", "HYDRA_", "HYDI_", "I_MPI_", "MPIR_CVAR_", "SLURM_")


@dataclass(frozen=True)
class ShellCommand:
    """The command to run, and its limits. ``environment`` is added to ours; ``step_id`` in it identifies the command's
    processes.

    ``cpus``: the CPUs to run on (None: those of this thread). ``leftover_policy`` decides about background processes: a
    mount's daemon has to outlive the command. The command is ended after ``timeout_s`` (None: the default) or after
    more than ``output_bytes`` of output. ``grace_s`` is the time to react to SIGTERM; ``retained_bytes`` of the output
    are kept. ``outside`` are names of `OF_LAUNCHERS` that were set before our launcher: the command gets no others
    (None: all except those with a rank's number).
    """

    text: str
    environment: Mapping[str, str] = field(default_factory=dict)
    step_id: str = ""
    cpus: set[int] | None = None
    leftover_policy: str = ENDS
    timeout_s: float | None = None
    output_bytes: int = OUTPUT_BYTES
    retained_bytes: int = RETAINED_BYTES
    grace_s: float = GRACE_S
    outside: frozenset[str] | None = None


@dataclass(frozen=True)
class CommandResult:
    """Outcome of a command. Times are this node's CLOCK_MONOTONIC (ns); ``started_at`` is seconds since 1970.

    ``exit_code`` is None after a ``signal``. ``ended_by`` is why we ended it: ``timeout``, ``output`` or empty.
    ``left`` counts the background processes that were ended. ``max_rss_bytes`` and the CPU times are those of the shell
    and its waited-for children (wait4). The memory is None unless it exceeds our own, which Linux counts until the
    shell is loaded. ``output_bytes`` are kept, and ``cut_bytes`` were cut from the middle. ``fault`` says why it did
    not run or its output is incomplete.
    """

    started_ns: int
    ended_ns: int
    started_at: float
    exit_code: int | None = None
    signal: int | None = None
    ended_by: str = ""
    left: int = 0
    output_bytes: int = 0
    cut_bytes: int = 0
    max_rss_bytes: int | None = None
    user_s: float = 0.0
    system_s: float = 0.0
    fault: str = ""


def run(command: ShellCommand, output: Path, begin: Callable[[], int] = lambda: 0) -> CommandResult:
    """Run ``command`` with its output in the file ``output``.

    Calls ``begin`` exactly once when all is ready: it waits for the other ranks, and returns the start time
    (CLOCK_MONOTONIC; 0: at once). Raises nothing for failures of the command.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(output, flags, 0o600)
    except OSError as error:
        begin()
        now, why = time.monotonic_ns(), f"its output has no place in {output.parent}: {error.strerror}"
        return CommandResult(now, now, time.time(), fault=why)
    try:
        # Started before the clock runs, so that the command is guarded at once and not disturbed by it.
        guard = None if command.leftover_policy == OUTLIVES else Guard.start()
    except OSError as error:
        begin()
        os.close(handle)
        now, why = time.monotonic_ns(), f"/bin/sh could not be started: {error.strerror}"
        return CommandResult(now, now, time.time(), fault=why)
    try:
        started_at, started_ns, pid = _start_shell(command, handle, begin)
        if pid < 0:
            why = f"/bin/sh could not be started: {os.strerror(-pid)}"
            if guard:
                guard.dismiss()
            return CommandResult(started_ns, started_ns, started_at, fault=why)
        ended_by, ended_ns = _watch_guarded(command, pid, handle, started_ns, guard)
        reaped, status, usage = os.wait4(pid, os.WNOHANG)
        if not reaped:
            why = f"process {pid} hangs inside the kernel and cannot be ended"
            return CommandResult(started_ns, ended_ns, started_at, ended_by=ended_by, left=1, fault=why)
        leftovers = end_leftovers(pid, command.step_id) if command.leftover_policy == ENDS else 0
        code = os.waitstatus_to_exitcode(status)
        fault = _explain_full(output.parent)
        if fault:
            os.ftruncate(handle, max(0, os.fstat(handle).st_size - ROOM_BYTES))
        cut_bytes = cut_middle(output, command.retained_bytes)
        return CommandResult(
            started_ns,
            ended_ns,
            started_at,
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            ended_by=ended_by,
            left=leftovers,
            output_bytes=os.fstat(handle).st_size,
            cut_bytes=cut_bytes,
            max_rss_bytes=_get_peak_if_above_ours(usage.ru_maxrss),
            user_s=usage.ru_utime,
            system_s=usage.ru_stime,
            fault=fault,
        )
    finally:
        os.close(handle)


def end_leftovers(group: int, step_id: str) -> int:
    """End the rest of a command: its process group, and every process with its id. Return their number."""
    pids = set(find_family(step_id, STEP_VARIABLE, group)) if step_id else set()
    in_group = _signal_group(group, signal.SIGKILL)
    _end_processes(pids, step_id, STEP_VARIABLE)
    return max(len(pids), int(in_group))


def end_trial(trial_id: str, after: int = 0) -> int:
    """End all commands of a trial that still run on this node (servers of its set-up). Return their number. ``after``:
    as in `family`."""
    pids = set(find_family(trial_id, TRIAL_VARIABLE, after))
    _end_processes(pids, trial_id, TRIAL_VARIABLE)
    return len(pids)


def _end_processes(alive: set[int], value: str, variable: str) -> None:
    give_up = time.monotonic() + KILL_S
    while alive and time.monotonic() < give_up:
        for pid in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
        alive = set(find_family(value, variable))


def _build_environment(command: ShellCommand) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_RANKS)}
    if command.outside is not None:
        ours = {name for name in environment if name.startswith(OF_LAUNCHERS)} - command.outside
        environment = {name: value for name, value in environment.items() if name not in ours}
    if command.leftover_policy == OUTLIVES:
        environment.pop(WATCHDOG_VARIABLE, None)  # else it would be ended with the trial
    if command.step_id:
        environment[STEP_VARIABLE] = command.step_id
    return environment | dict(command.environment)


def _start_shell(command: ShellCommand, handle: int, begin: Callable[[], int]) -> tuple[float, int, int]:
    """Return (wall clock, monotonic ns, process id or −errno)."""
    environment = _build_environment(command)
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # a command must not inherit sockets of MPI: one that stays would hold them open
            if int(name) > 2:
                os.set_inheritable(int(name), False)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, handle, 1),
        (os.POSIX_SPAWN_DUP2, handle, 2),
    ]
    plain = [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD]
    mine = os.sched_getaffinity(0)
    try:
        if command.cpus:
            os.sched_setaffinity(0, command.cpus)
        start_at_ns = begin()
        while time.monotonic_ns() < start_at_ns:
            pass
        started_at, started_ns = time.time(), time.monotonic_ns()
        pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", command.text],
            environment,
            file_actions=actions,
            setsid=True,
            setsigmask=[],
            setsigdef=plain,
        )
    except OSError as error:
        return time.time(), time.monotonic_ns(), -(error.errno or 1)
    finally:
        if command.cpus:
            os.sched_setaffinity(0, mine)
    return started_at, started_ns, pid


def _watch_guarded(
    command: ShellCommand, pid: int, handle: int, started_ns: int, guard: Guard | None
) -> tuple[str, int]:
    """Return (why it had to be ended or empty, monotonic ns of the end)."""
    try:
        if guard:
            guard.watch(pid)
        ended_by = _wait_for_end(command, pid, handle, started_ns)
        if ended_by:
            _terminate_group(pid, command.step_id, command.grace_s)
        return ended_by, time.monotonic_ns()
    except BaseException:
        _signal_group(pid, signal.SIGKILL)
        raise
    finally:
        if guard and command.leftover_policy == ENDS:
            guard.dismiss()


def _wait_for_end(command: ShellCommand, pid: int, handle: int, started_ns: int) -> str:
    """Wait for the end of ``pid``, which stays a zombie. Return why it has to be ended, or empty if it ended by
    itself."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # before Linux 5.3
        descriptor = -1
    poller = select.poll()
    if descriptor >= 0:
        poller.register(descriptor, select.POLLIN)
    try:
        while True:
            remaining_s = (command.timeout_s or DEFAULT_TIMEOUT_S) - (time.monotonic_ns() - started_ns) / 1e9
            wait_s = max(0.0, min(LOOK_S, remaining_s))
            if poller.poll(wait_s * 1e3) if descriptor >= 0 else _has_ended_within(pid, wait_s):
                return ""
            if remaining_s <= 0:
                return "timeout"
            if os.fstat(handle).st_size > command.output_bytes:
                return "output"
            free_middle(handle, command.retained_bytes)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _has_ended_within(pid: int, seconds: float) -> bool:
    give_up = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= give_up:
            return False
        time.sleep(0.001)
    return True


def _terminate_group(pid: int, step_id: str, grace_s: float) -> None:
    """Send SIGTERM to the group and wait, unless all of it hangs in the kernel; then send SIGKILL."""
    _signal_group(pid, signal.SIGTERM)
    pulse = Pulse(f"{STEP_VARIABLE}={step_id}" if step_id else "")
    give_up = time.monotonic() + grace_s
    while not _has_ended_within(pid, LOOK_S) and time.monotonic() < give_up:
        pulse.beat()
        if pulse.hangs:
            break
    _signal_group(pid, signal.SIGKILL)
    _has_ended_within(pid, KILL_S)


def _signal_group(group: int, number: int) -> bool:
    """Signal the group. Return whether it had a process."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _get_peak_if_above_ours(maxrss_kib: int) -> int | None:
    return maxrss_kib * 1024 if maxrss_kib > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss else None


def _explain_full(directory: Path) -> str:
    free = mount.get_free_bytes(os.statvfs(directory))
    if free is None or free > NEARLY_FULL_BYTES:
        return ""
    return f"the temporary directory {directory} is full: its output may be cut"
