"""Content of a survey's page: counts, shares and their intervals; no names but those of the requested parts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate
from iosonde.core.units import format_size
from iosonde.core.words import format_count, format_share_interval
from iosonde.page.tables import DataTable

from .answer import Survey
from .reading import STATES, ReadSpeed
from .sample import SurveyEstimate
from .walk import WalkRow

_MOST_BARS, _MOST_SQUARES = 12, 40
_LEAST = 0.0005
REST = "all others"


@dataclass(frozen=True)
class SharedOut:
    """A whole and its parts, largest first: (name, value)."""

    title: str
    unit: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Cumulative:
    """Shares of the files, and of the capacity, up to a size or age: (up to, files, capacity); None: of any size or
    age. ``unit``: bytes or days."""

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
    """The page and its survey. ``rates``: reading speeds of drawn files, by type. ``note``: names the survey if there
    are several; ``history``, one of the tables, lists them."""

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
        """Return the headline."""
        walked = self.survey.walked
        largest = next(
            (
                f"; {estimate.name} is {format_share_interval(estimate.inference.estimate)} of the capacity"
                for estimate in self.survey.of("type", "capacity")
            ),
            "",
        )
        return (
            f"{self.survey.path}: {format_count(walked.files, 'file')}, {format_size(walked.numbers['bytes'])}"
            f"{largest}. {self.note}"
        ).rstrip()

    def to_json(self) -> dict[str, Any]:
        """As ``iosonde survey --json``, and the other surveys of the tree."""
        rows = (
            []
            if self.history is None
            else [dict(zip(self.history.columns, row, strict=True)) for row in self.history.rows]
        )
        return {"iosonde_survey": 1, **self.survey.content(), "note": self.note, "over_time": rows}


def build_survey_page(survey: Survey) -> SurveyPage:
    """Build the page of a survey."""
    walked = survey.walked
    column = "allocated_bytes" if survey.allocated else "bytes"
    tables = {("Size of files", "bytes"): walked.sizes, ("Time since files were modified", "days"): walked.modified}
    distributions = [Cumulative(*labels, _accumulate_rows(rows, column)) for labels, rows in tables.items()]
    bars = [
        EstimateBars(f"Types, of the {of}", "share", _select_largest(survey.of("type", of)))
        for of in ("capacity", "files")
    ]
    bars.append(EstimateBars("Estimated savings by compression", "bytes", tuple(_list_savings(survey))))
    return SurveyPage(
        survey,
        tuple(square for square in _build_treemaps(survey) if square.parts),
        tuple(distribution for distribution in distributions if len(distribution.rows) > 1),
        tuple(bar for bar in bars if bar.bars),
        (
            _build_estimate_table(survey),
            *(_tabulate_cumulative(distribution) for distribution in distributions if distribution.rows),
            *_tabulate_reading(survey.reading),
        ),
        rates=tuple(_build_rate_bars(survey.reading)),
    )


def _build_rate_bars(speeds: Sequence[ReadSpeed]) -> Iterator[EstimateBars]:
    for state, label in STATES.items():
        bars = tuple((speed.kind, speed.rate) for speed in speeds if speed.state == state)
        if bars:
            yield EstimateBars(f"Read here, {label}", "bytes/s", bars[:_MOST_BARS])


def _tabulate_reading(speeds: Sequence[ReadSpeed]) -> Iterator[DataTable]:
    rows = tuple(
        (
            speed.kind,
            STATES[speed.state],
            speed.read_bytes,
            speed.rate.value,
            speed.rate.low,
            speed.rate.high,
            speed.rate.n,
        )
        for speed in speeds
    )
    if rows:
        yield DataTable(
            "How fast files were read (bytes/s)", ("type", "state", "bytes", "value", "low", "high", "files"), rows
        )


def _build_treemaps(survey: Survey) -> Iterator[SharedOut]:
    if survey.strata:
        yield SharedOut(
            "Capacity by part",
            "bytes",
            _merge_smaller_parts((stratum.name, float(stratum.capacity)) for stratum in survey.strata),
        )
    shares = [(estimate.name, estimate.inference.estimate.value or 0.0) for estimate in survey.of("type", "capacity")]
    yield SharedOut("Capacity by type", "share", _merge_smaller_parts(shares))


def _merge_smaller_parts(parts: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return the largest parts, and the sum of the others."""
    order = sorted((part for part in parts if part[1] > 0), key=lambda part: -part[1])
    rest = sum(value for _, value in order[_MOST_SQUARES:])
    return (*order[:_MOST_SQUARES], *([(REST, rest)] if rest else []))


def _select_largest(estimates: Iterable[SurveyEstimate]) -> tuple[tuple[str, Estimate], ...]:
    pairs = [
        (estimate.name, estimate.inference.estimate)
        for estimate in estimates
        if (estimate.inference.estimate.value or 0.0) >= _LEAST
    ]
    return tuple(pairs[:_MOST_BARS])


def _list_savings(survey: Survey) -> Iterator[tuple[str, Estimate]]:
    yield from ((f"all, {estimate.name}", estimate.inference.estimate) for estimate in survey.of("saved", "capacity"))
    yield from ((scenario.change.text, scenario.saved) for scenario in survey.what_if if scenario.saved is not None)


def _accumulate_rows(rows: Sequence[WalkRow], column: str) -> tuple[tuple[int | None, float, float], ...]:
    files, size = sum(row.files for row in rows), sum(getattr(row, column) for row in rows)
    if not files or not size:
        return ()
    points, some, bytes_ = [], 0, 0
    for row in rows:
        some, bytes_ = some + row.files, bytes_ + getattr(row, column)
        points.append((row.up_to, some / files, bytes_ / size))
    return tuple(points)


def _build_estimate_table(survey: Survey) -> DataTable:
    rows = tuple(
        (
            estimate.what,
            estimate.name,
            estimate.of,
            estimate.unit,
            estimate.inference.estimate.value,
            estimate.inference.estimate.low,
            estimate.inference.estimate.high,
            estimate.inference.estimate.n,
        )
        for estimate in (*survey.estimates, *survey.quantiles)
    )
    return DataTable("Every estimate", ("what", "name", "of", "unit", "value", "low", "high", "n"), rows)


def _tabulate_cumulative(cumulative: Cumulative) -> DataTable:
    return DataTable(
        cumulative.title, (f"up to ({cumulative.unit})", "share of the files", "share of the capacity"), cumulative.rows
    )
