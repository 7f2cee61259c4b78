"""Comparison of the two sides of a change in a history: the points of its series before it with those after it."""

from iosonde.commands.compare.answer import compare
from iosonde.commands.compare.compared import Comparisons
from iosonde.commands.compare.sides import Sides
from iosonde.core.table import Table, build_column
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data

from .change import SeriesChange

_SIDE, _BEFORE, _AFTER = "points", "before", "after"


def compare_sides(change: SeriesChange) -> Comparisons:
    """Compare the two sides of a change. Points are those of the history: trials, or means of one experiment's trials,
    which share their moment and are not repetitions."""
    series, (begin, at, end) = change.series, change.places
    name = f"{series.operation} {series.metric.name}"
    columns = {
        name: build_column(name, series.values[begin:end].tolist(), name, series.metric.unit),
        _SIDE: build_column(_SIDE, [_BEFORE] * (at - begin) + [_AFTER] * (end - at)),
    }
    comparisons = compare(
        open_data(Table(columns, series.title)), ResponseQuery((name,)), Sides((_BEFORE, _AFTER), _SIDE)
    )
    assert isinstance(comparisons, Comparisons)
    return comparisons
