"""DATA of ``iosonde time-model``: rows or operations, fitted by lines or put to the nearest condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun, plain
from iosonde.core.types import Estimate
from iosonde.core.units import parse_size

if TYPE_CHECKING:
    import numpy as np

    from iosonde.model.time_model import Classified, Condition, Line

    from ._data import Source

    Array = np.ndarray[Any, np.dtype[np.float64]]

_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Columns:
    """Of a table: the times, the sizes, and what tells the groups apart (None: one group)."""

    response: str | None
    on: str | None
    by: str | None


@dataclass(frozen=True)
class Group:
    """One operation at one setting: the share of each condition, the share of the time that was lost, and the share of
    the operations that no condition explains."""

    name: str
    n_operations: int
    shares: dict[str, Estimate]
    lost: Estimate
    beyond: Estimate

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        return {
            "group": self.name, "n_operations": self.n_operations, "lost": self.lost.to_json(),
            "beyond": self.beyond.to_json(),
            "conditions": [{"condition": name, **e.flat("share")} for name, e in self.shares.items()],
        }  # fmt: skip


def of_store(source: Source, found: Sequence[Condition], level: float) -> tuple[list[Group], list[str]]:
    """Reads and writes of every phase whose operations were all kept; one run in memory at a time.

    The unit is the trial: shares are means over trials. Raises DataError where nothing was recorded.
    """
    import numpy as np

    from iosonde import _native
    from iosonde.explain.waterfall import DATA_KINDS
    from iosonde.model.time_model import classify

    assert source.store is not None
    by = source.data.known.names
    kinds = [place for place, name in enumerate(_native.KINDS) if name in DATA_KINDS]
    trials: dict[str, list[Classified]] = {}
    notes: dict[str, None] = {}
    for run in source.runs():
        rows = None if run.get("missing") else source.store.operations(run["id"])
        for phase in run.get("phases") or () if rows is not None else ():
            own = rows[(rows["phase"] == phase["index"]) & (rows["status"] == 0) & np.isin(rows["kind"], kinds)]
            if not own.size:
                continue
            name = ", ".join([str(phase.get("operation") or phase.get("name")), *_setting(run, by)])
            if not phase.get("recorded_all", False):
                notes[f"{name}: a sample of the operations was kept, which is what is counted"] = None
            made = classify(found, own["size"].astype(float), own["duration_ns"].astype(float) / 1e9)
            trials.setdefault(name, []).append(made)
    if not trials:
        raise DataError("no reads or writes are recorded in the store", "measure with 'iosonde run'")
    return [_group(name, several, level) for name, several in trials.items()], list(notes)


def lines(source: Source, columns: Columns, level: float) -> list[Line]:
    """A fitted line for each group of a table. Raises InputError, naming the group, where that is not possible."""
    from iosonde.model.time_model import fit_line

    made = []
    for name, sizes, seconds in _groups(source, columns):
        try:
            made.append(fit_line(name, sizes, seconds, level))
        except InputError as error:
            raise InputError(f"{name}: {error.message}", error.hint) from error
    return made


def of_table(source: Source, found: Sequence[Condition], columns: Columns, level: float) -> list[Group]:
    """The rows of each group put to the nearest condition."""
    from iosonde.model.time_model import classify

    return [_of_rows(name, classify(found, sizes, seconds), level)
            for name, sizes, seconds in _groups(source, columns) if sizes.size]  # fmt: skip


def _groups(source: Source, columns: Columns) -> list[tuple[str, Array, Array]]:
    """(name, sizes in bytes, times in s) of every group."""
    import numpy as np

    from iosonde.core.table import show

    if not columns.response or not columns.on:
        missing = "--on" if columns.response else "--response"
        raise InputError(f"{missing} is missing", f"columns: {', '.join(source.table.names)}")
    table = source.trials(columns.response, [columns.on])
    seconds = table.numbers(columns.response) * _scale(table.column(columns.response).unit, columns.response)
    sizes = table.numbers(columns.on) * _bytes(table.column(columns.on).unit)
    for name, values in ((columns.response, seconds), (columns.on, sizes)):
        if (values < 0).any():
            row = int(np.flatnonzero(values < 0)[0])
            raise DataError(f"{table.place(row)}, column '{name}': it is below 0", f"leave it out: --where '{name}>=0'")
    found = []
    for key, rows in table.groups([columns.by] if columns.by else []):
        kept = rows[np.isfinite(seconds[rows]) & np.isfinite(sizes[rows])]
        found.append((show(key[0]) if key else "all rows", sizes[kept], seconds[kept]))
    return found


def _scale(unit: str, name: str) -> float:
    if unit not in _SECONDS:
        raise InputError(f"column '{name}' is in {unit}, which is no time", "name a column such as time_us")
    return _SECONDS[unit]


def _bytes(unit: str) -> float:
    """Bytes of one unit of a column of sizes; bytes where its name says nothing."""
    return float(parse_size(f"1{unit}")) if unit and unit.lower() not in ("bytes", "byte") else 1.0


def _of_rows(name: str, made: Classified, level: float) -> Group:
    """Rows are taken as independent: binomial limits (Clopper and Pearson)."""
    from iosonde.stats.estimate.distributions import binomial_interval

    def of(share: float) -> Estimate:
        return Estimate(share, *binomial_interval(round(share * made.n), made.n, level), level, made.n)

    shares = {condition: of(share) for condition, share in made.shares.items()}
    return Group(name, made.n, shares, Estimate(made.lost, None, None, level, made.n), of(made.beyond))


def _setting(run: Mapping[str, Any], by: Sequence[str]) -> list[str]:
    levels = {name: StoredRun(run).level(name) for name in by}
    return [f"{plain(name)}={level}" for name, level in levels.items() if level is not None]


def _group(name: str, trials: Sequence[Classified], level: float) -> Group:
    from iosonde.stats.estimate.summarise import mean

    shares = {key: mean([one.shares[key] for one in trials], level).within(0.0, 1.0) for key in trials[0].shares}
    lost, beyond = (mean([getattr(one, what) for one in trials], level) for what in ("lost", "beyond"))
    return Group(name, sum(one.n for one in trials), shares, lost, beyond.within(0.0, 1.0))
