"""What the page of a survey shows: counts, shares and their intervals; of names only those of the parts asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.page.content.tables import DataTable
from iosonde.core.types import Estimate
from iosonde.core.units import format_size
from iosonde.core.words import counted, percent_interval

from .answer import Survey
from .estimate import SurveyEstimate
from .reading import STATES, ReadSpeed
from .walk import WalkRow

_MOST_BARS, _MOST_SQUARES = 12, 40
_LEAST = 0.0005
REST = "all others"


@dataclass(frozen=True)
class SharedOut:
    """A whole and its parts, the largest first: (name, value)."""

    title: str
    unit: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Cumulative:
    """Which share of the files, and of the capacity, is at most so large or old: (up to, files, capacity); None: of
    any size or age. ``unit``: bytes or days."""

    title: str
    unit: str
    rows: tuple[tuple[int | None, float, float], ...]


@dataclass(frozen=True)
class EstimateBars:
    """Estimates side by side, in one unit."""

    title: str
    unit: str
    bars: tuple[tuple[str, Estimate], ...]


@dataclass(frozen=True)
class SurveyPage:
    """All of it, and the survey that it is of; ``rates``: how fast drawn files were read, by type; ``note``: which
    one, where there are several, and their ``history``, which is one of the tables."""

    survey: Survey
    squares: tuple[SharedOut, ...]
    distributions: tuple[Cumulative, ...]
    bars: tuple[EstimateBars, ...]
    tables: tuple[DataTable, ...]
    note: str = ""
    history: DataTable | None = None
    rates: tuple[EstimateBars, ...] = ()

    @property
    def headline(self) -> str:
        """What is said first."""
        walked = self.survey.walked
        largest = next((f"; {one.name} is {percent_interval(one.found.estimate)} of the capacity"
                        for one in self.survey.of("type", "capacity")), "")  # fmt: skip
        return (f"{self.survey.path}: {counted(walked.files, 'file')}, {format_size(walked.numbers['bytes'])}"
                f"{largest}. {self.note}").rstrip()  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """As ``iosonde survey --json``, and the other surveys of the tree."""
        rows = [] if self.history is None else [dict(zip(self.history.columns, row, strict=True))
                                                for row in self.history.rows]  # fmt: skip
        return {"iosonde_survey": 1, **self.survey.content(), "note": self.note, "over_time": rows}


def survey_page(made: Survey) -> SurveyPage:
    """The page of a survey."""
    walked = made.walked
    column = "allocated_bytes" if made.allocated else "bytes"
    tables = {("Size of files", "bytes"): walked.sizes, ("Time since files were modified", "days"): walked.modified}
    distributions = [Cumulative(*named, _cumulative(rows, column)) for named, rows in tables.items()]
    bars = [EstimateBars(f"Types, of the {of}", "share", _largest(made.of("type", of))) for of in ("capacity", "files")]
    bars.append(EstimateBars("What compression would save", "bytes", tuple(_saved(made))))
    return SurveyPage(
        made, tuple(one for one in _squares(made) if one.parts),
        tuple(one for one in distributions if len(one.rows) > 1), tuple(one for one in bars if one.bars),
        (_estimates(made), *(_table(one) for one in distributions if one.rows), *_reading(made.reading)),
        rates=tuple(_rates(made.reading)),
    )  # fmt: skip


def _rates(found: Sequence[ReadSpeed]) -> Iterator[EstimateBars]:
    for state, said in STATES.items():
        bars = tuple((one.kind, one.rate) for one in found if one.state == state)
        if bars:
            yield EstimateBars(f"Read here, {said}", "bytes/s", bars[:_MOST_BARS])


def _reading(found: Sequence[ReadSpeed]) -> Iterator[DataTable]:
    rows = tuple((one.kind, STATES[one.state], one.read_bytes, one.rate.value, one.rate.low, one.rate.high, one.rate.n)
                 for one in found)  # fmt: skip
    if rows:
        yield DataTable("How fast files were read (bytes/s)",
                        ("type", "state", "bytes", "value", "low", "high", "files"), rows)  # fmt: skip


def _squares(made: Survey) -> Iterator[SharedOut]:
    if made.strata:
        yield SharedOut("Capacity by part", "bytes", _most((one.name, float(one.capacity)) for one in made.strata))
    found = [(one.name, one.found.estimate.value or 0.0) for one in made.of("type", "capacity")]
    yield SharedOut("Capacity by type", "share", _most(found))


def _most(parts: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """The largest, and the others together."""
    order = sorted((one for one in parts if one[1] > 0), key=lambda one: -one[1])
    rest = sum(value for _, value in order[_MOST_SQUARES:])
    return (*order[:_MOST_SQUARES], *([(REST, rest)] if rest else []))


def _largest(found: Iterable[SurveyEstimate]) -> tuple[tuple[str, Estimate], ...]:
    shown = [(one.name, one.found.estimate) for one in found if (one.found.estimate.value or 0.0) >= _LEAST]
    return tuple(shown[:_MOST_BARS])


def _saved(made: Survey) -> Iterator[tuple[str, Estimate]]:
    yield from ((f"all, {one.name}", one.found.estimate) for one in made.of("saved", "capacity"))
    yield from ((one.change.text, one.saved) for one in made.what_if if one.saved is not None)


def _cumulative(rows: Sequence[WalkRow], column: str) -> tuple[tuple[int | None, float, float], ...]:
    files, size = sum(row.files for row in rows), sum(getattr(row, column) for row in rows)
    if not files or not size:
        return ()
    found, some, bytes_ = [], 0, 0
    for row in rows:
        some, bytes_ = some + row.files, bytes_ + getattr(row, column)
        found.append((row.up_to, some / files, bytes_ / size))
    return tuple(found)


def _estimates(made: Survey) -> DataTable:
    every = (*made.estimates, *made.quantiles)
    rows = tuple((one.what, one.name, one.of, one.unit, one.found.estimate.value, one.found.estimate.low,
                  one.found.estimate.high, one.found.estimate.n) for one in every)  # fmt: skip
    return DataTable("Every estimate", ("what", "name", "of", "unit", "value", "low", "high", "n"), rows)


def _table(one: Cumulative) -> DataTable:
    return DataTable(one.title, (f"up to ({one.unit})", "share of the files", "share of the capacity"), one.rows)
