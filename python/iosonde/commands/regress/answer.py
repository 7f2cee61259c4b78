"""Effects on a response: least squares on the raw repeats, with diagnostics of its validity."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from iosonde.answers.answer import Answer
from iosonde.answers.besides import Besides, adjust_for_columns
from iosonde.answers.caveats import list_caveats
from iosonde.answers.logarithms import advise_power_law
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.grouping import group_by_key
from iosonde.core.json_integers import parse_json_integer
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.together import find_confounded
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_fitted, format_percent
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.factors import is_separable
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import VALUE, Response, choose_response
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.stats.assumptions import (
    AssumptionCheck,
    doubtful,
    fails,
    holds,
    judge,
    judge_all,
    list_withdrawn_subjects,
    not_applicable,
)
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.estimate.compare import MARGIN
from iosonde.stats.regression.effect_types import (
    FactorEffect,
    ResponseEffects,
    describe_joint_effect,
    list_effect_claims,
)
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.model_plots import build_plot_data
from iosonde.stats.regression.regress import Regression
from iosonde.stats.regression.regress import regress as regressed
from iosonde.stats.regression.sums import regress_sums
from iosonde.stats.regression.without import Without, select_rows

from .slopes import (
    CorrectedSlope,
    collect_other_p_values,
    correct_slopes,
    estimate_slopes,
    find_joint_effect,
    warn_unequal_spread,
)

# Findings that put every slope in doubt.
_DOUBTS = {"S301": "lack-of-fit", "S304": "dependent", "S311": "bring-ups"}
_SUMS_HINT = 'write {{"n": 44, "sum_x": 157, …}}'
_ALIASED = "aliased-terms"
FitT = TypeVar("FitT")


@dataclass(frozen=True)
class LeastSquares(Answer):
    """``regression``: explained share, coefficients, predictions, caveats. ``without``: the same without the named
    rows. ``unit``: of the response, '' if it has none or was transformed. ``besides``: columns that vary and are in no
    term. ``other_p_values``: of the same terms' slopes for the other headline responses, with which these are
    corrected. ``joint``: the significant difference of all settings where no predictor has an effect of its own.
    ``unclaimed``: factors whose effect the page that shows it does not claim."""

    regression: Regression
    without: Without | None = None
    unit: str = ""
    besides: Besides = Besides()
    other_p_values: tuple[float, ...] = ()
    joint: FactorEffect | None = None
    unclaimed: frozenset[str] = frozenset()

    def content(self) -> dict[str, Any]:
        """As ``iosonde regress --json``."""
        return self.regression.to_json() | ({} if self.without is None else {"without": self.without.to_json()})

    def records(self) -> list[dict[str, Any]]:
        """Return one row per coefficient."""
        return [vars(coefficient) for coefficient in self.regression.fit.coefficients()]

    @property
    def sentence(self) -> str:
        """Describe the effect of one numeric predictor, or the share that all explain."""
        divisor, unit = self.scale
        return self.format_sentence(lambda value: f"{format_fitted(value / divisor)} {unit}".rstrip())

    def format_sentence(self, number: Callable[[float], str]) -> str:
        """Return the same sentence; ``number`` formats a response."""
        blocks = group_by_key((column, twin) for twin, column in self.besides.twins)
        withdrawn = list_withdrawn_subjects(self._claims, replace(self.besides, twins=()).checks)
        significant = [slope.slope.name for slope in self.slopes if slope.is_significant]
        open_ = {name.partition("[")[0] for name in significant if name not in withdrawn} & blocks.keys()
        which = [
            f"{join_names([name, *others])} cannot be separated; one or {'more' if others[1:] else 'both'} have a "
            "significant effect."
            for name, others in blocks.items()
            if name in open_
        ]
        rest = replace(self.besides, twins=tuple(pair for pair in self.besides.twins if pair[1] not in open_))
        return " ".join([_describe_regression(self, number), *which, rest.sentence]).rstrip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return one verdict per term but the intercept: whether its interval excludes 0, corrected for all tests; and
        one on the interaction of the terms, if there is one that the model lacks."""
        slopes = judge_all(self._claims, (*_check_regression(self.regression), *self.besides.checks))
        joint = ResponseEffects((), () if self.joint is None else (self.joint,))
        claims = list_effect_claims(self.regression.response, joint)
        return (*slopes, *(judge(claim, (*checks, *self.besides.checks)) for claim, checks in claims))

    @property
    def _claims(self) -> tuple[UncheckedClaim, ...]:
        """Return the same, whose assumptions are not yet checked."""
        return tuple(_claim_slope(self.regression, slope) for slope in self.slopes)

    @cached_property
    def slopes(self) -> list[CorrectedSlope]:
        """Return the slope of each term, with the interval that decides."""
        return correct_slopes(self.regression, self.other_p_values)

    @property
    def scale(self) -> tuple[float, str]:
        """Return the divisor of the response for a readable unit, and that unit."""
        return choose_human_scale(abs(self.regression.fit.mean_y), self.unit)

    def plots(self) -> dict[str, Any]:
        """Return the data of the four diagnostic plots. Raises InputError if only sums are known."""
        if self.regression.model is None:
            raise InputError("conflicting-options", "sums hold no points to plot", "give DATA instead of {spell.sums}")
        return build_plot_data(self.regression.model, self.regression.response)


