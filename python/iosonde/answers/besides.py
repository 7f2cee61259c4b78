"""Columns that vary outside the question: name them, adjust for them where possible, and qualify the verdicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from iosonde.core.errors import IosondeError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message, spell
from iosonde.core.table import Table
from iosonde.core.verdict import VerdictState
from iosonde.core.words import join_names
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.data.varying import NAMES, find_covariates, list_measured_columns, list_other_varying
from iosonde.stats.assumptions import AssumptionCheck, CheckOutcome, doubtful, fails, holds
from iosonde.stats.assumptions.cells import check_cells
from iosonde.stats.assumptions.covariates import check_covariates, list_covariate_warnings
from iosonde.stats.assumptions.order import check_drifts, check_turns
from iosonde.stats.assumptions.separable import check_separable
from iosonde.stats.assumptions.units import check_units
from iosonde.stats.overview.story import Background
from iosonde.stats.overview.uneven_missing import check_uneven_missing, describe_uneven_missing
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.held import (
    MOST_LEVELS,
    AdjustedTerm,
    adjust_terms_for_columns,
    list_aliased_columns,
)
from iosonde.stats.regression.regress import LinearModel, fit_table

from .caveats import build_confounded_warning, format_some_texts
from .covariate_lines import list_crossed_blocks, list_stated_covariates
from .trials import build_complete_cells, find_impossible_cells

SINGLE_RANKS = Message("single-ranks", "rows are single ranks, and no column names their trial")
_HALF = 0.5
_MOST_CELLS = 20_000  # more settings are checked together
VARIES_BESIDES, GOES_TOGETHER = "varies-besides", "goes-together"


@dataclass(frozen=True)
class Besides:
    """The varying columns ``names`` outside the question, and how adjusting for them changes each term. ``twins``:
    (column of the question, column that always changes with it). ``rows``: checks of the response, and of what was
    examined; the sentence has those of the assumptions ``described``."""

    names: tuple[str, ...] = ()
    twins: tuple[tuple[str, str], ...] = ()
    terms: tuple[AdjustedTerm, ...] = ()
    level: float = 0.95
    rows: tuple[AssumptionCheck, ...] = ()
    described: tuple[str, ...] = ("drift", "missing-values", "dependent")

    @property
    def warnings(self) -> list[str]:
        """Return one line that names them, and one for each covariate that differs; empty if none varies."""
        return self.varying_warnings("on")

    def varying_warnings(self, option: str) -> list[str]:
        """Return the same, for a command whose ``option`` would adjust for them."""
        covariates = list_covariate_warnings(self.rows)
        if not self.names:
            return covariates
        verb, pronoun = ("varies", "it") if len(self.names) == 1 else ("vary", "them")
        template = "{columns} {verb} besides: add {pronoun} to {option}, or hold {pronoun} with {spell.where}"
        values = {
            "columns": format_some_texts(self.names),
            "verb": verb,
            "pronoun": pronoun,
            "option": str(getattr(spell, option)),
        }
        return [Message(VARIES_BESIDES, template, **values), *covariates]

    @property
    def sentence(self) -> str:
        """Return the effects that change when the columns are held fixed; empty if none does."""
        sentences = [f"{build_confounded_warning(column, twin)}." for twin, column in self.twins]
        sentences += [text for term in self.terms if (text := self._describe_term(term))]
        checks = (check for check in self.rows if check.assumption in self.described or check.why == SINGLE_RANKS)
        return " ".join([*sentences, *(f"{check.why}." for check in checks if check.is_doubt)])

    @property
    def checks(self) -> tuple[AssumptionCheck, ...]:
        """Return the checks of these columns, for claims about terms or their columns."""
        return (*self._check_columns(), *self._check_twins(), *self.rows)

    def _check_columns(self) -> Iterator[AssumptionCheck]:
        for term in self.terms:
            if self._is_changed(term) and not term.aliased:
                why = self._describe_term(term)
                yield fails(VARIES_BESIDES, VerdictState.INCONCLUSIVE, why, (term.name, *term.columns))
        if self.names:
            yield doubtful(VARIES_BESIDES)

    def without_drift_sentences(self) -> "Besides":
        """Return the same for an answer that describes drifts itself."""
        return replace(self, described=tuple(code for code in self.described if code != "drift"))

    def _check_twins(self) -> Iterator[AssumptionCheck]:
        for twin, column in self.twins:
            why = build_confounded_warning(column, twin)
            yield fails(GOES_TOGETHER, VerdictState.NOT_SEPARABLE, why, (column,), twin)
        for term in self.terms:
            if term.aliased:
                others = self._name_columns()
                why = build_confounded_warning(term.name, others)
                yield fails(GOES_TOGETHER, VerdictState.NOT_SEPARABLE, why, (term.name, *term.columns), others)

    def _is_changed(self, term: AdjustedTerm) -> bool:
        """Return whether holding the columns changes the effect, not only its precision. If it is significant in one
        model only, it has to differ from the plain one, or lose at least half and become insignificant. Otherwise its
        sign has to turn."""
        plain_significant, adjusted_significant = self._is_significant(term.p), self._is_significant(term.p_adjusted)
        if plain_significant == adjusted_significant:
            return plain_significant and term.turns
        return self._is_significant(term.p_same) or (plain_significant and term.share <= _HALF)

    def _is_significant(self, p: float | None) -> bool:
        return p is not None and p < 1 - self.level

    def _name_columns(self) -> str:
        return join_names(self.names) if len(self.names) < 4 else f"the {len(self.names)} columns that vary besides"

    def _describe_term(self, term: AdjustedTerm) -> str:
        columns = self._name_columns()
        if term.aliased:
            return f"{build_confounded_warning(term.name, columns)}."
        if not self._is_significant(term.p):
            adjusted_significant = self._is_significant(term.p_adjusted)
            return f"With {columns} held the effect of {term.name} is significant." if adjusted_significant else ""
        if not self._is_changed(term):
            return ""
        outcome = "has the opposite sign" if self._is_significant(term.p_adjusted) else "is not significant"
        return f"{term.name}: inconclusive: with {columns} held its effect {outcome}."


def adjust_for_columns(
    source: Source,
    response: Response,
    terms: Sequence[str],
    names: Sequence[str],
    level: float,
    model: LinearModel | None = None,
) -> Besides:
    """Adjust the ``terms`` for the columns ``names``. ``model``: the fitted model of these terms, if there is one."""
    besides = adjust_rows_for_columns(response.rows, response.title, terms, names, level, model)
    return add_response_checks(besides, source, response, list_term_columns(terms, response.rows))


def adjust_rows_for_columns(
    rows: Table, title: str, terms: Sequence[str], names: Sequence[str], level: float, model: LinearModel | None = None
) -> Besides:
    """Adjust in the same way for rows of a table, whose response is the column ``title``."""
    besides = build_besides(rows, names, list_term_columns(terms, rows), level)
    if not besides.names:
        return besides
    try:
        fitted = fit_table(rows, title, terms, level)[0] if model is None else model
    except IosondeError:  # without a model, still name the columns
        return besides
    return replace(besides, terms=adjust_terms_for_columns(fitted, rows, besides.names))


def list_varying_columns(
    source: Source, response: Response, names: Sequence[str], columns: Sequence[str], level: float
) -> Besides:
    """List the columns ``names`` that do not follow from ``columns``, without adjusting for them."""
    return add_response_checks(build_besides(response.rows, names, columns, level), source, response, columns)


def adjust_for_stated_columns(
    source: Source, response: Response, names: Sequence[str], columns: Sequence[str], level: float
) -> Besides:
    """List the columns ``names`` as :func:`list_varying_columns`; where a table has covariates, by its user's word, or
    days and blocks that several levels share, adjust the effects of ``columns`` for these, as ``compare`` does."""
    rows = response.rows
    factors = [rows.column(name).name for name in columns if rows.has_column(name)]
    controls = () if source.knows_factors else _list_control_columns(rows, list_measured_columns(response), factors)
    besides = [name for name in controls if name not in (*columns, *names, response.title)]
    if not besides:
        return list_varying_columns(source, response, names, columns, level)
    return adjust_for_columns(source, response, list_level_terms(rows, factors), (*names, *besides), level)


def _list_control_columns(rows: Table, measured: Sequence[str], factors: Sequence[str]) -> tuple[str, ...]:
    """Return the covariates by a user's word, and the days and blocks that levels of one of the ``factors`` share."""
    crossed = (
        name
        for factor in factors
        for name in list_crossed_blocks(rows, measured, factor, [name for name in factors if name != factor])
    )
    return tuple(dict.fromkeys((*list_stated_covariates(rows), *crossed)))


