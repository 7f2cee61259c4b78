"""The parent's side of a trial: start the ranks' launcher, watch them, and leave no process behind.

MPI ends the survivors of a dead rank, but not ranks that hang in a system call, a launcher without its ranks, or ranks
without their launcher. Launchers put ranks into their own sessions (Hydra does), so a process group does not cover
them; an inherited environment variable does.
"""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import LaunchError
from iosonde.core.message import Message
from iosonde.core.parent_death import signal_on_parent_death
from iosonde.foreign.reading import read_tail
from iosonde.ranks import leftovers
from iosonde.ranks.beats import Beat, find_blocking_ranks, read_hosts
from iosonde.ranks.forked import CannotForkError, ForkedRanks, ProcessHandle
from iosonde.ranks.listener import Listener
from iosonde.ranks.processes import WATCHDOG_VARIABLE, find_family, get_process_identity

_PROGRAM = 3  # words before a rank's own: python -m MODULE
TICK_S = 0.02  # interval of checks whether the command has ended
BEATS_EVERY_S = 1.0
DEADLINE, IDLE, LOST = "deadline", "idle", "lost"
GRACE_S = 5.0  # between SIGTERM and SIGKILL
# Shorter for a launcher that lost a part and cannot pass the signal on, and for stalled ranks: hung ones do not receive
# it, and the rest of the promised 10 s is for saving finished work.
GRACE_AFTER_S = {LOST: 1.0, IDLE: 2.0}
_BUS_ERRORS = (-signal.SIGBUS, 128 + signal.SIGBUS, signal.SIGBUS)  # from the process, a shell, Hydra
KILL_S = 2.0  # for SIGKILL to take effect
SHORT_S = 1.0  # the kernel does not reuse a process id this soon
TAIL_BYTES = 8192
MESSAGE_PREFIX = "iosonde: "  # begins the last message of an iosonde rank on stderr
STDOUT, STDERR = "stdout.txt", "stderr.txt"
_LAUNCHERS_TALK = (
    "[mpiexec@",
    "[proxy:",
    "=",
    "--",
    "srun: Force Terminated",
    "srun: Job step aborted",
    "srun: cluster configuration",
    "slurmstepd: error: *** ",
)


@dataclass(frozen=True)
class TimeLimits:
    """Limits of a watched command: ``deadline_s`` after its start, or ``idle_s`` without progress of any rank (None: no
    limit). It then has ``grace_s`` to follow SIGTERM."""

    deadline_s: float | None = None
    idle_s: float | None = None
    grace_s: float = GRACE_S


NO_LIMITS = TimeLimits()


