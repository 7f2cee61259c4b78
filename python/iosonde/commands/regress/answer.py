"""Effects on a response: least squares on the raw repeats, with diagnostics of its validity."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.answers.answer import Answer
from iosonde.answers.besides import Besides, adjust_for_columns
from iosonde.answers.caveats import list_caveats
from iosonde.core.errors import InputError
from iosonde.core.json_integers import parse_json_integer
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_fitted
from iosonde.core.verdict import Direction, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import VALUE, Response, choose_response
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.model_plots import build_plot_data
from iosonde.stats.regression.ols import Coefficient
from iosonde.stats.regression.regress import Regression
from iosonde.stats.regression.regress import regress as regressed
from iosonde.stats.regression.sums import regress_sums
from iosonde.stats.regression.without import Without, select_rows

# Findings that put every slope in doubt.
_DOUBTS = {"S301": "lack-of-fit", "S304": "dependent", "S311": "bring-ups"}


@dataclass(frozen=True)
class LeastSquares(Answer):
    """``regression``: explained share, coefficients, predictions, caveats. ``without``: the same without the named
    rows. ``unit``: of the response, '' if it has none or was transformed. ``besides``: columns that vary and are in no
    term."""

    regression: Regression
    without: Without | None = None
    unit: str = ""
    besides: Besides = Besides()

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
        text = describe_regression(self.regression, number, self.besides.taken(self._slopes))
        return f"{text} {self.besides.sentence}".rstrip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return one verdict per term but the intercept: whether its interval excludes 0."""
        return tuple(self.besides.judge(slope) for slope in self._slopes)

    @property
    def _slopes(self) -> tuple[Verdict, ...]:
        """Return the same verdicts, not yet adjusted for columns that vary besides."""
        regression = self.regression
        doubts = tuple(
            doubt for code, doubt in _DOUBTS.items() if any(finding.code == code for finding in regression.findings)
        )
        doubts += ("leverage",) if regression.assumptions and regression.assumptions.is_ruled_by_a_row else ()
        return tuple(_judge_slope(regression, coefficient, doubts) for coefficient in regression.fit.coefficients()[1:])

    @property
    def scale(self) -> tuple[float, str]:
        """Return the divisor of the response for a readable unit, and that unit."""
        return choose_human_scale(abs(self.regression.fit.mean_y), self.unit)

    def plots(self) -> dict[str, Any]:
        """Return the data of the four diagnostic plots. Raises InputError if only sums are known."""
        if self.regression.model is None:
            raise InputError("conflicting-options", "sums hold no points to plot", "give DATA instead of {spell.sums}")
        return build_plot_data(self.regression.model, self.regression.response)


@dataclass(frozen=True)
class AtPoints:
    """Prediction points: the mean of ``m`` new observations at each of the points ``at``. ``robust``: standard errors
    that allow unequal variance (HC3)."""

    at: Sequence[Mapping[str, str]] = ()
    m: int = 1
    robust: bool = False


def regress(
    source: Source, query: ResponseQuery, predicted: AtPoints | None = None, without: Sequence[str] = ()
) -> LeastSquares:
    """Regress one response of DATA on the terms ``query.on``; by default on a store's factors. ``without``: rows
    excluded from a second fit, see :func:`rows_named`. Raises InputError, DataError."""
    predicted = predicted or AtPoints()
    response, terms = choose_response_and_terms(source, query, lines=True)

    def fitted_to(rows: Table) -> Regression:
        return regressed(
            rows,
            response.title,
            terms,
            query.level,
            at=predicted.at,
            m=_check_n_observations(predicted.m),
            robust=predicted.robust,
        )

    regression = fitted_to(response.rows)
    reduced_fit = _fit_without_rows(response.rows, regression, without, fitted_to) if without else None
    is_stated = bool(query.on or source.stated_roles)
    rest = list_other_varying(source, response, list_term_columns(terms, response.rows)) if is_stated else ()
    more = adjust_for_columns(response, terms, rest, query.level, regression.model)
    return LeastSquares(
        replace(regression, warnings=(*list_caveats(response), *more.warnings, *regression.warnings)),
        reduced_fit,
        "" if response.transform else response.unit,
        more,
    )


def _fit_without_rows(
    rows: Table, regression: Regression, names: Sequence[str], fitted_to: Callable[[Table], Regression]
) -> Without:
    used, assumptions = (regression.model.rows if regression.model else ()), regression.assumptions
    excluded = select_rows(rows, names, [int(used[row]) for row in assumptions.influential_rows] if assumptions else [])
    mask = np.ones(len(rows), dtype=bool)
    mask[excluded] = False
    return Without(fitted_to(rows.take(mask)), tuple(rows.place(int(row)) for row in excluded))


