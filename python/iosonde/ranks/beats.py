"""The state of each rank during a trial, as small files for the watchdog."""

import contextlib
import json
import os
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from iosonde.core.message import Message

STARTING, RUNNING, WAITING, DONE = "starting", "running", "waiting", "done"
HOSTS = "hosts.json"
_TRIES = 3  # attempts to read a file that is being written


@dataclass(frozen=True)
class Beat:
    """The last heartbeat of a rank.

    ``state`` is starting, running, waiting (for the others) or done, ``since`` its start (seconds since 1970, the
    rank's clock). ``progress`` counts the operations of the phase. During a command ``pulse`` counts instead: it shows
    that the rank is alive. ``lost`` names the launcher process that started the rank, if it ended first. ``hangs`` is
    the process of a command that hangs in the kernel, and where.
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
        """Describe the beat: ``rank 3 on n2: running write_large for 31 s (1200 operations done)``."""
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
            activity=f"{self.state} {self.phase}".rstrip(),
            seconds=max(0, now - self.since),
            operations=self.progress,
        )


def write_beat(directory: Path, beat: Beat) -> None:
    """Overwrite the rank's file. A failed write (disk full) must not end a rank.

    Replacing the file would be atomic, but journaling file systems flush it then, which takes a fifth of a short trial.
    So it begins with a checksum, and a reader of a partial file reads again.
    """
    content = json.dumps(asdict(beat)).encode("ascii")
    with contextlib.suppress(OSError):
        file = os.open(directory / f"rank-{beat.rank}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, b"%08x %b\n" % (zlib.crc32(content), content))
        finally:
            os.close(file)


def read_beats(directory: Path) -> list[Beat]:
    """Return the last beat of every rank that has written one, in order of rank. Damaged files are left out."""
    return sorted(filter(None, map(_read_beat, directory.glob("rank-*"))), key=lambda beat: beat.rank)


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
    """Write the hosts of all ranks, once they have started and connected; called by rank 0."""
    (directory / HOSTS).write_text(json.dumps(hosts))


def read_hosts(directory: Path) -> tuple[str, ...]:
    """Return the host of every rank, once they have connected; else empty."""
    try:
        return tuple(map(str, json.loads((directory / HOSTS).read_text())))
    except (OSError, ValueError, TypeError):
        return ()


def waited_for(beats: list[Beat], ranks: int) -> list[int]:
    """Return the ranks that the others wait for: those that never wrote a beat and those that run. If all wait, return
    those behind the rank with the latest beat."""
    silent = sorted(set(range(ranks)) - {beat.rank for beat in beats})
    running = [beat.rank for beat in beats if beat.state in (STARTING, RUNNING)]
    waiting = [beat for beat in beats if beat.state == WAITING]
    if silent or running or not waiting:
        return sorted(silent + running)
    ahead = max(waiting, key=lambda beat: beat.since).phase
    return [beat.rank for beat in waiting if beat.phase != ahead] or [beat.rank for beat in waiting]
