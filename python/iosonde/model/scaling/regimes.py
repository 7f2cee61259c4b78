"""Change of regime: a jump of the rate from one size to the next by a factor that no scaling law explains.

Examples: a working set that no longer fits a cache, a switch shared from some rack on, a mount that changes its
protocol. A law fitted across such a cliff calls it contention, and is wrong on both sides, so cliffs are detected
first. USL on all sizes is compared with USL times a factor beyond a border, for every border. (Andrews 1993,
Econometrica 61, 821-856, with Bonferroni's bound for the search instead of his asymptotic table.) A border counts if
three conditions hold: its factor differs from 1 by more than a quarter; it differs significantly from *that* quarter (F
test); no smooth law has a smaller AICc.

Two changes hide each other from a search for one, so every pair of borders is tried too, on the same terms; two must
also have a smaller AICc than one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import rational
from .comparison import compute_aicc
from .intervals import find_profile_interval_ends
from .laws import BY_NAME, LAWS, compute_law_sse, fit_law
from .points import Array, Points

LEAST_FACTOR = 1.25
_USL = (0, 1, 2)
LEAST_SIZES = len(_USL) + 2  # of USL with a factor, and one more so that it can fail
LEAST_SIZES_OF_TWO = len(_USL) + 3
MOST_SIZES_OF_TWO = 40  # 595 pairs


@dataclass(frozen=True)
class Change:
    """Change of the rate by ``factor`` between the sizes ``last`` and ``first``; p is that of no such change."""

    last: float
    first: float
    factor: float
    factor_low: float
    factor_high: float
    p: float


def find_regime_changes(points: Points, level: float) -> tuple[Change, ...]:
    """Find the changes of regime in the order of the sizes: none, one or two; none with too few sizes.

    Pairs are searched in up to :data:`MOST_SIZES_OF_TWO` sizes, and each regime has at least two sizes: a single one is
    an outlier."""
    sizes, single, two = len(points), None, None
    if sizes >= LEAST_SIZES:
        single = _select_changes(points, level, [(border,) for border in range(1, sizes)])
    if LEAST_SIZES_OF_TWO <= sizes <= MOST_SIZES_OF_TWO:
        two = _select_changes(points, level, [(i, j) for i in range(2, sizes - 3) for j in range(i + 2, sizes - 1)])
    if two and (not single or _compute_criterion(two) < _compute_criterion(single)):
        return two.changes
    return single.changes if single else ()


@dataclass(frozen=True)
class _ChangeSet:
    changes: tuple[Change, ...]
    points: Points
    sse: float


def _compute_criterion(change_set: _ChangeSet) -> float:
    criterion = compute_aicc(change_set.sse, change_set.points.n, len(_USL) + len(change_set.changes))
    return math.inf if criterion is None else criterion


def _select_changes(points: Points, level: float, candidates: Sequence[tuple[int, ...]]) -> _ChangeSet | None:
    """Return the best set of borders in which every border counts."""
    if not candidates:
        return None
    fits = [_fit_borders(points, borders) for borders in candidates]
    place = int(np.argmin([least for least, _ in fits]))
    borders, (least, jumps) = candidates[place], fits[place]
    parameters = len(_USL) + len(borders)
    if points.spread_df and points.compute_lack_of_fit_p(least, parameters) < 1 - level:
        # Sizes differ by more than their trials: judge by the means, with this as the noise.
        return _select_changes(points.to_means(), level, candidates)
    if min(abs(jump) for jump in jumps) <= math.log(LEAST_FACTOR):
        return None
    df, losses = points.n - parameters, [_build_loss(points, borders, which) for which in range(len(borders))]
    ps = [_compute_p(loss, jump, least, df) * len(candidates) for loss, jump in zip(losses, jumps, strict=True)]
    if max(ps) >= 1 - level or not _is_better_than_smooth_laws(points, least, parameters):
        return None
    changes = []
    for border, loss, jump, p in zip(borders, losses, jumps, ps, strict=True):
        low, high = find_profile_interval_ends(loss, jump, least, df, level)
        last, first = points.sizes[border - 1 : border + 1]
        changes.append(Change(float(last), float(first), math.exp(jump), math.exp(low), math.exp(high), p))
    return _ChangeSet(tuple(changes), points, least)


def _fit_borders(points: Points, borders: Sequence[int], offset: Array | None = None) -> tuple[float, list[float]]:
    """Return (least sum of squares, log factors) of USL with a free factor on the sizes from each border on."""
    beyond = _mark_beyond(points, borders)
    offsets = np.zeros(len(points)) if offset is None else offset
    parts, jumps = rational.fit_jumps(points, _USL, beyond, offset=offsets)
    return points.sse(rational.compute_log_rates(parts, points.sizes) + offsets + beyond @ jumps), jumps.tolist()


def _mark_beyond(points: Points, borders: Sequence[int]) -> Array:
    return (np.arange(len(points))[:, None] >= np.array(borders, dtype=int)[None, :]).astype(float)


def _build_loss(points: Points, borders: tuple[int, ...], which: int) -> Callable[[float], float]:
    """Return a function from the log factor of one border to the least sum of squares, the other borders being free."""
    step = _mark_beyond(points, borders[which : which + 1])[:, 0]
    others = borders[:which] + borders[which + 1 :]
    return lambda jump: _fit_borders(points, others, jump * step)[0]


def _compute_p(loss: Callable[[float], float], jump: float, least: float, df: int) -> float:
    """Return P of the jump if its factor were the least that counts."""
    from iosonde.stats.estimate.distributions import f_upper_p

    constrained_loss = loss(math.copysign(math.log(LEAST_FACTOR), jump))
    return f_upper_p(max(constrained_loss - least, 0.0) / (least / df), 1, df)


def _is_better_than_smooth_laws(points: Points, least: float, parameters: int) -> bool:
    ours = compute_aicc(least, points.n, parameters)
    if ours is None:
        return True
    smooth = [
        compute_aicc(compute_law_sse(fit_law(law, points), points), points.n, law.n_parameters)
        for law in LAWS
        if law != BY_NAME["linear"]
    ]
    return all(other is None or ours < other for other in smooth)
