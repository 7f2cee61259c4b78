"""Noise passport: the false alarm rate of ``compare`` on this data, and the smallest difference it can detect.

A/A test: the trials of one cell are split in two and compared as A and B. There is no difference, so every "different"
is a false alarm. Random splits test the distribution; splits into first and second half test drift and autocorrelation,
as in before-and-after measurements. The smallest detectable difference is the inverse of the power of ``compare``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.errors import DataError, InputError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.types import Estimate

from ..overview.cells import MeasuredCells, TrialCell, group_into_cells
from ..regression.components import Components, estimate_components
from .distributions import binomial_interval, chi2_quantile, t_critical
from .ratio import compute_moments, estimate_ratio_of_means

SIZES = (6, 10, 20, 50)
POWER = 0.8
LEAST = 6  # trials per cell, three per side
_SPLITS = 200  # random splits per cell
_OWN = "_own"


@dataclass(frozen=True)
class MetricNoise:
    """Noise of one metric. ``sd_log``: standard deviation of the logs of its trials inside the cells (near the
    coefficient of variation). ``components``: the variance inside a trial, if ranks are known. ``smallest``: the
    smallest difference for each number of trials per side."""

    operation: str
    metric: str
    n_cells: int
    n_trials: int
    sd_log: float | None
    components: Components | None
    smallest: dict[int, Estimate]

    def to_json(self) -> dict[str, Any]:
        """Return the flat JSON form."""
        parts = self.components
        return {
            "operation": self.operation or None,
            "metric": self.metric,
            "n_cells": self.n_cells,
            "n_trials": self.n_trials,
            "sd_log": self.sd_log,
            "between_trials": None if parts is None else parts.between.to_json(),
            "within_trial": None if parts is None else parts.within.to_json(),
            "between_share": None if parts is None else parts.share.to_json(),
            "smallest_difference": [{"n": n, "power": POWER, **e.flat("difference")} for n, e in self.smallest.items()],
        }

    def flat(self) -> dict[str, Any]:
        """Return the form in tables: ``difference_6`` is the smallest one that 6 trials per side detect."""
        parts = self.components
        row: dict[str, Any] = {
            "operation": self.operation or None,
            "metric": self.metric,
            "n_cells": self.n_cells,
            "n_trials": self.n_trials,
            "sd_log": self.sd_log,
        }
        for name in ("between", "within", "share"):
            row |= {} if parts is None else getattr(parts, name).flat(name)
        for n, estimate in self.smallest.items():
            row |= estimate.flat(f"difference_{n}")
        return row


@dataclass(frozen=True)
class Passport:
    """False alarm rates of comparisons without a difference: of random splits, of every other trial, of first against
    second half; and the noise of every metric."""

    level: float
    random: Estimate
    alternating: Estimate
    halves: Estimate
    metrics: tuple[MetricNoise, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``iosonde check --noise --json``."""
        return {
            "level": self.level,
            "power": POWER,
            "false_alarms": {
                "random": self.random.to_json(),
                "alternating": self.alternating.to_json(),
                "halves": self.halves.to_json(),
            },
            "metrics": [metric.to_json() for metric in self.metrics],
        }


def compute_table_passport(table: Table, level: float, responses: Sequence[str], by: Sequence[str]) -> Passport:
    """Compute the passport of a plain table."""
    return compute_passport(group_into_cells(table, responses, by), level, {})


def compute_store_passport(measured: MeasuredCells, results: Table, level: float) -> Passport:
    """Compute the passport of a store, with the ranks' own rates from ``results`` as the values inside a trial."""
    return compute_passport(measured.cells, level, _group_rank_rates(results, measured.rows, measured.cells))


