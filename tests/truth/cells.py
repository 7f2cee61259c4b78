"""A cell of the bench: one truth, drawn many times, and how often a command's verdict agrees with it."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from .ask import Question, answer_of
from .scores import SEVERITY, Score, has_warning, holds_truth, score_answer

Columns = Mapping[str, Any]
ALL_DRAWS = 2000  # from here on a limit is itself
LUCK = 5e-4
AT_ONCE = 250  # draws with a seed of their own


@dataclass(frozen=True)
class Cell:
    """``draw`` makes a table; ``values`` is the number that the verdict's interval should hold. ``promises``: which
    limits it is held to; without any it is published beside the others. ``holds``: whether an answer holds the truth,
    where that is no verdict's estimate; ``write``: puts what was drawn into a store."""

    name: str
    question: Question
    draw: Callable[[np.random.Generator], Columns]
    draws: int
    value: float | None = None
    promises: frozenset[str] = frozenset()
    holds: Callable[[Mapping[str, Any]], bool | None] | None = None
    write: Callable[[Columns, Path], Path] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Command and truth: the name of the cell."""
        return (self.question.command, self.name)


FALSE, INTERVAL, SILENCE, FOUND = "false", "interval", "silence", "found"


@dataclass(frozen=True)
class Limit:
    """The share that a promise allows, and the share that keeps it with room: of few draws chance is allowed for."""

    most: float
    nominal: float

    def allowed(self, draws: int) -> float:
        """The largest share of ``draws`` that does not break it: more is rarer than ``LUCK`` at the nominal one."""
        if not 0 < draws < ALL_DRAWS:
            return self.most
        return max(self.most, float(binom.isf(LUCK, draws, self.nominal)) / draws)


# Shares that should be small: false claims, intervals that miss, warnings about clean data, effects not found.
LIMITS = {FALSE: Limit(0.065, 0.05), INTERVAL: Limit(0.07, 0.05), SILENCE: Limit(0.05, 0.035), FOUND: Limit(0.10, 0.08)}


@dataclass(frozen=True)
class Tally:
    """What so many draws came to."""

    scores: Counter[Score]
    warned: int = 0
    held: int = 0
    intervals: int = 0
    seconds: float = 0.0  # of CPU

    @property
    def draws(self) -> int:
        """How many."""
        return sum(self.scores.values())

    def share(self, *scores: Score) -> float:
        """The share of draws with one of these scores."""
        return sum(self.scores[score] for score in scores) / max(self.draws, 1)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.scores + other.scores,
            self.warned + other.warned,
            self.held + other.held,
            self.intervals + other.intervals,
            self.seconds + other.seconds,
        )

    def misses(self, promise: str) -> tuple[float, int]:
        """The share that breaks a promise, and of how many."""
        if promise == INTERVAL:
            return 1 - self.held / max(self.intervals, 1), self.intervals
        if promise == SILENCE:
            return self.warned / max(self.draws, 1), self.draws
        if promise == FOUND:
            return 1 - self.share(Score.RIGHT), self.draws
        return self.share(Score.OVERCONFIDENT, Score.WRONG), self.draws


def tally(cell: Cell, chunk: int, draws: int) -> Tally:
    """The scores of one chunk of draws; the same in every process."""
    rng = np.random.default_rng([crc32("|".join(cell.key).encode()), chunk])
    scores, warned, held, intervals, begin = Counter[Score](), 0, 0, 0, time.process_time()
    for _ in range(draws):
        answer = _answer(cell, cell.draw(rng))
        scores[max((score_answer(answer, one) for one in cell.question.truths), key=SEVERITY.__getitem__)] += 1
        if answer is None:
            continue
        warned += any(has_warning(answer, one) for one in cell.question.truths)
        holds = (
            cell.holds(answer)
            if cell.holds
            else (None if cell.value is None else holds_truth(answer, cell.question.truths[0], cell.value))
        )
        held += holds is True
        intervals += holds is not None
    return Tally(scores, warned, held, intervals, time.process_time() - begin)


def _answer(cell: Cell, columns: Columns) -> dict[str, Any] | None:
    """What the command says of what was drawn."""
    command, words = cell.question.command, cell.question.words
    if cell.write is None:
        return answer_of(command, pa.table(dict(columns)), words)
    with tempfile.TemporaryDirectory(prefix="iosonde-truth-") as directory:
        return answer_of(command, cell.write(columns, Path(directory) / "store"), words)


def broken_promises(cell: Cell, tally: Tally) -> list[str]:
    """What a cell promises and does not keep, in words."""
    if tally.scores[Score.NO_VERDICT]:
        return ["no verdict"]
    broken = []
    for promise in sorted(cell.promises):
        share, of = tally.misses(promise)
        allowed = LIMITS[promise].allowed(of)
        if share > allowed + 1e-9 or (promise == INTERVAL and not of):
            broken.append(f"{WORDS[promise]} {100 * share:.1f} %, allowed {100 * allowed:.1f} %")
    return broken


WORDS = {
    FALSE: "false claims",
    INTERVAL: "intervals that miss",
    SILENCE: "warnings about clean data",
    FOUND: "not found",
}
