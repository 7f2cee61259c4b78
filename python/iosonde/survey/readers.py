"""Threads that read drawn files. A thread whose file does not answer is abandoned, and another one continues."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .contents import Contents, LookOptions, measure_contents
from .opening import HUNG, NOT_TRIED, TreeCalls, WalkedFile

AT_ONCE = 8
MOST_STUCK = 64  # threads; a tree with more hanging files is not read any further
LATE_S = 1.0  # longest wait for a call after the reading time is over
_LOOK_S = 0.1
# Called about ten times a second: number of finished files, the file waiting longest, and its waiting time.
OnRead = Callable[[int, bytes, float], object]


@dataclass(frozen=True)
class Patience:
    """``limit_s``: time limit of a call to the tree; ``seconds``: total reading time, exceeded by at most LATE_S (None:
    no limit)."""

    limit_s: float
    seconds: float | None = None


def measure_all_contents(
    root: int, files: Sequence[WalkedFile], options: LookOptions, patience: Patience, on_read: OnRead | None = None
) -> list[Contents]:
    """Return the contents of each file, read by several threads. ``root`` is an open directory. Files that do not
    answer are marked as such."""
    return _Readers(root, files, options, patience).read(on_read or (lambda *_: None))


class _Reader(threading.Thread):
    """``place``: index of the current file. ``is_stuck``: the thread was abandoned."""

    def __init__(self, readers: _Readers) -> None:
        super().__init__(daemon=True)
        self.calls, self.place, self.is_stuck = TreeCalls(), -1, False
        self._readers = readers

    def run(self) -> None:
        """Read one file after the other."""
        readers = self._readers
        while not self.is_stuck and (place := readers.take()) is not None:
            self.place = place
            contents: Contents | BaseException
            try:
                contents = measure_contents(readers.root, readers.files[place], readers.options, self.calls)
            except BaseException as error:
                contents = error
            readers.answers.put((place, contents))


class _Readers:
    def __init__(self, root: int, files: Sequence[WalkedFile], options: LookOptions, patience: Patience) -> None:
        self.root, self.files, self.options = root, files, options
        self.answers: queue.SimpleQueue[tuple[int, Contents | BaseException]] = queue.SimpleQueue()
        self._patience, self._began = patience, time.monotonic()
        self._heard = self._began
        self._places, self._lock = iter(range(len(files))), threading.Lock()
        self._contents: list[Contents | None] = [None] * len(files)
        self._unanswered = len(files)
        self._readers: list[_Reader] = []

    def take(self) -> int | None:
        """Return the place of the next file, None after the last."""
        with self._lock:
            return next(self._places, None)

    def read(self, on_read: OnRead) -> list[Contents]:
        for _ in range(min(AT_ONCE, len(self.files))):
            self._start_reader()
        next_look = time.monotonic() + _LOOK_S
        try:
            while self._unanswered:
                self._receive_contents()
                if (now := time.monotonic()) >= next_look:
                    next_look = now + _LOOK_S
                    self._leave_stuck(now)
                    on_read(len(self.files) - self._unanswered, *self._longest_wait(now))
        finally:
            with self._lock:
                self._places = iter(())
        return [contents or Contents(None, why=NOT_TRIED) for contents in self._contents]

    def _start_reader(self) -> None:
        reader = _Reader(self)
        self._readers.append(reader)
        reader.start()

    def _receive_contents(self) -> None:
        try:
            place, contents = self.answers.get(timeout=_LOOK_S)
        except queue.Empty:
            return
        if isinstance(contents, BaseException):
            raise contents
        self._heard = time.monotonic()
        self._store_contents(place, contents)  # late results count, too

    def _store_contents(self, place: int, contents: Contents) -> None:
        self._unanswered -= self._contents[place] is None
        self._contents[place] = contents

    def _list_waiting(self) -> list[_Reader]:
        return [reader for reader in self._readers if not reader.is_stuck and reader.is_alive()]

    def _longest_wait(self, now: float) -> tuple[bytes, float]:
        waits = [(reader.calls.waited_s(now), reader.place) for reader in self._list_waiting() if reader.place >= 0]
        waited_s, place = max(waits, default=(0.0, -1))
        return (self.files[place].path, waited_s) if waited_s else (b"", 0.0)

    def _leave_stuck(self, now: float) -> None:
        """Abandon threads whose calls take too long; all of them once nothing in the tree answers any more."""
        limit_s = self._limit_s(now)
        waiting = self._list_waiting()
        stuck = [reader for reader in waiting if reader.calls.waited_s(now) >= limit_s]
        if not stuck:
            return
        heard = max(self._heard, *(reader.calls.heard for reader in self._readers))
        is_dead = now - heard >= limit_s and all(reader.calls.since for reader in waiting)
        is_dead = is_dead or sum(reader.is_stuck for reader in self._readers) + len(stuck) > MOST_STUCK
        for reader in waiting if is_dead else stuck:
            reader.is_stuck = True
            if self._contents[reader.place] is None:
                self._store_contents(reader.place, Contents(None, why=HUNG, hung_s=reader.calls.waited_s(now)))
            if not is_dead:
                self._start_reader()
        if is_dead:
            self._unanswered = 0

    def _limit_s(self, now: float) -> float:
        limit_s, seconds = self._patience.limit_s, self._patience.seconds
        return min(limit_s, LATE_S) if seconds is not None and now - self._began >= seconds else limit_s
