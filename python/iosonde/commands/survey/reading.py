"""Reading of the drawn files: when it stops, and its speed. Files are read in the random order of the draws, until
intervals are narrow or time is over. The files read form the sample of the same seed with a smaller number, so the
design and its intervals are the same. Speeds are by kind: from storage and from this node's memory, never mixed."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.words import format_share
from iosonde.stats.estimate.summarise import estimate_geometric_mean
from iosonde.survey.contents import Contents
from iosonde.survey.opening import NOT_TRIED, WalkedFile
from iosonde.survey.readers import AT_ONCE
from iosonde.survey.sampling.stopping import StopRule, is_narrow_enough
from iosonde.survey.walk import DrawnFiles, files_from_drawn

COLD, CACHED, UNKNOWN = "cold", "cached", "unknown"
STATES = {COLD: "not in memory", CACHED: "in memory", UNKNOWN: "not told"}
Drawn = tuple[str, str]  # how drawn, part of the tree
Read = dict[tuple[int, int], Contents]
PRECISE, TIME, ALL = "precision", "time", "all"
STALLED = "stalled"  # the tree stopped answering


@dataclass(frozen=True)
class ReadSpeed:
    """Files of one ``kind``, all of whose pieces were in one ``state``: COLD, not in this node's memory; CACHED; or
    UNKNOWN to the file system. ``rate``: geometric mean over files of bytes/s, while AT_ONCE files are read;
    ``read_bytes``: their sum."""

    kind: str
    state: str
    rate: Estimate
    read_bytes: int
    at_once: int = AT_ONCE

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {
            "type": self.kind,
            "state": self.state,
            "bytes": self.read_bytes,
            "at_once": self.at_once,
            "rate": self.rate.to_json(),
        }


def compute_cold_share(speeds: Iterable[ReadSpeed]) -> float | None:
    """Return the share of bytes that were not in this node's memory, among those of known state; None if there are
    none."""
    classified = [speed for speed in speeds if speed.state != UNKNOWN]
    total = sum(speed.read_bytes for speed in classified)
    return sum(speed.read_bytes for speed in classified if speed.state == COLD) / total if total else None


def describe_reading(speeds: Sequence[ReadSpeed], cold: float | None) -> str:
    """Describe the rates, and the share of bytes from storage; empty if nothing was timed."""
    if not speeds:
        return ""
    rates = "Typical rates (geometric means over files), {at_once} files read at a time in pieces of up to 1 MiB; "
    if cold is None:
        template = rates + "the file system does not report whether they were in this node's memory."
        return Message("unknown-cache-state", template, at_once=speeds[0].at_once)
    template = rates + "{share} of these bytes were not in this node's memory."
    return Message("cold-share", template, at_once=speeds[0].at_once, share=format_share(cold))


def estimate_read_speeds(contents: Iterable[Contents], level: float) -> tuple[ReadSpeed, ...]:
    """Return speeds by kind and state, largest amount first. Files partly in memory are excluded."""
    groups: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for content in contents:
        pieces, states = content.pieces, {piece.cached for piece in content.pieces}
        seconds = sum(piece.read_s for piece in pieces)
        if content.kind and len(states) == 1 and seconds > 0:
            size = sum(piece.size for piece in pieces)
            groups.setdefault((content.kind, _get_cache_state(states.pop())), []).append((size, seconds))
    speeds = (
        ReadSpeed(
            kind,
            state,
            estimate_geometric_mean([size / seconds for size, seconds in files], level),
            sum(size for size, _ in files),
        )
        for (kind, state), files in groups.items()
    )
    return tuple(sorted(speeds, key=lambda speed: (-speed.read_bytes, speed.kind, speed.state)))


def _get_cache_state(cached: bool | None) -> str:
    return UNKNOWN if cached is None else CACHED if cached else COLD


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
        if rule.until is not None and is_narrow_enough(list(shares(some, contents)), rule.until):
            why = PRECISE
            break
    return ReadInOrder(some, contents, why)
