"""How fast the files that were drawn were read, by kind: from the storage and from this node's memory, never mixed."""

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
    UNKNOWN, as the file system does not tell. ``rate``: the geometric mean over files of bytes/s, while AT_ONCE files
    are read; ``read_bytes`` of them."""

    kind: str
    state: str
    rate: Estimate
    read_bytes: int
    at_once: int = AT_ONCE

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {"type": self.kind, "state": self.state, "bytes": self.read_bytes, "at_once": self.at_once,
                "rate": self.rate.to_json()}  # fmt: skip


def cold_share(speeds: Iterable[ReadSpeed]) -> float | None:
    """Of the bytes whose state is told, the part that was not in this node's memory; None where none is."""
    classified = [speed for speed in speeds if speed.state != UNKNOWN]
    total = sum(speed.read_bytes for speed in classified)
    return sum(speed.read_bytes for speed in classified if speed.state == COLD) / total if total else None


def describe_reading(speeds: Sequence[ReadSpeed], cold: float | None) -> str:
    """What the rates are, and which part of the bytes came from the storage; empty where nothing was timed."""
    if not speeds:
        return ""
    rates = "Typical rates (geometric means over files), {at_once} files read at a time in pieces of up to 1 MiB; "
    if cold is None:
        template = rates + "whether they were in this node's memory the file system does not tell."
        return Message("unknown-cache-state", template, at_once=speeds[0].at_once)
    template = rates + "{share} of these bytes were not in this node's memory."
    return Message("cold-share", template, at_once=speeds[0].at_once, share=percent(cold))


def read_speeds(contents: Iterable[Contents], level: float) -> tuple[ReadSpeed, ...]:
    """By kind and state, what most was read of first. A file whose pieces were partly in memory is in none."""
    groups: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for content in contents:
        pieces, states = content.pieces, {piece.cached for piece in content.pieces}
        seconds = sum(piece.read_s for piece in pieces)
        if content.kind and len(states) == 1 and seconds > 0:
            size = sum(piece.size for piece in pieces)
            groups.setdefault((content.kind, _state(states.pop())), []).append((size, seconds))
    speeds = (
        ReadSpeed(kind, state, geometric_mean([size / seconds for size, seconds in files], level),
                  sum(size for size, _ in files))
        for (kind, state), files in groups.items()
    )  # fmt: skip
    return tuple(sorted(speeds, key=lambda speed: (-speed.read_bytes, speed.kind, speed.state)))


def _state(cached: bool | None) -> str:
    return UNKNOWN if cached is None else CACHED if cached else COLD
