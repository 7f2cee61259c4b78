"""A metric by the number of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.types import Better, Estimate
from iosonde.page.tables import DataTable, ends


@dataclass(frozen=True)
class Cell:
    """A metric at one node count: the Estimate, the trials' values, the efficiency against one node."""

    nodes: int
    estimate: Estimate
    trials: tuple[float, ...] = ()
    efficiency: Estimate | None = None


@dataclass(frozen=True)
class Bars:
    """A metric of one operation by node count. ``includes``: what the clock contains besides the operation."""

    operation: str
    metric: str
    title: str
    unit: str
    cells: tuple[Cell, ...]
    better: Better = Better.HIGHER
    includes: str = ""

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return all(cell.estimate.value is None for cell in self.cells)

    def table(self) -> DataTable:
        """Return one row per node count, in base units."""
        unit = self.unit
        columns = (
            "nodes",
            f"mean ({unit})",
            f"low ({unit})",
            f"high ({unit})",
            "level",
            "trials",
            "efficiency",
            "efficiency low",
            "efficiency high",
            f"each trial ({unit})",
        )
        rows = tuple(
            (
                cell.nodes,
                *ends(cell.estimate),
                cell.estimate.level,
                cell.estimate.n,
                *ends(cell.efficiency),
                " ".join(f"{value:.6g}" for value in cell.trials),
            )
            for cell in self.cells
        )
        return DataTable(self.title, columns, rows)
