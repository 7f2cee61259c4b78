"""Is B different from A, and by how much? One thing decides: the interval of the ratio B ÷ A.

It is held against 1 and against a margin of practical equality that is set before looking. Where values of 0 or
below, or logarithms, have no ratio, the interval of the difference B - A decides against 0. The tests stand beside it
as evidence; where they disagree with it, a warning says so.
"""

from __future__ import annotations

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

from .coarse import coarse_text, rounding, wider, wider_ratio
from .distributions import normal_quantile, t_critical, t_two_sided_p
from .logs import exp_of
from .multiple import holm
from .rank_tests import RankTest, paired, unpaired
from .ratio import Moments, few_trials, ratio_and_method, ratio_of_geometric_means, side, welch_df
from .summarise import mean, standard_deviation

DIFFERENT = "different"
NEGLIGIBLE = "different but negligible"
EQUAL = "practically equal"
CANNOT_TELL = "cannot tell"
BY_CHANCE = "chance alone may show this difference"
NO_SPREAD = Message("no-spread", "neither side varies at all: is the clock too coarse?")

LEVELS = (0.90, 0.95, 0.99)  # at which a verdict is told besides the level that was asked for

RATIO, DIFFERENCE = "ratio", "difference"  # what decides
WELCH, PAIRS, SEALED = "Welch's t", "the pairs' ratios", "the campaign's own interval"

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """One side: its trials, or (``values`` is None) the summary that somebody published. ``exact``: counts, which no
    clock rounds; ``half_tick``: so far the mean may be off, as the clock is coarser than the spread."""

    name: str
    side: Moments
    values: Array | None = None
    exact: bool = False
    half_tick: float = 0.0

    def interval(self, level: float) -> Estimate:
        """The mean with its t interval."""
        if self.values is not None:
            return wider(mean(self.values, level), self.half_tick)
        half = t_critical(level, self.side.n - 1) * self.side.sd / math.sqrt(self.side.n)
        return Estimate(self.side.mean, self.side.mean - half, self.side.mean + half, level, self.side.n)


