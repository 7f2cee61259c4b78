"""Data of an advice: instances (workloads, given) × settings (chosen), each with its trials.

Values are positive. ``lower``: smaller is better, as for a time but not for a bandwidth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.level_text import format_level_word, levels_to_base
from iosonde.core.message import Message
from iosonde.core.table import Cell, Table, tidy_number
from iosonde.model.fit.features import Feature
from iosonde.stats.estimate.missing import build_missing_row_warnings

from . import instance_twins

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Renamed = tuple[tuple[tuple[Cell, ...], tuple[Cell, ...]], ...]
_MOST_SLOTS = 32
OWN_NOISE = 10  # degrees of freedom from which an instance's noise is its own


@dataclass(frozen=True)
class Instances:
    """Complete instances: every setting was measured in each.

    ``x`` is instances × given factors (a level's number for text). ``sums`` and ``counts`` are instances × settings ×
    slots of repeats: the k-th trial of a cell is in slot k, modulo their number; copies of a trial share one.
    ``trials`` counts the distinct trials of each cell. ``log_ss`` (instances × settings) are sums of squares of log
    values about the mean of their cell; ``log_df`` are the degrees of freedom of each instance. ``group`` numbers
    independent units: instances that mostly are copies of each other share a number. ``renamed`` are settings (copy,
    original) that are one under two names. ``units`` are those of a column's levels, if any. ``rows`` are the
    values of all trials, as ``compare`` takes them, and the numbers of their cells.
    """

    features: tuple[Feature, ...]
    x: Array
    choose: tuple[str, ...]
    settings: tuple[tuple[Cell, ...], ...]
    sums: Array
    counts: Array
    trials: npt.NDArray[np.intp]
    log_ss: Array
    log_df: Array
    response: str
    unit: str
    lower: bool
    group: Rows
    renamed: Renamed = ()
    units: Mapping[str, str] = field(default_factory=dict)
    incomplete: int = 0
    warnings: tuple[str, ...] = ()
    rows: tuple[Array, Rows] = (np.empty(0), np.empty(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.x)

    @property
    def slots(self) -> int:
        """The number of slots of repeats; 1 if a cell has a single trial."""
        return int(self.sums.shape[2])

    @property
    def values(self) -> Array:
        """Instances × settings: the mean of all trials."""
        return np.asarray(self.sums.sum(axis=2) / self.counts.sum(axis=2))

    @property
    def names(self) -> tuple[str, ...]:
        """The settings as text: ``2/128K/on``."""
        return tuple("/".join(map(str, setting)) for setting in self.settings)

    @cached_property
    def _text_by_name(self) -> dict[str, str]:
        units = [self.units.get(name, "") for name in self.choose]
        texts = ["/".join(map(format_level_word, setting, units)) for setting in self.settings]
        return dict(zip(self.names, texts, strict=True)) if len(set(texts)) == len(texts) else {}

    def format_setting(self, setting: str) -> str:
        """Format the name of a setting for people: ``2/128KiB/on``; unchanged if two names would become equal."""
        return self._text_by_name.get(setting, setting)

    def levels_of(self, setting: str) -> dict[str, Cell]:
        """Column → level of a setting by its name, in base units."""
        levels = self.settings[self.names.index(setting)]
        return levels_to_base(dict(zip(self.choose, levels, strict=True)), self.units)

    def samples(self, row: int, setting: int) -> Array:
        """Return the trials of one instance and setting."""
        values, cells = self.rows
        return np.asarray(values[cells == row * len(self.settings) + setting])

    def noise(self) -> Array:
        """The standard deviation of a log value between trials of one cell, by instance; NaN without repeats.

        An instance with fewer than ``OWN_NOISE`` degrees of freedom has that of all instances.
        """
        total = self.log_df.sum()
        if not total:
            return np.full(len(self), np.nan)
        squares, pooled = self.log_ss.sum(axis=1), float(np.sqrt(self.log_ss.sum() / total))
        return np.where(self.log_df >= OWN_NOISE, np.sqrt(squares / np.maximum(self.log_df, 1)), pooled)

    def key(self, row: int) -> dict[str, Cell]:
        """Return the given factors of one instance, as in the table."""
        return {
            f.name: tidy_number(float(v)) if f.numeric else f.levels[int(v)]
            for f, v in zip(self.features, self.x[row], strict=True)
        }


def build_instances(
    table: Table, response: str, choose: Sequence[str], feature_columns: Sequence[str], lower: bool
) -> Instances:
    """Build the complete instances of a table.

    Raises InputError for a column named twice. Raises DataError for a chosen column with one level, a value that is not
    positive, or if no instance has two settings, or none has all.
    """
    measured = table.column(response)
    y = table.numbers(response)
    chosen, fixed = [table.column(n).name for n in choose], [table.column(n).name for n in feature_columns]
    _raise_if_invalid_columns(measured.name, chosen, fixed)
    usable = ~np.isnan(y)
    for name in (*chosen, *fixed):
        usable &= ~table.column(name).missing
    if not usable.any():
        raise DataError(
            "no-complete-rows",
            "{source}: no row has {response} and all of {columns}",
            "look at empty cells",
            source=table.source,
            response=response,
            columns=", ".join([*chosen, *fixed]),
        )
    warnings = build_missing_row_warnings(len(table) - int(usable.sum()), len(table))
    part, y = table.take(usable), y[usable]
    _raise_if_invalid_values(part, measured.name, y, chosen)
    alone = [name for name in fixed if len(part.column(name).codes()[1]) < 2]
    if alone:
        warnings.append(
            Message(
                "constant-column", "{columns} never varies and is left out of {spell.given}", columns=", ".join(alone)
            )
        )
        fixed = [name for name in fixed if name not in alone]
    setting, settings = _number_groups(part, chosen)
    instance, _ = _number_groups(part, fixed)
    original = instance_twins.find_originals_of_copies(y, instance * len(settings) + setting)
    trials = _Trials(part, y, instance, setting, settings, original)
    renamed: Renamed = ()
    if trials.copied:
        trials, renamed = _drop_duplicate_settings(trials)
    features = tuple(
        Feature(name, part.column(name).unit, tuple(part.column(name).codes()[1]), part.column(name).numeric)
        for name in fixed
    )
    instances = _arrange_trials(trials, _code_feature_columns(trials.table, fixed, trials.instance))
    return replace(
        instances,
        features=features,
        choose=tuple(chosen),
        response=measured.name,
        unit=measured.unit,
        lower=lower,
        renamed=renamed,
        units=part.level_units((*chosen, *fixed)),
        warnings=(*warnings, *_list_twin_warnings(trials, renamed, instances.group)),
    )


def _raise_if_invalid_values(table: Table, response: str, y: Array, choose: Sequence[str]) -> None:
    """Raise DataError for a value that is not positive, or a chosen column with one level."""
    if (y <= 0).any():
        row = int(np.flatnonzero(y <= 0)[0])
        raise DataError(
            "nonpositive-value",
            "{row}, column '{column}': {number} is not positive",
            "advice compares ratios; correct the value or leave it out with {spell.where}",
            row=table.place(row),
            column=response,
            number=tidy_number(y[row]),
        )
    for name in choose:
        if len(table.column(name).codes()[1]) < 2:
            raise DataError(
                "constant-column",
                "column '{column}' has one level: nothing to choose",
                "leave it out of {spell.choose}",
                column=name,
            )


@dataclass(frozen=True)
class _Trials:
    """Rows with the numbers of their instance, setting and original (``instance_twins``)."""

    table: Table
    y: Array
    instance: Rows
    setting: Rows
    settings: tuple[tuple[Cell, ...], ...]
    original: Rows

    @property
    def cells(self) -> Rows:
        return np.asarray(self.instance * len(self.settings) + self.setting)

    @property
    def copied(self) -> int:
        return int((self.original != np.arange(len(self.y))).sum())


def _drop_duplicate_settings(trials: _Trials) -> tuple[_Trials, Renamed]:
    """Return the trials without settings that duplicate another one, and these."""
    renamed = instance_twins.find_renamed_settings(
        instance_twins.number_copied_cells(trials.original, trials.instance, trials.setting)
    )
    if not renamed:
        return trials, ()
    remaining = [at for at in range(len(trials.settings)) if at not in renamed]
    names = tuple((trials.settings[copy], trials.settings[first]) for copy, first in sorted(renamed.items()))
    if len(remaining) == 1:
        raise DataError(
            "identical-settings",
            "{source}: all settings have identical trials: one setting under {n_settings} names",
            "iosonde check says more about the table",
            source=trials.table.source,
            n_settings=len(trials.settings),
        )
    keep = np.isin(trials.setting, remaining)
    table = trials.table.take(keep)
    # An original may have gone with its setting: the first remaining copy replaces it.
    first, original = np.unique(trials.original[keep], return_index=True, return_inverse=True)[1:]
    instance = np.unique(trials.instance[keep], return_inverse=True)[1].reshape(-1)
    return (
        _Trials(
            table,
            trials.y[keep],
            instance,
            np.searchsorted(remaining, trials.setting[keep]),
            tuple(trials.settings[at] for at in remaining),
            first[original.reshape(-1)],
        ),
        names,
    )


def _list_twin_warnings(trials: _Trials, renamed: Renamed, group: Rows) -> list[str]:
    messages: list[str] = [
        Message(
            "identical-settings",
            "{copy} duplicates {setting} (all its trials are copies) and is left out",
            copy="/".join(map(str, copy)),
            setting="/".join(map(str, first)),
        )
        for copy, first in renamed
    ]
    within = trials.original != np.arange(len(trials.y))
    within &= trials.instance[trials.original] == trials.instance
    if within.any():
        messages.append(
            Message(
                "copied-trials",
                "{n} of {n_trials} trials duplicate another of their workload (iosonde check lists "
                "them): duplicates stay on the same side of every split",
                n=within.sum(),
                n_trials=len(trials.y),
            )
        )
    alike = len(group) - len(np.unique(group))
    if alike:
        messages.append(
            Message(
                "copied-instances",
                "{n} of {n_instances} workloads duplicate another in more than half of their cells: "
                "they are held out together and count once",
                n=alike,
                n_instances=len(group),
            )
        )
    return messages


def _arrange_trials(trials: _Trials, x: Array) -> Instances:
    """Build the complete instances, with all counts over their trials; names are still to be set."""
    y, cells, settings = trials.y, trials.cells, trials.settings
    shape = (int(trials.instance.max()) + 1, len(settings))
    size = shape[0] * shape[1]
    complete = _select_complete(trials.table, np.bincount(cells, minlength=size).reshape(shape), settings)
    slot = instance_twins.assign_slots(trials.original, cells, np.repeat(complete, len(settings)), _MOST_SLOTS)
    n = int(slot.max()) + 1
    sums = np.bincount(cells * n + slot, y, size * n).astype(np.float64, copy=False).reshape(*shape, n)
    counts = np.bincount(cells * n + slot, minlength=size * n).reshape(*shape, n).astype(float)
    logs = np.log(y)
    means = np.bincount(cells, logs, size) / np.maximum(np.bincount(cells, minlength=size), 1)
    within = np.bincount(cells, (logs - means[cells]) ** 2, size).reshape(shape)
    pairs = np.unique(np.column_stack([cells, trials.original]), axis=0)[:, 0] if trials.copied else cells
    distinct = np.bincount(pairs, minlength=size).reshape(shape)
    group = np.arange(int(complete.sum()))
    if trials.copied:
        same = instance_twins.number_copied_cells(trials.original, trials.instance, trials.setting)
        group = instance_twins.group_instances_with_copies(same[complete])
    df = np.maximum(distinct - 1, 0).sum(axis=1).astype(float)
    own = complete[trials.instance]
    return Instances(
        (),
        x[complete],
        (),
        settings,
        sums[complete],
        counts[complete],
        distinct[complete],
        np.asarray(within[complete], dtype=np.float64),
        df[complete],
        "",
        "",
        False,
        group,
        incomplete=int((~complete).sum()),
        rows=(y[own], (np.cumsum(complete) - 1)[trials.instance[own]] * len(settings) + trials.setting[own]),
    )


def _raise_if_invalid_columns(response: str, chosen: Sequence[str], feature_columns: Sequence[str]) -> None:
    if not chosen:
        raise InputError(
            "missing-option", "no setting to choose is named", "{spell.choose} takes columns that you can set"
        )
    for name in (*chosen, *feature_columns):
        if name == response:
            raise InputError(
                "response-as-factor", "'{column}' is the response", "choose among other columns", column=name
            )
        if [*chosen, *feature_columns].count(name) > 1:
            raise InputError(
                "duplicate-column",
                "'{column}' is named twice",
                "name each column once, as chosen or as given",
                column=name,
            )


def _number_groups(table: Table, by: Sequence[str]) -> tuple[Rows, tuple[tuple[Cell, ...], ...]]:
    groups = table.groups(by)
    number = np.empty(len(table), dtype=np.intp)
    for at, (_, rows) in enumerate(groups):
        number[rows] = at
    return number, tuple(key for key, _ in groups)


def _select_complete(table: Table, trials: npt.NDArray[np.intp], settings: tuple[tuple[Cell, ...], ...]) -> Mask:
    present = trials > 0
    if not (present.sum(axis=1) >= 2).any():
        raise DataError(
            "no-shared-instance",
            "{source}: no workload was measured with two settings",
            "measure the same workload with each setting, or give fewer columns as {spell.given}",
            source=table.source,
        )
    complete = np.asarray(present.all(axis=1))
    if not complete.any():
        rarest = int(present.sum(axis=0).argmin())
        name = "/".join(map(str, settings[rarest]))
        raise DataError(
            "no-complete-instance",
            "{source}: no workload was measured with all {n_settings} settings; {setting} is rarest "
            "({n_measured} of {n_instances})",
            "leave rare settings out with {spell.where}, or measure what is missing",
            source=table.source,
            n_settings=len(settings),
            setting=name,
            n_measured=int(present[:, rarest].sum()),
            n_instances=len(present),
        )
    return complete


def _code_feature_columns(table: Table, feature_columns: Sequence[str], instance: npt.NDArray[np.intp]) -> Array:
    n = int(instance.max()) + 1
    first = np.zeros(n, dtype=np.intp)
    first[instance[::-1]] = np.arange(len(instance))[::-1]
    columns = [table.column(name) for name in feature_columns]
    coded = [table.numbers(c.name)[first] if c.numeric else c.codes()[0][first].astype(float) for c in columns]
    return np.column_stack(coded) if coded else np.zeros((n, 0))
