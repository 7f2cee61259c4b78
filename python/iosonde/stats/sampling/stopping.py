"""When a survey has read enough: the intervals of all shares are narrow, or its time is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate

_FIRST, _GROWTH = 64, 1.25  # few looks at the intervals: each is a chance to stop too early
_STEP = 32


@dataclass(frozen=True)
class StopRule:
    """``until``: half the width of the interval of every share; ``seconds`` of reading. None: does not count."""

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
            raise InputError("out-of-range", "a survey that reads for no time reads nothing", "write {spell.for:10min}")

    def steps(self, most: int) -> Iterator[int]:
        """How many of each sample are read before it is asked again whether that is enough."""
        if self.until is None and self.seconds is None:
            yield most
            return
        done = 0
        while done < most:
            grown = max(_FIRST, int(done * _GROWTH)) if self.seconds is None else done + _STEP
            done = min(most, grown)
            yield done


def narrow(shares: list[Estimate], margin: float) -> bool:
    """Where nothing could be looked at, nothing is known."""
    ends = [(share.low, share.high) for share in shares]
    return bool(ends) and all(low is not None and high is not None and high - low <= 2 * margin for low, high in ends)
