"""The numbers of one operation that belong together: of the whole or of one rank, at one setting, of one iteration."""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from iosonde.core.types import FactorValue

from ..parsed import Parsed, Row

_STATISTIC = re.compile(r"(\w+?)_(mean|min|max|sd|p\d[\d.]*)$")
_LATENCY_ENDS = ("latency", "latency_sample")
_SPEED = re.compile(r"(?:bandwidth|(?:access_)?rate)(?:_last_done|_sum_of_ranks|_own|_while_busy)?$")
_AMOUNTS = ("time", "bytes", "operations")
# Of tools that print when the first and when the last thread was done.
_AMOUNTS_LAST_DONE = {f"{amount}_last_done": amount for amount in _AMOUNTS}
_STEPS = (1e-3, 1e-6)


class StatisticName(NamedTuple):
    """Parts of the metric ``completion_latency_p99``: of what, and which statistic of it."""

    family: str
    statistic: str


@dataclass
class Numbers:
    """Rows by metric; those of latencies, and those of other ``statistics``, also by family and statistic. ``rank`` is
    None for the whole.

    ``is_exact``: the numbers have all digits that the tool has, as in JSON. ``place``: iteration and settings, equal
    for numbers that belong together.
    """

    operation: str
    rank: int | None
    factors: dict[str, FactorValue] | None
    iteration: int | None
    is_exact: bool = False
    place: Hashable = None
    rows: dict[str, Row] = field(default_factory=dict)
    latencies: dict[str, dict[str, Row]] = field(default_factory=dict)
    statistics: dict[str, dict[str, Row]] = field(default_factory=dict)

    def get(self, *metrics: str) -> float | None:
        """Return the value of the first of these metrics that is present."""
        for metric in metrics:  # called for every rule and group: a generator costs more than the search
            if metric in self.rows:
                return self.rows[metric].value
        return None

    def estimate_step(self, seconds: float) -> float:
        """Return the step in which a time was printed: whole ms (in text) or µs if it is a multiple of these, else
        ns."""
        for step in _STEPS[self.is_exact :]:
            if abs(round(seconds / step) * step - seconds) <= 1e-9 * abs(seconds):
                return step
        return 1e-9

    def get_time(self) -> float:
        """Return the time of the run, infinite if it is unknown."""
        return self.rows["time"].value or math.inf if "time" in self.rows else math.inf

    def find_line(self, *metrics: str) -> int:
        """Return the line of the first of these metrics that is present, 0 if none is."""
        return next((self.rows[metric].line for metric in metrics if metric in self.rows), 0)

    def get_settings(self, run: Parsed) -> Mapping[str, FactorValue]:
        """Return the settings at which the numbers were measured."""
        return {**run.factors, **(self.factors or {})}


def group_numbers(run: Parsed) -> list[Numbers]:
    """Return the groups of numbers of an execution to which a rule may apply. Metrics that no rule knows, and those
    that occur twice in a group, are left out."""
    groups: dict[Hashable, Numbers] = {}
    # Settings have numbers, which are compared quicker than their names and values.
    numbers: dict[Hashable, int] = {}
    number_by_identity: dict[int, int] = {}
    ambiguous: list[tuple[Numbers, str]] = []
    for row in run.rows:
        metric = _get_ruled_metric(row.metric)
        if not metric:
            continue
        factors = row.factors
        number = number_by_identity.get(id(factors))
        if number is None:
            number = numbers.setdefault(tuple(sorted((factors or {}).items())), len(numbers))
            number_by_identity[id(factors)] = number
        key = row.operation, row.rank, row.iteration, number
        group = groups.get(key)
        if group is None:
            group = groups[key] = Numbers(
                row.operation, row.rank, factors, row.iteration, run.form == "json", (row.iteration, number)
            )
        if metric in group.rows:
            ambiguous.append((group, metric))
        group.rows[metric] = row
    for group, metric in ambiguous:
        group.rows.pop(metric, None)
    for group in groups.values():
        for metric, row in group.rows.items():
            if name := split_statistic(metric):
                families = group.latencies if name.family.endswith(_LATENCY_ENDS) else group.statistics
                families.setdefault(name.family, {})[name.statistic] = row
    return list(groups.values())


def sum_bytes(group: Numbers, groups: Sequence[Numbers]) -> float | None:
    """Return the bytes of the whole; if the tool prints only those of its threads or servers, their sum."""
    parts = [each for each in groups if (each.operation, each.place) == (group.operation, group.place)]
    amounts = [amount for each in parts if each is not group and (amount := each.get("bytes"))]
    return group.get("bytes") or sum(amounts) or None


@lru_cache(maxsize=4096)
def _get_ruled_metric(metric: str) -> str:
    """Return the name by which rules know this metric, '' if no rule may apply to it."""
    if metric in _AMOUNTS or _SPEED.match(metric) or split_statistic(metric):
        return metric
    return _AMOUNTS_LAST_DONE.get(metric, "")


@lru_cache(maxsize=4096)
def parse_level(statistic: str) -> float:
    """Return the level of ``p99.9``."""
    return float(statistic[1:])


@lru_cache(maxsize=4096)
def split_statistic(metric: str) -> StatisticName | None:
    """Return the parts of the name of a statistic, None for another metric."""
    match = _STATISTIC.match(metric)
    return StatisticName(match[1], match[2]) if match else None
