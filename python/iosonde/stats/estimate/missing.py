"""Missing values: whether one side has more of them, and the worst case of their effect."""

from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.message import Message

from .rank_tests import run_unpaired_test

_ALIKE = 1e-7  # relative: tables whose probabilities differ by less are equally likely


def build_missing_row_warnings(n_missing: int, n_rows: int) -> list[str]:
    """Return a warning with the number of rows that lack a value; none if no row does."""
    if not n_missing:
        return []
    return [
        Message(
            "missing-values",
            "{n_missing} of {n_rows} rows lack a value and are left out",
            n_missing=n_missing,
            n_rows=n_rows,
        )
    ]


def compute_fisher_exact_p(missing_a: int, n_a: int, missing_b: int, n_b: int) -> float:
    """Return Fisher's two-sided p-value of equal shares of missing values on both sides (Fisher 1935, Journal of the
    Royal Statistical Society 98, 39-54): the sum over all tables that are no likelier."""
    from scipy.special import gammaln

    def log_ways(n: int, k: Array) -> Array:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    missing = missing_a + missing_b
    first = max(0, missing - n_b)
    counts_a = np.arange(first, min(n_a, missing) + 1, dtype=float)
    logs = log_ways(n_a, counts_a) + log_ways(n_b, missing - counts_a)
    ways = np.exp(logs - logs.max())
    return float(ways[logs <= logs[missing_a - first] + _ALIKE].sum() / ways.sum())


@dataclass(frozen=True)
class WorstCase:
    """Comparison with missing values ranked beyond all others. ``p`` and ``superiority`` (P(B > A)) by ranks. ``ratio``
    of the medians B ÷ A: a lower limit if missing values rank above, an upper limit if below; None if unbounded."""

    p: float
    superiority: float
    ratio: float | None


def compute_worst_case(a: Array, missing_a: int, b: Array, missing_b: int, above: bool) -> WorstCase | None:
    """Compute the worst case; ``above``: missing values rank above all others, else below. None if a side has no
    values."""
    if not a.size or not b.size:
        return None
    observed = np.concatenate([a, b])
    edge = float(observed.max() if above else observed.min())
    beyond = edge + (1 if above else -1) * (float(np.ptp(observed)) or 1.0)
    test = run_unpaired_test(_fill_missing(a, missing_a, beyond), _fill_missing(b, missing_b, beyond), 0.95)
    # The edge bounds the effect of B's missing values on the ratio; that of A's is unbounded.
    base = float(np.median(_fill_missing(a, missing_a, edge)))
    is_bounded = missing_a < a.size and base > 0
    return WorstCase(
        test.p, test.superiority, float(np.median(_fill_missing(b, missing_b, edge))) / base if is_bounded else None
    )


def _fill_missing(observed: Array, missing: int, value: float) -> Array:
    return np.concatenate([observed, np.full(missing, value)])
