"""The best setting at each number of nodes, by its rate per node.

The best setting for few nodes may not be best for many, and the best rate per node mostly shrinks with their number.
(Kunkel 2017, "Analysis of I/O phenomena": 6 GiB/s per node on few nodes, 1.25 GiB/s on many.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.stats.estimate.compare import DIFFERENT, NEGLIGIBLE, build_group, compare_groups
from iosonde.stats.estimate.summarise import estimate_mean

from .series import Series


@dataclass(frozen=True)
class BestSetting:
    """The setting with the highest mean at one ``size``, out of ``n_settings``. ``each``: its mean per node. ``alike``:
    how many others are not significantly different (at the level, Bonferroni for all of them); None for a single
    trial."""

    response: str
    unit: str
    size: float
    by: Mapping[str, Cell]
    each: Estimate
    n_settings: int
    alike: int | None
    units: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "response": self.response,
            "unit": self.unit,
            "size": self.size,
            "by": dict(self.by),
            **self.each.flat("each"),
            "n": self.each.n,
            "settings": self.n_settings,
            "not_told_apart": self.alike,
        }


def select_best_settings(series: Sequence[Series], level: float) -> list[BestSetting]:
    """Select the best setting of each response at each size with two settings or more, ascending."""
    settings = []
    for response in dict.fromkeys(curve.response for curve in series):
        its = [curve for curve in series if curve.response == response]
        for size in sorted({size for curve in its for size in curve.trials}):
            there = [curve for curve in its if size in curve.trials]
            if len(there) > 1:
                settings.append(_select_best(there, size, level))
    return settings


def _select_best(there: Sequence[Series], size: float, level: float) -> BestSetting:
    best = max(there, key=lambda curve: sum(curve.trials[size]) / len(curve.trials[size]))
    others = [curve.trials[size] for curve in there if curve is not best]
    each = estimate_mean([rate / size for rate in best.trials[size]], level).within(low=0.0)
    alike = None
    if all(len(rates) > 1 for rates in (best.trials[size], *others)):
        strict = 1 - (1 - level) / len(others)
        best_rates = build_group("best", best.trials[size])
        comparisons = [compare_groups(best_rates, build_group("other", rates), strict, 0.0) for rates in others]
        alike = sum(comparison.verdict not in (DIFFERENT, NEGLIGIBLE) for comparison in comparisons)
    return BestSetting(best.response, best.unit, size, best.by, each, len(there), alike, best.units)