@dataclass(frozen=True)
class Outcome:
    """The end of a watched command.

    ``exit_code`` is 128 + n after signal n, as in a shell; ``signal`` is that n or None. ``timed_out``: the watchdog
    ended it, because of ``reason`` (``deadline``, ``idle`` or ``lost``, else empty), while it waited for the ranks
    ``waited_for``. ``beats`` has the last beat of every rank, ``hosts`` the host of each, once all have connected.
    ``lost`` describes ranks or launcher processes that died unnoticed, ``bus_error`` full shared memory.
    ``leftover_pids`` are processes that survived SIGKILL, because they hang inside the kernel in an unresponsive file
    system. ``open_files`` are files that these hold, and that therefore stay.
    """

    exit_code: int
    seconds: float
    timed_out: bool
    waited_for: list[int]
    stderr_tail: str
    signal: int | None
    reason: str = ""
    beats: tuple[Beat, ...] = ()
    leftover_pids: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    bus_error: str = ""
    open_files: tuple[leftovers.Entry, ...] = ()

    def sentences(self) -> list[str]:
        """Describe lost processes, or each rank that was waited for."""
        if self.reason == LOST:
            return list(self.lost)
        spoken, now = {beat.rank: beat for beat in self.beats}, time.time()
        return [
            spoken[rank].sentence(now) if rank in spoken else self._describe_silent(rank) for rank in self.waited_for
        ]

    def _describe_silent(self, rank: int) -> str:
        if rank < len(self.hosts):
            return Message(
                "rank-not-heard",
                "rank {rank} on {host}: started, but not reachable from {first_host}",
                rank=rank,
                host=self.hosts[rank],
                first_host=self.hosts[0],
            )
        return Message("rank-not-started", "rank {rank}: never started", rank=rank)

    @property
    def ours(self) -> str:
        """Last message of an iosonde rank; "" if there is none."""
        return next(
            (line.partition(MESSAGE_PREFIX)[2].strip() for line in self._read_lines() if MESSAGE_PREFIX in line), ""
        )

    def _read_lines(self) -> list[str]:
        return [line.strip() for line in self.stderr_tail.splitlines() if line.strip()]

    def last_words(self) -> str:
        """Return the last message of an iosonde rank, else its last line on stderr that is not the launcher's own.

        Hydra's lines begin with ``[mpiexec@n1]``, Open MPI's are between lines of dashes, Slurm has lines of its own.
        Without another line the last one is returned. Lines of other programs are cut to 200 characters.
        """
        if self.bus_error:
            return self.bus_error
        if self.ours:
            return self.ours
        lines, boxed = self._read_lines(), False
        others: list[str] = []
        for line in lines:
            if line.startswith("---"):
                boxed = not boxed
            elif not boxed and not line.startswith(_LAUNCHERS_TALK):
                others.append(line)
        others = others or [line for line in lines if not line.startswith("---")] or [f"exit code {self.exit_code}"]
        return others[-1][:200]


def watch_command(
    command: Sequence[str],
    *,
    heartbeat_dir: Path,
    limits: TimeLimits = NO_LIMITS,
    env: Mapping[str, str] | None = None,
    on_tick: Callable[[list[Beat]], None] | None = None,
    ranks: int = 0,
    forked: ForkedRanks | None = None,
) -> Outcome:
    """Run ``command`` to its end, or end it at one of its ``limits``.

    Its output goes to ``stdout.txt`` and ``stderr.txt`` in ``heartbeat_dir``. ``env`` is the complete environment
    (default: this process's). ``on_tick`` gets the ranks' last beats about once a second; ``ranks`` is their number, to
    name those that never reported. ``forked`` creates the rank if ``command`` is Python with its module; it restarts
    after a rank that failed. Afterwards no process of the command is left, also when the caller is interrupted
    (KeyboardInterrupt is raised again) or killed. Raises LaunchError if it cannot be started.
    """
    token = f"{get_process_identity()}:{time.monotonic_ns():020d}"
    environment = {**(os.environ if env is None else env), WATCHDOG_VARIABLE: token}
    heartbeat_dir.mkdir(parents=True, exist_ok=True)
    started, started_at = time.monotonic(), time.time()
    process = _start_forked(command, environment, heartbeat_dir, forked) if forked else None
    process = process or _start_process(command, environment, heartbeat_dir)
    listener = Listener(heartbeat_dir, heartbeat_dir / STDOUT, token, limits.idle_s)
    try:
        reason = _wait_until_ended(process, listener, started, limits, on_tick)
        if reason:
            _terminate_group(process, token, min(limits.grace_s, GRACE_AFTER_S.get(reason, limits.grace_s)))
    except BaseException:  # an interrupt, or an error in on_tick
        _terminate_group(process, token, limits.grace_s)
        raise
    finally:
        leftover_pids = _end_family(token, process.pid if time.monotonic() - started < SHORT_S else 0)
        code = process.wait() if _has_ended(process.pid) else -signal.SIGKILL
        bus_error = leftovers.explain_bus_error() if code in _BUS_ERRORS else ""
        open_files = (
            leftovers.record_open_files(heartbeat_dir, leftovers.SURVIVORS, leftover_pids) if leftover_pids else []
        )
        leftovers.remove_recorded(heartbeat_dir, listener.open_files)
        if code:
            leftovers.remove_since(started_at)
    if forked and (code or reason):
        forked.close()
    beats = listener.beats if reason else listener.last_words()
    return Outcome(
        exit_code=128 - code if code < 0 else code,
        seconds=time.monotonic() - started,
        timed_out=bool(reason),
        waited_for=find_blocking_ranks(beats, ranks) if reason or code else [],
        stderr_tail=read_tail(heartbeat_dir / STDERR, TAIL_BYTES),
        signal=-code if code < 0 else None,
        reason=reason,
        beats=tuple(beats),
        leftover_pids=tuple(leftover_pids),
        hosts=read_hosts(heartbeat_dir),
        lost=listener.lost if reason == LOST else (),
        bus_error=bus_error,
        open_files=tuple(open_files),
    )


