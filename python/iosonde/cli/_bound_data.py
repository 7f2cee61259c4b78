"""The cells of DATA with the ceiling that holds for each, for ``iosonde bound``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from iosonde.core.errors import DataError, InputError

from ._bound_inputs import Inputs, of_column

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.model.bound.shares import Share
    from iosonde.stats.overview.cells import TrialCell

    from ._data import Source


@dataclass(frozen=True)
class Asked:
    """What to take of DATA: columns, the rate's unit where the column does not say it, bytes for a time, the clock."""

    response: Sequence[str]
    by: Sequence[str] | None
    unit: str | None
    data: float | None
    clock: str
    operation: str | None


def shares(source: Source, inputs: Inputs, asked: Asked, level: float) -> tuple[list[Share], list[str]]:
    """Every measured cell against its bound, and what to say about it. Raises InputError where nothing is a rate."""
    from iosonde.model.bound.bound import ceiling
    from iosonde.model.bound.shares import Share, share_of

    cells, table = _cells(source, inputs, asked)
    if source.store is not None and "clients" not in inputs.columns and "nodes" in table.columns:
        inputs = replace(inputs, columns=inputs.columns | {"clients": "nodes"})
    found, warnings = [], list[str]()
    for cell in cells:
        scale, said = _scale(cell, asked)
        if scale is None or not cell.values.size:
            continue
        warnings += [said] if said and said not in warnings else []
        of_time = (asked.unit or cell.unit) in TIMES
        _check_rates(cell, of_time, source.store is None, table)
        values = asked.data * scale / cell.values if of_time and asked.data else cell.values * scale
        fields = {name: of_column(table, name, column, cell.rows) for name, column in inputs.columns.items()}
        fields["operation"] = asked.operation or ("read" if "read" in f"{cell.operation}{cell.metric}" else "write")
        made, worst, best = (ceiling(replace(one, **fields)) for one in (inputs.system, inputs.worst, inputs.best))
        measured, share, verdict = share_of(values, made, level, worst.s, best.s)
        runs = tuple(table.columns["run"].values[cell.rows]) if source.store is not None else ()
        found.append(Share(cell.by, cell.operation, cell.metric, made, measured, share, verdict, runs))
    if not found:
        raise InputError("nothing in DATA is a rate of bytes", "name the column with --response, its unit with --unit")
    return found, warnings


def _check_rates(cell: TrialCell, of_time: bool, has_lines: bool, table: Table) -> None:
    """Raises DataError at the first trial that is no rate: below 0, or a time that is not above it."""
    wrong = cell.values <= 0 if of_time else cell.values < 0
    if wrong.any():
        first = int(wrong.argmax())
        at = table.place(int(cell.rows[first])) if has_lines and cell.rows is not None else cell.name
        raise DataError(f"{at}, column '{cell.metric}': {cell.values[first]:g} is no {'time' if of_time else 'rate'}",
                        f"leave such trials out, as --where '{cell.metric}>0'")  # fmt: skip


TIMES = {
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "ms": 1e3,
    "us": 1e6,
    "µs": 1e6,
    "ns": 1e9,
    "min": 1 / 60,
    "h": 1 / 3600,
}


def _cells(source: Source, inputs: Inputs, asked: Asked) -> tuple[list[TrialCell], Table]:
    """(cells, the rows that they number)."""
    from iosonde.data import roles
    from iosonde.stats.overview.cells import cells_of

    if source.store is not None and not asked.response:
        made = source.measured(asked.clock)
        return list(made.cells), made.rows
    table = source.trials(asked.response[0] if asked.response else None, asked.by or ())
    guessed = roles.guess(table, asked.response, asked.by)
    by = [*guessed.settings, *(c for c in inputs.columns.values() if c not in guessed.settings)]
    return cells_of(table, guessed.responses, by), table


def _scale(cell: TrialCell, asked: Asked) -> tuple[float | None, str]:
    """(bytes/s of one unit, or units of a second; None for what is neither) and what is in doubt."""
    from iosonde.core.column_units import bytes_per_s

    unit = asked.unit or cell.unit
    if unit in TIMES and asked.data:
        return TIMES[unit], ""
    readings = bytes_per_s(unit)
    if not readings:
        return None, ""
    if len(readings) < 2 or asked.unit:
        return readings[0], ""
    return readings[0], (
        f"{unit} is taken for {readings[0]:g} bytes/s; were it {readings[1]:g}, shares would be "
        f"{readings[1] / readings[0]:.3f} times as large (--unit)"
    )


def memory_warnings(memory: dict[str, float | None], data: float | None, clients: float, servers: float) -> list[str]:
    """Where the data fits into a memory, reads and unsynced writes may never have met a disk (``memory``: of one)."""
    from iosonde.core.units import format_size

    said: list[str] = []
    for who, n in (("client", clients), ("server", servers)):
        have = memory.get(who)
        if have and data and data / n <= have:
            said.append(
                f"{format_size(data / n)} for each {who} fit into its memory of {format_size(have)}: a cache may serve "
                "them; use more than twice the memory"
            )
    return said
