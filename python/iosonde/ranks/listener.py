"""The watchdog's knowledge of the ranks: their last beats, their last progress, and lost processes."""

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from iosonde.core.message import Message
from iosonde.ranks import leftovers, processes
from iosonde.ranks.beats import DONE, Beat, Received, read_beats

SILENT_S = 30.0  # a reachable node reports every 10 s
LOST_S = 3.0  # a launcher that notices a dead rank by itself ends sooner


class Listener:
    """The state of all ranks, updated by ``look``. ``token`` identifies processes of this trial by their environment. A
    node that was heard before and is silent for ``idle_s`` (at least SILENT_S) is lost."""

    def __init__(self, directory: Path, printed: Path, token: str, idle_s: float | None) -> None:
        self._directory, self._token = directory, token
        self._silent_s = math.inf if idle_s is None else max(idle_s, SILENT_S)
        self._received = Received(printed)
        self._alive_ranks: set[int] = set()
        self._lost_since: float | None = None
        self.beats: list[Beat] = []
        self.lost: tuple[str, ...] = ()  # messages about processes that ended too early
        self.open_files: set[leftovers.Entry] = (
            set()
        )  # by processes of the trial: also recorded, if the disk is not full
        self.moved_at = time.monotonic()

    def last_words(self) -> list[Beat]:
        """Return the last beat of every rank, in order of rank: from visible files, else from relayed lines."""
        self._hear_ranks()
        return self.beats

    def _hear_ranks(self) -> list[Beat]:
        """Read all beats; return those of visible files."""
        self._received.look()
        here = read_beats(self._directory)
        every = self._received.beats | {beat.rank: beat for beat in here}
        self.beats = sorted(every.values(), key=lambda beat: beat.rank)
        return here

    def look(self) -> list[Beat]:
        """Update the beats, the time of the last progress, lost processes and open files; return the beats."""
        previous = self.beats
        if not previous:  # running ranks record their files themselves
            self.open_files.update(
                leftovers.record_open_files(self._directory, "launch", processes.find_family(self._token))
            )
        here = self._hear_ranks()
        if _strip_troubles(self.beats) != _strip_troubles(previous):
            self.moved_at = time.monotonic()
        silent = self._received.silent(self._silent_s)
        unheard = [
            Message("node-silent", "no message from {host} for {limit_s:.0f} s", host=host, limit_s=self._silent_s)
            for host in silent
        ]
        self.lost = (*_list_lost_parents(self.beats), *self._list_dead(here), *unheard)
        self._lost_since = (self._lost_since or time.monotonic()) if self.lost else None
        return self.beats

    def was_lost(self) -> bool:
        """Return whether a process has been missing longer than a launcher needs to notice it."""
        return self._lost_since is not None and time.monotonic() - self._lost_since > LOST_S

    def _list_dead(self, here: Iterable[Beat]) -> list[Message]:
        """Return messages about ranks on this host whose process was alive and disappeared before it was done."""
        messages = []
        for beat in here:
            alive = processes.is_alive(beat.pid, self._token)
            if alive:
                self._alive_ranks.add(beat.rank)
            elif alive is False and beat.rank in self._alive_ranks and beat.state != DONE:
                messages.append(
                    Message(
                        "rank-died",
                        "rank {rank} on {host} (process {process}) died while {activity}",
                        rank=beat.rank,
                        host=beat.host,
                        process=beat.pid,
                        activity=f"{beat.state} {beat.phase}".strip(),
                    )
                )
        return messages


def _strip_troubles(beats: Iterable[Beat]) -> list[Beat]:
    """Remove the fields for troubles, whose change is not progress."""
    return [replace(beat, lost="", hangs="") for beat in beats]


def _list_lost_parents(beats: list[Beat]) -> list[Message]:
    """Return messages about launcher processes that ended before their ranks."""
    ranks_by_process: dict[tuple[str, str], list[str]] = {}
    for beat in beats:
        if beat.lost:
            ranks_by_process.setdefault((beat.lost, beat.host), []).append(str(beat.rank))
    return [
        Message(
            "launcher-died",
            "{process} of the launcher died; it had started rank {ranks} on {host}",
            process=name,
            ranks=", ".join(ranks),
            host=host,
        )
        for (name, host), ranks in ranks_by_process.items()
    ]
