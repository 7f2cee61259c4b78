"""Selection of the groups (ranks, files, trials) that have the slow operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .target import Agreement, agreement


def which_groups(names: Sequence[Any], slow: npt.NDArray[Any], every: npt.NDArray[Any]) -> tuple[Agreement, list[Any]]:
    """Select the groups with the highest share of slow operations, as many as agree most with "slow", but not all.
    Returns (agreement, groups). Needs at least two groups."""
    order = np.argsort(-slow / np.maximum(every, 1), kind="stable")
    n_slow, n = int(slow.sum()), int(every.sum())
    hits, totals = np.cumsum(slow[order]), np.cumsum(every[order])
    agreements = [
        agreement(int(hit), n_slow, int(many - hit), n - n_slow, n_slow / max(n, 1), len(names))
        for hit, many in zip(hits[:-1], totals[:-1], strict=True)
    ]
    at = max(range(len(agreements)), key=lambda place: agreements[place].kappa)
    return agreements[at], [names[index] for index in order[: at + 1]]
