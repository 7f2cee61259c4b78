"""The factors among a store's columns: those declared by its experiments, and those in a tool's own output.

Counts of levels do not matter: a declared factor counts even if each level was tried once; a date does not, even with
few values. Two factors whose levels always change together are one for grouping: the second is confounded with the
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.core.computed_columns import find_computed_settings
from iosonde.core.grouping import group_by_key
from iosonde.core.schema import HEALTH, is_setting_name
from iosonde.core.stored import FILESYSTEM, PLACES, TARGET, StoredRun, strip_factor_prefix
from iosonde.core.table import Table
from iosonde.core.together import is_bijective, is_determined, take_first_rows
from iosonde.core.types import Experiment, Factor, Role

from .bindings import bind_experiments, find_bindings
from .experiments import EXPERIMENT

# Factors of the run size come first, in any declaration.
_SIZES = ("nodes", "ranks_per_node", "ranks")
JOB = "job"  # name of a tool's job, whose settings are factors of their own
OF_LAB = "file_system"  # file system that a lab was brought up with: set, and it determines the type of the mount
_FACTOR_ROLES = {"setting": Role.SET, "block": Role.BLOCKED, "covariate": Role.OBSERVED}
_LEAST_SCATTERED, _TOGETHER = 5, 0.95  # levels; rank correlation


@dataclass(frozen=True)
class VaryingFactors:
    """The varying factors, in order, by their columns. ``confounded`` maps each column of ``twins`` to the factor that
    it always changes with. ``computed``: column that follows from several factors → its formula."""

    factors: tuple[Factor, ...] = ()
    confounded: Mapping[str, str] = field(default_factory=dict)
    twins: tuple[Factor, ...] = ()
    computed: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Columns of the factors."""
        return [factor.name for factor in self.factors]

    def with_roles(self, rows: Table) -> VaryingFactors:
        """Return the factors with the roles that the user states of the columns."""
        stated = {column.name: column.role for column in rows.columns.values() if column.role}
        by_name = {factor.name: factor for factor in (*self.factors, *self.twins)}
        added = [
            replace(by_name.get(name, _build_factor(rows, name, Factor(name))), role=_FACTOR_ROLES[role])
            for name, role in stated.items()
            if role in _FACTOR_ROLES
        ]
        factors = (*(factor for factor in self.factors if factor.name not in stated), *added)
        computed = find_computed_settings(rows, [factor.name for factor in factors], stated)
        factors = tuple(factor for factor in factors if factor.name not in computed)
        names = {factor.name for factor in factors}
        confounded = {a: b for a, b in self.confounded.items() if a not in stated and b in names}
        twins = tuple(factor for factor in self.twins if factor.name in confounded)
        return VaryingFactors(factors, confounded, twins, computed)


def find_factors(rows: Table, runs: Sequence[StoredRun], experiments: Sequence[Experiment]) -> VaryingFactors:
    """Find the factors of the stored ``runs``, over ``rows`` that have a column for each."""
    if not len(rows):
        return VaryingFactors()
    experiments = bind_experiments(experiments, find_bindings(runs, experiments))
    declared = collect_declared(runs, experiments)
    trials = take_first_rows(rows, ["run", *rows.inside])
    by_name = {strip_factor_prefix(name): name for name in rows.columns}
    in_order = [name for name in dict.fromkeys((*_SIZES, *declared)) if name in declared and name in by_name]
    varying = [by_name[name] for name in in_order if trials.columns[by_name[name]].is_varying]
    others = [by_name[name] for name in _list_undeclared_settings(runs) if name in by_name]
    # If another setting changes with each job, jobs are no crossed settings, and known by name: all follows from them.
    job = by_name.get(JOB, "")
    is_job_first = any(is_bijective(trials, job, name) for name in (*varying, *others) if job and name != job)
    selected: list[str] = []
    confounded: dict[str, str] = {}
    for name in sorted(varying, key=lambda column: (column == job) != is_job_first):
        if name == job and is_determined(trials, job, selected):
            continue  # a label of crossed settings
        is_of_job = selected[:1] == [job] and is_determined(trials, name, [job])
        twin = job if is_of_job else next((other for other in selected if is_bijective(trials, other, name)), None)
        if twin is None:
            selected.append(name)
        else:
            confounded[name] = twin
    # Settings in a command's output follow from the experiment's factors, unless they distinguish cells.
    undeclared = [name for name in others if strip_factor_prefix(name) not in declared]
    for name in sorted(undeclared, key=lambda column: (column == job) != is_job_first):
        # Runs with unknown health count as healthy.
        has_levels = strip_factor_prefix(name) != HEALTH or len(trials.columns[name].levels) > 1
        if has_levels and not is_determined(trials, name, selected):
            selected.append(name)
    confounded |= _map_target_to_factors(trials, selected, by_name, runs, experiments)
    selected_factors, twins = (
        tuple(_build_factor(trials, name, declared.get(strip_factor_prefix(name))) for name in names)
        for names in (selected, confounded)
    )
    return VaryingFactors(selected_factors, confounded, twins).with_roles(trials)


