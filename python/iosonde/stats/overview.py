"""Everything that ``summary`` and the page show, computed once: rows in, Overview out.

For a store the cells are operation × metric × the settings that vary; for a plain table the user says what to
group by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.schema import CENTRE, OBSERVED_FACTORS, PROBE_FACTORS, READ_FACTORS

from . import checks, words
from .cells import TrialCell, cells_of, hidden_factors, missing_values
from .column_units import is_rate
from .overview_types import Efficiency, Latency, Overview, Row
from .percentiles import PERCENTILES, TrialPercentiles, over_trials
from .scaling import efficiencies
from .stopping import stein_interval
from .summarise import coefficient_of_variation, harmonic_mean, mean, median, standard_deviation
from .table import Table

# The parts of a command's time: shown when they are asked for.
_BESIDE = ("user_seconds", "system_seconds")
CLOCKS = ("last_done", "first_done", "sum_of_ranks", "overlap")
# What identifies a trial or describes the row; never a setting to group by.
_BOOKKEEPING = ("operation", "metric", "value", "unit", "rank", "repetition", "count", "includes", "run", "experiment",
                "started_at", "source", "complete", "block", "order", "seed", "seconds")  # fmt: skip
_SIZES = ("nodes", "ranks")
_AMOUNTS = ("s", "bytes", "operations")


def of_table(table: Table, responses: Sequence[str], by: Sequence[str], level: float) -> Overview:
    """The overview of a plain table: every response in every group of the columns ``by``. Raises DataError."""
    cells = [cell for cell in cells_of(table, responses, by) if cell.values.size]
    warnings = list(table.warnings)
    for response in responses:
        absent = missing_values(table, response)
        if absent:
            where = f"{absent[0]}{' and others' if len(absent) > 1 else ''}"
            warnings.append(f"column '{response}' has {len(absent)} missing of {len(table)} values ({where}): left out")
    return _overview(cells, level, (), table, by=[table.column(name).name for name in by], warnings=warnings)


def of_store(
    results: Table,
    level: float,
    runs: Sequence[Mapping[str, Any]] = (),
    latencies: Mapping[str, Sequence[TrialPercentiles]] | None = None,
    clock: str = CLOCKS[0],
    pilot: int | None = None,
) -> Overview:
    """The overview of a store's results (``Store.results`` as a Table): whole-run rows only, one value a trial.

    ``runs`` are contents of run.json (incomplete ones too: they become a finding), ``latencies`` the
    percentiles of each run by run id, ``clock`` one of :data:`CLOCKS`, ``all``, or the name of a metric.
    ``pilot``: so many trials fixed the number of trials by Stein's rule, whose interval the means then carry.
    """
    ordered, warnings = trials(results, clock)
    by = settings(ordered)
    cells = _store_cells(ordered, by)
    latency = _latency(runs, latencies or {}, by, level)
    return _overview(cells, level, runs, ordered, by, warnings, latency, pilot, _observed(ordered))


def trials(results: Table, clock: str) -> tuple[Table, list[str]]:
    """One row for each trial, operation and metric of the ``clock``, in the order they were made; and what to
    say about it."""
    shown, warnings = _by_clock(results.take(whole_rows(results)), clock)
    return shown.take(np.argsort(_texts(shown, "started_at"), kind="stable")), warnings


def cells_of_store(results: Table, clock: str) -> tuple[list[TrialCell], Table, list[str], dict[str, list[str]]]:
    """(cells, the rows behind them, the settings that make them, what varied in them unseen) of a store."""
    ordered, _ = trials(results, clock)
    by = settings(ordered)
    cells = _store_cells(ordered, by)
    return cells, ordered, by, _hidden(ordered, cells, _observed(ordered))


def settings(results: Table) -> list[str]:
    """The factors that vary over the store's runs and are settings, not bookkeeping.

    Of factors that always change together only the first is kept; one whose values hardly ever come twice is an
    observation and no setting.
    """
    kept: list[str] = []
    if "run" not in results.columns or not len(results):
        return kept
    runs = results.take(_first_rows(results, "run"))
    first = [name for name in ("nodes", "ranks_per_node", "ranks") if name in runs.columns]
    never = (*_BOOKKEEPING, *OBSERVED_FACTORS, *PROBE_FACTORS, CENTRE)
    for name in first + [name for name in runs.columns if name not in first and plain(name) not in never]:
        codes, levels = runs.columns[name].codes()
        if len(levels) < 2 or (name not in first and 2 * len(levels) > len(runs)):
            continue
        if len(runs.groups(kept)) == len(runs.groups([*kept, name])) and kept:
            continue
        kept.append(name)
    return kept


def _overview(
    cells: Sequence[TrialCell], level: float, runs: Sequence[Mapping[str, Any]], table: Table, by: Sequence[str],
    warnings: Sequence[str] = (), latency: Sequence[Latency] = (), pilot: int | None = None,
    bookkeeping: Sequence[str] = (),
) -> Overview:  # fmt: skip
    rows = tuple(row_of(cell, level, pilot) for cell in cells)
    hidden = _hidden(table, cells, bookkeeping)
    efficiency = tuple(_efficiency(cells, level))
    findings = checks.run(checks.Subject(cells, level, runs, table, hidden), checks.SUMMARY)
    sentence = words.closing(rows, efficiency)
    return Overview(rows, tuple(latency), efficiency, tuple(findings), sentence, level, tuple(by), tuple(warnings))


def row_of(cell: TrialCell, level: float, pilot: int | None = None) -> Row:
    """The statistics of one cell; beyond a ``pilot`` that fixed n the mean's interval is Stein's."""
    x = cell.values
    staged = pilot is not None and x.size > pilot
    rate = is_rate(cell.unit) and bool(np.all(x > 0))
    center = stein_interval(x, pilot, level) if staged and pilot else mean(x, level)
    return Row(
        cell.operation, cell.metric, cell.unit, cell.by, int(x.size),
        center.within(low=lowest_mean(cell)), median(x, level),
        sd=standard_deviation(x) if x.size > 1 else None,
        cv=coefficient_of_variation(x, level).value if x.size > 1 else None,
        harmonic_mean=harmonic_mean(x, level).value if rate else None,
    )  # fmt: skip


def lowest_mean(cell: TrialCell) -> float | None:
    """0 for a rate, a time or an amount, whose mean cannot be below it; None where the mean can be anything."""
    positive = bool(np.all(cell.values > 0))
    return 0.0 if positive and (is_rate(cell.unit) or cell.unit in _AMOUNTS) else None


def _hidden(table: Table, cells: Sequence[TrialCell], leave_out: Sequence[str]) -> dict[str, list[str]]:
    """What varied unseen inside cells; who read, and from which cache, matters to reads alone."""
    reads = {cell.name for cell in cells if cell.operation.startswith("read")}
    found = {}
    for name, where in hidden_factors(table, cells, leave_out).items():
        kept = [cell for cell in where if cell in reads] if name in READ_FACTORS else where
        if kept:
            found[name] = kept
    return found


def plain(name: str) -> str:
    """The factor's own name: a store writes ``factor_`` before one that a column of results has already."""
    return name.removeprefix("factor_")


