"""A store's results → one row for each trial, operation and metric, in the order in which they were made.

Rows of single ranks are parts of a trial. A tool's own iterations are inside a trial: their mean stands for it. Where
one execution of each setting is all there is, the iterations are shown themselves, and said to be of one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import FILESYSTEM, TARGET, StoredRun
from iosonde.core.table import Column, Table, column_of

from .asked import ALL, CLOCKS

_SUM_OF_RANKS = "_sum_of_ranks"
# The parts of a command's time: shown when they are asked for.
_BESIDE = ("user_seconds", "system_seconds")

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Trials:
    """``rows`` by time, which ``at`` numbers in the results; ``warnings`` say what was taken for what."""

    rows: Table
    at: Rows
    warnings: tuple[str, ...] = ()


def with_places(results: Table, runs: Sequence[StoredRun], always: Sequence[str] = ()) -> Table:
    """The results with the columns ``filesystem`` and ``target`` of each run, where there are two or it is in
    ``always``, unless a factor has that name."""
    if "run" not in results.columns:
        return results
    by_id = {run.id: run for run in runs}
    of_rows = [by_id.get(str(run)) for run in results.columns["run"].values]
    added: dict[str, Column] = {}
    for name, values in (
        (FILESYSTEM, [None if run is None else run.filesystem for run in of_rows]),
        (TARGET, [None if run is None else run.target for run in of_rows]),
    ):
        if name not in results.columns and (name in always or len(set(values) - {None}) > 1):
            added[name] = column_of(name, values)
    return replace(results, columns={**results.columns, **added}) if added else results


def whole_rows(results: Table) -> npt.NDArray[np.bool_]:
    """True for rows of the whole run; those of single ranks are parts of a trial and no trials."""
    if "rank" not in results.columns:
        return np.ones(len(results), dtype=bool)
    return results.columns["rank"].missing


def trials(results: Table, clock: str) -> Trials:
    """One row for each trial, operation and metric of the ``clock``. Raises DataError for an unknown clock."""
    at, warnings = _of_clock(results, clock)
    rows, places = _of_runs(results.take(at))
    return Trials(rows, at[places], tuple(warnings))


def iterations(results: Table, clock: str) -> Table:
    """As ``trials``, with a row for each of a tool's own iterations."""
    return results.take(_of_clock(results, clock)[0])


def _of_clock(results: Table, clock: str) -> tuple[Rows, list[str]]:
    """The rows of whole runs that are of the clock, by time, and what was taken for it."""
    whole = np.flatnonzero(whole_rows(results))
    shown, warnings = _by_clock(results.take(whole), clock)
    at = whole[shown]
    return at[np.argsort(texts(results, "started_at")[at], kind="stable")], warnings


def refuse_many_kinds(table: Table, columns: Sequence[str]) -> None:
    """Raises InputError where a store's values are of several operations or metrics, with a choice to make."""
    kinds = [key for key, _ in table.groups(columns)]
    kinds.sort(key=lambda key: not any(str(part).endswith("_last_done") for part in key))
    if len(kinds) > 1:
        choice = " ".join(f"--where '{name}={value}'" for name, value in zip(columns, kinds[0], strict=True))
        raise InputError(f"the values are of {len(kinds)} operations and metrics", f"choose one, as {choice}")


def texts(table: Table, name: str) -> npt.NDArray[Any]:
    """A column as text, '' where it lacks a value or is not there."""
    if name not in table.columns:
        return np.full(len(table), "", dtype=object)
    return np.array(["" if value is None else str(value) for value in table.columns[name].values], dtype=object)


def _of_runs(ordered: Table) -> tuple[Table, Rows]:
    """The mean over a tool's own iterations, in the place of the first; and these places."""
    every = np.arange(len(ordered))
    if not len(ordered) or "run" not in ordered.columns:
        return ordered, every
    groups = ordered.groups(["run", "operation", "metric"])
    if len(groups) == len(ordered):
        return ordered, every
    values = ordered.numbers("value").copy()
    first = np.empty(len(groups), dtype=np.intp)
    for place, (_, rows) in enumerate(groups):
        first[place] = rows.min()
        if rows.size > 1:
            values[first[place]] = values[rows].mean()
    table = replace(ordered, columns={**ordered.columns, "value": replace(ordered.columns["value"], values=values)})
    places = np.sort(first)
    return table.take(places), places


def _by_clock(whole: Table, clock: str) -> tuple[Rows, list[str]]:
    """The rows that are of the clock."""
    metrics = texts(whole, "metric")
    if clock == ALL:
        return np.arange(len(whole)), []
    if clock in set(metrics):
        return np.flatnonzero(metrics == clock), []
    if clock not in CLOCKS:
        known = ", ".join([*CLOCKS, ALL, *sorted(set(metrics))])
        raise DataError(f"'{clock}' is neither a clock nor a metric of this store", f"known: {known}")
    others = tuple(f"_{name}" for name in CLOCKS if name != clock)
    keep = np.array([not metric.endswith(others) and metric not in _BESIDE for metric in metrics], dtype=bool)
    # An operation may have numbers without a clock, too, as its time: they are no rate of this clock.
    operations = texts(whole, "operation")
    of_clocks, of_this = (
        np.array([metric.endswith(ends) for metric in metrics], dtype=bool)
        for ends in ((*others, f"_{clock}"), f"_{clock}")
    )
    without = sorted(set(operations[of_clocks]) - set(operations[of_this]))
    if not without:
        return np.flatnonzero(keep), []
    fallback = np.array([m.endswith(_SUM_OF_RANKS) for m in metrics], dtype=bool) & np.isin(operations, without)
    said = (
        f"no {clock} rate of {', '.join(without)} (the nodes' clocks cannot be compared, or a tool's output does not "
        "say enough): the sum of ranks is shown"
    )
    return np.flatnonzero(keep | fallback), [said] if fallback.any() else []
