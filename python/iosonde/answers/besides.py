"""Columns that vary besides those that were asked about: named, held where that can be, and doubted in the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iosonde.core.errors import IosondeError
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.words import listed
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.data.varying import varying_besides
from iosonde.stats.regression.held import MOST_LEVELS, HeldTerm, hold
from iosonde.stats.regression.regress import LinearModel, fit_table

from .caveats import some

_PARTS = "Rows are single ranks, which are no repetitions: the error of a trial is not known."
VARIES_BESIDES, GOES_TOGETHER = "varies-besides", "goes-together"


@dataclass(frozen=True)
class Besides:
    """The ``names`` of columns that vary and were not asked about, and what holding them does to each term.
    ``are_parts``: rows are single ranks of trials that nothing tells apart."""

    names: tuple[str, ...] = ()
    terms: tuple[HeldTerm, ...] = ()
    level: float = 0.95
    are_parts: bool = False

    @property
    def warnings(self) -> list[str]:
        """One line that names them; empty where nothing varies besides."""
        return self.named("--on")

    def named(self, option: str) -> list[str]:
        """The same; ``option`` would hold them."""
        if not self.names:
            return []
        verb, held = ("varies", "it") if len(self.names) == 1 else ("vary", "them")
        return [f"{some(self.names)} {verb} besides: add {held} to {option}, or hold {held} with --where"]

    @property
    def sentence(self) -> str:
        """The effects that are others when the columns are held; empty where none is."""
        said = [text for term in self.terms if (text := self._said(term))]
        return " ".join([*said, *([_PARTS] if self.are_parts else [])])

    def judge(self, verdict: Verdict, names: Sequence[str] | None = None) -> Verdict:
        """A verdict about terms, or about columns of them (by default those of its subject), with what the columns
        besides do to it."""
        if self.are_parts:
            state = VerdictState.INCONCLUSIVE if verdict.state is VerdictState.DIFFERENT else verdict.state
            verdict = replace(verdict, state=state, direction=None, doubts=(*verdict.doubts, "subsamples"))
        if not self.names:
            return verdict
        subject = set(verdict.subject if names is None else names)
        terms = [term for term in self.terms if subject & {term.name, *term.columns}]
        doubts = tuple(dict.fromkeys((*verdict.doubts, VARIES_BESIDES)))
        if any(term.aliased for term in terms):
            return replace(verdict, state=VerdictState.NOT_SEPARABLE, doubts=(*doubts, GOES_TOGETHER))
        if any(self._changes(term) for term in terms):
            return replace(verdict, state=VerdictState.INCONCLUSIVE, direction=None, doubts=doubts)
        return replace(verdict, doubts=doubts)

    def _changes(self, term: HeldTerm) -> bool:
        """Whether it has another sign, or is significant in one of the two models alone."""
        seen, held = self._is_significant(term.p), self._is_significant(term.p_held)
        return seen != held or (seen and held and term.turns)

    def _is_significant(self, p: float | None) -> bool:
        return p is not None and p < 1 - self.level

    def _said(self, term: HeldTerm) -> str:
        columns = listed(self.names) if len(self.names) < 4 else f"the {len(self.names)} columns that vary besides"
        if term.aliased:
            return f"{term.name} always changes with {columns}: nothing here tells them apart."
        if not self._changes(term):
            return ""
        if not self._is_significant(term.p_held):
            return f"With {columns} held the effect of {term.name} is not significant."
        if not self._is_significant(term.p):
            return f"With {columns} held the effect of {term.name} is significant."
        return f"With {columns} held the effect of {term.name} is significant and has the opposite sign."


def besides(
    response: Response, terms: Sequence[str], names: Sequence[str], level: float, model: LinearModel | None = None
) -> Besides:  # fmt: skip
    """The columns ``names`` beside the ``terms``; ``model``: that of these terms, where it is fitted already."""
    made = Besides(tuple(names), (), level, response.are_parts)
    if not names:
        return made
    try:
        fitted = fit_table(response.rows, response.title, terms, level)[0] if model is None else model
    except IosondeError:  # without a model of them the columns are named all the same
        return made
    return replace(made, terms=hold(fitted, response.rows, names))


def besides_factors(
    source: Source, response: Response, factors: Sequence[str], level: float, also: Sequence[str] = ()
) -> Besides:  # fmt: skip
    """What varies besides ``factors`` that are taken by their levels, and besides the columns named ``also``."""
    rows = response.rows
    terms = [f"C({name})" if len(rows.columns[name].codes()[1]) <= MOST_LEVELS else name for name in factors]
    return besides(response, terms, varying_besides(source, response, (*factors, *also)), level)