def whole_rows(results: Table) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """True for rows of the whole run; those of single ranks are parts of a trial and no trials."""
    if "rank" not in results.columns:
        return np.ones(len(results), dtype=bool)
    return results.columns["rank"].missing


def _by_clock(whole: Table, clock: str) -> tuple[Table, list[str]]:
    metrics = _texts(whole, "metric")
    if clock == "all":
        return whole, []
    if clock in set(metrics):
        return whole.take(metrics == clock), []
    if clock not in CLOCKS:
        known = ", ".join([*CLOCKS, "all", *sorted(set(metrics))])
        raise DataError(f"'{clock}' is neither a clock nor a metric of this store", f"known: {known}")
    others = tuple(f"_{name}" for name in CLOCKS if name != clock)
    keep = np.array([not metric.endswith(others) and metric not in _BESIDE for metric in metrics], dtype=bool)
    operations = _texts(whole, "operation")
    without = sorted(set(operations) - set(operations[keep]))
    if not without:
        return whole.take(keep), []
    fallback = np.array([m.endswith("_sum_of_ranks") for m in metrics], dtype=bool) & np.isin(operations, without)
    said = (
        f"no {clock} rate of {', '.join(without)} (the nodes' clocks cannot be compared, or a tool's output does not "
        "say enough): the sum of ranks is shown"
    )
    return whole.take(keep | fallback), [said] if fallback.any() else []


