"""Variance components of a nested design: between trials, and between the ranks of a trial."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from ..estimate.distributions import chi2_quantile, f_quantile

Trials = Sequence[npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Components:
    """Standard deviations of logs: ``between`` trials of a cell, in excess of the ranks' own spread, and ``within`` a
    trial. ``share``: of the variance between trials (the intraclass correlation)."""

    between: Estimate
    within: Estimate
    share: Estimate


def estimate_components(cells: Sequence[Trials], level: float) -> Components | None:
    """Estimate the components from cells → trials → log values of the ranks; None without repeated trials of several
    ranks.

    The estimators are those of analysis of variance (Searle, Casella & McCulloch 1992, Variance Components, §3.5-3.6),
    with cells as fixed effects. The share has the exact interval of the F ratio if all trials have equally many ranks;
    ``within`` that of chi-square; ``between`` follows from both.
    """
    used = [[trial for trial in cell if trial.size] for cell in cells]
    between_ss = within_ss = weight = 0.0
    between_df = within_df = 0
    for cell in used:
        if len(cell) < 2:
            continue
        sizes = np.array([trial.size for trial in cell], float)
        means = np.array([trial.mean() for trial in cell])
        grand = float((sizes * means).sum() / sizes.sum())
        between_ss += float((sizes * (means - grand) ** 2).sum())
        within_ss += float(sum(((trial - trial.mean()) ** 2).sum() for trial in cell))
        between_df += len(cell) - 1
        within_df += int(sizes.sum()) - len(cell)
        weight += float(sizes.sum() - (sizes**2).sum() / sizes.sum())
    if between_df < 2 or within_df < 2 or within_ss <= 0:
        return None
    ranks = weight / between_df
    within_ms, between_ms = within_ss / within_df, between_ss / between_df
    f, n = between_ms / within_ms, between_df + 1
    ratios = [
        (f / q - 1) / ranks
        for q in (
            1.0,
            f_quantile(0.5 + level / 2, between_df, within_df),
            f_quantile(0.5 - level / 2, between_df, within_df),
        )
    ]
    value, low, high = (max(0.0, ratio) for ratio in ratios)
    ends = [math.sqrt(within_ss / chi2_quantile(p, within_df)) for p in (0.5 + level / 2, 0.5 - level / 2)]
    s = math.sqrt(within_ms)
    return Components(
        Estimate(s * math.sqrt(value), s * math.sqrt(low), s * math.sqrt(high), level, n),
        Estimate(s, ends[0], ends[1], level, n),
        Estimate(value / (1 + value), low / (1 + low), high / (1 + high), level, n),
    )
