"""Speed of reading the drawn files, by kind: from storage and from this node's memory, never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.words import percent
from iosonde.stats.estimate.summarise import geometric_mean
from iosonde.survey.contents import Contents
from iosonde.survey.readers import AT_ONCE

COLD, CACHED, UNKNOWN = "cold", "cached", "unknown"
STATES = {COLD: "not in memory", CACHED: "in memory", UNKNOWN: "not told"}


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


def cold_share(speeds: Iterable[ReadSpeed]) -> float | None:
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
    return Message("cold-share", template, at_once=speeds[0].at_once, share=percent(cold))


def read_speeds(contents: Iterable[Contents], level: float) -> tuple[ReadSpeed, ...]:
    """Return speeds by kind and state, largest amount first. Files partly in memory are excluded."""
    groups: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for content in contents:
        pieces, states = content.pieces, {piece.cached for piece in content.pieces}
        seconds = sum(piece.read_s for piece in pieces)
        if content.kind and len(states) == 1 and seconds > 0:
            size = sum(piece.size for piece in pieces)
            groups.setdefault((content.kind, _state(states.pop())), []).append((size, seconds))
    speeds = (
        ReadSpeed(
            kind,
            state,
            geometric_mean([size / seconds for size, seconds in files], level),
            sum(size for size, _ in files),
        )
        for (kind, state), files in groups.items()
    )
    return tuple(sorted(speeds, key=lambda speed: (-speed.read_bytes, speed.kind, speed.state)))


def _state(cached: bool | None) -> str:
    return UNKNOWN if cached is None else CACHED if cached else COLD
