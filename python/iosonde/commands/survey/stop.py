"""Stopping of a survey: read files in the random order of the draws, until intervals are narrow or time is over. The
files read form the sample of the same seed with a smaller number, so the design and its intervals are the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from iosonde.core.types import Estimate
from iosonde.stats.sampling.stopping import StopRule, narrow
from iosonde.survey.contents import Contents
from iosonde.survey.opening import NOT_TRIED, WalkedFile
from iosonde.survey.walk import DrawnFiles, files_from_drawn

Drawn = tuple[str, str]  # how drawn, part of the tree
Read = dict[tuple[int, int], Contents]
PRECISE, TIME, ALL = "precision", "time", "all"
STALLED = "stalled"  # the tree stopped answering


@dataclass(frozen=True)
class ReadInOrder:
    """The samples and contents read, and why reading stopped: ``PRECISE``, ``TIME``, ``STALLED`` or ``ALL``."""

    drawn: dict[Drawn, DrawnFiles]
    contents: Read
    why: str


def read_in_order(
    drawn: Mapping[Drawn, DrawnFiles],
    rule: StopRule,
    look: Callable[[list[WalkedFile], int, float | None], list[Contents]],
    shares: Callable[[dict[Drawn, DrawnFiles], Read], Iterator[Estimate]],
) -> ReadInOrder:
    """Read both samples side by side until the rule is satisfied. ``look`` receives the number of files read before,
    and the seconds left. ``shares`` computes the share of every type so far."""
    began, contents, why, spent_s = time.monotonic(), Read(), ALL, 0.0
    some = dict(drawn)
    for count in rule.steps(max(map(len, drawn.values()), default=0)):
        some = {by: drawn_files.first(count) for by, drawn_files in drawn.items()}
        new = {
            file.inode_key: file
            for drawn_files in some.values()
            for file in files_from_drawn(drawn_files)
            if file.inode_key not in contents
        }
        seconds = None if rule.seconds is None else max(0.0, rule.seconds - spent_s)
        looked = look(list(new.values()), len(contents), seconds)
        contents.update(zip(new, looked, strict=True))
        spent_s = 0.0 if rule.seconds is None else time.monotonic() - began
        if rule.seconds is not None and spent_s >= rule.seconds:
            why = TIME
            break
        if any(content.why == NOT_TRIED for content in looked):
            why = STALLED
            break
        if rule.until is not None and narrow(list(shares(some, contents)), rule.until):
            why = PRECISE
            break
    return ReadInOrder(some, contents, why)
