"""Columns that vary outside the question: name them, adjust for them where possible, and qualify the verdicts."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message, spell
from iosonde.core.table import Table
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.stats.overview.cells import number_shared_bring_ups
from iosonde.stats.overview.measured_order import find_measured_order
from iosonde.stats.overview.uneven_missing import describe_uneven_missing
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.held import MOST_LEVELS, AdjustedTerm, adjust_terms_for_columns
from iosonde.stats.regression.in_turn import DOUBTS as IN_TURN
from iosonde.stats.regression.in_turn import DriftInTurn, detect_drift_in_turn
from iosonde.stats.regression.regress import LinearModel, fit_table

from .caveats import build_confounded_warning, format_some_texts

_PARTS = "Inconclusive: rows are single ranks, not repetitions: the error of a trial is unknown."
_HALF = 0.5
VARIES_BESIDES, GOES_TOGETHER = "varies-besides", "goes-together"


@dataclass(frozen=True)
class Besides:
    """The varying columns ``names`` outside the question, and how adjusting for them changes each term. ``twins``:
    (column of the question, column that always changes with it). ``are_parts``: rows are single ranks of trials that no
    column identifies. ``drifts``: columns whose levels were measured one after the other. ``missing``: the setting that
    lacks more values than the others."""

    names: tuple[str, ...] = ()
    twins: tuple[tuple[str, str], ...] = ()
    terms: tuple[AdjustedTerm, ...] = ()
    level: float = 0.95
    are_parts: bool = False
    drifts: tuple[tuple[str, DriftInTurn], ...] = ()
    missing: str = ""

    @property
    def warnings(self) -> list[str]:
        """Return one line that names them; empty if none varies."""
        return self.varying_warnings("on")

    def varying_warnings(self, option: str) -> list[str]:
        """Return the same, for a command whose ``option`` would adjust for them."""
        if not self.names:
            return []
        verb, pronoun = ("varies", "it") if len(self.names) == 1 else ("vary", "them")
        template = "{columns} {verb} besides: add {pronoun} to {option}, or hold {pronoun} with {spell.where}"
        values = {
            "columns": format_some_texts(self.names),
            "verb": verb,
            "pronoun": pronoun,
            "option": str(getattr(spell, option)),
        }
        return [Message(VARIES_BESIDES, template, **values)]

    @property
    def sentence(self) -> str:
        """Return the effects that change when the columns are held fixed; empty if none does."""
        sentences = [f"{build_confounded_warning(column, twin)}." for twin, column in self.twins]
        sentences += [text for term in self.terms if (text := self._describe_term(term))]
        sentences += [f"{column} {drift.text}." for column, drift in self.drifts]
        sentences += [f"{self.missing}."] if self.missing else []
        return " ".join([*sentences, *([_PARTS] if self.are_parts else [])])

    def judge(self, verdict: Verdict, names: Sequence[str] | None = None) -> Verdict:
        """Qualify a verdict about terms or their columns ``names`` (default: its subject) by these columns."""
        if self.are_parts:
            state = VerdictState.INCONCLUSIVE if verdict.state is VerdictState.DIFFERENT else verdict.state
            verdict = replace(verdict, state=state, direction=None, doubts=(*verdict.doubts, "subsamples"))
        subject = set(verdict.subject if names is None else names)
        terms = [term for term in self.terms if subject & {term.name, *term.columns}]
        drifts = [drift for column, drift in self.drifts if _is_of(subject, column)]
        more = (
            *([VARIES_BESIDES] if self.names else []),
            *(IN_TURN if drifts else ()),
            *(["missing-values"] if self.missing else []),
        )
        doubts = tuple(dict.fromkeys((*verdict.doubts, *more)))
        if self._is_twin(subject) or any(term.aliased for term in terms):
            return replace(
                verdict, state=VerdictState.NOT_SEPARABLE, doubts=tuple(dict.fromkeys((*doubts, GOES_TOGETHER)))
            )
        if any(self._is_changed(term) for term in terms) or any(drift.explains_effect for drift in drifts):
            return replace(verdict, state=VerdictState.INCONCLUSIVE, direction=None, doubts=doubts)
        return replace(verdict, doubts=doubts)

    def taken(self, verdicts: Iterable[Verdict]) -> frozenset[str]:
        """Return the subjects that are DIFFERENT only without these columns: no sentence claims them."""
        return frozenset(
            name
            for verdict in verdicts
            if verdict.state is VerdictState.DIFFERENT and self.judge(verdict).state is not VerdictState.DIFFERENT
            for name in verdict.subject
        )

    def _is_twin(self, subject: Collection[str]) -> bool:
        """Return whether a column of ``subject``, or a level of one, always changes with another column."""
        return any(_is_of(subject, column) for _, column in self.twins)

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

    def _describe_term(self, term: AdjustedTerm) -> str:
        columns = join_names(self.names) if len(self.names) < 4 else f"the {len(self.names)} columns that vary besides"
        if term.aliased:
            return f"{build_confounded_warning(term.name, columns)}."
        if not self._is_significant(term.p):
            adjusted_significant = self._is_significant(term.p_adjusted)
            return f"With {columns} held the effect of {term.name} is significant." if adjusted_significant else ""
        if not self._is_changed(term):
            return ""
        outcome = "has the opposite sign" if self._is_significant(term.p_adjusted) else "is not significant"
        return f"{term.name}: inconclusive: with {columns} held its effect {outcome}."


def _is_of(subject: Collection[str], column: str) -> bool:
    """Return whether ``subject`` has the column, or a level of it (``fs[nfs]``)."""
    return any(name == column or name.startswith(f"{column}[") for name in subject)


def adjust_for_columns(
    response: Response, terms: Sequence[str], names: Sequence[str], level: float, model: LinearModel | None = None
) -> Besides:
    """Adjust the ``terms`` for the columns ``names``. ``model``: the fitted model of these terms, if there is one."""
    besides = adjust_rows_for_columns(response.rows, response.title, terms, names, level, model)
    return add_response_drifts(besides, response, list_term_columns(terms, response.rows))


def adjust_rows_for_columns(
    rows: Table, title: str, terms: Sequence[str], names: Sequence[str], level: float, model: LinearModel | None = None
) -> Besides:
    """Adjust in the same way for rows of a table, whose response is the column ``title``."""
    besides = _build_besides(rows, names, list_term_columns(terms, rows), level)
    if not besides.names:
        return besides
    try:
        fitted = fit_table(rows, title, terms, level)[0] if model is None else model
    except IosondeError:  # without a model, still name the columns
        return besides
    return replace(besides, terms=adjust_terms_for_columns(fitted, rows, besides.names))


def list_varying_columns(response: Response, names: Sequence[str], columns: Sequence[str], level: float) -> Besides:
    """List the columns ``names`` that do not follow from ``columns``, without adjusting for them."""
    return add_response_drifts(_build_besides(response.rows, names, columns, level), response, columns)


def add_response_drifts(besides: Besides, response: Response, columns: Sequence[str]) -> Besides:
    """Add what the rows of a response say against claims about the columns ``columns``."""
    return replace(
        besides,
        are_parts=response.are_parts,
        drifts=tuple(_detect_drifts(response, columns, besides.level)),
        missing=describe_uneven_missing(response.rows, response.values, columns),
    )


def _build_besides(rows: Table, names: Sequence[str], columns: Sequence[str], level: float) -> Besides:
    cells = len(rows.groups(columns))
    rest = tuple(name for name in names if len(rows.groups([*columns, name])) > cells)
    pairs = [(name, column) for name in names if name not in rest for column in columns]
    return Besides(rest, tuple(pair for pair in pairs if _are_twins(rows, *pair)), level=level)


def _detect_drifts(response: Response, columns: Sequence[str], level: float) -> Iterator[tuple[str, DriftInTurn]]:
    """Yield the drifting columns, each tested inside the cells of the others."""
    present = np.flatnonzero(~np.isnan(response.values))
    rows = response.rows.take(present)
    if response.within_run or response.are_parts or number_shared_bring_ups(rows) is not None:
        return
    order = find_measured_order(rows, (response.title, *columns))
    times = np.arange(len(rows), dtype=float) if order is None else order
    for column in columns:
        others = np.zeros(len(rows), dtype=np.intp)
        for number, (_, places) in enumerate(rows.groups([name for name in columns if name != column])):
            others[places] = number
        drift = detect_drift_in_turn(rows.column(column).codes()[0], response.values[present], others, times, level)
        if drift is not None:
            yield column, drift


def _are_twins(rows: Table, a: str, b: str) -> bool:
    return len(rows.groups([a, b])) == len(rows.groups([a])) == len(rows.groups([b]))


def adjust_for_other_factors(
    source: Source, response: Response, factors: Sequence[str], level: float, also: Sequence[str] = ()
) -> Besides:
    """Adjust for columns that vary besides ``factors``, taken by their levels, and besides the columns ``also``."""
    terms = list_level_terms(response.rows, factors)
    return adjust_for_columns(response, terms, list_other_varying(source, response, (*factors, *also)), level)


def list_level_terms(rows: Table, factors: Sequence[str]) -> list[str]:
    """Return terms that take factors by their levels, if these are few."""
    return [f"C({name})" if len(rows.columns[name].codes()[1]) <= MOST_LEVELS else name for name in factors]
