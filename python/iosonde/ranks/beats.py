"""What each rank says about itself while a trial runs, as small files that the watchdog can read."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from iosonde.core.message import Message

STARTING, RUNNING, WAITING, DONE = "starting", "running", "waiting", "done"
HOSTS = "hosts.json"
_TRIES = 3  # to read a file that is being written


@dataclass(frozen=True)
class Beat:
    """A rank's last word. ``state``: starting, running, waiting (for the others) or done; ``since`` that
    state (seconds since 1970, the rank's clock); ``progress`` counts operations done in the phase. ``pulse`` counts
    instead while a command runs whose operations nobody sees: it says that the rank is alive. ``lost`` names the
    process of the launcher that started the rank, once that one has ended before it. ``hangs`` is the process of a
    command that hangs in the kernel, and where.
    """

    rank: int
    host: str
    pid: int
    phase: str
    state: str
    since: float
    progress: int
    pulse: int = 0
    lost: str = ""
    hangs: str = ""

    def sentence(self, now: float) -> Message:
        """As people say it: ``rank 3 on n2: running write_large for 31 s (1200 operations done)``."""
        what = f"{self.state} {self.phase}" if self.phase else self.state
        seconds = max(0, now - self.since)
        if self.hangs:
            return Message(
                "command-hangs",
                "rank {rank}: the command {phase} hangs in the kernel ({process}) on {host}",
                rank=self.rank,
                phase=self.phase,
                process=self.hangs,
                host=self.host,
            )
        return Message(
            "rank-waiting",
            "rank {rank} on {host}: {activity} for {seconds:.0f} s"
            + ("" if self.pulse else " ({operations} operations done)"),
            rank=self.rank,
            host=self.host,
            activity=what,
            seconds=seconds,
            operations=self.progress,
        )


def write_beat(directory: Path, beat: Beat) -> None:
    """Write over the rank's file. A heartbeat that cannot be written (disk full) must not end a rank.

    A new file that replaces the old one would be whole at any moment, but journaling file systems flush it then, which
    is a fifth of a short trial. So it begins with its check sum, and who reads half of it reads again.
    """
    content = json.dumps(asdict(beat)).encode("ascii")
    with contextlib.suppress(OSError):
        file = os.open(directory / f"rank-{beat.rank}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, b"%08x %b\n" % (zlib.crc32(content), content))
        finally:
            os.close(file)


def read_beats(directory: Path) -> list[Beat]:
    """The last word of every rank that has spoken, in order of rank. A damaged file is left out."""
    beats = [_read_beat(path) for path in directory.glob("rank-*")]
    return sorted((beat for beat in beats if beat is not None), key=lambda beat: beat.rank)


def _read_beat(path: Path) -> Beat | None:
    for _ in range(_TRIES):
        try:
            check, _, content = path.read_bytes().partition(b"\n")[0].partition(b" ")
            if int(check, 16) == zlib.crc32(content):
                values = json.loads(content)
                return Beat(**{field.name: values[field.name] for field in fields(Beat)})
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def write_hosts(directory: Path, hosts: list[str]) -> None:
    """Said once by rank 0: all ranks have started and met, and where."""
    (directory / HOSTS).write_text(json.dumps(hosts))


def read_hosts(directory: Path) -> tuple[str, ...]:
    """The host of every rank, once they have met; else empty."""
    try:
        return tuple(map(str, json.loads((directory / HOSTS).read_text())))
    except (OSError, ValueError, TypeError):
        return ()


def waited_for(beats: list[Beat], ranks: int) -> list[int]:
    """The ranks that the others wait for: those that never spoke and those that run; where all wait, those
    that are behind the rank that spoke last.
    """
    silent = sorted(set(range(ranks)) - {beat.rank for beat in beats})
    running = [beat.rank for beat in beats if beat.state in (STARTING, RUNNING)]
    waiting = [beat for beat in beats if beat.state == WAITING]
    if silent or running or not waiting:
        return sorted(silent + running)
    ahead = max(waiting, key=lambda beat: beat.since).phase
    return [beat.rank for beat in waiting if beat.phase != ahead] or [beat.rank for beat in waiting]
