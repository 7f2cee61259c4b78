"""Is a choice among settings separable from the other columns, as ``compare`` asks of its sides?

Settings are compared inside workloads. A column whose values link no two settings of a workload, such as the hosts of
each file system or the third factor of a half fraction, explains their difference as well as the choice does."""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.arrays import Indices
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.verdict import VerdictState
from iosonde.core.words import join_names

from .check import AssumptionCheck, doubtful, fails


def check_separable(
    rows: Table, choose: Sequence[str], workload: Sequence[str], names: Sequence[str]
) -> Iterator[AssumptionCheck]:
    """Yield a failure for each of the columns ``names`` that cannot be separated from the choice in most workloads, and
    a doubt for one that cannot in some."""
    for name in names:
        apart = list(_list_workloads_apart(rows, choose, workload, name))
        values = {"columns": join_names([*choose, name]), "column": name, "n_apart": sum(apart), "n": len(apart)}
        if 2 * sum(apart) > len(apart):
            template = "{columns} cannot be separated: no value of {column} has all settings"
            template += " of a workload" if workload else ""
            why = Message("confounded", template, **values)
            yield fails("goes-together", VerdictState.NOT_SEPARABLE, why, cause=name)
        elif any(apart):
            template = "{columns} cannot be separated in {n_apart} of {n} workloads"
            yield doubtful("goes-together", Message("confounded-in-part", template, **values))


def _list_workloads_apart(rows: Table, choose: Sequence[str], workload: Sequence[str], name: str) -> Iterator[bool]:
    """Yield for each workload with several settings whether no value of a column links some of these."""
    settings, values = rows.number_groups(choose), rows.number_groups([name])
    if np.unique(values).size == values.size > np.unique(settings).size:  # the names of repeated rows say nothing
        return
    for _, at in rows.groups(workload):
        if np.unique(settings[at]).size > 1:
            yield not _is_connected(settings[at], values[at])


def _is_connected(settings: Indices, values: Indices) -> bool:
    """Return whether all settings are linked by common values: then, and only then, their differences can be estimated
    with the values held (Bose 1949; Searle, Linear Models, 1971, section 7.4)."""
    pairs = np.unique(np.column_stack([settings, values]), axis=0)
    linked, before = {int(pairs[0, 0])}, 0
    while len(linked) > before:
        before = len(linked)
        common = pairs[np.isin(pairs[:, 0], list(linked)), 1]
        linked = set(pairs[np.isin(pairs[:, 1], common), 0].tolist())
    return len(linked) == np.unique(pairs[:, 0]).size
