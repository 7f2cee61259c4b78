"""Relay the beats of ranks on other nodes to the watchdog, as lines on stdout, which every launcher forwards.

A node's local directory is not visible to the watchdog, and separate ports may be blocked between nodes; the launcher's
own connection exists. A rank of such a node reads the beats of all its ranks and prints the changes. These are a new
phase or state, a stopped rank, and one of the moving ranks. So a node sends about one line a second, regardless of its
number of ranks.
"""

import json
import os
import select
import time
from dataclasses import astuple, replace
from pathlib import Path

from iosonde.ranks.beats import DONE, Beat, read_beats

MARK = "iosonde-beat "
SAME_S = 5.0  # equal states whose start differs by less are the same state
PHASE_CHARACTERS = 200  # a line stays below PIPE_BUF, so that it is written atomically
# Looks after which every changed number is printed, so that none is older. Without changes one beat is printed, to show
# that the node is reachable.
ALL_EVERY = 10


class Relay:
    """The sending side, on the other node."""

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
        beat = parse(line, time.time())
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


def parse(line: str, now: float) -> Beat | None:
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