def compute_passport(cells: Sequence[TrialCell], level: float, inside: dict[int, list[Array]]) -> Passport:
    """Compute the passport. ``inside``: id of a cell → for each of its trials the values inside. Raises DataError
    without repetitions."""
    positive = [cell for cell in cells if cell.values.size and np.all(cell.values > 0)]
    if not any(cell.values.size > 1 for cell in positive):
        raise DataError(
            "too-few-trials",
            "no cell has two trials (above 0): noise cannot be estimated",
            "repeat every cell, 6 times or more",
        )
    families: dict[tuple[str, str], list[TrialCell]] = {}
    for cell in positive:
        families.setdefault((cell.operation, cell.metric), []).append(cell)
    enough = [cell.values for cell in positive if cell.values.size >= LEAST and np.ptp(cell.values) > 0]
    return Passport(
        level,
        _estimate_split_false_alarms(enough, level),
        _estimate_share([_is_different(x[::2], x[1::2], level) for x in enough], level),
        _estimate_share([_is_different(x[: x.size // 2], x[x.size // 2 :], level) for x in enough], level),
        tuple(_measure_metric(name, family, level, inside) for name, family in families.items()),
    )


def _is_different(a: Array, b: Array, level: float) -> bool:
    """Return whether the deciding interval of ``compare`` excludes 1."""
    ratio = estimate_ratio_of_means(compute_moments(b), compute_moments(a), level)
    return ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high


def _estimate_split_false_alarms(samples: Sequence[Array], level: float) -> Estimate:
    """Estimate the mean over cells of each cell's false alarm rate. Splits of one cell are not independent, cells are:
    the limits are those of a binary outcome per cell, which is conservative."""
    rng = np.random.default_rng(1)
    splits = max(20, min(_SPLITS, 20_000 // max(1, len(samples))))
    shares = []
    for x in samples:
        mixed = [rng.permutation(x) for _ in range(splits)]
        shares.append(float(np.mean([_is_different(m[: x.size // 2], m[x.size // 2 :], level) for m in mixed])))
    if not shares:
        return _estimate_share([], level)
    low, high = binomial_interval(sum(shares), len(shares), level)
    return Estimate(float(np.mean(shares)), low, high, level, len(shares))


def _estimate_share(hits: Sequence[bool], level: float) -> Estimate:
    if not hits:
        return Estimate(
            None,
            None,
            None,
            level,
            0,
            (Message("too-few-trials", "needs cells of at least {least} trials", least=LEAST),),
        )
    low, high = binomial_interval(sum(hits), len(hits), level)
    return Estimate(sum(hits) / len(hits), low, high, level, len(hits))


def _measure_metric(
    name: tuple[str, str], cells: Sequence[TrialCell], level: float, inside: dict[int, list[Array]]
) -> MetricNoise:
    logs = [np.log(cell.values) for cell in cells if cell.values.size > 1]
    df = sum(x.size - 1 for x in logs)
    variance = sum(float(((x - x.mean()) ** 2).sum()) for x in logs) / df if df else 0.0
    return MetricNoise(
        name[0],
        name[1],
        len(cells),
        sum(cell.values.size for cell in cells),
        variance**0.5 if df else None,
        estimate_components(
            [[np.log(ranks) for ranks in inside[id(cell)]] for cell in cells if id(cell) in inside], level
        ),
        {n: estimate_smallest_difference(variance**0.5, df, n, level, POWER) for n in SIZES} if df and variance else {},
    )


def _group_rank_rates(results: Table, rows: Table, cells: Sequence[TrialCell]) -> dict[int, list[Array]]:
    """Return cell → for each of its trials the rates of its ranks (metric ``rate_own``, ``bandwidth_own``)."""
    if "rank" not in results.columns:
        return {}
    metric, values = results.columns["metric"].values, results.numbers("value")
    rates: dict[tuple[str, str, str], list[float]] = {}
    runs, operations = results.columns["run"].values, results.operation_names()
    for row in np.flatnonzero(~results.columns["rank"].missing):
        if str(metric[row]).endswith(_OWN) and values[row] > 0:
            rates.setdefault((str(runs[row]), operations[row], str(metric[row]).removesuffix(_OWN)), []).append(
                float(values[row])
            )
    run_of = rows.columns["run"].values if "run" in rows.columns else ()
    names = rows.operation_names() if "run" in rows.columns else ()
    return {
        id(cell): [
            np.array(rates.get((str(run_of[row]), names[row], cell.metric.split("_")[0]), ()))
            for row in (cell.rows if cell.rows is not None else ())
        ]
        for cell in cells
    }


_LARGEST_LOG = 50.0  # larger relative differences are useless


def compute_detectable_effect(n: int, level: float, power: float) -> float:
    """Return the difference, in standard deviations, that a two-sided t test of n trials per side detects with
    ``power``.

    Solves P(|T| > t) = power for T noncentral t with 2n - 2 degrees of freedom and noncentrality d·√(n/2) (Cohen 1988,
    Statistical Power Analysis, ch. 2). Raises InputError below two trials or a power not above 1 - level.
    """
    from scipy.optimize import brentq
    from scipy.special import nctdtr

    check_level(level)
    if n < 2:
        raise InputError("too-few-trials", "{n} trial per side has no spread", "give at least 2", n=n)
    if not 1 - level < power < 1:
        raise InputError(
            "out-of-range",
            "the power {power:g} is not between {minimum:g} and 1",
            "use a fraction such as 0.8",
            power=power,
            minimum=1 - level,
        )
    df, critical = 2 * n - 2, t_critical(level, 2 * n - 2)

    def compute_shortfall(noncentrality: float) -> float:
        # Far out in a tail nctdtr returns NaN instead of 0.
        inside = [float(nctdtr(df, noncentrality, t)) for t in (critical, -critical)]
        return sum(s * (0.0 if math.isnan(p) else p) for s, p in zip((1, -1), inside, strict=True)) - (1 - power)

    return float(brentq(compute_shortfall, 0.0, 8 * critical + 10, xtol=1e-10)) / math.sqrt(n / 2)


def estimate_smallest_difference(sd_log: float, df: int, n: int, level: float, power: float) -> Estimate:
    """Return the least relative difference (0.05: 5 % more) that n trials per side detect, from the sd of the log
    trials.

    The interval at ``level`` is that of the sd, known with ``df`` degrees of freedom (chi-square).
    """
    effect = compute_detectable_effect(n, level, power)
    low, high = (sd_log * math.sqrt(df / chi2_quantile(p, df)) for p in (0.5 + level / 2, 0.5 - level / 2))
    if effect * high > _LARGEST_LOG:
        return Estimate(None, None, None, level, df + 1, (Message("spread-too-large", "the trials differ too much"),))
    value, least, most = (math.expm1(effect * s) for s in (sd_log, low, high))
    return Estimate(value, least, most, level, df + 1)