def regress(
    source: Source,
    query: ResponseQuery,
    at: Sequence[Mapping[str, str]] = (),
    m: int = 1,
    robust: bool = False,
    without: Sequence[str] = (),
) -> LeastSquares:
    """Regress one response of DATA on the terms ``query.on``; by default on a store's factors. Predict the mean of
    ``m`` new observations at each of the points ``at``. ``robust``: standard errors that allow unequal variance (HC3).
    ``without``: rows excluded from a second fit, see :func:`select_rows`. Raises InputError, DataError."""
    chosen, terms = choose_response_and_terms(source, query, lines=True)

    def fit_rows(rows: Table, terms: Sequence[str]) -> Regression:
        return regressed(rows, chosen.title, terms, query.level, at=at, m=m, robust=robust)

    response, terms, regression = fit_separable_terms(chosen, terms, partial(fit_rows, chosen.rows))
    reduced_fit = _fit_without_rows(response.rows, regression, without, terms, fit_rows) if without else None
    columns = list_term_columns(terms, response.rows)
    is_stated = bool(query.on or source.stated_roles)
    dropped = tuple(name for name in response.names if name not in columns)
    rest = list_other_varying(source, response, columns) if is_stated else dropped
    more = adjust_for_columns(source, response, terms, rest, query.level, regression.model)
    slopes = zip(regression.fit.coefficients()[1:], estimate_slopes(regression.fit), strict=True)
    unequal = warn_unequal_spread(((slope.name, plain.p, slope.p) for plain, slope in slopes), query.level)
    own = (*more.warnings, *unequal, *advise_power_law(response, terms, regression, query.level))
    answer = LeastSquares(
        replace(regression, warnings=(*list_caveats(response), *own, *regression.warnings)),
        reduced_fit,
        "" if response.transform else response.unit,
        more,
        collect_other_p_values(source, query, response, terms, robust),
    )
    if regression.fit.f is None or any(slope.is_significant for slope in answer.slopes):
        return answer
    return replace(answer, joint=find_joint_effect(source, query, response, terms))


def _fit_without_rows(
    rows: Table,
    regression: Regression,
    names: Sequence[str],
    terms: Sequence[str],
    fit_rows: Callable[[Table, Sequence[str]], Regression],
) -> Without:
    used, assumptions = (regression.model.rows if regression.model else ()), regression.assumptions
    excluded = select_rows(rows, names, [int(used[row]) for row in assumptions.influential_rows] if assumptions else [])
    mask = np.ones(len(rows), dtype=bool)
    mask[excluded] = False
    return Without(fit_rows(rows.take(mask), terms), tuple(rows.place(int(row)) for row in excluded))


def regress_from_sums(
    sums: Mapping[str, Any],
    level: float,
    at: Sequence[Mapping[str, str]] = (),
    m: int = 1,
    source: str = "the sums",
) -> LeastSquares:
    """Regress from the sums that a publication prints. Raises InputError naming the key."""
    regression = regress_sums(sums, level, at=at, m=m, source=source)
    return LeastSquares(regression, besides=Besides(rows=not_applicable(*REQUIRED["slope"])))


