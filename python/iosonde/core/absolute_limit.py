"""``--fail-if 'p99>5ms'``: a limit in a unit, of the values of B alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from .column_units import COUNT_PER_S, DECIMAL_POWERS, measure_unit
from .deciding import Name, select_names_by_metric
from .errors import InputError
from .types import Estimate
from .units import choose_human_scale, format_significant, parse_rate, parse_seconds, parse_size

_LIMIT = re.compile(r"^\s*([^<>]*[^<>\s])\s*([<>])\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([^\d\s%<>][^%<>]*)?\s*$")
_NEEDS_UNIT = ("bytes/s", "bytes", "s")  # of values in base units, which nobody writes

_BYTES_PER_S, _SECONDS, _BYTES, _PER_S = "bytes/s", "s", "bytes", "operations/s"


@dataclass(frozen=True)
class AbsoluteLimit:
    """A condition such as ``p99>5ms``: the whole interval of the mean of B is beyond ``amount`` of ``unit``, as
    written. ``metric`` is a name in the words of ``--metric``."""

    metric: str
    is_upper: bool
    amount: str
    unit: str = ""

    def __str__(self) -> str:
        """Return the condition as written by the user."""
        return f"{self.metric}{'>' if self.is_upper else '<'}{self.bound_text}"

    @property
    def bound_text(self) -> str:
        """Return the limit as written: ``5ms``."""
        return f"{self.amount}{self.unit}"

    def select_names(self, names: list[Name]) -> list[Name]:
        """Return the names (operation, metric, unit) that the condition is about."""
        return select_names_by_metric(names, self.metric)

    def convert_bound(self, unit: str) -> float | None:
        """Return the limit in the unit of the values; None if it is one of something else."""
        if not self.unit and unit not in _NEEDS_UNIT:
            return float(self.amount)
        kind, size = measure_unit(unit)
        parse = _PARSERS.get(kind)
        if parse is None or not size:
            return float(self.amount) if self.unit == unit else None
        try:
            value = parse(self)
        except InputError:
            return None
        return value / size if math.isfinite(value) else None

    def holds(self, value: Estimate | None, unit: str) -> bool | None:
        """Return whether the whole interval is beyond the limit; None if inconclusive."""
        bound = self.convert_bound(unit)
        if bound is None or value is None or value.low is None or value.high is None:
            return None
        near, far = (value.low, value.high) if self.is_upper else (-value.high, -value.low)
        bound = bound if self.is_upper else -bound
        return True if near > bound else False if far <= bound else None

    def describe_value(self, side: str, value: Estimate | None, unit: str) -> str:
        """Return the values of a side in brackets with their interval; '' without one."""
        if value is None or value.value is None or value.low is None or value.high is None:
            return ""
        scale, scaled_unit = choose_human_scale(value.value, unit)
        mean, low, high = (format_significant(number / scale) for number in (value.value, value.low, value.high))
        return f" ({side}: {mean}, {low} to {high} {scaled_unit}".rstrip() + ")"


def parse_limit(text: str) -> AbsoluteLimit | None:
    """Parse a condition with a metric and a limit in its unit; None if it is another one."""
    match = _LIMIT.match(text)
    return AbsoluteLimit(match[1], match[2] == ">", match[3], (match[4] or "").strip()) if match else None


def _parse_count(limit: AbsoluteLimit) -> float:
    match = COUNT_PER_S.match(limit.unit)
    return float(limit.amount) * DECIMAL_POWERS[match[1].lower()] if match else math.nan


_PARSERS: dict[str, Callable[[AbsoluteLimit], float]] = {
    _BYTES_PER_S: lambda limit: parse_rate(limit.bound_text),
    _SECONDS: lambda limit: parse_seconds(limit.bound_text) if limit.unit else math.nan,
    _BYTES: lambda limit: float(parse_size(limit.bound_text)) if limit.unit else math.nan,
    _PER_S: _parse_count,
}
