"""A single pass over the recorded operations of a store: each run is read once for all visitors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source

Operations = npt.NDArray[Any]  # of dtype ``schema.OPERATION``


class Visitor(Protocol):
    """A consumer of the operations of runs, one run after another."""

    def wants(self, run: StoredRun) -> bool:
        """Return whether it takes this run."""

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Take a run with its operations, by rank and start; they are empty if only histograms were kept."""


def visit(source: Source, visitors: Sequence[Visitor]) -> None:
    """Pass each run of a store to all visitors that want it; the operations of one run are in memory at a time."""
    for run in source.runs:
        asking = [visitor for visitor in visitors if visitor.wants(run)]
        if asking:
            operations = source.operations(run.id) if run.n_operations else np.empty(0, OPERATION)
            for visitor in asking:
                visitor.take(run, operations)
