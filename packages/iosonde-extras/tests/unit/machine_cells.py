"""Cells of a path study on a scripted machine, with the class of every operation."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from iosonde.core import truth
from iosonde_extras.path_study import machines
from iosonde_extras.path_study.models import PathCell

SIZES = (1, 64, 1024, 4096, 16384, 65536, 262144, 2**20)


def matrix(states=("discard", "cached", "uncached"), places=("seq", "reverse", "rnd"), sizes=SIZES, direction="read"):
    """Settings of cells, every combination."""
    return [
        {
            "state": state,
            "direction": direction,
            "memory": "off0",
            "place": place,
            "access_size": size,
            "operations": 500,
            "bytes": 2**28,
        }
        for state, place, size in product(states, places, sizes)
    ]


class TrueCell(PathCell):
    """A cell that knows why its operations took their time."""

    truth: list[str]


def cells_of(machine, settings, seed=1):
    """One cell for each of the settings."""
    made = []
    for given, run in zip(settings, machines.runs(machine, settings, seed), strict=True):
        one = SimpleNamespace(**given)
        rows = run.operations
        first = np.zeros(rows.size, bool)
        first[np.unique(rows["offset"] // 4096, return_index=True)[1]] = True
        cell = TrueCell(
            one.direction, one.state, one.memory, one.place, one.access_size, rows["duration_ns"] / 1e9, first
        )
        object.__setattr__(cell, "truth", truth.classify_operations(run.raw, rows).tolist())
        made.append(cell)
    return made
