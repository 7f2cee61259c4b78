"""When a survey has read enough: files in the random order of the draws, until intervals are narrow or time is over.

What was reached is the sample of the same seed for a smaller number, so the design and its intervals are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.survey.contents import Contents
from iosonde.survey.opening import WalkedFile
from iosonde.survey.walk import DrawnFiles, seen_of

_FIRST, _GROWTH = 64, 1.25  # few looks at the intervals: each is a chance to stop too early
_STEP = 32
Drawn = tuple[str, str]  # how, and of which part of the tree
Read = dict[tuple[int, int], Contents]
PRECISE, TIME, ALL = "precision", "time", "all"


@dataclass(frozen=True)
class StopRule:
    """``until``: half the width of the interval of every share; ``seconds`` of reading. None: does not count."""

    until: float | None
    seconds: float | None

    def __post_init__(self) -> None:
        if self.until is not None and not 0 < self.until < 1:
            raise InputError(f"a margin of {self.until:g} is not between 0 and 1", "write --until 2%")
        if self.seconds is not None and self.seconds <= 0:
            raise InputError("a survey that reads for no time reads nothing", "write --for 10min")

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


@dataclass(frozen=True)
class ReadInOrder:
    """The samples as far as they were read, what was found, and why no more was: ``PRECISE``, ``TIME`` or ``ALL``."""

    drawn: dict[Drawn, DrawnFiles]
    contents: Read
    why: str


def read_in_order(
    drawn: Mapping[Drawn, DrawnFiles], rule: StopRule, look: Callable[[list[WalkedFile], int], list[Contents]],
    shares: Callable[[dict[Drawn, DrawnFiles], Read], Iterator[Estimate]],
) -> ReadInOrder:  # fmt: skip
    """Read both samples side by side until the rule says enough. ``look`` is told how many were read before;
    ``shares`` says the share of every type from what was read so far."""
    began, contents, why = time.monotonic(), Read(), ALL
    some = dict(drawn)
    for count in rule.steps(max(map(len, drawn.values()), default=0)):
        some = {by: one.first(count) for by, one in drawn.items()}
        new = {file.inode_key: file for one in some.values() for file in seen_of(one) if file.inode_key not in contents}
        contents.update(zip(new, look(list(new.values()), len(contents)), strict=True))
        if rule.seconds is not None and time.monotonic() - began >= rule.seconds:
            why = TIME
            break
        if rule.until is not None and narrow(list(shares(some, contents)), rule.until):
            why = PRECISE
            break
    return ReadInOrder(some, contents, why)


def narrow(shares: list[Estimate], margin: float) -> bool:
    """Where nothing could be looked at, nothing is known."""
    ends = [(one.low, one.high) for one in shares]
    return bool(ends) and all(low is not None and high is not None and high - low <= 2 * margin for low, high in ends)