def _check_controlled_effects(
    rows: Table, measured: Sequence[str], columns: Sequence[str], level: float
) -> dict[str, tuple[AssumptionCheck, ...]]:
    """Return measured column → the failures of effects of ``columns`` that change in a model that has the covariates
    and blocks, too, as :func:`adjust_for_stated_columns` finds them."""
    factors = [rows.column(name).name for name in columns if rows.has_column(name)]
    controls = [name for name in _list_control_columns(rows, measured, factors) if name not in (*columns, *measured)]
    numeric = [title for title in measured if controls and rows.has_column(title) and rows.column(title).numeric]
    terms = list_level_terms(rows, factors)
    adjusted = {title: adjust_rows_for_columns(rows, title, terms, controls, level) for title in numeric}
    return {
        title: tuple(check for check in besides.checks if check.outcome is CheckOutcome.FAILS)
        for title, besides in adjusted.items()
    }


def list_columns_of_choice(
    source: Source,
    response: Response,
    names: Sequence[str],
    choose: Sequence[str],
    workload: Sequence[str],
    level: float,
) -> Besides:
    """List the columns ``names`` that vary inside the settings of a choice and its workload, and check whether the
    choice can be separated from each. One that cannot be separated cannot be held, either."""
    besides = list_varying_columns(source, response, names, (*choose, *workload), level)
    checks = tuple(check_separable(response.rows, choose, workload, names))
    inseparable = {check.cause for check in checks}
    separable = tuple(name for name in besides.names if name not in inseparable)
    return replace(besides, names=separable, rows=(*besides.rows, *checks))