def _map_target_to_factors(
    rows: Table,
    selected: Sequence[str],
    columns: Mapping[str, str],
    runs: Sequence[StoredRun],
    experiments: Sequence[Experiment],
) -> dict[str, str]:
    """Return column → the factor that it always changes with, for properties of the target (a lab, a file system) and
    the experiment. Only factors that no experiment declares either are considered, as either of them may matter."""
    set_ = {factor.name for experiment in experiments for factor in experiment.factors}
    properties = dict.fromkeys(name for run in runs if not run.imported for name in run.target_settings)
    target_factors = [name for name in selected if strip_factor_prefix(name) in {*properties, *PLACES} - set_]
    others = [columns[name] for name in (*properties, EXPERIMENT) if name in columns and columns[name] not in selected]
    return {name: twin for name in others for twin in target_factors if is_bijective(rows, twin, name)}


def collect_declared(runs: Sequence[StoredRun], experiments: Sequence[Experiment]) -> dict[str, Factor]:
    """Return name → factor: for measured runs from their experiments, for imported runs from the tool's output. File
    system and target are added if there are two."""
    factors_by_id = {entry.id: entry.factors for entry in experiments}
    # Set factors come before those that follow from them.
    every = [factor for entry in experiments for factor in entry.factors]
    declared = {factor.name: factor for factor in every if factor.name in (TARGET, OF_LAB)}
    measured = [run for run in runs if run.target is not None]
    if not all(TARGET in run.factors for run in measured):
        filesystems = set() if _is_implied_by_lab(measured) else {run.filesystem for run in measured}
        places = {FILESYSTEM: filesystems, TARGET: {run.target for run in measured}}
        varying = [name for name, levels in places.items() if len(levels) > 1 and name not in declared]
        declared |= {name: Factor(name) for name in varying}
    for run in runs:
        factors = factors_by_id.get(run.experiment) or [Factor(name) for name in _list_settings(run) if run.imported]
        declared |= {factor.name: factor for factor in factors if factor.name not in declared}
    return declared


def _is_implied_by_lab(measured: Sequence[StoredRun]) -> bool:
    """Return whether the lab's file system determines, in each run, the type seen by the nodes."""
    types_by_lab = group_by_key((run.factors.get(OF_LAB), run.filesystem) for run in measured)
    return None not in types_by_lab and all(len(set(types)) == 1 for types in types_by_lab.values())


def _list_undeclared_settings(runs: Sequence[StoredRun]) -> list[str]:
    """Return the settings of measured runs besides the declared factors, then the properties of the target. Only
    varying properties have a column."""
    measured = [run for run in runs if not run.imported]
    settings = [*map(_list_settings, measured), *(run.target_settings for run in measured)]
    return list(dict.fromkeys(name for names in settings for name in names))


def _list_settings(run: StoredRun) -> list[str]:
    return [name for name in (*run.factors, *run.row_factors) if is_setting_name(name)]


def _build_factor(rows: Table, column: str, declared: Factor | None) -> Factor:
    """Build a factor with its measured levels. Undeclared factors are observed."""
    return replace(declared or Factor(column, role=Role.OBSERVED), name=column, levels=rows.columns[column].levels)


def is_separable(rows: Table, name: str, other: str) -> bool:
    """Return whether a regression can separate two columns whose levels correspond one to one: uncorrelated numbers, as
    in a Latin hypercube."""
    columns = [rows.columns[name], rows.columns[other]]
    codes = [column.codes() for column in columns]
    has_many_levels = min(len(levels) for _, levels in codes) >= _LEAST_SCATTERED
    are_numbers = has_many_levels and all(column.numeric for column in columns)
    return are_numbers and abs(float(np.corrcoef([places for places, _ in codes])[0, 1])) < _TOGETHER
