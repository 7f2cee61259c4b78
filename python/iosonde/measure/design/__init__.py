"""Designs: which cells of the factors are measured, and in which order. See docs/method/designs.md.

``check`` says what is wrong with a design, ``cells`` what it measures and what that costs, ``trials`` in which order,
``offers`` what would fit into less time; ``judge`` which settings the ``constraints`` allow.
"""

from __future__ import annotations

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
    """The cells that one repetition measures, and what must be said of them. Raises InputError with the wrong key."""
    return planned(factors, design, seed)[1]