def add_response_checks(besides: Besides, source: Source, response: Response, columns: Sequence[str]) -> Besides:
    """Add what the rows of a response say against claims about the columns ``columns``."""
    return replace(besides, rows=(*besides.rows, *check_response(source, response, columns, besides)))


def check_response(
    source: Source, response: Response, columns: Sequence[str], besides: Besides
) -> Iterator[AssumptionCheck]:
    """Yield the checks of the trials of a response, at the settings of the ``columns``."""
    if response.are_parts:
        yield fails("subsamples", VerdictState.INCONCLUSIVE, SINGLE_RANKS)
    missing = describe_uneven_missing(response.rows, response.values, columns, response.metric)
    yield from (*check_uneven_missing(missing), *holds("missing-values"))
    is_ordered = not (response.within_run or response.are_parts)
    ordered = (response.rows, response.title, response.values, columns, besides.level, besides.names)
    drifts = list(check_drifts(*ordered)) if is_ordered else []
    yield from drifts
    yield from check_turns(response.rows, columns) if is_ordered else ()
    settings = (*columns, *besides.names)
    few = settings if len(response.rows.groups(settings)) <= _MOST_CELLS else ()
    cells = build_complete_cells(response, few)
    yield from check_cells(cells, find_impossible_cells(source, cells, besides.level), bool(drifts))
    candidates = list_unit_candidates(response, (*columns, *besides.names, *(twin for twin, _ in besides.twins)))
    yield from check_units(response.rows, response.values, few, candidates)
    if not source.knows_factors:
        yield from check_table_covariates(response.rows, list_measured_columns(response), columns, besides.names)
    yield from holds("subsamples", "order", "drift")


