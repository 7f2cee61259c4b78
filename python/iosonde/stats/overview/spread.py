"""Spread of the trials of one cell: quantiles, the distribution, the geometric mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.types import Estimate

from ..estimate.summarise import estimate_geometric_mean, estimate_quantile

SHARES = (0.1, 0.25, 0.75, 0.9)  # the median is already shown with the mean


@dataclass(frozen=True)
class Spread:
    """``quantiles``: share → value, in the unit of the ``values``, which ascend."""

    quantiles: dict[float, Estimate]
    geometric_mean: Estimate
    values: tuple[float, ...]

    @property
    def by_label(self) -> dict[str, Estimate]:
        """Return estimates by label: ``p10`` … ``p90``, ``geometric mean``."""
        return {f"p{100 * share:g}": estimate for share, estimate in self.quantiles.items()} | {
            "geometric mean": self.geometric_mean
        }

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form of ``iosonde summary --quantiles --json``."""
        n = len(self.values)
        return {
            "quantiles": [{"share": share, **estimate.to_json()} for share, estimate in self.quantiles.items()],
            "geometric_mean": self.geometric_mean.to_json(),
            "ecdf": [[value, place / n] for place, value in enumerate(self.values, 1)],
        }


def compute_spread(values: Sequence[float], level: float) -> Spread:
    """Compute the spread of independent trials."""
    return Spread(
        {share: estimate_quantile(values, share, level) for share in SHARES},
        estimate_geometric_mean(values, level),
        tuple(map(float, np.sort(values))),
    )