@dataclass(frozen=True)
class Comparison:
    """Everything about one pair. ``t`` is of mean A - mean B, ``ratio`` of B to A (None: the difference decides),
    ``difference`` of B - A, ``effect_size`` Hedges' g of B - A. ``method`` made the interval that decides. ``cells``:
    in so many it was compared, each on its own; ``overlap`` and ``mean_inside`` are then None. ``by_level``: the
    verdict at other levels, too, none where a campaign's own interval decides; ``at``: the ratio at another level."""

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
    difference_margin: float  # in the unit of the values; counts where the difference decides
    verdict: str
    paired: bool
    n_needed: int | None  # trials a side that would surely tell; None unless the verdict is "cannot tell"
    warnings: tuple[str, ...]
    p_holm: float | None = None
    by_chance: bool = False
    cells: int = 1
    cells_differ: bool = False  # beyond chance, which more trials would not change
    by_level: tuple[tuple[float, str], ...] = ()
    doubts: tuple[str, ...] = ()  # codes of the assumptions that do not hold
    at: Callable[[float], Estimate | None] | None = field(default=None, repr=False, compare=False)

    @property
    def gated_ratio(self) -> Estimate | None:
        """As the gate asks for it."""
        return self.ratio

    def ratio_at(self, level: float) -> Estimate | None:
        """The ratio with the interval of another level; a campaign's own interval has one level only."""
        return self.ratio if self.at is None else self.at(level)

    @property
    def decides(self) -> str:
        """RATIO or DIFFERENCE."""
        return DIFFERENCE if self.ratio is None else RATIO

    @property
    def decided(self) -> Estimate:
        """The estimate that decides."""
        return self.difference if self.ratio is None else self.ratio

    @property
    def above(self) -> bool:
        """Whether B is above A."""
        value = self.decided.value
        return value is not None and value > (0 if self.ratio is None else 1)

    @property
    def n_more(self) -> tuple[int, int] | None:
        """How many more trials of A and of B would surely tell; None where that is not known, or needs none."""
        if self.n_needed is None:
            return None
        more = (max(0, self.n_needed - self.a.side.n), max(0, self.n_needed - self.b.side.n))
        return more if any(more) else None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form of one comparison."""
        rank, more = self.rank_test, self.n_more or (None, None)
        return {
            "a": _side_json(self.a, self.mean_a, more[0]),
            "b": _side_json(self.b, self.mean_b, more[1]),
            "paired": self.paired,
            "cells": self.cells,
            "cells_differ": self.cells_differ,
            "overlap": self.overlap,
            "mean_inside": self.mean_inside,
            "t": self.t,
            "df": self.df,
            "p": self.p,
            "p_holm": self.p_holm,
            "decides": self.decides,
            "method": self.method,
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
            "warnings": list(self.warnings),
        }


def group(name: str, values: npt.ArrayLike) -> Group:
    """A side made of trials. Raises DataError below two of them."""
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        n = "no trial" if x.size == 0 else "one trial"
        raise DataError(
            "too-few-trials",
            "'{side}' has {n}: there is no spread to compare with",
            "give at least 2, better 6 or more",
            side=name,
            n=n,
        )
    return Group(name, side(x), x)


def compare(
    a: Group,
    b: Group,
    level: float,
    margin: float,
    *,
    pairs: bool = False,
    base: float | None = None,
    sealed: Estimate | None = None,
) -> Comparison:
    """A against B. With ``pairs`` the i-th trial of A belongs to the i-th of B. ``margin`` is a share such as 0.02.
    ``base``: the values are logarithms to it, and have no ratio. ``sealed``: the interval of the ratio that a campaign
    of A against B made while it stopped by it; it decides in the place of ours."""
    check_margin(level, margin)
    a, b = (a, b) if base is not None else _with_ticks(a, b)
    ratio, method = _estimate_ratio(a, b, level, pairs=pairs, base=base) if sealed is None else (sealed, SEALED)
    as_pairs = pairs and (ratio is None or method == PAIRS)
    t, df = _paired_t(a, b) if as_pairs else _compute_welch_t(a.side, b.side)
    mean_a, mean_b = a.interval(level), b.interval(level)
    difference = _estimate_difference(a, b, level, as_pairs)
    wide = margin_of_difference(a.side.mean, b.side.mean, margin, base)
    outcome = _decide_verdict(ratio, difference, margin, wide)
    alone = a.values is None or b.values is None or as_pairs or ratio is None
    ratio_at = partial(_estimate_ratio_at, a, b, pairs, base)
    comparison = Comparison(
        a,
        b,
        mean_a,
        mean_b,
        overlap=_contains(mean_a, mean_b.low, mean_b.high),
        mean_inside=_contains(mean_a, b.side.mean) or _contains(mean_b, a.side.mean),
        t=t,
        df=df,
        p=None if t is None else t_two_sided_p(t, df),
        ratio=ratio,
        typical=None if alone else ratio_of_geometric_means(b.side, a.side, level),
        difference=difference,
        method=method,
        rank_test=_rank_test(a, b, level, as_pairs),
        effect_size=_hedges_g(a.side, b.side),
        margin=margin,
        difference_margin=wide,
        verdict=outcome,
        paired=as_pairs,
        n_needed=None,
        warnings=(),
        by_level=() if sealed is not None else _verdicts_by_level(a, b, ratio_at, as_pairs, (margin, wide)),
        at=None if sealed is not None else ratio_at,
    )
    return replace(
        comparison,
        n_needed=_compute_n_needed(comparison),
        warnings=_list_warnings(comparison),
        doubts=_list_doubts(comparison),
    )


def _estimate_ratio_at(a: Group, b: Group, pairs: bool, base: float | None, level: float) -> Estimate | None:
    return _estimate_ratio(a, b, level, pairs=pairs, base=base)[0]


def _verdicts_by_level(
    a: Group, b: Group, ratio_at: Callable[[float], Estimate | None], as_pairs: bool, margins: tuple[float, float]
) -> tuple[tuple[float, str], ...]:
    return at_levels(
        lambda level: _decide_verdict(ratio_at(level), _estimate_difference(a, b, level, as_pairs), *margins)
    )


def _contains(interval: Estimate, low: float | None, high: float | None = None) -> bool:
    """Whether an interval and that from ``low`` to ``high`` (or the point ``low``) have something in common."""
    assert interval.low is not None and interval.high is not None and low is not None
    return low <= interval.high and interval.low <= (low if high is None else high)


def at_levels(verdict_at: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """What would be said at each of LEVELS: a verdict may differ from one to the next."""
    return tuple((level, verdict_at(level)) for level in LEVELS)


def _decide_verdict(ratio: Estimate | None, difference: Estimate, margin: float, wide: float) -> str:
    return verdict_of_difference(difference, wide) if ratio is None else verdict(ratio, margin)


def check_margin(level: float, margin: float) -> None:
    """Raises InputError for a level or a margin that cannot be."""
    check_level(level)
    if not margin >= 0:
        raise InputError("out-of-range", "the margin of practical equality is below 0", "write it like 2%")


def _estimate_ratio(
    a: Group, b: Group, level: float, *, pairs: bool, base: float | None
) -> tuple[Estimate | None, str]:
    """The ratio of B to A, and what made it; None where the values have none."""
    if pairs and (a.values is None or b.values is None or a.values.size != b.values.size):
        raise InputError(
            "unpaired-trials", "only trials can be paired, and as many on either side", "leave {spell.pair} out"
        )
    if base is not None or not (_is_positive(a) and _is_positive(b)):
        return None, "paired t" if pairs else WELCH
    estimate, method = (_paired_ratio(a, b, level), PAIRS) if pairs else ratio_and_method(b.side, a.side, level)
    return wider_ratio(estimate, a.half_tick / a.side.mean, b.half_tick / b.side.mean), method


def _with_ticks(a: Group, b: Group) -> tuple[Group, Group]:
    """With half a tick of the clock, where it is as large as the spread."""
    if a.values is None or b.values is None or a.exact or b.exact:
        return a, b
    ticks = rounding(a.values, b.values, a.side.sd, b.side.sd)
    return replace(a, half_tick=ticks.a), replace(b, half_tick=ticks.b)


def _is_positive(group: Group) -> bool:
    return group.side.mean > 0 if group.values is None else bool(np.all(group.values > 0))


def _estimate_difference(a: Group, b: Group, level: float, pairs: bool) -> Estimate:
    """B - A with its t interval."""
    slack = a.half_tick + b.half_tick
    if pairs:
        assert a.values is not None and b.values is not None
        return wider(mean(b.values - a.values, level), slack)
    center, n = b.side.mean - a.side.mean, min(a.side.n, b.side.n)
    df = welch_df(a.side.sd**2, a.side.n, b.side.sd**2, b.side.n)
    half = t_critical(level, df) * math.sqrt(a.side.sd**2 / a.side.n + b.side.sd**2 / b.side.n)
    return Estimate(center, center - half - slack, center + half + slack, level, n)


def margin_of_difference(mean_a: float, mean_b: float, margin: float, base: float | None) -> float:
    """What counts as practically equal, in the values' unit: this share of the larger mean; of logarithms that of the
    ratio behind them."""
    if base is not None:
        return math.log1p(margin) / math.log(base)
    return margin * max(abs(mean_a), abs(mean_b))


def verdict(ratio: Estimate, margin: float) -> str:
    """What the interval of a ratio says against 1 and the margin [1/(1+margin), 1+margin].

    The margin is symmetric in logs, so exchanging A and B never changes the verdict.
    """
    return _judge_interval(ratio, 1.0, (1 / (1 + margin), 1 + margin))


def verdict_of_difference(difference: Estimate, margin: float) -> str:
    """What the interval of a difference says against 0 and ± the margin, which is in its unit."""
    return _judge_interval(difference, 0.0, (-margin, margin))


def _judge_interval(estimate: Estimate, nothing: float, equal: tuple[float, float]) -> str:
    if estimate.low is None or estimate.high is None:
        return CANNOT_TELL
    inside = equal[0] <= estimate.low and estimate.high <= equal[1]
    if estimate.low <= nothing <= estimate.high:
        return EQUAL if inside else CANNOT_TELL
    return NEGLIGIBLE if inside else DIFFERENT


def _compute_n_needed(comparison: Comparison) -> int | None:
    if comparison.verdict != CANNOT_TELL or _half_tick(comparison):
        return None
    a, b, level = comparison.a.side, comparison.b.side, comparison.decided.level
    if comparison.ratio is None:
        return enough(a.sd**2 + b.sd**2, comparison.difference_margin / 2, level)
    return n_needed(a, b, level, comparison.margin)


def n_needed(a: Moments, b: Moments, level: float, margin: float) -> int | None:
    """Trials a side after which no answer can be "cannot tell", from the spread and the margin alone.

    An interval of log(B/A) with half-width h holds 0 and reaches beyond the margin m only if h > m/2; so n is
    the least with t(level; 2n-2)·√((s_A² + s_B²)/n) ≤ log(1 + margin)/2, s being the larger of the sd of the logs and
    sd ÷ mean.
    """
    if a.log_sd is None or b.log_sd is None:
        return None
    variance = max(a.log_sd, a.sd / a.mean) ** 2 + max(b.log_sd, b.sd / b.mean) ** 2
    return enough(variance, math.log1p(margin) / 2, level)


def enough(variance: float, half: float, level: float) -> int | None:
    """The least n a side with t(level; 2n-2)·√(variance/n) ≤ half; None where no number is."""
    if half <= 0:
        return None
    n = max(2.0, normal_quantile(0.5 + level / 2) ** 2 * variance / half**2)
    for _ in range(20):
        n = max(2.0, t_critical(level, 2 * math.ceil(n) - 2) ** 2 * variance / half**2)
    return math.ceil(n)


def with_holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with ``p_holm`` over all of them, and a warning where it takes a difference away."""
    adjusted = []
    for comparison, p in zip(comparisons, holm([c.p for c in comparisons]), strict=True):
        warnings = comparison.warnings
        lost = p is not None and comparison.verdict in (DIFFERENT, NEGLIGIBLE) and p > 1 - comparison.decided.level
        if lost and len(comparisons) > 1:
            warnings += (
                Message(
                    "not-significant",
                    "among {n_comparisons} comparisons {reason} (Holm's p = {p:.2g})",
                    n_comparisons=len(comparisons),
                    reason=BY_CHANCE,
                    p=p,
                ),
            )
        adjusted.append(replace(comparison, p_holm=p, by_chance=lost and len(comparisons) > 1, warnings=warnings))
    return adjusted