def read_sums(path: str) -> dict[str, Any]:
    """Read the sums in a JSON file. Raises InputError."""
    try:
        sums = json.loads(Path(path).read_text(encoding="utf-8"), parse_int=parse_json_integer)
    except OSError as error:
        raise InputError(
            "unreadable-file", "cannot read {path}: {reason}", "look at the name", path=path, reason=error.strerror
        ) from error
    except ValueError as error:
        raise InputError("invalid-json", "{path} is not JSON: {error}", _SUMS_HINT, path=path, error=error) from error
    if not isinstance(sums, dict):
        raise InputError("not-a-json-object", "{path} is not a JSON object", _SUMS_HINT, path=path)
    return sums


def choose_response_and_terms(
    source: Source, query: ResponseQuery, extra_columns: Sequence[str] = (), lines: bool = False
) -> tuple[Response, list[str]]:
    """Return the response and its terms: ``query.on``, or the known factors. ``lines`` adds factors that
    only a line can separate. ``extra_columns`` are further columns of the analysis. Raises InputError, DataError."""
    table = source.table
    columns = (
        [*list_term_columns(query.on, table), *(table.column(name).name for name in extra_columns)] if query.on else []
    )
    response = choose_response(source, replace(query, on=tuple(columns)))
    if {response.measured or response.title, response.title, *([VALUE] if response.operation else [])} & set(columns):
        raise InputError(
            "conflicting-roles",
            "'{title}' is both the response and a predictor",
            "leave it out of {spell.on}",
            title=response.title,
        )
    response = response.with_scattered() if lines else response
    follows = {} if query.on else find_confounded(response.rows, response.names)
    confounded = {name: other for name, other in follows.items() if not is_separable(response.rows, name, other)}
    response, terms = _leave_out_terms(response, source.apart(query.on) or response.names, confounded)
    if not terms:
        raise InputError(
            "nothing-varies", "{name} has no factor that varies", "name predictors with {spell.on}", name=source.name
        )
    return response, terms


def fit_separable_terms(
    response: Response, terms: list[str], fit: Callable[[Sequence[str]], FitT]
) -> tuple[Response, list[str], FitT]:
    """Return the fit, with the response and terms that it has: if the terms cannot be separated, those columns are left
    out that follow from others, with a warning. Raises InputError, DataError."""
    try:
        return response, terms, fit(terms)
    except DataError as error:
        are_columns = error.code == _ALIASED and all(name in response.rows.columns for name in terms)
        follows = find_confounded(response.rows, terms) if are_columns else {}
        confounded = {name: other for name, other in follows.items() if _are_aliased(fit, [other, name])}
        if not confounded:
            raise
    response, terms = _leave_out_terms(response, terms, confounded)
    return response, terms, fit(terms)


def _are_aliased(fit: Callable[[Sequence[str]], object], terms: Sequence[str]) -> bool:
    """Return whether a fit of these terms alone cannot separate them: a line and its square can be."""
    try:
        fit(terms)
    except IosondeError as error:
        return error.code == _ALIASED
    return False


def _leave_out_terms(
    response: Response, terms: Sequence[str], confounded: Mapping[str, str]
) -> tuple[Response, list[str]]:
    """Return the response with a warning about each term that is left out, and the other terms."""
    warnings = [
        Message(
            "confounded",
            "{factor} is left out: it follows from {other}, and nothing here tells them apart",
            factor=name,
            other=other,
        )
        for name, other in confounded.items()
    ]
    response = replace(response, warnings=(*response.warnings, *warnings))
    return response, [name for name in terms if name not in confounded]


def _check_regression(regression: Regression) -> Iterator[AssumptionCheck]:
    """Yield the checks of all slopes, and of those that a single row decides."""
    for code, assumption in _DOUBTS.items():
        sentence = next((finding.sentence for finding in regression.findings if finding.code == code), None)
        yield from holds(assumption) if sentence is None else (doubtful(assumption, sentence),)
    if regression.assumptions and regression.assumptions.is_ruled_by_a_row:
        yield doubtful("leverage")
    for coefficient in regression.fit.coefficients()[1:] if regression.fit.f is not None else ():
        if row := regression.find_deciding_row(coefficient.name):
            why = Message("deciding-row", "{row} alone decides the slope of {term}", row=row, term=coefficient.name)
            yield fails("leverage", VerdictState.INCONCLUSIVE, why, (coefficient.name,))
    yield from holds("leverage")


