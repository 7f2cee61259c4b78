"""Stopping rules of a survey: the intervals of all shares are narrow, or its time is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate

_FIRST, _GROWTH = 64, 1.25  # few looks at the intervals: each may stop too early by chance
_STEP = 32


@dataclass(frozen=True)
class StopRule:
    """``until``: half the width of the interval of every share; ``seconds`` of reading. None: no limit."""

    until: float | None
    seconds: float | None

    def __post_init__(self) -> None:
        if self.until is not None and not 0 < self.until < 1:
            raise InputError(
                "out-of-range",
                "a margin of {margin:g} is not between 0 and 1",
                "write {spell.until:2%}",
                margin=self.until,
            )
        if self.seconds is not None and self.seconds <= 0:
            raise InputError("out-of-range", "the reading time of a survey must be above 0", "write {spell.for:10min}")

    def steps(self, most: int) -> Iterator[int]:
        """Iterate over the number of files of each sample to read before the next check of the rule."""
        if self.until is None and self.seconds is None:
            yield most
            return
        done = 0
        while done < most:
            grown = max(_FIRST, int(done * _GROWTH)) if self.seconds is None else done + _STEP
            done = min(most, grown)
            yield done


def narrow(shares: list[Estimate], margin: float) -> bool:
    """Return whether all intervals are within ``margin``. Shares without readable files count as unknown."""
    ends = [(share.low, share.high) for share in shares]
    return bool(ends) and all(low is not None and high is not None and high - low <= 2 * margin for low, high in ends)
