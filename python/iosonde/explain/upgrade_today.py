"""Limits of a cluster today with their certainty: every term of its bound with an interval if inputs have one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from iosonde.core.types import Estimate
from iosonde.model.bound.bound import Ceiling

from .upgrade import DRAWS, SEED, Cluster, compute_ceiling_after_changes, compute_z_of_level, draw_system


@dataclass(frozen=True)
class Today:
    """The bound of a cluster. ``s`` and ``terms`` are bytes/s of the application; ``limits``: term → the share of the
    draws in which it limits (1 for each limiting term if the inputs have no interval)."""

    ceiling: Ceiling
    s: Estimate
    terms: Mapping[str, Estimate]
    limits: Mapping[str, float]


def compute_bound_today(cluster: Cluster, level: float) -> Today:
    """Compute the bound; intervals hold ``level`` of the draws, as for a gain. Raises InputError,
    UnlimitedSystemError."""
    import numpy as np

    ceiling, z = compute_ceiling_after_changes(cluster), compute_z_of_level(level)
    names = [term.name for term in ceiling.terms]
    if not any(q.compute_log_sigma(z) for q in cluster.system.values()):
        alone = {term.name: Estimate(term.bytes_per_s, None, None, level, 0) for term in ceiling.terms}
        return Today(ceiling, Estimate(ceiling.s, None, None, level, 0), alone, dict.fromkeys(ceiling.limit, 1.0))
    rng = np.random.default_rng(SEED)
    drawn = [
        compute_ceiling_after_changes(replace(cluster, system=draw_system(cluster.system, rng, z)))
        for _ in range(DRAWS)
    ]
    values = np.array([[draw.s, *(term.bytes_per_s for term in draw.terms)] for draw in drawn])
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    at = [ceiling.s, *(term.bytes_per_s for term in ceiling.terms)]
    s, *estimates = (
        Estimate(value, float(a), float(b), level, 0) if b > a else Estimate(value, None, None, level, 0)
        for value, a, b in zip(at, low, high, strict=True)
    )
    shares = {name: sum(name in draw.limit for draw in drawn) / DRAWS for name in names}
    return Today(
        ceiling, s, dict(zip(names, estimates, strict=True)), {n: share for n, share in shares.items() if share}
    )
