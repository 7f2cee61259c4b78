"""Conditions that no row of DATA fulfils: the error with the levels that there are."""

from iosonde.core.errors import DataError
from iosonde.core.level_text import format_level
from iosonde.data.source import Source

_MOST_LEVELS = 8


def check_rows(source: Source) -> None:
    """Raise DataError if conditions leave no row, with the levels of their columns where DATA has runs."""
    if not source.where or len(source.table):
        return
    levels = "; ".join(filter(None, (_list_levels(source, column) for column, _, _ in source.where)))
    raise DataError(
        "no-matching-rows",
        "{name}: no row fulfils {conditions}",
        "there are: {levels}" if levels else "look at the values of these columns",
        name=source.name,
        conditions=" and ".join(f"{column}{op}{value}" for column, op, value in source.where),
        levels=levels,
    )


def _list_levels(source: Source, column: str) -> str:
    levels = dict.fromkeys(run.level(column) for run in source.all_runs)
    units = source.units()
    texts = [format_level(level, units.get(column, "")) for level in levels if level is not None]
    more = f" and {len(texts) - _MOST_LEVELS} more" if len(texts) > _MOST_LEVELS else ""
    return f"{column}={', '.join(texts[:_MOST_LEVELS])}{more}" if texts else ""
