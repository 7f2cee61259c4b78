"""The section of the page on a history: the series with the newest regression drawn, and every change in a table."""

from iosonde.core.headlines import build_name_writer
from iosonde.core.words import format_ratio_interval
from iosonde.page.tables import PageSection, SectionTable

from .answer import Watch
from .change import SeriesChange
from .figure import history_figure

_COLUMNS = ("series", "× the level before", "first after", "changed there", "state")
_MOST = 20
_DATE = 10  # characters of an ISO date


def build_section(watch: Watch) -> PageSection:
    """Return the section."""
    write = build_name_writer([series.name for series in watch.series]) or str
    changes = [*watch.regressions, *watch.open_regressions]
    changes += [change for change in watch.changes if change not in changes]
    series = changes[0].series if changes else watch.series[0]
    drawn = [change for change in reversed(watch.changes) if change.series is series]
    title = write(series.title)
    rows = tuple(_build_row(change, write(change.series.title)) for change in changes[:_MOST])
    tables = (SectionTable("Changes", _COLUMNS, rows, 1),) if rows else ()
    sentence = write(watch.sentence)
    note = f"{sentence} By iosonde watch, over all nights; below: {title}."
    figure = history_figure(series, drawn)
    return PageSection("History", "What changed over time", note, figure, title, tables, sentence)


def _build_row(change: SeriesChange, title: str) -> tuple[str, ...]:
    first = change.first_after
    ratio = f"{format_ratio_interval(change.levels.ratio)}, {change.word}"
    return title, ratio, first.started_at[:_DATE] or first.id, change.cause, change.state or change.heading
