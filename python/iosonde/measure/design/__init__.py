"""Designs: the measured cells of the factors, and their order. See docs/method/designs.md.

``check`` validates a design, ``cells`` lists what it measures at which cost, ``trials`` orders it, ``offers`` lists
designs that fit into less time; ``judge`` checks settings against the ``constraints``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.types import Factor

from .expand import Cells, planned
from .order import check, trials
from .plan import constraints, judge
from .smaller import Offer, offers

FULL: Mapping[str, Any] = {"kind": "full"}

__all__ = ["FULL", "Cells", "Offer", "cells", "check", "constraints", "judge", "offers", "trials"]


def cells(factors: Sequence[Factor], design: Mapping[str, Any], seed: int) -> Cells:
    """Return the cells of one repetition, with notes. Raises InputError with the wrong key."""
    return planned(factors, design, seed)[1]
