"""Regressions and allocations of variation on a page, from trials. It selects and names; ``stats`` computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.answers.besides import adjust_rows_for_columns, list_level_terms
from iosonde.commands.anova.answer import NOT_TESTED, AnalysisOfVariance
from iosonde.commands.anova.tested_effects import warn_unequal_effects
from iosonde.commands.report.terms import LEAST_DF, select_default_terms, select_metric
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.verdict import VerdictState
from iosonde.page.tables import Section
from iosonde.page.words import describe_missing_part, warning_to_sentence
from iosonde.stats.overview.types import Overview
from iosonde.stats.regression.anova import Anova, compute_anova
from iosonde.stats.regression.assumptions import Assumptions
from iosonde.stats.regression.effect_types import ResponseEffects
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.model_plots import build_plot_data
from iosonde.stats.regression.regress import Regression, regress

from .answer import LeastSquares
from .content import CoefficientRow, ModelPlots, ResponseRegression, VariationRow

_MOST_POINTS = 1000
_MOST_PARAMETERS = 200


@dataclass(frozen=True)
class PageTerms:
    """The requested ``terms`` of a regression, and the settings that vary ``besides``."""

    terms: Sequence[str] = ()
    besides: Sequence[str] = ()

    def list_extra_settings(self, table: Table) -> list[str]:
        """Return the settings that are in no term."""
        return [name for name in self.besides if name not in list_term_columns(self.terms, table)]


@dataclass(frozen=True)
class _PageTests:
    """The tested effects of a response on the page, the p values of the effects on all others, and the factors whose
    effect the page does not claim."""

    effects: ResponseEffects
    other_p_values: tuple[float, ...]
    unclaimed: frozenset[str] = frozenset()

    @classmethod
    def from_overview(cls, overview: Overview, key: tuple[str, str]) -> _PageTests:
        effects = overview.effects.get(key, NOT_TESTED)
        response = " ".join(key).strip()
        verdicts = [
            verdict for verdict in overview.verdicts if (verdict.question, verdict.response) == ("effect", response)
        ]
        claimed = {name for each in verdicts if each.state is VerdictState.DIFFERENT for name in each.subject}
        return cls(
            NOT_TESTED if effects.untested else effects,
            overview.other_p_values(key),
            frozenset(name for each in verdicts for name in each.subject if name not in claimed),
        )


def build_table_models(
    overview: Overview, table: Table, responses: Sequence[str], settings: Sequence[str], on: PageTerms, level: float
) -> Section[ResponseRegression]:
    """Build one model per response: on the requested terms (whose errors are raised), or on the settings."""
    items, missing = [], []
    for response in responses:
        column = table.column(response)
        try:
            terms = list(on.terms) or select_default_terms(table, response, settings)
            tests = _PageTests.from_overview(overview, ("", column.name))
            items.append(_fit_model(table, response, column.unit, PageTerms(terms, on.besides), level, tests))
        except IosondeError as error:
            if on.terms:
                raise
            missing.append(describe_missing_part(response, error))
    return Section(tuple(items), tuple(dict.fromkeys(missing)))


def build_store_models(
    overview: Overview, trials: Table, on: Sequence[str], level: float, titles: dict[tuple[str, str], tuple[str, str]]
) -> Section[ResponseRegression]:
    """Build one model for each operation and metric of the page, on the varying settings; ``titles`` are (operation,
    metric) → (heading, unit)."""
    items: list[ResponseRegression] = []
    missing: dict[str, list[str]] = {}
    rows_of = dict(trials.groups(["operation", "metric"])) if len(trials) else {}
    for key, (title, unit) in titles.items():
        if key not in rows_of:
            continue
        table = select_metric(trials, rows_of[key], title, unit)
        try:
            terms = list(on) or select_default_terms(table, title, overview.by)
            page_terms = PageTerms(terms, [name for name in overview.by if name in table.columns] if on else ())
            tests = _PageTests.from_overview(overview, key)
            items.append(_fit_model(table, title, unit, page_terms, level, tests))
        except IosondeError as error:
            if on:
                raise
            missing.setdefault(error.message, []).append(title)
    return Section(tuple(items), tuple(map(warning_to_sentence, missing)))


def _fit_model(
    table: Table, response: str, unit: str, on: PageTerms, level: float, tests: _PageTests
) -> ResponseRegression:
    """Fit one response on the terms of the page."""
    regression = regress(table, response, on.terms, level)
    assert regression.model is not None and regression.assumptions is not None
    names = on.list_extra_settings(table)
    variation, why = _analyse_variation(table, response, regression, names, tests)
    divisor, name = choose_human_scale(abs(regression.fit.mean_y), unit)
    terms = tuple(
        CoefficientRow(c.name, Estimate(c.estimate, c.low, c.high, level, regression.fit.n), c.std_error, c.t, c.p)
        for c in regression.fit.coefficients()
    )
    answer = LeastSquares(
        regression,
        besides=adjust_rows_for_columns(table, response, on.terms, names, level, regression.model),
        unclaimed=tests.unclaimed,
    )
    text = answer.format_sentence(lambda value: f"{format_significant(value / divisor)} {name}".rstrip())
    findings = regression.findings
    if tests.effects is not None and any(effect.is_joint for effect in tests.effects.significant) and variation:
        # What decides is no term of the model: its own sentence would deny the effect.
        text, why = f"{why} Without interactions: {text[:1].lower()}{text[1:]}", ""
        findings = tuple(finding for finding in findings if finding.code != "S307")
    warning_text = " ".join(map(warning_to_sentence, regression.warnings))
    return ResponseRegression(
        response,
        unit,
        regression.terms,
        regression.fit.n,
        regression.fit.df,
        f"{text} {warning_text}".rstrip(),
        _list_facts(regression, regression.assumptions, divisor, name),
        terms,
        findings,
        ModelPlots(**build_plot_data(regression.model, response, _MOST_POINTS)),
        variation,
        why,
    )


def _analyse_variation(
    table: Table, response: str, regression: Regression, names: Sequence[str], tests: _PageTests
) -> tuple[tuple[VariationRow, ...], str]:
    """Analyse the variance by levels of the same factors, or say why not. ``names`` vary besides."""
    assert regression.model is not None
    level = regression.fit.level
    n, factors = regression.fit.n, {factor.column: factor for factor in regression.model.factors()}
    levels = {name: len(set(regression.model.values[name].tolist())) for name in factors}
    many = [name for name, count in levels.items() if 2 * count > n]
    if many or sum(levels.values()) > _MOST_PARAMETERS:
        template = "{factors}: too many levels for an allocation by levels; the regression says what they explain."
        return (), Message("too-many-levels", template, factors=", ".join(many or factors))
    if any(count < 2 for count in levels.values()):
        return (), ""
    terms = list(dict.fromkeys(":".join(factor.column for factor in term.factors) for term in regression.model.terms))
    pairs = _pair_terms(terms, levels, n)
    try:
        table_of = compute_anova(table, response, [*terms, *pairs], level)
    except IosondeError as error:
        return (), describe_missing_part("No allocation by levels", error)
    more = adjust_rows_for_columns(table, response, list_level_terms(table, list(factors)), names, level)
    tested = tests.effects if set(tests.effects.factors) == set(factors) else NOT_TESTED
    warnings = [*table_of.warnings, *warn_unequal_effects(table_of, tested)]
    answer = AnalysisOfVariance(table_of, besides=more, other_p_values=tests.other_p_values, effects=tested)
    return _list_variation_rows(table_of), " ".join([answer.sentence, *map(warning_to_sentence, warnings)])


def _pair_terms(terms: Sequence[str], levels: dict[str, int], n: int) -> list[str]:
    """Return the two-way interactions of two or three factors, if the trials leave enough degrees of freedom."""
    if not 2 <= len(terms) <= 3 or any(c in name for name in terms for c in ":*"):
        return []
    pairs = [(a, b) for i, a in enumerate(terms) for b in terms[i + 1 :]]
    parameters = 1 + sum(levels[a] - 1 for a in terms) + sum((levels[a] - 1) * (levels[b] - 1) for a, b in pairs)
    return [f"{a}:{b}" for a, b in pairs] if n - parameters >= LEAST_DF and parameters <= _MOST_PARAMETERS else []


def _list_variation_rows(table: Anova) -> tuple[VariationRow, ...]:
    return (
        *(VariationRow(s.name, s.df, s.ss, s.share, s.f, s.p) for s in table.sources),
        VariationRow("residual", table.df_residual, table.ss_residual, table.ss_residual / table.ss_total, None, None),
    )


def _list_facts(
    regression: Regression, assumptions: Assumptions, divisor: float, unit: str
) -> tuple[tuple[str, str], ...]:
    """Return the explained share, and each assumption with the value for or against it."""
    fit = regression.fit
    mean_share = f" ({format_significant(100 * fit.s_e / abs(fit.mean_y))} % of the mean)" if fit.mean_y else ""
    return (
        ("R²", f"{fit.r2:.3f}, adjusted {fit.adjusted_r2:.3f}"),
        ("standard deviation of errors", f"{format_significant(fit.s_e / divisor)} {unit}".rstrip() + mean_share),
        ("F", _format_f_test(fit.f, fit.f_p, fit.k, fit.df)),
        ("straightness", _describe_lack_of_fit(assumptions)),
        *(
            [("normal residuals", f"Shapiro–Wilk {_format_p(assumptions.shapiro_p)}")]
            if assumptions.shapiro_p is not None
            else []
        ),
        ("equal variance", f"Breusch–Pagan {_format_p(assumptions.breusch_pagan_p)}"),
        ("neighbours in order", f"r = {assumptions.autocorrelation:.2f}, {_format_p(assumptions.autocorrelation_p)}"),
        ("largest Cook's distance", f"{assumptions.largest_cook:.2g} (limit {assumptions.cook_limit:.2g})"),
        *([("largest variance inflation", f"{max(assumptions.vif.values()):.3g}")] if len(assumptions.vif) > 1 else []),
    )


def _describe_lack_of_fit(assumptions: Assumptions) -> str:
    test = assumptions.lack_of_fit
    if test is None:
        return "every setting has its own coefficient" if assumptions.repeats else "unknown: no setting was repeated"
    return f"lack of fit F = {_format_f_test(test.f, test.p, test.df_lack_of_fit, test.df_pure_error)}"


def _format_f_test(f: float | None, p: float | None, df: int, df_error: int) -> str:
    if f is None or p is None:
        return f"~ on {df} and {df_error} df: no error is left"
    return f"{f:.4g} on {df} and {df_error} df, {_format_p(p)}"


def _format_p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {format_significant(p, 2)}"
