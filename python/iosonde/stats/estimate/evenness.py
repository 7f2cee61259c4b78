"""Evenness of files over servers, compared with random placement of the same files.

The statistic is that of ``balance``: the busiest ÷ the mean. Its null distribution is simulated (Monte Carlo test,
Davison & Hinkley, Bootstrap Methods, 4.2: p = (1 + draws as uneven) ÷ (1 + draws)), because files differ in size, and
few files are seldom even.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..overview.balance import compute_imbalance_index
from .multiple import adjust_by_holm

_SEED = 20_133
_DRAWS, _LEAST_DRAWS, _NUMBERS = 1_999, 199, 4e7  # most draws, least draws, most random numbers
_MOST_DRAWS = 20_000  # for levels near 1
_PIECE = 4e6  # random numbers per step


@dataclass(frozen=True)
class Evenness:
    """Evenness of ``what`` (files, bytes). ``index``: the busiest of ``n_places`` ÷ the mean of all; 1 is even.

    ``chance_high``: quantile at ``level`` of the index under random placement. ``p``: p-value of the index; ``p_holm``:
    corrected for the two tests.
    """

    what: str
    n_places: int
    index: float
    chance_high: float
    p: float
    p_holm: float
    level: float

    @property
    def uneven(self) -> bool:
        """Return whether the unevenness is significant."""
        return self.p_holm < 1 - self.level

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON; ``confidence`` is the level."""
        return {
            "what": self.what,
            "places": self.n_places,
            "index": self.index,
            "chance_high": self.chance_high,
            "p": self.p,
            "p_holm": self.p_holm,
            "confidence": self.level,
            "uneven": self.uneven,
        }


def list_placement_places(
    holders: Sequence[frozenset[str]], servers: Sequence[str], in_groups: bool
) -> tuple[list[Hashable], int] | None:
    """Return (places among which random placement chooses, number of places per file). ``in_groups``: the file system
    keeps copies on fixed sets of servers (Gluster), each of which is one place. Otherwise it chooses servers freely,
    and each server is a place. None if files are on different numbers of servers, or on parts of several sets."""
    sizes = {len(holder) for holder in holders}
    if len(sizes) != 1:
        return None
    (size,), holder_sets = sizes, dict.fromkeys(holders)
    if not in_groups or size == 1:
        return list(servers), size
    used = frozenset().union(*holder_sets)
    if sum(map(len, holder_sets)) != len(used) or len(servers) % size:
        return None
    empty = [server for server in servers if server not in used]
    return [*holder_sets, *(frozenset(empty[at : at + size]) for at in range(0, len(empty), size))], 1


def compare_with_random_placement(
    placements: Sequence[Sequence[int]], sizes: Sequence[int], n_places: int, level: float
) -> tuple[Evenness, Evenness]:
    """Test files and bytes. ``placements``: the places (by number) of each file, equally many for each; ``sizes``:
    bytes of each."""
    weights = np.column_stack([np.ones(len(sizes)), np.asarray(sizes, dtype=float)])
    counted = np.zeros((n_places, 2))
    for places, weight in zip(placements, weights, strict=True):
        counted[list(places)] += weight
    drawn = _simulate_indices(weights, n_places, len(placements[0]), level)
    indices = [compute_imbalance_index(counted[:, kind].tolist()) for kind in (0, 1)]
    p = [
        (1 + int((drawn[:, kind] >= index * (1 - 1e-12)).sum())) / (1 + len(drawn))
        for kind, index in enumerate(indices)
    ]
    corrected = adjust_by_holm(p)
    files, n_bytes = (
        Evenness(
            what,
            n_places,
            indices[kind],
            float(np.quantile(drawn[:, kind], level, method="higher")),
            p[kind],
            corrected[kind] or 0.0,
            level,
        )
        for kind, what in enumerate(("files", "bytes"))
    )
    return files, n_bytes


def _simulate_indices(weights: np.ndarray, n_places: int, copies: int, level: float) -> np.ndarray:
    """Return the index of (files, bytes) in every draw. The number of draws allows a p below 1 − level."""
    rng, n_files = np.random.default_rng(_SEED), len(weights)
    draws = int(min(_DRAWS, max(_LEAST_DRAWS, _NUMBERS / (n_files * n_places))))
    draws = max(draws, min(math.ceil(2 / (1 - level)), _MOST_DRAWS))
    indices = []
    for _ in range(draws):
        sums = np.zeros((n_places, 2))
        for at in range(0, n_files, step := max(1, int(_PIECE / n_places))):
            some = weights[at : at + step]
            places = _draw_file_places(rng, len(some), n_places, copies)
            for kind in (0, 1):
                sums[:, kind] += np.bincount(places, weights=np.repeat(some[:, kind], copies), minlength=n_places)
        indices.append(sums.max(axis=0) / sums.mean(axis=0))
    return np.array(indices)


def _draw_file_places(rng: np.random.Generator, n_files: int, n_places: int, copies: int) -> np.ndarray:
    """Draw the places of each file's copies, distinct per file, file after file."""
    return (
        rng.integers(n_places, size=n_files)
        if copies == 1
        else rng.random((n_files, n_places)).argpartition(copies - 1, axis=1)[:, :copies].ravel()
    )