def check_table_covariates(
    rows: Table, measured: Sequence[str], columns: Sequence[str], names: Sequence[str]
) -> Iterator[AssumptionCheck]:
    """Yield the doubts about ``columns`` between whose levels a number differs that is neither one of these, nor
    ``measured``, nor one of the ``names``, which are adjusted for."""
    plain = [name for name in columns if rows.has_column(name)]
    yield from check_covariates(rows, plain, find_covariates(rows, measured, (*plain, *names)))


def list_unit_candidates(response: Response, excluded: Sequence[str]) -> list[str]:
    """Return the columns of texts that may name what several rows share; numbers may be outcomes."""
    rows, taken = response.rows, {response.title, response.measured, *excluded, *NAMES}
    return [name for name, column in rows.columns.items() if name not in taken and not column.numeric]


def build_besides(rows: Table, names: Sequence[str], columns: Sequence[str], level: float = 0.95) -> Besides:
    """Separate the columns ``names`` that vary inside the settings of ``columns`` from those that always change with
    one of these."""
    cells = len(rows.groups(columns))
    rest = tuple(name for name in names if len(rows.groups([*columns, name])) > cells)
    pairs = [(name, column) for name in names if name not in rest for column in columns]
    twins = tuple(pair for pair in pairs if _are_twins(rows, *pair))
    return Besides(rest, twins, level=level, rows=holds(VARIES_BESIDES, GOES_TOGETHER))


def build_background(
    rows: Table,
    names: Sequence[str],
    columns: Sequence[str],
    are_parts: bool = False,
    measured: Sequence[str] = (),
    level: float = 0.95,
) -> Background:
    """Return what the columns ``names`` say about the effects of ``columns``: those that vary inside the settings are a
    doubt, those that always change with one of these are in one block with it, those from which one of these follows
    cannot be separated from it; and for a table what its numbers besides the ``measured`` columns say, and which
    effects on these change in a model with its covariates."""
    besides = build_besides(rows, names, columns)
    together = group_by_key((column, twin) for twin, column in besides.twins)
    aliased = list_aliased_columns(rows, [name for name in columns if name not in together], besides.names)
    terms = tuple(AdjustedTerm(name, (name,), None, None, aliased=True) for name in aliased)
    turns = () if are_parts else check_turns(rows, columns)
    covariates = check_table_covariates(rows, measured, columns, names) if measured else ()
    checks = (*replace(besides, twins=(), terms=terms).checks, *turns, *covariates)
    return Background(
        together=together,
        untested=SINGLE_RANKS if are_parts else "",
        besides=checks,
        controlled=_check_controlled_effects(rows, measured, columns, level) if measured else {},
        others=besides.names,
    )


def _are_twins(rows: Table, a: str, b: str) -> bool:
    return len(rows.groups([a, b])) == len(rows.groups([a])) == len(rows.groups([b]))


def adjust_for_other_factors(
    source: Source, response: Response, factors: Sequence[str], level: float, also: Sequence[str] = ()
) -> Besides:
    """Adjust for columns that vary besides ``factors``, taken by their levels, and besides the columns ``also``."""
    terms = list_level_terms(response.rows, factors)
    return adjust_for_columns(source, response, terms, list_other_varying(source, response, (*factors, *also)), level)


def list_level_terms(rows: Table, factors: Sequence[str]) -> list[str]:
    """Return terms that take factors by their levels, if these are few."""
    return [f"C({name})" if len(rows.columns[name].codes()[1]) <= MOST_LEVELS else name for name in factors]
