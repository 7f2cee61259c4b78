"""Designs: the measured cells of the factors, and their order. See docs/method/designs.md.

``check_design`` validates a design, ``build_cells`` lists what it measures at which cost, ``build_trials`` orders it,
``offer_smaller_campaigns`` lists designs that fit into less time; ``build_cell_check`` checks settings against the
conditions of ``read_constraints``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.types import Factor

from .expand import Cells, plan_cells
from .order import build_trials, check_design
from .plan import build_cell_check, read_constraints
from .smaller import Offer, offer_smaller_campaigns

FULL: Mapping[str, Any] = {"kind": "full"}

__all__ = [
    "FULL",
    "Cells",
    "Offer",
    "build_cells",
    "check_design",
    "read_constraints",
    "build_cell_check",
    "offer_smaller_campaigns",
    "build_trials",
]


def build_cells(factors: Sequence[Factor], design: Mapping[str, Any], seed: int) -> Cells:
    """Return the cells of one repetition, with notes. Raises InputError with the wrong key."""
    return plan_cells(factors, design, seed)[1]