def _compute_welch_t(a: Moments, b: Moments) -> tuple[float | None, float]:
    error = math.sqrt(a.sd**2 / a.n + b.sd**2 / b.n)
    return None if error == 0 else (a.mean - b.mean) / error, welch_df(a.sd**2, a.n, b.sd**2, b.n)


def _paired_t(a: Group, b: Group) -> tuple[float | None, float]:
    assert a.values is not None and b.values is not None
    d = a.values - b.values
    error = standard_deviation(d) / math.sqrt(d.size)
    return None if error == 0 else float(np.mean(d)) / error, float(d.size - 1)


def _paired_ratio(a: Group, b: Group, level: float) -> Estimate:
    """The geometric mean of the pairs' ratios with its t interval."""
    assert a.values is not None and b.values is not None
    return exp_of(mean(np.log(b.values) - np.log(a.values), level))


def _rank_test(a: Group, b: Group, level: float, pairs: bool) -> RankTest | None:
    if a.values is None or b.values is None:
        return None
    return paired(a.values, b.values, level) if pairs else unpaired(a.values, b.values, level)


def _hedges_g(a: Moments, b: Moments) -> float | None:
    """(mean B - mean A) ÷ pooled sd, corrected for few trials (Hedges 1981)."""
    df = a.n + b.n - 2
    pooled = math.sqrt(((a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2) / df)
    return None if pooled == 0 else (b.mean - a.mean) / pooled * (1 - 3 / (4 * df - 1))


def _list_warnings(comparison: Comparison) -> tuple[str, ...]:
    warnings = list(comparison.decided.warnings)
    if step := 2 * _half_tick(comparison):
        warnings.append(coarse_text(step))
    elif comparison.t is None:
        warnings.append(NO_SPREAD)
    if few_trials(comparison.a.side.n, comparison.b.side.n):
        warnings.append(few_trials_text(comparison.a.side.n, comparison.b.side.n))
    return (
        (*warnings, *_list_disagreements(comparison))
        if comparison.decided.low is not None and not step
        else tuple(warnings)
    )


def _list_disagreements(comparison: Comparison) -> Iterator[str]:
    """Tests that say another thing than the interval."""
    alpha = 1 - comparison.decided.level
    decided = comparison.verdict in (DIFFERENT, NEGLIGIBLE)
    nothing = 0 if comparison.ratio is None else 1
    at_the_edge = nothing in (comparison.decided.low, comparison.decided.high)
    few = few_trials(comparison.a.side.n, comparison.b.side.n)
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
            "the {test} test disagrees (p = {p:.2g}): look at the shape of the trials",
            test=rank.name,
            p=rank.p,
        )