def _claim_slope(regression: Regression, tested: CorrectedSlope) -> UncheckedClaim:
    slope = tested.slope
    if regression.fit.f is None:
        return UncheckedClaim("slope", regression.response, (slope.name,), VerdictState.NOT_TESTED)
    return UncheckedClaim(
        "slope",
        regression.response,
        (slope.name,),
        tested.state,
        (Direction.UP if slope.estimate > 0 else Direction.DOWN) if tested.is_significant else None,
        "",
        Estimate(slope.estimate, slope.low, slope.high, regression.fit.level, regression.fit.n),
        tested.adjusted,
        tested.family,
    )


def _describe_regression(answer: LeastSquares, number: Callable[[float], str]) -> str:
    """Describe the effect of one numeric predictor, or the share that all explain; ``number`` formats a response. Do
    not claim effects that other messages put in doubt."""
    regression, f = answer.regression, answer.regression.fit
    if f.f is None:
        return (
            f"The predictors explain all of the variation of {regression.response}; no residual is left to test "
            "a single effect."
        )
    withdrawn = list_withdrawn_subjects(answer._claims, answer.besides.checks)
    withdrawn |= {name for name in f.names if name.partition("[")[0] in answer.unclaimed}
    claimable = [tested for tested in answer.slopes if tested.slope.name not in withdrawn]
    chance = [tested.slope.name for tested in claimable if tested.is_chance and not tested.row]
    tests = answer.slopes[0].family
    more = f" Not significant after Holm's correction over {tests} tests: {join_names(chance)}." if chance else ""
    if f.k == 1 and "[" not in f.names[1] and not withdrawn:
        return f"{_describe_single_slope(regression, answer.slopes[0], number)}{more}"
    if answer.joint is not None and answer.verdicts[-1].state is VerdictState.DIFFERENT:
        missing = (":" if len(answer.joint.factors) == 2 else "*").join(answer.joint.factors)
        return f"{describe_joint_effect(regression.response, answer.joint)}: add {missing}.{more}"
    significant = [tested.slope.name for tested in claimable if tested.is_significant]
    none_text = "" if withdrawn else "; no single effect is significant"
    effects_text = f"; significant effects: {', '.join(significant)}" if significant else none_text
    more += _describe_joint_tests(claimable, 1 - f.level)
    single = [f"{tested.slope.name} (on {tested.row})" for tested in answer.slopes if tested.row]
    alone = f" On a single row alone rest {join_names(single)}." if single else ""
    share = f"The predictors explain {100 * f.r2:.0f} % of the variation of {regression.response}"
    return f"{share}{effects_text}.{more}{alone}"


def _describe_joint_tests(slopes: Sequence[CorrectedSlope], alpha: float) -> str:
    """Describe each factor whose levels together say something else than each level against the first."""
    text = ""
    for factor, own in group_by_key((tested.slope.name.partition("[")[0], tested) for tested in slopes).items():
        p = own[0].joint_p
        if p is None:
            continue
        if p >= alpha and (denied := [tested.slope.name for tested in own if tested.excludes_zero]):
            text += (
                f" Not claimed: {join_names(denied)}; all levels of {factor} together are not significant, p = {p:.2g}."
            )
        elif p < alpha and not any(tested.is_significant for tested in own):
            text += f" All levels of {factor} together are significant (p = {p:.2g}): others than the first differ."
    return text


def _describe_single_slope(regression: Regression, tested: CorrectedSlope, number: Callable[[float], str]) -> str:
    slope, open_ = tested.slope, f"The effect of {tested.slope.name} on {regression.response} is inconclusive"
    if tested.row:
        return f"{open_}: its slope rests on {tested.row} alone."
    sure = f"between {number(slope.low)} and {number(slope.high)}"
    if tested.is_equal or not tested.is_significant:
        small = f"{slope.name} changes {regression.response} by less than {format_percent(MARGIN)}"
        return f"{small if tested.is_equal else open_}: a step of 1 adds {sure}."
    step = f"A step of 1 in {slope.name} adds {number(slope.estimate)} to {regression.response}"
    return f"{step}, {sure}; R² = {regression.fit.r2:.2f}."
