"""Critical values of the checks, each just below and just above its edge."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.stats import checks
from iosonde.stats.checks import FAMILY_ALPHA
from iosonde.stats.estimate.distributions import t_quantile
from iosonde.stats.estimate.outliers import find_outliers
from iosonde.stats.overview.cells import TrialCell

N = 10
QUIET = np.array([-1.4, -0.9, -0.5, -0.2, 0.0, 0.2, 0.5, 0.9, 1.4])


def sample_with_deviate(deviate: float) -> np.ndarray:
    """Ten values of which the last lies so many standard deviations from the mean."""
    low, high = 2.0, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        values = np.append(QUIET, middle)
        below = (middle - values.mean()) / values.std(ddof=1) < deviate
        low, high = (middle, high) if below else (low, middle)
    return np.append(QUIET, low)


def grubbs(tail: float) -> float:
    """The deviate of ten values beyond which lies this part of its distribution, on one side."""
    t2 = t_quantile(1 - tail / N, N - 2) ** 2
    return (N - 1) / np.sqrt(N) * np.sqrt(t2 / (N - 2 + t2))


def test_outliers_are_looked_for_on_both_sides():
    """Grubbs (1969, table 1): of ten values 2.290 at 5 %, two-sided; one-sided 2.176."""
    assert find_outliers(sample_with_deviate(2.28), 0.05) == []
    assert find_outliers(sample_with_deviate(2.30), 0.05) == [9]


@pytest.mark.parametrize(("cells", "named"), [(1, True), (20, False)])
def test_outliers_of_many_cells_share_one_chance_of_a_false_alarm(cells, named):
    """A deviate that is beyond the limit of one table, and not beyond that of one in twenty."""
    deviate = (grubbs(FAMILY_ALPHA / 2) + grubbs(FAMILY_ALPHA / 40)) / 2
    first = 100 + sample_with_deviate(deviate)
    trials = [
        TrialCell({"cell": i}, "rate", "", first if not i else 100 + np.append(QUIET, 0.1), "read")
        for i in range(cells)
    ]
    assert bool(checks.run_checks(checks.Subject(trials, 0.95), ["S108"])) is named
