"""How the last words of ranks on other nodes reach the watchdog: as lines on stdout, which every launcher carries home.

A directory that is local to a node is not seen from home, and a port of one's own may be closed between nodes; what
the launcher itself connected is there. One rank of such a node reads what all of them wrote and prints what is news:
who is in another phase or state, who stopped moving, and one of those that move. So a node costs home about a line a
second, however many ranks it has.
"""

from __future__ import annotations

import json
import os
import select
import time
from dataclasses import astuple, replace
from pathlib import Path

from iosonde.ranks.beats import DONE, Beat, read_beats

MARK = "iosonde-beat "
SAME_S = 5.0  # a state that is the same since about then is the same
PHASE_CHARACTERS = 200  # a line stays below PIPE_BUF, so that it is written whole
# Looks: then every number that changed is news, so that none is old by more; and where nothing is, one says that the
# node can be heard.
ALL_EVERY = 10


class Relay:
    """The side of the other node."""

    def __init__(self, directory: Path, descriptor: int = 1) -> None:
        self._directory, self._descriptor = directory, descriptor
        self._printed: dict[int, Beat] = {}
        self._before: dict[int, Beat] = {}
        self._looks = 0

    def look(self) -> None:
        """Read the beats of this node and print what is news; what cannot be printed now is news next time."""
        self._looks += 1
        beats = {beat.rank: beat for beat in read_beats(self._directory)}
        changed = [beat for beat in beats.values() if self._printed.get(beat.rank) != beat]
        urgent = [beat for beat in changed if self._is_urgent(beat)]
        moving = [beat for beat in changed if beat not in urgent]
        news = urgent + moving[:1]
        if self._looks % ALL_EVERY == 0:
            news = changed or list(beats.values())[:1]
        self._before = beats
        for beat in news:
            if not self._print_beat(beat):
                return
            self._printed[beat.rank] = beat

    def _is_urgent(self, beat: Beat) -> bool:
        """Another state than was told, or a count that has stopped since the last look."""
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
            # A launcher that does not read must not stop the rank: a pipe that polls as writable takes PIPE_BUF bytes.
            if not select.select([], [self._descriptor], [], 0)[1]:
                return False
            os.write(self._descriptor, line.encode())
        except (OSError, ValueError):
            return False
        return True


class Received:
    """The watchdog's side: the last words among the lines of a growing file, each told apart from other output."""

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest = path, 0, b""
        self.beats: dict[int, Beat] = {}
        self.heard_at: dict[str, float] = {}  # host → time.monotonic() of its last line

    def look(self) -> None:
        """Read what has come since the last look. A line that is damaged is left out."""
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
        beat = parse(line, time.time())
        if not beat:
            return
        self.heard_at[beat.host] = time.monotonic()
        before = self.beats.get(beat.rank, beat)
        # The way home takes a little longer each time: what is said again must not look as if the rank had moved.
        again = replace(beat, since=before.since) == before and abs(beat.since - before.since) < SAME_S
        self.beats[beat.rank] = before if again else beat

    def silent(self, seconds: float) -> list[str]:
        """Hosts that were heard once, whose ranks are not done, and that have said nothing for so long."""
        working = {beat.host for beat in self.beats.values() if beat.state != DONE}
        now = time.monotonic()
        return sorted(host for host in working if now - self.heard_at[host] > seconds)


def parse(line: str, now: float) -> Beat | None:
    """The last word in a line, its time brought to this node's clock; None if there is none."""
    _, mark, text = line.partition(MARK)  # launchers may put the rank before
    if not mark:
        return None
    try:
        sent, *words = json.loads(text)
        beat = Beat(*words)
        return replace(beat, rank=int(beat.rank), since=float(beat.since) + now - float(sent))
    except (ValueError, TypeError):
        return None
