"""``/metrics`` in the text format 0.0.4 of Prometheus: newest headline numbers, states of series, times of runs."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from iosonde.commands.watch.states import SeriesState
from iosonde.core.headlines import format_metric
from iosonde.core.table import format_cell
from iosonde.layout.text import escape
from iosonde.serve.shelf import Shelf
from iosonde.store.index_query import IndexView

from .experiments import Board, SeriesRow, read_board
from .web_page import Address, WebPage

KIND = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE_S = 8.0  # a scrape is given up after 10 s

# Labels of this page, and those that Prometheus adds to what it scrapes
_RESERVED = frozenset(
    ("store", "operation", "metric", "metric_name", "unit", "settings", "experiment", "state", "job", "instance")
)

Labels = Mapping[str, str]


@dataclass
class MetricFamily:
    """A metric with its samples: labels and value."""

    name: str
    text: str
    samples: dict[str, float] = field(default_factory=dict)

    def add(self, labels: Labels, value: float | None) -> None:
        """Add a sample; a missing number is none. A second one with the same labels is left out."""
        if value is not None and math.isfinite(value):
            self.samples.setdefault(format_labels(labels), float(value))

    def list_lines(self) -> list[str]:
        """Return the lines of the metric; none without a sample."""
        if not self.samples:
            return []
        samples = [f"{self.name}{labels} {value!r}" for labels, value in self.samples.items()]
        return [f"# HELP {self.name} {self.text}", f"# TYPE {self.name} gauge", *samples]


def render_metrics(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/metrics``."""
    board = read_board(shelf, shelf.stores, (), _PATIENCE_S, only_history=False)
    families = [*_describe_stores(shelf), *_describe_series(shelf, board), _describe_completeness(board)]
    lines = [line for family in families for line in family.list_lines()]
    return WebPage("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"), KIND)


def _describe_completeness(board: Board) -> MetricFamily:
    family = MetricFamily("iosonde_complete", "1 if every number is there, 0 while some are being computed.")
    family.add({}, float(not board.is_waiting))
    return family


def _describe_stores(shelf: Shelf) -> Iterator[MetricFamily]:
    experiments = MetricFamily("iosonde_experiments", "Experiments of a store.")
    runs = MetricFamily("iosonde_runs", "Runs of a store.")
    unreadable = MetricFamily("iosonde_unreadable_runs", "Damaged runs of a store.")
    newest = MetricFamily("iosonde_newest_run_timestamp_seconds", "When the newest run of a store was started.")
    for shelved in shelf.stores:
        labels, view = {"store": shelved.name}, IndexView(shelf.index, (shelved.number,))
        for family, count in zip((experiments, runs, unreadable), view.counted(), strict=True):
            family.add(labels, count)
        (last, *_) = view.experiments(0, 1) or (None,)
        newest.add(labels, None if last is None else _parse_time(last.last))
    yield from (experiments, runs, unreadable, newest)


def _describe_series(shelf: Shelf, board: Board) -> Iterator[MetricFamily]:
    value = MetricFamily("iosonde_headline", "Mean of the newest experiment of a series, in the unit of its label.")
    low = MetricFamily("iosonde_headline_low", "Lower end of the interval of the mean.")
    high = MetricFamily("iosonde_headline_high", "Upper end of the interval of the mean.")
    trials = MetricFamily("iosonde_headline_trials", "Trials of the mean.")
    when = MetricFamily("iosonde_headline_timestamp_seconds", "When the newest point of a series was measured.")
    state = MetricFamily("iosonde_series_state", "1 for the state of a series as iosonde watch determines it, else 0.")
    points = MetricFamily("iosonde_series_points", "Points of a series.")
    names = _name_experiments(shelf)
    for row in board.list_series_rows(only_history=False):
        newest = row.series.points[-1]
        labels = _label_series(row)
        headline_labels = {
            **labels,
            "experiment": names.get((row.shelved.number, newest.experiment), newest.experiment),
        }
        value.add(headline_labels, row.newest.value if row.newest else newest.value)
        when.add(headline_labels, _parse_time(newest.started_at))
        if row.newest:
            low.add(headline_labels, row.newest.low)
            high.add(headline_labels, row.newest.high)
            trials.add(headline_labels, row.newest.n)
        points.add(labels, row.series.n_points)
        for name in SeriesState:
            state.add({**labels, "state": name}, float(row.series.state == name))
    yield from (value, low, high, trials, when, state, points)


def _label_series(row: SeriesRow) -> Labels:
    series = row.series
    return {
        "store": row.shelved.name,
        "operation": series.operation,
        "metric": series.metric,
        "unit": series.unit,
        "metric_name": format_metric(series.metric, series.operation),
        "settings": series.setting,
    } | name_setting_labels(series.by)


def name_setting_labels(levels: Mapping[str, Any]) -> dict[str, str]:
    """Return a label for each setting, in letters, digits and ``_``; ``setting_`` is prepended to a name that another
    label has, or that is none."""
    labels: dict[str, str] = {}
    for setting, level in levels.items():
        name = re.sub(r"[^A-Za-z0-9_]", "_", setting)
        while name in labels or name in _RESERVED or not re.match("[A-Za-z]", name):
            name = f"setting_{name}"
        labels[name] = f"{level:.15g}" if isinstance(level, float) else format_cell(level)
    return labels


def _name_experiments(shelf: Shelf) -> dict[tuple[int, str], str]:
    """Map store and id of the experiments that have a name to it: nights of one name are one label."""
    with_names = (experiment for experiment in shelf.view.experiments(0, 10_000) if experiment.name)
    return {(experiment.store, experiment.id): experiment.name for experiment in with_names}


def _parse_time(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def format_labels(labels: Labels) -> str:
    """Return ``{name="value",…}``; '' without labels."""
    pairs = ",".join(f'{name}="{_escape_label(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escape_label(text: str) -> str:
    """Escape a value: control characters are visible, then as the format demands."""
    return escape(text).replace("\\", "\\\\").replace('"', '\\"')
