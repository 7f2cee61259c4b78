"""The history on a page of many nights: what ``watch`` says of them with its defaults."""

from contextlib import suppress

from iosonde.core.errors import InputError
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.store.decisions import locate_decisions, read_decisions

from .answer import Watch, watch
from .history import collect_history

_MIN_NIGHTS = 10  # of a history: a change has 5 on either side


def build_part(source: Source, level: float) -> Watch | None:
    """Return the changes of a store with several experiments, or of a table with dates; None without a history."""
    query = ResponseQuery(level=level)
    with suppress(InputError):  # a table without an order in time
        series = collect_history(source, query).series
        if any(len({run.experiment for run in item.runs}) >= _MIN_NIGHTS for item in series):
            return watch(source, query, decisions=read_decisions(locate_decisions(source.name)))
    return None
