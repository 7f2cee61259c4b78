"""The state of each rank during a trial, as small files for the watchdog; from other nodes as lines on stdout."""

import contextlib
import json
import os
import select
import time
import zlib
from dataclasses import asdict, astuple, dataclass, fields, replace
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


def find_blocking_ranks(beats: list[Beat], ranks: int) -> list[int]:
    """Return the ranks that the others wait for: those that never wrote a beat and those that run. If all wait, return
    those behind the rank with the latest beat."""
    silent = sorted(set(range(ranks)) - {beat.rank for beat in beats})
    running = [beat.rank for beat in beats if beat.state in (STARTING, RUNNING)]
    waiting = [beat for beat in beats if beat.state == WAITING]
    if silent or running or not waiting:
        return sorted(silent + running)
    ahead = max(waiting, key=lambda beat: beat.since).phase
    return [beat.rank for beat in waiting if beat.phase != ahead] or [beat.rank for beat in waiting]


MARK = "iosonde-beat "
SAME_S = 5.0  # equal states whose start differs by less are the same state
PHASE_CHARACTERS = 200  # a line stays below PIPE_BUF, so that it is written atomically
# Looks after which every changed number is printed, so that none is older. Without changes one beat is printed, to show
# that the node is reachable.
ALL_EVERY = 10


class Relay:
    """The sending side on another node: beats of its ranks as lines on stdout, which every launcher forwards.

    A node's local directory is not visible to the watchdog, and separate ports may be blocked between nodes; the
    launcher's own connection exists. A rank of such a node reads the beats of all its ranks and prints the changes.
    These are a new phase or state, a stopped rank, and one of the moving ranks. So a node sends about one line a
    second, regardless of its number of ranks.
    """

    def __init__(self, directory: Path, descriptor: int = 1) -> None:
        self._directory, self._descriptor = directory, descriptor
        self._printed: dict[int, Beat] = {}
        self._before: dict[int, Beat] = {}
        self._looks = 0

    def look(self) -> None:
        """Read the beats of this node and print the changes; those that cannot be printed now are retried next time."""
        self._looks += 1
        beats = {beat.rank: beat for beat in read_beats(self._directory)}
        changed = [beat for beat in beats.values() if self._printed.get(beat.rank) != beat]
        urgent = [beat for beat in changed if self._is_urgent(beat)]
        news = urgent + [beat for beat in changed if beat not in urgent][:1]
        if self._looks % ALL_EVERY == 0:
            news = changed or list(beats.values())[:1]
        self._before = beats
        for beat in news:
            if not self._print_beat(beat):
                return
            self._printed[beat.rank] = beat

    def _is_urgent(self, beat: Beat) -> bool:
        """Return whether the state differs from the printed one, or the count has stopped since the last look."""
        printed = self._printed.get(beat.rank)
        return (
            printed is None
            or (printed.since, printed.lost, printed.hangs) != (beat.since, beat.lost, beat.hangs)
            or self._before.get(beat.rank) == beat
        )

    def _print_beat(self, beat: Beat) -> bool:
        short = replace(beat, phase=beat.phase[:PHASE_CHARACTERS])
        line = MARK + json.dumps([time.time(), *astuple(short)]) + "\n"
        try:
            # A stalled launcher must not stop the rank: a pipe that polls as writable takes PIPE_BUF bytes.
            if not select.select([], [self._descriptor], [], 0)[1]:
                return False
            os.write(self._descriptor, line.encode())
        except (OSError, ValueError):
            return False
        return True


class Received:
    """The receiving side, in the watchdog: the last beats among the lines of a growing file."""

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest = path, 0, b""
        self.beats: dict[int, Beat] = {}
        self.heard_at: dict[str, float] = {}  # host → time.monotonic() of its last line

    def look(self) -> None:
        """Read the new lines since the last look. Damaged lines are skipped."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                content = file.read()
        except OSError:
            return
        self._at += len(content)
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            self._hear_line(line.decode(errors="replace"))

    def _hear_line(self, line: str) -> None:
        beat = parse_line(line, time.time())
        if not beat:
            return
        self.heard_at[beat.host] = time.monotonic()
        before = self.beats.get(beat.rank, beat)
        # Transmission delays vary: a repeated beat must not look as if the rank had moved.
        again = replace(beat, since=before.since) == before and abs(beat.since - before.since) < SAME_S
        self.beats[beat.rank] = before if again else beat

    def silent(self, seconds: float) -> list[str]:
        """Return hosts that were heard before, whose ranks are not done, and that have been silent for ``seconds``."""
        working = {beat.host for beat in self.beats.values() if beat.state != DONE}
        now = time.monotonic()
        return sorted(host for host in working if now - self.heard_at[host] > seconds)


def parse_line(line: str, now: float) -> Beat | None:
    """Parse the beat in a line, with its time converted to this node's clock; None if there is none."""
    _, mark, text = line.partition(MARK)  # launchers may prefix the rank
    if not mark:
        return None
    try:
        sent, *words = json.loads(text)
        beat = Beat(*words)
        return replace(beat, rank=int(beat.rank), since=float(beat.since) + now - float(sent))
    except (ValueError, TypeError):
        return None