def _list_doubts(comparison: Comparison) -> tuple[str, ...]:
    doubts = {
        "coarse-clock": _half_tick(comparison) > 0 or comparison.t is None,
        "few-trials": few_trials(comparison.a.side.n, comparison.b.side.n),
    }
    return tuple(code for code, there in doubts.items() if there)


def _half_tick(comparison: Comparison) -> float:
    return max(comparison.a.half_tick, comparison.b.half_tick)


def few_trials_text(n_a: int, n_b: int) -> str:
    """What is said of two or three trials against many."""
    return Message(
        "few-trials",
        "{n_few} trials stand against {n_many}: the spread of so few is hardly known, and the "
        "interval is as wide as theirs alone would make it",
        n_few=min(n_a, n_b),
        n_many=max(n_a, n_b),
    )


def _can_reject(comparison: Comparison, alpha: float) -> bool:
    """Whether the rank test of so few trials can reach alpha at all: 3 against 3 never comes below 0.1."""
    n, m = comparison.a.side.n, comparison.b.side.n
    least = 2 / 2**n if comparison.paired else 2 / math.comb(n + m, n)
    return least < alpha


def _side_json(group: Group, interval: Estimate, more: int | None) -> dict[str, Any]:
    return {
        "name": group.name,
        "n": group.side.n,
        "n_more": more,
        "sd": group.side.sd,
        **interval.flat("mean"),
        "published": group.values is None,
        "warnings": list(interval.warnings),
    }
