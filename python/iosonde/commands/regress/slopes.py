"""The tests of slopes: with the noise of each setting where a predictor has levels, corrected over the responses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.answers.trials import estimate_main_effects, list_other_headlines
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.transforms import TRANSFORMS
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.stats.estimate.compare import EQUAL, MARGIN, NEGLIGIBLE, Comparison, build_group, compare_groups
from iosonde.stats.estimate.distributions import t_critical
from iosonde.stats.estimate.multiple import adjust_by_holm
from iosonde.stats.regression.cell_errors import compute_joint_p_values, measure_cell_errors
from iosonde.stats.regression.effect_types import FactorEffect
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.held import MOST_LEVELS
from iosonde.stats.regression.ols import Coefficient, Fit
from iosonde.stats.regression.regress import Regression, fit_table


@dataclass(frozen=True)
class CorrectedSlope:
    """A slope with the interval that decides; ``adjusted``: its p, corrected over a ``family`` of tests. ``row``: the
    one that alone decides it. ``is_equal``: it is a difference of two means within the margin of practical equality.
    ``joint_p``: of all levels of its factor at once, if it is one of several."""

    slope: Coefficient
    adjusted: float | None
    family: int
    row: str = ""
    level: float = 0.95
    is_equal: bool = False
    joint_p: float | None = None

    @property
    def excludes_zero(self) -> bool:
        """Return whether its own interval excludes 0."""
        return not self.slope.low <= 0 <= self.slope.high

    @property
    def is_chance(self) -> bool:
        """Return whether only the correction takes its significance away."""
        return self.excludes_zero and self.adjusted is not None and self.adjusted >= 1 - self.level

    @property
    def is_significant(self) -> bool:
        """Return whether it is significant after the correction, without resting on a single row."""
        return self.excludes_zero and not (self.is_chance or self.is_equal or self.row or self.is_denied)

    @property
    def is_denied(self) -> bool:
        """Return whether all levels of its factor at once are not significant."""
        return self.joint_p is not None and self.joint_p >= 1 - self.level

    @property
    def state(self) -> VerdictState:
        """Return the state of the claim that it differs from 0."""
        if self.is_equal and not self.row:
            return VerdictState.EQUAL
        return VerdictState.DIFFERENT if self.is_significant else VerdictState.INCONCLUSIVE


def correct_slopes(regression: Regression, other_p_values: Sequence[float] = ()) -> list[CorrectedSlope]:
    """Return the slope of each term, corrected (Holm) with ``other_p_values``: of the slopes of other responses."""
    slopes, comparison = estimate_slopes(regression.fit), compare_two_values(regression.fit)
    p_values = [*(slope.p for slope in slopes), *other_p_values]
    family = sum(p is not None for p in p_values)
    is_plain = not any(regression.response.startswith(f"{name}(") for name in TRANSFORMS)
    is_equal = comparison is not None and is_plain and comparison.verdict in (EQUAL, NEGLIGIBLE)
    joint, level = compute_joint_p_values(regression.fit), regression.fit.level
    return [
        CorrectedSlope(
            slope, p, family, regression.find_deciding_row(slope.name), level, is_equal, joint.get(slope.name)
        )
        for slope, p in zip(slopes, adjust_by_holm(p_values), strict=False)
    ]


def estimate_slopes(fit: Fit) -> list[Coefficient]:
    """Return the slopes of a fit. That of a single predictor with two values has the interval of ``compare``, that of
    levels the noise of each setting."""
    slopes, comparison = fit.coefficients()[1:], compare_two_values(fit)
    if comparison is None or fit.x is None:
        errors = measure_cell_errors(fit)
        if errors is None:
            return slopes
        return [errors.estimate_slope(slope, place, fit.level) for place, slope in enumerate(slopes, 1)]
    step, difference = float(np.ptp(fit.x[:, 1])), comparison.difference
    if difference.low is None or difference.high is None:
        return slopes
    low, high = _agree_with_test(comparison, difference.low, difference.high)
    return [replace(slopes[0], low=low / step, high=high / step, p=comparison.p)]


def _agree_with_test(comparison: Comparison, low: float, high: float) -> tuple[float, float]:
    """Return the interval of the difference with 0 inside if and only if the test, which may be of logarithms, does not
    reject it; the end towards 0 is that of a test with the same t."""
    value, p, t = comparison.difference.value, comparison.p, comparison.t
    if value is None or p is None or not t or (low <= 0 <= high) is not (p < 1 - comparison.difference.level):
        return low, high
    near = value * (1 - t_critical(comparison.difference.level, comparison.df) / abs(t))
    return (near, high) if value > 0 else (low, near)


def compare_two_values(fit: Fit) -> Comparison | None:
    """Compare the two values of a single predictor; None if it is another regression, or if robust errors were asked
    for."""
    if fit.k > 1 or fit.robust or fit.f is None or fit.x is None or fit.y is None:
        return None
    x = fit.x[:, 1]
    sides = [fit.y[x == value] for value in np.unique(x)[:3]]
    if len(sides) != 2 or min(side.size for side in sides) < 2:
        return None
    a, b = (build_group("", side) for side in sides)
    return compare_groups(a, b, fit.level, MARGIN)


def collect_other_p_values(
    source: Source, query: ResponseQuery, response: Response, terms: Sequence[str], robust: bool
) -> tuple[float, ...]:
    """Return the p values of the same terms' slopes for the other headline responses."""
    own_query = replace(query, response=(response.title,))
    others = list_other_headlines(source, own_query, [response], list_term_columns(terms, response.rows))
    return tuple(p for other in others for p in _list_p_values(other, terms, query.level, robust))


def _list_p_values(response: Response, terms: Sequence[str], level: float, robust: bool) -> Iterator[float]:
    try:
        fit = fit_table(response.rows, response.title, terms, level, robust)[0].fit
    except IosondeError:  # nothing is tested
        return
    yield from (slope.p for slope in estimate_slopes(fit) if fit.f is not None and slope.p is not None)


def find_joint_effect(
    source: Source, query: ResponseQuery, response: Response, terms: Sequence[str]
) -> FactorEffect | None:
    """Return the difference of all settings, if it is significant while no predictor has an effect of its own. None if
    a term is an interaction, or a predictor has too many levels to be taken as a factor."""
    columns = list_term_columns(terms, response.rows)
    n_levels = [len(response.rows.columns[name].codes()[1]) for name in columns]
    if len(columns) != len(terms) or any(":" in term for term in terms) or max(n_levels) > MOST_LEVELS:
        return None
    effects, _ = estimate_main_effects(source, query, response, columns)
    return next((effect for effect in effects.significant if effect.is_joint), None)


def warn_unequal_spread(p_values: Iterable[tuple[str, float | None, float | None]], level: float) -> Iterator[str]:
    """Warn where two p of a factor disagree: that of the table, which has one spread, and that which decides."""
    for name, pooled, p in p_values:
        if p is not None and pooled is not None and (pooled < 1 - level) != (p < 1 - level):
            yield Message(
                "unequal-spread",
                "{factor}: p = {p:.2g} by the test that decides, of each setting's spread or of logarithms; the table "
                "has one spread",
                factor=name,
                p=p,
            )
