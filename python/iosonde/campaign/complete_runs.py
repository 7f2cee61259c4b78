"""The complete runs of an experiment as rows, stored or new: what rules that look after every block see of them."""

import difflib
from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.deciding import Name, list_readable_names, select_clocked_values
from iosonde.core.errors import InputError
from iosonde.core.types import Experiment, FactorValue, Run
from iosonde.store import Store

_ROW = ("operation", "metric", "unit", "value", "includes")

Rows = list[tuple[str, str, str, float]]  # operation, metric, unit, value


def iterate_complete_runs(store: Store, experiment: Experiment) -> Iterator[tuple[Mapping[str, FactorValue], Rows]]:
    """Yield (factors, rows) of each stored run; incomplete ones never count."""
    rows: dict[str, list[tuple[str, str, str, float, str]]] = {}
    for row in store.results(experiment=experiment.id).to_pylist():
        if row["rank"] is None:
            rows.setdefault(row["run"], []).append(tuple(row[name] for name in _ROW))
    for run in store.runs(experiment=experiment.id):
        if not run["missing"]:
            yield run["factors"], select_clocked_values(rows.get(run["id"], ()))


def list_clocked_rows(run: Run) -> Rows:
    """Return the rows of a new run."""
    rows = [
        (row.operation, row.metric, row.unit, row.value, row.includes) for row in run.observations if row.rank is None
    ]
    return select_clocked_values(rows)


def create_unknown_metric_error(metric: str, names: Sequence[Name]) -> InputError:
    """Return the error for a deciding metric that the runs lack."""
    readable = list_readable_names(names)
    return InputError(
        "unknown-metric",
        "unknown metric '{metric}'",
        "known: {suggestions}",
        metric=metric,
        suggestions=", ".join(difflib.get_close_matches(metric, readable, 3, 0.5) or readable[:30]),
    )
