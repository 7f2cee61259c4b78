"""What advice is made of: instances (workloads, given) × settings (chosen), each with the trials that were made.

Values are positive. Which way they are better is in ``lower``: a time is, a bandwidth is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.model.features import Feature
from iosonde.stats.table import Cell, Table, tidy

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_MOST_FOLDS = 5


@dataclass(frozen=True)
class Instances:
    """Complete instances: every setting was measured in each.

    ``x`` is instances × given factors (a level's number for text), ``sums`` and ``counts`` are instances × settings
    × folds of repeats: the k-th trial of a cell is in fold k modulo their number. ``log_ss`` is the sum of squares
    of log values within each instance, ``log_df`` its degrees of freedom.
    """

    features: tuple[Feature, ...]
    x: Array
    choose: tuple[str, ...]
    settings: tuple[tuple[Cell, ...], ...]
    sums: Array
    counts: Array
    log_ss: Array
    log_df: Array
    response: str
    unit: str
    lower: bool
    incomplete: int = 0
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.x)

    @property
    def folds(self) -> int:
        """Folds of repeats; 1 where a cell has a single trial."""
        return int(self.sums.shape[2])

    @property
    def values(self) -> Array:
        """Instances × settings: the mean of all trials."""
        return np.asarray(self.sums.sum(axis=2) / self.counts.sum(axis=2))

    @property
    def names(self) -> tuple[str, ...]:
        """The settings as text: ``2/128K/on``."""
        return tuple("/".join(map(str, setting)) for setting in self.settings)

    def noise(self) -> Array:
        """The standard deviation of a log value between trials of one cell, by instance; NaN without repeats.

        An instance with fewer than ten degrees of freedom has that of all instances.
        """
        total = self.log_df.sum()
        if not total:
            return np.full(len(self), np.nan)
        pooled = float(np.sqrt(self.log_ss.sum() / total))
        own = np.sqrt(self.log_ss / np.maximum(self.log_df, 1))
        return np.where(self.log_df >= 10, own, pooled)

    def key(self, row: int) -> dict[str, Cell]:
        """The given factors of one instance, as people wrote them."""
        return {
            f.name: tidy(float(v)) if f.numeric else f.levels[int(v)]
            for f, v in zip(self.features, self.x[row], strict=True)
        }


def instances(table: Table, response: str, choose: Sequence[str], given: Sequence[str], lower: bool) -> Instances:
    """The complete instances of a table.

    Raises InputError for a column named twice, DataError for a chosen column with one level, a value that is not
    positive, or where no instance has two settings, or none has all.
    """
    measured = table.column(response)
    y = table.numbers(response)
    chosen, fixed = [table.column(n).name for n in choose], [table.column(n).name for n in given]
    _check_names(measured.name, chosen, fixed)
    kept = ~np.isnan(y)
    for name in (*chosen, *fixed):
        kept &= ~table.column(name).missing
    if not kept.any():
        raise DataError(f"{table.source}: no row has {response} and all of {', '.join([*chosen, *fixed])}",
                        "look at empty cells")  # fmt: skip
    gone = len(table) - int(kept.sum())
    warnings = [f"{gone} of {len(table)} rows lack a value and are left out"] if gone else []
    part, y = table.take(kept), y[kept]
    if (y <= 0).any():
        row = int(np.flatnonzero(y <= 0)[0])
        raise DataError(f"{part.place(row)}, column '{measured.name}': {tidy(y[row])} is not positive",
                        "advice compares ratios; correct the value or leave it out with --where")  # fmt: skip
    for name in chosen:
        if len(part.column(name).codes()[1]) < 2:
            raise DataError(f"column '{name}' has one level: there is nothing to choose", "leave it out of --choose")
    alone = [name for name in fixed if len(part.column(name).codes()[1]) < 2]
    if alone:
        warnings.append(f"{', '.join(alone)} never varies and is left out of --given")
        fixed = [name for name in fixed if name not in alone]
    setting, settings = _numbered(part, chosen)
    instance, _ = _numbered(part, fixed)
    cells = instance * len(settings) + setting
    trials = np.bincount(cells, minlength=(instance.max() + 1) * len(settings)).reshape(-1, len(settings))
    complete = _complete(part, trials, settings)
    sums, counts, ss, df = _folded(y, cells, trials)
    features = tuple(
        Feature(name, part.column(name).unit, tuple(part.column(name).codes()[1]), part.column(name).numeric)
        for name in fixed
    )
    return Instances(features, _x(part, fixed, instance)[complete], tuple(chosen), settings, sums[complete],
                     counts[complete], ss[complete], df[complete], measured.name, measured.unit, lower,
                     int((~complete).sum()), tuple(warnings))  # fmt: skip


def _check_names(response: str, chosen: Sequence[str], given: Sequence[str]) -> None:
    if not chosen:
        raise InputError("no setting to choose is named", "--choose takes columns that one may set")
    for name in (*chosen, *given):
        if name == response:
            raise InputError(f"'{name}' is the response", "choose among other columns")
        if [*chosen, *given].count(name) > 1:
            raise InputError(f"'{name}' is named twice", "a column is chosen or given, once")


def _numbered(table: Table, by: Sequence[str]) -> tuple[npt.NDArray[np.intp], tuple[tuple[Cell, ...], ...]]:
    groups = table.groups(by)
    number = np.empty(len(table), dtype=np.intp)
    for at, (_, rows) in enumerate(groups):
        number[rows] = at
    return number, tuple(key for key, _ in groups)


def _complete(table: Table, trials: npt.NDArray[np.intp], settings: tuple[tuple[Cell, ...], ...]) -> Mask:
    present = trials > 0
    if not (present.sum(axis=1) >= 2).any():
        raise DataError(f"{table.source}: no instance was measured with two settings",
                        "measure the same workload with each setting, or give fewer columns as --given")  # fmt: skip
    complete = np.asarray(present.all(axis=1))
    if not complete.any():
        rarest = int(present.sum(axis=0).argmin())
        name = "/".join(map(str, settings[rarest]))
        raise DataError(f"{table.source}: no instance was measured with all {len(settings)} settings; {name} is rarest "
                        f"({int(present[:, rarest].sum())} of {len(present)})",
                        "leave rare settings out with --where, or measure what is missing")  # fmt: skip
    return complete


def _folded(y: Array, cells: npt.NDArray[np.intp], trials: npt.NDArray[np.intp]) -> tuple[Array, Array, Array, Array]:
    """(sums, counts) by fold of repeats, and of log values (sum of squares within, degrees of freedom) by row."""
    full = trials[(trials > 0).all(axis=1)]
    folds = int(min(full.min(), _MOST_FOLDS))
    order = np.argsort(cells, kind="stable")
    place = np.empty(len(y), dtype=np.intp)
    starts = np.concatenate([[0], np.cumsum(trials.reshape(-1))[:-1]])
    place[order] = np.arange(len(y)) - starts[cells[order]]
    slot, size = cells * folds + place % folds, trials.size * folds
    shape = (*trials.shape, folds)
    sums = np.bincount(slot, y, size).reshape(shape)
    counts = np.bincount(slot, minlength=size).reshape(shape).astype(float)
    logs = np.log(y)
    means = np.bincount(cells, logs, trials.size) / np.maximum(trials.reshape(-1), 1)
    within = np.bincount(cells, (logs - means[cells]) ** 2, trials.size).reshape(trials.shape)
    return sums, counts, within.sum(axis=1), np.maximum(trials - 1, 0).sum(axis=1).astype(float)


def _x(table: Table, given: Sequence[str], instance: npt.NDArray[np.intp]) -> Array:
    n = int(instance.max()) + 1
    first = np.zeros(n, dtype=np.intp)
    first[instance[::-1]] = np.arange(len(instance))[::-1]
    columns = [table.column(name) for name in given]
    coded = [table.numbers(c.name)[first] if c.numeric else c.codes()[0][first].astype(float) for c in columns]
    return np.column_stack(coded) if coded else np.zeros((n, 0))
