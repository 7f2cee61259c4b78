"""Placeholders of commands that are a tool's settings: in ``ior -t ${t}`` the factor ``t`` is the ``transfer_size``.

The command says which option a placeholder is the value of, the tool's output which value its setting had. One that was
always that value is the setting, under the setting's name; the placeholder's own name remains an alias. Where no output
of the experiment has the setting (elbencho's table prints none), the command alone says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.stored import StoredRun
from iosonde.core.table import Cell, Table, build_column, is_missing
from iosonde.core.types import Experiment, Factor, FactorValue
from iosonde.core.units import parse_size
from iosonde.core.vocabulary.calls import list_file_options, list_tool_calls

# A value that is a placeholder, or the variable that iosonde sets to its level.
_PLACEHOLDER = re.compile(r"\$\{?IOSONDE_(?P<variable>\w+)\}?|\$\{(?P<name>\w+)\}")


class Binding(NamedTuple):
    """A setting that a placeholder is, and the bytes of a level without a letter: IOzone's sizes are in KiB."""

    setting: str
    unit: int = 1

    def parse_level(self, level: FactorValue | Cell) -> FactorValue | None:
        """Return a level of the placeholder as the setting has it."""
        is_bare = self.unit != 1 and (isinstance(level, int) or (isinstance(level, str) and level.strip().isdigit()))
        return int(level) * self.unit if is_bare and level is not None else _parse_level(level)


def find_bindings(runs: Sequence[StoredRun], experiments: Sequence[Experiment]) -> dict[str, Binding]:
    """Return placeholder → setting. A placeholder is left alone if it is not always the same setting."""
    options = {experiment.id: _list_own_options(experiment) for experiment in experiments if experiment.factors}
    runs_by_experiment = group_by_key((run.experiment, run) for run in runs)
    candidates = group_by_key(
        (name, binding if _is_always_bound(runs_by_experiment.get(experiment, ()), name, binding) else None)
        for experiment, own in options.items()
        for name, binding in own
    )
    elsewhere = {name for run in runs if run.imported for name in run.factors}
    single = {name: bindings[0] for name, bindings in candidates.items() if len(set(bindings)) == 1}
    return {name: binding for name, binding in single.items() if binding and name not in elsewhere}


def _list_own_options(experiment: Experiment) -> list[tuple[str, Binding]]:
    """Return (placeholder, binding) for each option of a known tool whose value is a declared placeholder, and whose
    setting is not declared itself."""
    declared = {factor.name for factor in experiment.factors}
    name_by_variable = {name.upper(): name for name in declared}
    steps = [step for key in ("set_up", "steps") for step in experiment.settings.get(key, ())]
    commands = [str(step.get("command", "")) for step in steps if isinstance(step, Mapping)]
    options = (
        (*(pair for call in list_tool_calls(command) for pair in call.list_options()), *list_file_options(command))
        for command in commands
    )
    return [
        (name, Binding(option.setting, option.unit))
        for option, value in chain.from_iterable(options)
        if option.setting and option.setting not in declared and (match := _PLACEHOLDER.fullmatch(value))
        if (name := match["name"] or name_by_variable.get(match["variable"], "")) in declared
    ]


def _is_always_bound(runs: Sequence[StoredRun], name: str, binding: Binding) -> bool:
    """Return whether each run had the setting's value. Only an output shows the unit of a size without a letter."""
    if not any(run.complete for run in runs):
        return False
    if any(binding.setting in run.factors for run in runs):
        return all(_is_bound(run, name, binding) for run in runs)
    return binding.unit == 1 and any(name in run.factors for run in runs)


def bind_table(table: Table, bindings: Mapping[str, Binding]) -> Table:
    """Return the results with the settings instead of the placeholders bound to them."""
    columns = dict(table.columns)
    for name, binding in bindings.items():
        if name in columns:
            setting, placeholder = binding.setting, columns.pop(name)
            column = columns.get(setting) or build_column(setting, [None] * len(table), unit=placeholder.unit)
            values = [
                binding.parse_level(own) if is_missing(level) else level
                for level, own in zip(column.values.tolist(), placeholder.values.tolist(), strict=True)
            ]
            unit = column.unit or "bytes" * setting.endswith("_size")  # as importers store it
            columns[setting] = replace(build_column(setting, values, column.label, unit), order=column.order)
    return replace(table, columns=columns, aliases={name: binding.setting for name, binding in bindings.items()})


def bind_experiments(experiments: Sequence[Experiment], bindings: Mapping[str, Binding]) -> list[Experiment]:
    """Return the experiments with the settings instead of the placeholders among their factors."""
    return [
        replace(entry, factors=[_bind_factor(factor, bindings) for factor in entry.factors]) for entry in experiments
    ]


def _bind_factor(factor: Factor, bindings: Mapping[str, Binding]) -> Factor:
    if factor.name not in bindings:
        return factor
    binding = bindings[factor.name]
    levels = tuple(level for level in map(binding.parse_level, factor.levels) if level is not None)
    return replace(factor, name=binding.setting, levels=levels)


def _is_bound(run: StoredRun, name: str, binding: Binding) -> bool:
    """Return whether the run's placeholder has the setting's value; a run that failed may not know it."""
    setting = binding.setting
    if name not in run.factors or (setting not in run.factors and not run.complete):
        return True
    return setting in run.factors and binding.parse_level(run.factors[name]) == _parse_level(run.factors[setting])


def _parse_level(level: FactorValue | Cell) -> FactorValue | None:
    """Return a size in bytes, or the level as it is."""
    if not isinstance(level, str):
        return level
    try:
        return parse_size(level)
    except InputError:
        return level
