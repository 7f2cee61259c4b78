"""Comparison of A and B: does B differ from A, and by how much?

The interval of the ratio B ÷ A decides. It is compared with 1 and with a margin of practical equality that is set in
advance. If values of 0 or below, or logarithms, have no ratio, the interval of the difference B - A decides against 0.

Whether B differs from A at all is one question with one test for all commands (``means_test``), on the scale that shows
the difference. The interval is made of few trials on logarithms, since Fieller's misses too often there; 1 is inside it
if and only if the test does not reject it (:func:`agree_with_test`). Pairs are compared by their ratios, cells by their
differences of logarithms, whose t tests and intervals agree anyway.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .coarse import build_coarse_clock_warning, measure_rounding, widen_estimate, widen_ratio
from .distributions import normal_quantile, t_critical, t_quantile
from .logs import exp_estimate
from .means_test import MeansTest, agree_with_test, run_means_test, run_welch_test
from .multiple import adjust_by_holm
from .rank_tests import RankTest, run_paired_test, run_unpaired_test
from .ratio import (
    Moments,
    compute_moments,
    compute_welch_df,
    estimate_geometric_ratio,
    estimate_ratio_and_method,
    has_too_few_trials,
)
from .summarise import compute_sd, estimate_mean

DIFFERENT = "different"
NEGLIGIBLE = "different but negligible"
EQUAL = "practically equal"
CANNOT_TELL = "cannot tell"
BY_CHANCE = "chance alone may show this difference"
NO_SPREAD = Message("no-spread", "neither side varies at all: is the clock too coarse?")

MARGIN = 0.02  # of practical equality, if none is chosen
LEVELS = (0.90, 0.95, 0.99)  # additional levels at which a verdict is reported
POWER = 0.8  # of finding a difference of the observed size with as many trials as are said to be needed

RATIO, DIFFERENCE = "ratio", "difference"  # what decides
NEEDED_FOR = {DIFFERENT: "difference", EQUAL: "equality"}  # what more trials would show
WELCH, PAIRS = "Welch's t", "the pairs' ratios"
COVARIANCE = "analysis of covariance"  # with numbers held

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """A side: its trials or, if ``values`` is None, a published summary or, if ``is_pooled``, means of known spread.
    ``exact``: counts, which no clock rounds; ``half_tick``: possible error of the mean if the clock is coarser than the
    spread."""

    name: str
    side: Moments
    values: Array | None = None
    exact: bool = False
    half_tick: float = 0.0
    is_pooled: bool = False

    @property
    def is_published(self) -> bool:
        """Return whether only a summary is known."""
        return self.values is None and not self.is_pooled

    def interval(self, level: float) -> Estimate:
        """Estimate the mean with its t interval."""
        if self.values is not None:
            return widen_estimate(estimate_mean(self.values, level), self.half_tick)
        half = t_critical(level, self.side.n - 1) * self.side.sd / math.sqrt(self.side.n)
        return Estimate(self.side.mean, self.side.mean - half, self.side.mean + half, level, self.side.n)


@dataclass(frozen=True)
class Comparison:
    """All results about one pair. ``t`` is of mean A - mean B, ``ratio`` of B to A (None: the difference decides),
    ``difference`` of B - A, ``effect_size`` Hedges' g of B - A. ``method`` of the interval that decides. ``cells``: the
    number of cells compared separately; above 1 ``overlap`` and ``mean_inside`` are None. ``p_depends``: p of the same
    effect in all cells, where the mean over the cells does not describe it; None where it does. ``by_level``: the
    verdict at other levels; ``at``: the ratio at another level. ``on_logarithms``: the scale of ``t``.
    ``trial_variance``: of one trial of A and one of B together, of logarithms if the ratio decides."""

    a: Group
    b: Group
    mean_a: Estimate
    mean_b: Estimate
    overlap: bool | None
    mean_inside: bool | None
    t: float | None
    df: float
    p: float | None
    ratio: Estimate | None
    typical: Estimate | None  # the ratio of geometric means
    difference: Estimate
    method: str
    rank_test: RankTest | None
    effect_size: float | None
    margin: float  # a share
    difference_margin: float  # in the unit of the values; used if the difference decides
    verdict: str
    paired: bool
    n_needed: int | None  # trials per side that settle ``question``; None unless the verdict is inconclusive
    warnings: tuple[str, ...]
    p_holm: float | None = None
    by_chance: bool = False
    cells: int = 1
    cells_differ: bool = False  # significantly, which more trials would not change
    p_depends: float | None = None
    by_level: tuple[tuple[float, str], ...] = ()
    doubts: tuple[str, ...] = ()  # codes of violated assumptions
    on_logarithms: bool = False
    trial_variance: float | None = None
    at: Callable[[float], Estimate | None] | None = field(default=None, repr=False, compare=False)

    @property
    def gated_ratio(self) -> Estimate | None:
        """Return the ratio as a gate uses it."""
        return self.ratio

    def ratio_at(self, level: float) -> Estimate | None:
        """Return the ratio with the interval of another level."""
        return self.ratio if self.at is None else self.at(level)

    def value_at(self, level: float | None) -> Estimate:
        """Return the mean of B with the interval of a level, by default that of the comparison."""
        return self.mean_b if level is None else self.b.interval(level)

    @property
    def decides(self) -> str:
        """Return RATIO or DIFFERENCE."""
        return DIFFERENCE if self.ratio is None else RATIO

    @property
    def test(self) -> str:
        """Return the name of the t test."""
        is_of_means = self.cells == 1 and self.method != COVARIANCE
        return "paired t" if self.paired else "Welch's t" if is_of_means else "t"

    @property
    def decided(self) -> Estimate:
        """Return the estimate that decides."""
        return self.difference if self.ratio is None else self.ratio

    @property
    def depends(self) -> bool:
        """Return whether the sides differ, but how depends on the cell: the verdict is of no mean over the cells."""
        return self.p_depends is not None

    @property
    def above(self) -> bool:
        """Return whether B is above A."""
        value = self.decided.value
        return value is not None and value > (0 if self.ratio is None else 1)

    @property
    def question(self) -> str:
        """Return what more trials would settle: DIFFERENT if the difference is beyond the margin, else EQUAL."""
        return DIFFERENT if self._distance > self._width else EQUAL

    @property
    def _distance(self) -> float:
        """The observed difference on the scale that decides."""
        value = self.decided.value
        if value is None:
            return 0.0
        return abs(value) if self.ratio is None else abs(math.log(value)) if value > 0 else math.inf

    @property
    def _width(self) -> float:
        """The margin on the scale that decides."""
        return self.difference_margin if self.ratio is None else math.log1p(self.margin)

    def with_n_needed(self, family: int = 1) -> "Comparison":
        """Return the comparison with the trials needed per side: to find a difference of the observed size with POWER,
        corrected (Bonferroni) for a ``family`` of comparisons, if it is beyond the margin; else to rule out that the
        interval extends beyond the margin."""
        level = self.decided.level
        if self.trial_variance is None:
            return replace(self, n_needed=None)
        if self.question == DIFFERENT:
            n = find_least_n(self.trial_variance, self._distance, 1 - (1 - level) / family, POWER)
        else:
            n = find_least_n(self.trial_variance, self._width / 2, level)
        return replace(self, n_needed=n)

    @property
    def n_more(self) -> tuple[int, int] | None:
        """Return the additional trials of A and of B that are sufficient; None if unknown, or none are needed."""
        if self.n_needed is None:
            return None
        more = (max(0, self.n_needed - self.a.side.n), max(0, self.n_needed - self.b.side.n))
        return more if any(more) else None

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of one comparison."""
        rank, more = self.rank_test, self.n_more or (None, None)
        return {
            "a": _side_to_json(self.a, self.mean_a, more[0]),
            "b": _side_to_json(self.b, self.mean_b, more[1]),
            "paired": self.paired,
            "cells": self.cells,
            "cells_differ": self.cells_differ,
            "depends": self.depends,
            "overlap": self.overlap,
            "mean_inside": self.mean_inside,
            "t": self.t,
            "df": self.df,
            "p": self.p,
            "p_holm": self.p_holm,
            "decides": self.decides,
            "method": self.method,
            "scale": "logarithms" if self.on_logarithms else "values",
            "ratio": None if self.ratio is None else self.ratio.to_json(),
            "ratio_of_geometric_means": None if self.typical is None else self.typical.to_json(),
            "difference": self.difference.to_json(),
            "effect_size": self.effect_size,
            "rank_test": None
            if rank is None
            else {"name": rank.name, "p": rank.p, "shift": rank.shift.to_json(), "superiority": rank.superiority},
            "margin": self.margin,
            "verdict": self.verdict,
            "n_needed": self.n_needed,
            "n_needed_for": None if self.n_needed is None else NEEDED_FOR[self.question],
            "warnings": list(self.warnings),
        }


