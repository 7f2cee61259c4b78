"""Convert a store's results to one row per trial, operation and metric, in order of time.

Rows of single ranks are parts of a trial. A tool's own iterations are inside a trial: their mean represents it. If each
setting was executed only once, the iterations themselves are shown, and labelled as within one run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import spell
from iosonde.core.stored import MAXIMUM, PLACES, StoredRun, strip_factor_prefix
from iosonde.core.table import Table, build_column
from iosonde.core.types import Experiment, level_text
from iosonde.core.units import parse_typed_sizes

from .choice import Foreign, Rows, choose_rows, column_to_texts
from .query import MetricChoice

KIND = ("operation", "metric")  # the columns


@dataclass(frozen=True)
class Trials:
    """The trials: ``rows`` by time, with their numbers ``at`` in the results; ``warnings`` about substitutions.
    ``iterations`` has a row for each of a tool's own iterations."""

    rows: Table
    at: Rows
    warnings: tuple[str, ...] = ()
    iterations: Table = field(default_factory=lambda: Table({}))


def add_place_columns(results: Table, runs: Sequence[StoredRun], always: Sequence[str] = ()) -> Table:
    """Add the columns ``filesystem``, ``target`` and ``structure`` of each run, if there are two values or it is in
    ``always``, and ``maximum``, if a run has one. Factors of the same name take precedence."""
    facts = {run.id: {**run.places, MAXIMUM: run.maximum} for run in runs}
    rows = [facts.get(str(run), {}) for run in results.columns["run"].values]
    values = {name: [row.get(name) for row in rows] for name in (*PLACES, MAXIMUM) if name not in results.columns}
    maximum = values.pop(MAXIMUM, [])
    levels = {name: {value for value in cells if value is not None} for name, cells in values.items()}
    added = {name: build_column(name, values[name]) for name in levels if name in always or len(levels[name]) > 1}
    alike = {name: str(next(iter(levels[name]), "")) for name in levels if name not in added}
    if any(maximum):
        added[MAXIMUM] = build_column(MAXIMUM, maximum, unit="bytes/s")
    return replace(results, columns={**results.columns, **added}, alike=alike)


def apply_declarations(results: Table, experiments: Sequence[Experiment], runs: Sequence[StoredRun]) -> Table:
    """Add the units of factors, and the order of their levels, as declared by their experiments; importers store
    columns named as sizes in bytes."""
    factors = [factor for experiment in experiments for factor in experiment.factors]
    declared = group_by_key((factor.name, level) for factor in factors for level in factor.levels)
    units = {name: unit for name, unit in map_factor_units(experiments, runs).items() if unit == "bytes"}
    columns = {
        name: replace(
            column,
            unit=column.unit or units.get(strip_factor_prefix(name), ""),
            order=tuple(map(level_text, dict.fromkeys(declared.get(strip_factor_prefix(name), ()))))
            if not column.numeric
            else (),
        )
        for name, column in results.columns.items()
    }
    return replace(results, columns=columns)


def map_factor_units(experiments: Sequence[Experiment], runs: Sequence[StoredRun]) -> dict[str, str]:
    """Return factor → unit of its levels: as declared by experiments, or bytes for levels written as sizes; importers
    store factors named as sizes in bytes."""
    settings = [setting for run in runs for setting in run.settings]
    units = {name: "bytes" for setting in settings for name in setting if name.endswith("_size")}
    levels = group_by_key(pair for setting in settings for pair in setting.items())
    units |= {name: "bytes" for name, values in levels.items() if parse_typed_sizes(dict.fromkeys(values))}
    return units | map_declared_units(experiments)


def map_declared_units(experiments: Sequence[Experiment]) -> dict[str, str]:
    """Return factor → unit, as far as the experiments declare units."""
    return {factor.name: factor.unit for experiment in experiments for factor in experiment.factors if factor.unit}


def mask_run_rows(results: Table) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows of whole runs; those of single ranks are parts of a trial, not trials."""
    if "rank" not in results.columns:
        return np.ones(len(results), dtype=bool)
    return results.columns["rank"].missing


def select_trials(table: Table, choice: MetricChoice, foreign: Foreign) -> Trials:
    """Return one row per trial, operation and metric of the choice. ``table``: rows of whole runs, classified by
    ``foreign``. Raises DataError for an unknown clock or metric."""
    at, warnings = choose_rows(table, choice, foreign)
    at = at[np.argsort(column_to_texts(table, "started_at")[at], kind="stable")]
    iterations = table.take(at)
    rows, places = _average_iterations(iterations)
    return Trials(rows, at[places], tuple(warnings), iterations)


def check_single_kind(table: Table, columns: Sequence[str]) -> None:
    """Check that a store's values are of one operation and metric. Raises InputError with an example of a choice."""
    kinds = sorted(
        (key for key, _ in table.groups(columns)),
        key=lambda key: not any(str(part).endswith("_last_done") for part in key),
    )
    if len(kinds) > 1:
        raise InputError(
            "ambiguous-metric",
            "the values belong to {n_kinds} operations and metrics",
            "choose one, such as {example}",
            n_kinds=len(kinds),
            example=" ".join(f"{spell.where:'{name}={value}'}" for name, value in zip(columns, kinds[0], strict=True)),
        )


def _average_iterations(ordered: Table) -> tuple[Table, Rows]:
    """Return the mean over a tool's own iterations, in place of the first, and these positions."""
    groups = [rows for _, rows in ordered.groups(["run", *KIND, *ordered.inside])]
    if len(groups) == len(ordered):
        return ordered, np.arange(len(ordered))
    values = ordered.numbers("value")
    for rows in groups:
        if rows.size > 1:
            values[rows[0]] = values[rows].mean()
    table = replace(ordered, columns={**ordered.columns, "value": replace(ordered.columns["value"], values=values)})
    places = np.sort([rows[0] for rows in groups])
    return table.take(places), places