def _start_forked(
    command: Sequence[str], environment: Mapping[str, str], directory: Path, forked: ForkedRanks
) -> ProcessHandle | None:
    """Start the command as a forked rank; None if that is impossible."""
    try:
        return forked.start(command[_PROGRAM:], environment, (directory / STDOUT, directory / STDERR))
    except CannotForkError:
        return None


def _start_process(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> subprocess.Popen[bytes]:
    try:
        with (directory / STDOUT).open("wb") as out, (directory / STDERR).open("wb") as err:
            # Files instead of pipes: a full pipe stops ranks, and a grandchild that keeps one open hangs the reader.
            return subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,  # Ctrl-C is passed on by the watchdog
                preexec_fn=signal_on_parent_death(signal.SIGKILL),
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise LaunchError(
            "launch-failed",
            "cannot start {command}: {reason}",
            "check with: iosonde doctor",
            command=command[0],
            reason=error,
        ) from error


def _wait_until_ended(
    process: ProcessHandle,
    listener: Listener,
    started: float,
    limits: TimeLimits,
    on_tick: Callable[[list[Beat]], None] | None,
) -> str:
    """Wait for the end; return the reason to end it, or "" if it ended by itself."""
    looked_at = started
    while not _has_ended(process.pid):
        now = time.monotonic()
        if now - looked_at >= BEATS_EVERY_S:
            beats, looked_at = listener.look(), now
            if on_tick:
                on_tick(beats)
        late = limits.deadline_s is not None and now - started > limits.deadline_s
        if late or (limits.idle_s is not None and now - listener.moved_at > limits.idle_s):
            listener.look()
            return DEADLINE if late else IDLE
        if listener.was_lost():
            return LOST
        _wait_for_end(process.pid)
    return ""


def _wait_for_end(pid: int) -> None:
    """Wait for a tick, or until the process ends."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # a kernel before 5.3
        time.sleep(TICK_S)
        return
    try:
        select.select([descriptor], [], [], TICK_S)
    finally:
        os.close(descriptor)


def _has_ended(pid: int) -> bool:
    # It stays a zombie, so that its id is not reused.
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _terminate_group(process: ProcessHandle, token: str, grace_s: float) -> None:
    """Send SIGTERM to the launcher's group (which passes it on), and wait. A second Ctrl-C ends the wait."""
    os.killpg(process.pid, signal.SIGTERM)
    _wait_until(lambda: _has_ended(process.pid) and not find_family(token), grace_s)


def _end_family(token: str, after: int) -> list[int]:
    """Send SIGKILL to the remaining family, including ranks left by a launcher and newly started processes. Return the
    ids that did not end. ``after``: as in `family`."""
    pids: list[int] = []

    def is_empty() -> bool:
        pids[:] = find_family(token, after=after)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not pids

    _wait_until(is_empty, KILL_S)
    return pids


def _wait_until(done: Callable[[], bool], seconds: float) -> None:
    give_up = time.monotonic() + seconds
    while not done() and time.monotonic() < give_up:
        time.sleep(TICK_S)
