"""Is B different from A, and by how much? One thing decides: the interval of the ratio B ÷ A.

It is held against 1 and against a margin of practical equality that is set before looking. The tests stand
beside it as evidence; where they disagree with it, a warning says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.levels import check_level
from iosonde.core.types import Estimate

from .distributions import normal_quantile, t_critical, t_two_sided_p
from .multiple import holm
from .rank_tests import RankTest, paired, unpaired
from .ratio import Moments, ratio_of_means, side, side_of_summary, welch_df
from .summarise import mean, standard_deviation

DIFFERENT = "different"
NEGLIGIBLE = "different but negligible"
EQUAL = "practically equal"
CANNOT_TELL = "cannot tell"

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """One side: its trials, or (``values`` is None) the summary that somebody published."""

    name: str
    side: Moments
    values: Array | None = None

    def interval(self, level: float) -> Estimate:
        """The mean with its t interval."""
        if self.values is not None:
            return mean(self.values, level)
        half = t_critical(level, self.side.n - 1) * self.side.sd / math.sqrt(self.side.n)
        return Estimate(self.side.mean, self.side.mean - half, self.side.mean + half, level, self.side.n)


@dataclass(frozen=True)
class Comparison:
    """Everything about one pair. ``t`` is of mean A - mean B, ``ratio`` of B to A, ``effect_size`` Hedges' g of
    B - A."""

    a: Group
    b: Group
    mean_a: Estimate
    mean_b: Estimate
    overlap: bool
    mean_inside: bool
    t: float | None
    df: float
    p: float | None
    ratio: Estimate
    rank_test: RankTest | None
    effect_size: float | None
    margin: float
    verdict: str
    paired: bool
    n_needed: int | None  # trials a side that would surely tell; None unless the verdict is "cannot tell"
    warnings: tuple[str, ...]
    p_holm: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form of one comparison."""
        rank = self.rank_test
        return {
            "a": _side_json(self.a, self.mean_a), "b": _side_json(self.b, self.mean_b), "paired": self.paired,
            "overlap": self.overlap, "mean_inside": self.mean_inside, "t": self.t, "df": self.df, "p": self.p,
            "p_holm": self.p_holm, "ratio": self.ratio.to_json(), "effect_size": self.effect_size,
            "rank_test": None if rank is None else {"name": rank.name, "p": rank.p, "shift": rank.shift.to_json(),
                                                    "superiority": rank.superiority},
            "margin": self.margin, "verdict": self.verdict, "n_needed": self.n_needed, "warnings": list(self.warnings),
        }  # fmt: skip


def group(name: str, values: npt.ArrayLike) -> Group:
    """A side made of trials. Raises DataError below two of them."""
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        n = "no trial" if x.size == 0 else "one trial"
        raise DataError(f"'{name}' has {n}: there is no spread to compare with", "give at least 2, better 6 or more")
    return Group(name, side(x), x)


@dataclass(frozen=True)
class PublishedSummary:
    """What a publication says of a side: mean, n, and either sd or an interval with its level.

    ``kind`` says how the interval was made: ``t`` (Student) or ``z`` (normal quantile, as many older papers).
    """

    name: str
    mean: float
    n: int
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    kind: str = "t"

    def spread(self) -> float:
        """The standard deviation of a trial. Raises InputError where it cannot be told."""
        if self.n < 2:
            raise InputError(f"a summary of {self.n} trial has no spread", "give n of at least 2")
        if self.sd is not None:
            return self.sd
        if self.low is None or self.high is None or self.level is None:
            raise InputError(
                "a summary needs sd, or low, high and level", "write mean=177.1,low=167.6,high=186.6,n=8,level=0.9"
            )
        if not self.low <= self.mean <= self.high:
            raise InputError(
                f"the mean {self.mean:g} is not between {self.low:g} and {self.high:g}", "look at the summary again"
            )
        check_level(self.level)
        if self.kind not in ("t", "z"):
            raise InputError(f"an interval of kind '{self.kind}' is not known", "use t or z")
        by_student = self.kind == "t"
        critical = t_critical(self.level, self.n - 1) if by_student else normal_quantile(0.5 + self.level / 2)
        return (self.high - self.low) / 2 * math.sqrt(self.n) / critical


def published(summary: PublishedSummary) -> Group:
    """A side of which only a summary is known. Raises InputError."""
    return Group(summary.name, side_of_summary(summary.mean, summary.spread(), summary.n))


def compare(a: Group, b: Group, level: float, margin: float, *, pairs: bool = False) -> Comparison:
    """A against B. With ``pairs`` the i-th trial of A belongs to the i-th of B. ``margin`` is a share such as
    0.02."""
    check_level(level)
    if not margin >= 0:
        raise InputError("the margin of practical equality is below 0", "write it like 2%")
    ratio = _paired_ratio(a, b, level) if pairs else None
    as_pairs = ratio is not None
    ratio = ratio or ratio_of_means(b.side, a.side, level)
    t, df = _paired_t(a, b) if as_pairs else _welch(a.side, b.side)
    mean_a, mean_b = a.interval(level), b.interval(level)
    assert mean_a.low is not None and mean_a.high is not None and mean_b.low is not None and mean_b.high is not None
    made = Comparison(
        a, b, mean_a, mean_b,
        overlap=mean_a.low <= mean_b.high and mean_b.low <= mean_a.high,
        mean_inside=mean_a.low <= b.side.mean <= mean_a.high or mean_b.low <= a.side.mean <= mean_b.high,
        t=t, df=df, p=None if t is None else t_two_sided_p(t, df), ratio=ratio,
        rank_test=_rank_test(a, b, level, as_pairs), effect_size=_hedges_g(a.side, b.side), margin=margin,
        verdict=verdict(ratio, margin), paired=as_pairs, n_needed=None, warnings=(),
    )  # fmt: skip
    needed = n_needed(a.side, b.side, level, margin) if made.verdict == CANNOT_TELL else None
    return replace(made, n_needed=needed, warnings=_warnings(made, pairs and not as_pairs))


