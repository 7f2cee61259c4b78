"""What the watchdog knows of the ranks: their last words, when one of them last moved, and who was lost."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from iosonde.core.message import Message
from iosonde.ranks import leftovers, processes
from iosonde.ranks.beats import DONE, Beat, read_beats
from iosonde.ranks.relay import Received

SILENT_S = 30.0  # a node that can be heard says something every 10 s
LOST_S = 3.0  # a launcher that notices by itself that a rank died ends sooner than that


class Listener:
    """Looks when it is told to. ``token`` is what ranks of this trial have in their environment. A node that was heard
    before and says nothing for ``idle_s`` (but not less than SILENT_S) is lost.
    """

    def __init__(self, directory: Path, printed: Path, token: str, idle_s: float | None) -> None:
        self._directory, self._token = directory, token
        self._silent_s = math.inf if idle_s is None else max(idle_s, SILENT_S)
        self._received = Received(printed)
        self._alive_ranks: set[int] = set()
        self._lost_since: float | None = None
        self.beats: list[Beat] = []
        self.lost: tuple[str, ...] = ()  # sentences about processes that ended before their time
        self.open_files: set[leftovers.Entry] = (
            set()
        )  # by processes of the trial: also recorded, where the disk is not full
        self.moved_at = time.monotonic()

    def last_words(self) -> list[Beat]:
        """The last word of every rank, in order of rank: from files where they are seen, else from what was relayed."""
        self._hear_ranks()
        return self.beats

    def _hear_ranks(self) -> list[Beat]:
        """Those whose files are seen."""
        self._received.look()
        here = read_beats(self._directory)
        every = self._received.beats | {beat.rank: beat for beat in here}
        self.beats = sorted(every.values(), key=lambda beat: beat.rank)
        return here

    def look(self) -> list[Beat]:
        """The last words, and what they say of ranks that run: who moved, who is lost, what they hold."""
        previous = self.beats
        if not previous:  # once they speak, ranks record it themselves
            self.open_files.update(leftovers.record(self._directory, "launch", processes.family(self._token)))
        here = self._hear_ranks()
        if _strip_troubles(self.beats) != _strip_troubles(previous):
            self.moved_at = time.monotonic()
        silent = self._received.silent(self._silent_s)
        unheard = [
            Message("node-silent", "{host} has not been heard for {limit_s:.0f} s", host=host, limit_s=self._silent_s)
            for host in silent
        ]
        self.lost = (*_list_lost_parents(self.beats), *self._list_dead(here), *unheard)
        self._lost_since = (self._lost_since or time.monotonic()) if self.lost else None
        return self.beats

    def was_lost(self) -> bool:
        """Whether a process has been missing for so long that the launcher cannot have noticed."""
        return self._lost_since is not None and time.monotonic() - self._lost_since > LOST_S

    def _list_dead(self, here: Iterable[Beat]) -> list[Message]:
        """Ranks on this host whose process was seen, and is there no more though it was not done."""
        messages = []
        for beat in here:
            alive = processes.lives(beat.pid, self._token)
            if alive:
                self._alive_ranks.add(beat.rank)
            elif alive is False and beat.rank in self._alive_ranks and beat.state != DONE:
                what = f"{beat.state} {beat.phase}".strip()
                messages.append(
                    Message(
                        "rank-died",
                        "rank {rank} on {host} (process {process}) died while {activity}",
                        rank=beat.rank,
                        host=beat.host,
                        process=beat.pid,
                        activity=what,
                    )
                )
        return messages


def _strip_troubles(beats: Iterable[Beat]) -> list[Beat]:
    """What the ranks do, without what befell them: a word that one hangs is no progress."""
    return [replace(beat, lost="", hangs="") for beat in beats]


def _list_lost_parents(beats: list[Beat]) -> list[Message]:
    """The launcher's processes that ended before the ranks that they had started."""
    ranks_by_process: dict[tuple[str, str], list[str]] = {}
    for beat in beats:
        if beat.lost:
            ranks_by_process.setdefault((beat.lost, beat.host), []).append(str(beat.rank))
    return [
        Message(
            "launcher-died",
            "{process} of the launcher, which had started rank {ranks} on {host}, died",
            process=name,
            ranks=", ".join(ranks),
            host=host,
        )
        for (name, host), ranks in ranks_by_process.items()
    ]