def build_group(name: str, values: npt.ArrayLike) -> Group:
    """Build a side from its trials. Raises DataError below two of them."""
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        n = "no trial" if x.size == 0 else "one trial"
        raise DataError(
            "too-few-trials",
            "'{side}' has {n}: no spread to compare with",
            "give at least 2, better 6 or more",
            side=name,
            n=n,
        )
    return Group(name, compute_moments(x), x)


def compare_groups(
    a: Group,
    b: Group,
    level: float,
    margin: float,
    *,
    pairs: bool = False,
    base: float | None = None,
) -> Comparison:
    """Compare A and B. ``pairs``: the i-th trial of A belongs to the i-th of B. ``margin``: a share such as 0.02.
    ``base``: the values are logarithms to this base, and have no ratio."""
    check_margin(level, margin)
    a, b = (a, b) if base is not None else _add_half_ticks(a, b)
    ratio, method = _estimate_ratio(a, b, level, pairs=pairs, base=base)
    as_pairs = pairs and (ratio is None or method == PAIRS)
    test = _run_test(a, b, as_pairs, ratio is not None)
    mean_a, mean_b = a.interval(level), b.interval(level)
    difference = _estimate_difference(a, b, level, as_pairs)
    wide = compute_difference_margin(a.side.mean, b.side.mean, margin, base)
    alone = a.values is None or b.values is None or as_pairs or ratio is None
    ratio_at = partial(_estimate_ratio_at, a, b, pairs, base)
    comparison = Comparison(
        a,
        b,
        mean_a,
        mean_b,
        overlap=_contains(mean_a, mean_b.low, mean_b.high),
        mean_inside=_contains(mean_a, b.side.mean) or _contains(mean_b, a.side.mean),
        t=test.t,
        df=test.df,
        p=test.p,
        ratio=ratio,
        typical=None if alone else estimate_geometric_ratio(b.side, a.side, level),
        difference=difference,
        method=method,
        rank_test=_run_rank_test(a, b, level, as_pairs),
        effect_size=_compute_hedges_g(a.side, b.side),
        margin=margin,
        difference_margin=wide,
        verdict=_decide_verdict(ratio, difference, margin, wide),
        paired=as_pairs,
        n_needed=None,
        warnings=(),
        by_level=list_verdicts_by_level(
            lambda other: _decide_verdict(ratio_at(other), _estimate_difference(a, b, other, as_pairs), margin, wide)
        ),
        at=ratio_at,
        on_logarithms=test.on_logarithms,
        trial_variance=_compute_trial_variance(a.side, b.side, ratio is not None),
    )
    is_open = comparison.verdict == CANNOT_TELL and not _get_half_tick(comparison)
    return replace(
        comparison.with_n_needed() if is_open else comparison,
        warnings=_list_warnings(comparison),
        doubts=_list_doubt_codes(comparison),
    )