def _store_cells(ordered: Table, by: Sequence[str]) -> list[TrialCell]:
    if len(ordered) == 0:
        return []
    values, units, runs = ordered.numbers("value"), _texts(ordered, "unit"), _texts(ordered, "run")
    found = []
    for key, rows in ordered.groups(["operation", "metric", *by]):
        rows = np.sort(rows)
        setting = dict(zip(by, key[2:], strict=True))
        found.append(TrialCell(setting, str(key[1]), str(units[rows[0]]), values[rows], str(key[0]), rows,
                               tuple(f"run {runs[row]}" for row in rows)))  # fmt: skip
    return found


def _latency(
    runs: Sequence[Mapping[str, Any]],
    latencies: Mapping[str, Sequence[TrialPercentiles]],
    by: Sequence[str],
    level: float,
) -> list[Latency]:
    cells: dict[tuple[Any, ...], list[TrialPercentiles]] = {}
    for run in runs:
        if run.get("missing"):
            continue
        setting = tuple(run.get("factors", {}).get(plain(name)) for name in by)
        for trial in latencies.get(str(run.get("id")), ()):
            cells.setdefault((trial.operation, trial.kind, *setting), []).append(trial)
    order = {key[:2]: place for place, key in reversed(list(enumerate(cells)))}
    found = []
    for key in sorted(cells, key=lambda key: (order[key[:2]], *map(_sortable, key[2:]))):
        trials = cells[key]
        fewest = min(trial.n_operations for trial in trials)
        for percentile in PERCENTILES:
            found.append(Latency(key[0], key[1], dict(zip(by, key[2:], strict=True)), percentile, fewest,
                                 over_trials(trials, percentile, level)))  # fmt: skip
    return found


def _efficiency(cells: Sequence[TrialCell], level: float) -> list[Efficiency]:
    families: dict[tuple[Any, ...], dict[float, Any]] = {}
    for cell in cells:
        factor = next((name for name in _SIZES if isinstance(cell.by.get(name), (int, float))), None)
        if factor is None or not is_rate(cell.unit):
            continue
        rest = tuple((name, value) for name, value in cell.by.items() if name != factor)
        families.setdefault((cell.operation, cell.metric, factor, rest), {})[float(cell.by[factor])] = cell.values  # type: ignore[arg-type]
    found = []
    for (operation, metric, factor, rest), trials in families.items():
        for size, estimate in efficiencies(trials, level).items():
            found.append(Efficiency(operation, metric, dict(rest), factor, min(trials), size, estimate))
    return found


def _texts(table: Table, name: str) -> np.ndarray[Any, np.dtype[Any]]:
    if name not in table.columns:
        return np.full(len(table), "", dtype=object)
    return np.array(["" if value is None else str(value) for value in table.columns[name].values], dtype=object)


def _observed(table: Table) -> list[str]:
    """Columns of a store that are no factor: only ``experiment``, ``source`` and ``includes`` may hide one."""
    telling = ("experiment", "source", "includes")
    return [name for name in table.columns if plain(name) in _BOOKKEEPING and name not in telling]


def _first_rows(table: Table, name: str) -> np.ndarray[Any, np.dtype[np.intp]]:
    return np.sort(np.unique(_texts(table, name).astype(str), return_index=True)[1])


def _sortable(value: Any) -> tuple[bool, float, str]:
    number = isinstance(value, (int, float))
    return (not number, float(value) if number else 0.0, str(value))