def verdict(ratio: Estimate, margin: float) -> str:
    """What the interval of a ratio says against 1 and the margin [1/(1+margin), 1+margin].

    The margin is symmetric in logs, so exchanging A and B never changes the verdict.
    """
    if ratio.low is None or ratio.high is None:
        return CANNOT_TELL
    inside = 1 / (1 + margin) <= ratio.low and ratio.high <= 1 + margin
    if ratio.low <= 1 <= ratio.high:
        return EQUAL if inside else CANNOT_TELL
    return NEGLIGIBLE if inside else DIFFERENT


def n_needed(a: Moments, b: Moments, level: float, margin: float) -> int | None:
    """Trials a side after which no answer can be "cannot tell", from the spread and the margin alone.

    An interval of log(B/A) with half-width h holds 0 and reaches beyond the margin m only if h > m/2; so n is
    the least with t(level; 2n-2)·√((s_A² + s_B²)/n) ≤ log(1 + margin)/2, s being the sds of the logs.
    """
    if a.log_sd is None or b.log_sd is None or margin <= 0:
        return None
    variance, half = a.log_sd**2 + b.log_sd**2, math.log1p(margin) / 2
    n = max(2.0, normal_quantile(0.5 + level / 2) ** 2 * variance / half**2)
    for _ in range(20):
        n = max(2.0, t_critical(level, 2 * math.ceil(n) - 2) ** 2 * variance / half**2)
    return math.ceil(n)


def with_holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with ``p_holm`` over all of them, and a warning where it takes a difference away."""
    adjusted = []
    for one, p in zip(comparisons, holm([c.p for c in comparisons]), strict=True):
        said = one.warnings
        lost = p is not None and one.verdict in (DIFFERENT, NEGLIGIBLE) and p > 1 - one.ratio.level
        if lost and len(comparisons) > 1:
            said += (
                f"among {len(comparisons)} comparisons chance alone may show this difference (Holm's p = {p:.2g})",
            )
        adjusted.append(replace(one, p_holm=p, warnings=said))
    return adjusted


def _welch(a: Moments, b: Moments) -> tuple[float | None, float]:
    error = math.sqrt(a.sd**2 / a.n + b.sd**2 / b.n)
    return None if error == 0 else (a.mean - b.mean) / error, welch_df(a.sd**2, a.n, b.sd**2, b.n)


def _paired_t(a: Group, b: Group) -> tuple[float | None, float]:
    assert a.values is not None and b.values is not None
    d = a.values - b.values
    error = standard_deviation(d) / math.sqrt(d.size)
    return None if error == 0 else float(np.mean(d)) / error, float(d.size - 1)


def _paired_ratio(a: Group, b: Group, level: float) -> Estimate | None:
    """The geometric mean of the pairs' ratios with its t interval; None where values do not allow it."""
    if a.values is None or b.values is None or a.values.size != b.values.size:
        raise InputError("only trials can be paired, and as many on either side", "leave --pair out")
    if np.any(a.values <= 0) or np.any(b.values <= 0):
        return None
    logs = mean(np.log(b.values) - np.log(a.values), level)
    assert logs.value is not None and logs.low is not None and logs.high is not None
    return Estimate(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), level, logs.n)


def _rank_test(a: Group, b: Group, level: float, pairs: bool) -> RankTest | None:
    if a.values is None or b.values is None:
        return None
    return paired(a.values, b.values, level) if pairs else unpaired(a.values, b.values, level)


def _hedges_g(a: Moments, b: Moments) -> float | None:
    """(mean B - mean A) ÷ pooled sd, corrected for few trials (Hedges 1981)."""
    df = a.n + b.n - 2
    pooled = math.sqrt(((a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2) / df)
    return None if pooled == 0 else (b.mean - a.mean) / pooled * (1 - 3 / (4 * df - 1))


def _warnings(made: Comparison, not_paired: bool) -> tuple[str, ...]:
    said = list(made.ratio.warnings)
    alpha = 1 - made.ratio.level
    decided = made.verdict in (DIFFERENT, NEGLIGIBLE)
    clear = made.ratio.low is not None
    if clear and made.p is not None and (made.p < alpha) != decided and made.ratio.low != 1 and made.ratio.high != 1:
        said.append(f"{'the paired' if made.paired else 'Welch'} t test disagrees (p = {made.p:.2g})")
    rank = made.rank_test
    if clear and rank is not None and (rank.p < alpha) != decided and _can_reject(made, alpha):
        said.append(f"the {rank.name} test disagrees (p = {rank.p:.2g}): look at the shape of the trials")
    if not_paired:
        said.append("values of 0 or below have no ratio: compared as if not paired")
    if made.t is None:
        said.append("neither side varies at all: is the clock too coarse?")
    return tuple(said)


def _can_reject(made: Comparison, alpha: float) -> bool:
    """Whether the rank test of so few trials can reach alpha at all: 3 against 3 never comes below 0.1."""
    n, m = made.a.side.n, made.b.side.n
    least = 2 / 2**n if made.paired else 2 / math.comb(n + m, n)
    return least < alpha


def _side_json(one: Group, interval: Estimate) -> dict[str, Any]:
    return {"name": one.name, "n": one.side.n, "sd": one.side.sd, **interval.flat("mean"),
            "published": one.values is None, "warnings": list(interval.warnings)}  # fmt: skip
