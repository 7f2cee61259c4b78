"""The runs of one experiment of a source, with the rows of each."""

from collections.abc import Iterator, Mapping

from iosonde.core.deciding import select_clocked_values
from iosonde.core.grouping import group_by_key
from iosonde.core.types import Experiment, FactorValue
from iosonde.data.source import Source

Rows = list[tuple[str, str, str, float]]  # operation, metric, unit, value


def iterate_run_rows(source: Source, experiment: Experiment) -> Iterator[tuple[Mapping[str, FactorValue], Rows]]:
    """Yield (factors, rows) of each run that the source includes."""
    table = source.run_rows
    columns = [table.columns[name].values for name in ("run", "metric", "unit", "value", "includes")]
    rows = group_by_key(
        (str(run), (operation, str(metric), str(unit), float(value), str(inside or "")))
        for operation, run, metric, unit, value, inside in zip(table.operation_names(), *columns, strict=True)
    )
    for stored_run in source.runs:
        if stored_run.experiment == experiment.id and stored_run.id in rows:
            yield stored_run.factors, select_clocked_values(rows[stored_run.id])