def regress_from_sums(
    sums: Mapping[str, Any], level: float, predicted: AtPoints | None = None, source: str = "the sums"
) -> LeastSquares:
    """Regress from the sums that a publication prints. Raises InputError naming the key."""
    predicted = predicted or AtPoints()
    return LeastSquares(regress_sums(sums, level, at=predicted.at, m=_check_n_observations(predicted.m), source=source))


def read_sums(path: str) -> dict[str, Any]:
    """Read the sums in a JSON file. Raises InputError."""
    try:
        sums = json.loads(Path(path).read_text(encoding="utf-8"), parse_int=parse_json_integer)
    except OSError as error:
        raise InputError(
            "unreadable-file", "cannot read {path}: {reason}", "look at the name", path=path, reason=error.strerror
        ) from error
    except ValueError as error:
        raise InputError(
            "invalid-json", "{path} is not JSON: {error}", 'write {{"n": 44, "sum_x": 157, …}}', path=path, error=error
        ) from error
    if not isinstance(sums, dict):
        raise InputError(
            "not-a-json-object", "{path} is not a JSON object", 'write {{"n": 44, "sum_x": 157, …}}', path=path
        )
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
    terms = list(source.apart(query.on)) or response.names
    if not terms:
        raise InputError(
            "nothing-varies", "{name} has no factor that varies", "name predictors with {spell.on}", name=source.name
        )
    return response, terms


def _judge_slope(regression: Regression, coefficient: Coefficient, doubts: tuple[str, ...]) -> Verdict:
    if regression.fit.f is None:
        return Verdict("slope", regression.response, (coefficient.name,), VerdictState.NOT_TESTED, doubts=doubts)
    if regression.find_deciding_row(coefficient.name):
        doubts = tuple(dict.fromkeys((*doubts, "leverage")))
    significant = is_significant(regression, coefficient)
    state = VerdictState.DIFFERENT if significant else VerdictState.INCONCLUSIVE
    direction = (Direction.UP if coefficient.estimate > 0 else Direction.DOWN) if significant else None
    return Verdict(
        "slope",
        regression.response,
        (coefficient.name,),
        state,
        direction,
        "",
        Estimate(coefficient.estimate, coefficient.low, coefficient.high, regression.fit.level, regression.fit.n),
        coefficient.p,
        regression.fit.k,
        doubts,
    )


def is_significant(regression: Regression, coefficient: Coefficient) -> bool:
    """Return whether a coefficient's interval excludes 0 without resting on a single row."""
    return not coefficient.low <= 0 <= coefficient.high and not regression.find_deciding_row(coefficient.name)


def describe_regression(
    regression: Regression, number: Callable[[float], str] = format_fitted, taken: Collection[str] = ()
) -> str:
    """Describe the effect of one numeric predictor, or the share that all explain; ``number`` formats a response. Do
    not claim effects of terms in ``taken``, which other messages put in doubt."""
    f = regression.fit
    if f.f is not None and f.k == 1 and "[" not in f.names[1] and not taken:
        slope = f.coefficients()[1]
        if row := regression.find_deciding_row(slope.name):
            return (
                f"The effect of {slope.name} on {regression.response} is inconclusive: its slope rests on {row} alone."
            )
        sure = f"between {number(slope.low)} and {number(slope.high)}"
        if slope.low <= 0 <= slope.high:
            return f"The effect of {slope.name} on {regression.response} is inconclusive: a step of 1 adds {sure}."
        step = f"A step of 1 in {slope.name} adds {number(slope.estimate)} to {regression.response}"
        return f"{step}, {sure}; R² = {f.r2:.2f}."
    if f.f is None:
        return (
            f"The predictors explain all of the variation of {regression.response}; no residual is left to test "
            "a single effect."
        )
    significant = [c.name for c in f.coefficients()[1:] if is_significant(regression, c) and c.name not in taken]
    effects_text = f"; significant effects: {', '.join(significant)}" if significant else ""
    if not significant and not taken:
        effects_text = "; no single effect is significant"
    single = [f"{c.name} (on {row})" for c in f.coefficients()[1:] if (row := regression.find_deciding_row(c.name))]
    alone = f" On a single row alone rest {join_names(single)}." if single else ""
    return f"The predictors explain {100 * f.r2:.0f} % of the variation of {regression.response}{effects_text}.{alone}"


def _check_n_observations(m: int) -> int:
    if m < 1:
        raise InputError(
            "out-of-range",
            "{spell.new:{n_observations}} is below 1",
            "predict the mean of at least 1 observation",
            n_observations=m,
        )
    return m
