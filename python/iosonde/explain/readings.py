"""Which optimisation, or which part of the system, structure reads like: from what a class has in common, and from what
its times can and cannot be.

Two things are physics, not habit. What takes no longer than a copy came from memory (``from_memory``); and what would
have moved a whole period of bytes faster than any link was a message about them, not their transfer (``_moved``).
Between what is surely one and surely the other nothing is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.units import format_rate, format_size
from iosonde.core.words import percent

from .causes.target import Suspect

READ_AHEAD, WRITE_BEHIND, SLOW_SERVER = "read-ahead", "write-behind", "slow server"
LOCK, CACHE, WARM_UP, SEEK = "lock", "cache", "warm-up", "seek"
ALIGNMENT, DISTURBANCE = "alignment", "disturbance"
# A copy within memory: a call, and a rate that none is slower than.
_CALL_S, _COPY_RATE = 5e-6, 1.5e9
# Bytes that one operation of a client waits for come at less than the first; a message looks faster than the second.
_TRANSFER, _MESSAGE = 2.5e9, 10e9
_RARE = 0.005


@dataclass(frozen=True)
class Reading:
    """``mechanism``: one of the words above; ``words``: what it is here."""

    mechanism: str
    words: str


@dataclass(frozen=True)
class Times:
    """Of the operations that are read: their kind, their size (bytes, 0: none are moved), and the seconds of a usual
    fast one and a usual slow one."""

    kind: str
    size: int
    fast_s: float
    slow_s: float

    @property
    def from_memory(self) -> bool:
        """Whether fast ones take no longer than a copy."""
        return self.fast_s <= _CALL_S + self.size / _COPY_RATE


def reading(suspects: Sequence[Suspect], times: Times) -> Reading | None:
    """Of the first of these that reads like anything, what explains most first; None where none does."""
    return next((found for one in suspects if (found := _of(one, times)) is not None), None)


def _of(one: Suspect, times: Times) -> Reading | None:
    rules = {"S401": _period, "S402": _clock, "S404": _from_when_on, "S405": _first, "S406": _place, "S407": _jump,
             "S409": _stall, "S411": _amount, "S412": _chance}  # fmt: skip
    rule = rules.get(one.code)
    return rule(one, times) if rule else None


def _period(one: Suspect, times: Times) -> Reading | None:
    """Once a period: what fetches, flushes or locks for the others; several in a row: those of one server."""
    told = one.evidence
    if "period_bytes" not in told:
        return None
    if not times.from_memory:
        return _server(told["slow_bytes"], told["period_bytes"])
    return _once(told["period_bytes"], times) if told["slow_operations"] == 1 else None


def _once(n_bytes: int, times: Times) -> Reading | None:
    rate = n_bytes / max(times.slow_s - times.fast_s, 1e-9)
    if rate > _MESSAGE:
        return Reading(LOCK, f"a lock of each {format_size(n_bytes)}, or its allocation: too short to move them")
    if rate > _TRANSFER:
        return None
    at = f"{format_size(n_bytes)}, at {format_rate(rate, 'bytes/s')}"
    if "read" in times.kind:
        return Reading(READ_AHEAD, f"read-ahead: one operation waits for the next {at}; the others find it there")
    if "write" in times.kind:
        return Reading(WRITE_BEHIND, f"write-behind: one operation waits until a buffer is written, {at}")
    return None


def _amount(one: Suspect, times: Times) -> Reading | None:
    if "write" not in times.kind or not times.from_memory:
        return None
    n_bytes = one.evidence["gap_bytes"]
    rate = format_rate(n_bytes / max(times.slow_s - times.fast_s, 1e-9), "bytes/s")
    return Reading(WRITE_BEHIND, f"write-behind up to a limit: who passes it waits until about {format_size(n_bytes)} "
                                 f"are written, at {rate}")  # fmt: skip


def _from_when_on(one: Suspect, times: Times) -> Reading | None:
    if not one.evidence["late"]:
        return Reading(WARM_UP, "something is warmed up until then")
    if "write" not in times.kind:
        return None
    return Reading(WRITE_BEHIND, f"write-behind, full after {format_size(one.evidence['bytes_before'])}")


def _place(one: Suspect, times: Times) -> Reading | None:
    told = one.evidence
    if told["crosses"]:
        return _once(told["unit_bytes"], times) if times.from_memory else \
            Reading(ALIGNMENT, f"requests that are split at borders of {format_size(told['unit_bytes'])}")  # fmt: skip
    if not times.from_memory:
        return _server(told["width_bytes"], told["unit_bytes"])
    return _once(told["unit_bytes"], times) if told["width_bytes"] <= max(times.size, 1) else None


def _server(part: int, whole: int) -> Reading:
    return Reading(SLOW_SERVER, f"a slow server: it holds {format_size(part)} of every {format_size(whole)}, one of "
                                f"{whole / max(part, 1):.3g} parts")  # fmt: skip


def _clock(one: Suspect, times: Times) -> Reading:
    every = format_rate(one.evidence["period_s"], "s")
    return Reading(LOCK, f"somebody else has it every {every}: a lock, a commit, another job")


def _stall(one: Suspect, times: Times) -> Reading:
    return Reading(LOCK, "all wait for one thing: a lock, or a server that pauses")


def _chance(one: Suspect, times: Times) -> Reading:
    share = one.evidence["probability"]
    if share < _RARE:
        return Reading(DISTURBANCE, "rare and by chance: an interrupt, another process, a retry")
    return Reading(CACHE, f"a cache that has it or not, or two ways through the system: {percent(share)} take the slow "
                          "one")  # fmt: skip


def _first(one: Suspect, times: Times) -> Reading:
    return Reading(CACHE, "a cache that has it from the second time on")


def _jump(one: Suspect, times: Times) -> Reading:
    return Reading(SEEK, "a seek, or read-ahead in vain" if "read" in times.kind else
                         "a seek, or blocks that are looked up or allocated first")  # fmt: skip
