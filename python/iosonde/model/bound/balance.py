"""Stripes over s of M servers: the busiest server limits, not the mean one.

F files of equal size, each on s servers, make F·s loads. All is done when the busiest server is, which carries
max(X) of them where the mean is F·s/M: the servers together then deliver the share (F·s/M) ÷ max(X) of their sum.
Dealt out in turn (round robin) max(X) = ⌈F·s/M⌉, which is the best case. Chosen at random it is the maximum of
a balls-into-bins process (Raab & Steger, RANDOM 1998), whose mean is estimated by drawing placements. Written copies
are loads of their own: F·s·r. Where fixed groups of servers hold the same copies, it is the groups that are chosen.
"""

import math
from dataclasses import replace
from functools import lru_cache

from iosonde.core.errors import InputError

from .system import READ, System

_DRAWS = 2000
_LEAST_DRAWS = 40
_WORK = 4_000_000  # file × server × draw
_SEED = 1
_MOST = 1e9  # files or servers


def compute_balance(system: System) -> float:
    """Return the share of the servers' total rate that the placement lets through; 1 without stripes."""
    if system.stripe_count is None:
        return 1.0
    if system.placement == "round_robin":
        return compute_balance_in_turn(
            _count_files(system), int(system.stripe_count) * _count_copies(system), int(system.servers)
        )
    return compute_random_balance(system)[0]


def compute_random_balance(system: System, level: float = 0.95) -> tuple[float, float, float]:
    """Return (mean, low, high) of the share under random placement: ``level`` of placements lie between the ends.
    Raises InputError beyond ``_MOST`` files or servers."""
    files, stripes, servers, copies = (
        _count_files(system),
        int(system.stripe_count or 1),
        int(system.servers),
        _count_copies(system),
    )
    if max(files, servers) > _MOST:
        raise InputError(
            "over-limit",
            "cannot compute random placement of {files:g} files on {servers:g} servers: the limit is {limit:g}",
            "leave {spell.placement} out, or give fewer",
            files=files,
            servers=servers,
            limit=_MOST,
        )
    if system.placement == "groups" and servers % copies == 0:
        groups = servers // copies
        return simulate_random_balance(files, min(stripes, groups), groups, level)
    return (
        simulate_random_balance(files * copies, stripes, servers, level)
        if stripes * copies > servers
        else simulate_random_balance(files, stripes * copies, servers, level)
    )


def get_evenly_placed_system(system: System) -> System:
    """Return the system with its files dealt out in turn: the best that chance can do."""
    return replace(system, placement="round_robin")


def _count_files(system: System) -> int:
    return int(system.files if system.files is not None else system.clients)


def _count_copies(system: System) -> int:
    """Count the copies of a file that carry load: all in a write, one in a read. Copies of a file lie on different
    servers, as far as servers suffice."""
    replicated = system.operation != READ and system.redundancy in ("client", "chained")
    return int(system.replicas) if replicated else 1


def compute_balance_in_turn(files: int, stripes: int, servers: int) -> float:
    """The share of the best case: loads dealt out in turn."""
    return files * stripes / servers / math.ceil(files * stripes / servers)


@lru_cache(maxsize=256)
def simulate_random_balance(files: int, stripes: int, servers: int, level: float = 0.95) -> tuple[float, float, float]:
    """Return (mean, low, high) of the share if every file takes ``stripes`` random servers: ``level`` of the placements
    lie between low and high."""
    import numpy as np

    if stripes == servers:
        return 1.0, 1.0, 1.0
    size = files * servers
    if size * _LEAST_DRAWS > _WORK:
        mean, high, low = (
            files * stripes / servers / load for load in _approximate_busiest_load(files, stripes, servers)
        )
        return mean, high, low
    draws = max(_LEAST_DRAWS, min(_DRAWS, _WORK // size))
    rng = np.random.default_rng(_SEED)
    loads: list[int] = []
    at_once = max(1, _WORK // 4 // size)
    while len(loads) < draws:
        keys = rng.random((min(at_once, draws - len(loads)), files, servers), dtype=np.float32)
        chosen = np.argpartition(keys, stripes - 1, axis=2)[:, :, :stripes].reshape(len(keys), -1)
        loads += [int(np.bincount(row).max()) for row in chosen]
    shares = files * stripes / servers / np.array(loads)
    tail = (1 - level) / 2
    return float(shares.mean()), float(np.quantile(shares, tail)), float(np.quantile(shares, 1 - tail))


def _approximate_busiest_load(files: int, stripes: int, servers: int) -> tuple[float, float, float]:
    """Return (mean, 97.5 %, 2.5 %) of the largest of ``servers`` binomial loads, taken as independent (an approximation
    for many files)."""
    import numpy as np
    from scipy.special import bdtr

    mean = files * stripes / servers
    counts = np.arange(int(mean), int(mean + 12 * math.sqrt(mean) + 20))
    below = bdtr(counts, files, stripes / servers) ** servers
    quantiles = [float(counts[int(np.searchsorted(below, p))]) for p in (0.975, 0.025)]
    return counts[0] + float(np.sum(1 - below)), quantiles[0], quantiles[1]