def _estimate_ratio_at(a: Group, b: Group, pairs: bool, base: float | None, level: float) -> Estimate | None:
    return _estimate_ratio(a, b, level, pairs=pairs, base=base)[0]


def _contains(interval: Estimate, low: float | None, high: float | None = None) -> bool:
    """Return whether an interval overlaps that from ``low`` to ``high`` (or contains the point ``low``)."""
    assert interval.low is not None and interval.high is not None and low is not None
    return low <= interval.high and interval.low <= (low if high is None else high)


def list_verdicts_by_level(verdict_at: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Return the verdict at each of LEVELS."""
    return tuple((level, verdict_at(level)) for level in LEVELS)


def _decide_verdict(ratio: Estimate | None, difference: Estimate, margin: float, wide: float) -> str:
    return judge_difference(difference, wide) if ratio is None else judge_ratio(ratio, margin)


def check_margin(level: float, margin: float) -> None:
    """Check a level and a margin. Raises InputError if one is out of range."""
    check_level(level)
    if not margin >= 0:
        raise InputError("out-of-range", "the margin of practical equality is below 0", "write it like 2%")


def _estimate_ratio(
    a: Group, b: Group, level: float, *, pairs: bool, base: float | None
) -> tuple[Estimate | None, str]:
    """Estimate the ratio of B to A, and return its method; None if the values have no ratio."""
    if pairs and (a.values is None or b.values is None or a.values.size != b.values.size):
        raise InputError("unpaired-trials", "pairs need trials, as many on either side", "remove {spell.pair}")
    if base is not None or not (_is_positive(a) and _is_positive(b)):
        return None, "paired t" if pairs else WELCH
    estimate, method = (
        (_estimate_paired_ratio(a, b, level), PAIRS) if pairs else estimate_ratio_and_method(b.side, a.side, level)
    )
    estimate = estimate if pairs else agree_with_test(estimate, run_means_test(a.side, b.side))
    return widen_ratio(estimate, a.half_tick / a.side.mean, b.half_tick / b.side.mean), method


def _add_half_ticks(a: Group, b: Group) -> tuple[Group, Group]:
    if a.values is None or b.values is None or a.exact or b.exact:
        return a, b
    ticks = measure_rounding(a.values, b.values, a.side.sd, b.side.sd)
    return replace(a, half_tick=ticks.a), replace(b, half_tick=ticks.b)


def _is_positive(group: Group) -> bool:
    return group.side.mean > 0 if group.values is None else bool(np.all(group.values > 0))


def _estimate_difference(a: Group, b: Group, level: float, pairs: bool) -> Estimate:
    slack = a.half_tick + b.half_tick
    if pairs:
        assert a.values is not None and b.values is not None
        return widen_estimate(estimate_mean(b.values - a.values, level), slack)
    center, n = b.side.mean - a.side.mean, min(a.side.n, b.side.n)
    half = t_critical(level, compute_welch_df(a.side.sd**2, a.side.n, b.side.sd**2, b.side.n)) * math.sqrt(
        a.side.sd**2 / a.side.n + b.side.sd**2 / b.side.n
    )
    return Estimate(center, center - half - slack, center + half + slack, level, n)


def compute_difference_margin(mean_a: float, mean_b: float, margin: float, base: float | None) -> float:
    """Return the margin of practical equality in the values' unit: this share of the larger mean or, for logarithms, of
    the ratio behind them."""
    return math.log1p(margin) / math.log(base) if base is not None else margin * max(abs(mean_a), abs(mean_b))


def judge_ratio(ratio: Estimate, margin: float) -> str:
    """Judge the interval of a ratio against 1 and the margin [1/(1+margin), 1+margin].

    The margin is symmetric in logs, so exchanging A and B never changes the verdict.
    """
    return _judge_interval(ratio, 1.0, (1 / (1 + margin), 1 + margin))


def judge_difference(difference: Estimate, margin: float) -> str:
    """Judge the interval of a difference against 0 and ± the margin, in the unit of the difference."""
    return _judge_interval(difference, 0.0, (-margin, margin))


def _judge_interval(estimate: Estimate, nothing: float, equal: tuple[float, float]) -> str:
    if estimate.low is None or estimate.high is None:
        return CANNOT_TELL
    inside = equal[0] <= estimate.low and estimate.high <= equal[1]
    if estimate.low <= nothing <= estimate.high:
        return EQUAL if inside else CANNOT_TELL
    return NEGLIGIBLE if inside else DIFFERENT


def _compute_trial_variance(a: Moments, b: Moments, of_logs: bool) -> float | None:
    """Return the variance of a trial of A and one of B together; of logarithms (None without any) with the larger of
    the sd of the logs and sd ÷ mean."""
    if not of_logs:
        return a.sd**2 + b.sd**2
    if a.log_sd is None or b.log_sd is None:
        return None
    return max(a.log_sd, a.sd / a.mean) ** 2 + max(b.log_sd, b.sd / b.mean) ** 2


def find_least_n(variance: float, distance: float, level: float, power: float = 0.5) -> int | None:
    """Return the least n per side with (t(level; 2n-2) + t(power; 2n-2))·√(variance/n) ≤ ``distance``; None if there is
    none. A power of a half asks for an interval of that half-width alone: one of log(B/A) that holds 0 extends beyond
    a margin m only if its half-width is above m/2."""
    if distance <= 0:
        return None
    squared_ratio = variance / distance**2
    n = max(2, math.ceil((normal_quantile(0.5 + level / 2) + normal_quantile(power)) ** 2 * squared_ratio))
    while (t_critical(level, 2 * n - 2) + t_quantile(power, 2 * n - 2)) ** 2 * squared_ratio > n:
        n += 1  # a few times: Student's t is little wider than the normal distribution
    return n


def apply_holm_correction(comparisons: Sequence[Comparison], others: Sequence[float] = ()) -> list[Comparison]:
    """Return the comparisons with ``p_holm`` over all of them, and a warning if one is no longer significant.
    ``others``: p of comparisons that are not shown."""
    adjusted, family = [], len(comparisons) + len(others)
    for comparison, p in zip(comparisons, adjust_by_holm([*(c.p for c in comparisons), *others]), strict=False):
        warnings, depends = comparison.warnings, comparison.p_depends
        depends = None if depends is None or depends * family > 1 - comparison.decided.level else depends * family
        lost = p is not None and comparison.verdict in (DIFFERENT, NEGLIGIBLE) and p > 1 - comparison.decided.level
        if lost and family > 1:
            warnings += (
                Message(
                    "not-significant",
                    "among {n_comparisons} comparisons {reason} (Holm's p = {p:.2g})",
                    n_comparisons=family,
                    reason=BY_CHANCE,
                    p=p,
                ),
            )
        if comparison.n_needed is not None:
            comparison = comparison.with_n_needed(family)
        adjusted.append(
            replace(comparison, p_holm=p, by_chance=lost and family > 1, warnings=warnings, p_depends=depends)
        )
    return adjusted


def _run_test(a: Group, b: Group, as_pairs: bool, has_ratio: bool) -> MeansTest:
    """Run the test that decides: of pairs that of their ratios, if they have any."""
    if not as_pairs:
        return run_means_test(a.side, b.side) if has_ratio else run_welch_test(a.side, b.side)
    assert a.values is not None and b.values is not None
    d = np.log(a.values) - np.log(b.values) if has_ratio else a.values - b.values
    error = compute_sd(d) / math.sqrt(d.size)
    return MeansTest(None if error == 0 else float(np.mean(d)) / error, float(d.size - 1), on_logarithms=has_ratio)


def _estimate_paired_ratio(a: Group, b: Group, level: float) -> Estimate:
    """Estimate the geometric mean of the pairs' ratios with its t interval."""
    assert a.values is not None and b.values is not None
    return exp_estimate(estimate_mean(np.log(b.values) - np.log(a.values), level))


def _run_rank_test(a: Group, b: Group, level: float, pairs: bool) -> RankTest | None:
    if a.values is None or b.values is None:
        return None
    return run_paired_test(a.values, b.values, level) if pairs else run_unpaired_test(a.values, b.values, level)


def _compute_hedges_g(a: Moments, b: Moments) -> float | None:
    """Return (mean B - mean A) ÷ pooled sd, corrected for few trials (Hedges 1981)."""
    df = a.n + b.n - 2
    pooled = math.sqrt(((a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2) / df)
    return None if pooled == 0 else (b.mean - a.mean) / pooled * (1 - 3 / (4 * df - 1))


def _list_warnings(comparison: Comparison) -> tuple[str, ...]:
    warnings = list(comparison.decided.warnings)
    if step := 2 * _get_half_tick(comparison):
        warnings.append(build_coarse_clock_warning(step))
    elif comparison.t is None:
        warnings.append(NO_SPREAD)
    if has_too_few_trials(comparison.a.side.n, comparison.b.side.n):
        warnings.append(build_few_trials_warning(comparison.a.side.n, comparison.b.side.n))
    return (
        (*warnings, *_list_disagreements(comparison))
        if comparison.decided.low is not None and not step
        else tuple(warnings)
    )


def _list_disagreements(comparison: Comparison) -> Iterator[str]:
    alpha = 1 - comparison.decided.level
    decided = comparison.verdict in (DIFFERENT, NEGLIGIBLE)
    nothing = 0 if comparison.ratio is None else 1
    at_the_edge = nothing in (comparison.decided.low, comparison.decided.high)
    few = has_too_few_trials(comparison.a.side.n, comparison.b.side.n)
    if comparison.p is not None and (comparison.p < alpha) != decided and not at_the_edge:
        yield Message(
            "tests-disagree",
            "{test} t test disagrees (p = {p:.2g})",
            test="the paired" if comparison.paired else "Welch",
            p=comparison.p,
        )
    rank = comparison.rank_test
    if rank is not None and (rank.p < alpha) != decided and _can_reject(comparison, alpha) and not few:
        yield Message(
            "tests-disagree",
            "the {test} test disagrees (p = {p:.2g}): look at the distribution of the trials",
            test=rank.name,
            p=rank.p,
        )


def _list_doubt_codes(comparison: Comparison) -> tuple[str, ...]:
    doubts = {
        "coarse-clock": _get_half_tick(comparison) > 0 or comparison.t is None,
        "few-trials": has_too_few_trials(comparison.a.side.n, comparison.b.side.n),
    }
    return tuple(code for code, there in doubts.items() if there)


def _get_half_tick(comparison: Comparison) -> float:
    return max(comparison.a.half_tick, comparison.b.half_tick)


def build_few_trials_warning(n_a: int, n_b: int) -> str:
    """Return the warning about two or three trials against many."""
    return Message(
        "few-trials",
        "{n_few} trials are compared with {n_many}: the spread of so few trials is uncertain, and the "
        "interval is as wide as theirs alone",
        n_few=min(n_a, n_b),
        n_many=max(n_a, n_b),
    )


def _can_reject(comparison: Comparison, alpha: float) -> bool:
    """Return whether the rank test of so few trials can reach alpha at all: 3 against 3 never comes below 0.1."""
    n, m = comparison.a.side.n, comparison.b.side.n
    least = 2 / 2**n if comparison.paired else 2 / math.comb(n + m, n)
    return least < alpha


def _side_to_json(group: Group, interval: Estimate, more: int | None) -> dict[str, Any]:
    return {
        "name": group.name,
        "n": group.side.n,
        "n_more": more,
        "sd": group.side.sd,
        **interval.flat("mean"),
        "published": group.is_published,
        "warnings": list(interval.warnings),
    }
