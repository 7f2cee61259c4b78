"""Rows → Ranking: chooses the estimator by the data, and says which.

S1 = V(E(Y|X))/V(Y), the first-order share; ST = 1 - V(E(Y|X₋ᵢ))/V(Y), the total share, without the noise where repeats
tell it (Saltelli et al., Global Sensitivity Analysis, 2008, ch. 1 and 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.model.features import Examples
from iosonde.stats.distributions import check_level

from . import factorial, scattered, warnings
from .design import FACTORIAL, FRACTION, GRID, SCATTERED, Design, design_of
from .effects import effects
from .order import holm, tied
from .permutation import nulls
from .ranking import FactorRank, Ranking, Shares
from .shapley import effects_of
from .slopes import slopes
from .total import total_shares
from .variances import Groups, Resampled, Share

SEED = 20_130
_NAMES = {
    FACTORIAL: "group means of a factorial",
    FRACTION: "group means of a balanced fraction",
    GRID: "group means of an incomplete factorial",
}


def rank(data: Examples, level: float, fixed: Sequence[str] = (), seed: int = SEED) -> Ranking:
    """Rank the factors of ``data``. ``fixed`` names those that one cannot choose: the others are then also ranked
    within them. Raises InputError, DataError."""
    check_level(level)
    design = design_of(data)
    names = [feature.name for feature in design.features]
    for name in fixed:
        if name not in names:
            raise InputError(f"--fixed: '{name}' is no factor", f"factors: {', '.join(names)}")
    held: Groups = frozenset(names.index(name) for name in fixed)
    if len(held) == len(names):
        raise InputError("every factor is fixed", "leave one out of --fixed: nothing is left to choose")
    rng = np.random.default_rng(seed)
    room = scattered if design.kind == SCATTERED else factorial
    made = room.resample(design, _wanted(len(names), held, design.kind), rng)
    return _ranking(data, design, made, held, level, seed, rng)


def _wanted(k: int, held: Groups, kind: str) -> list[Groups]:
    everything: Groups = frozenset(range(k))
    found: list[Groups] = [frozenset(), *(frozenset([i]) for i in range(k))]
    if kind == FACTORIAL:
        found += [everything, *(everything - {i} for i in range(k))]
    if held:
        found += [held, *(held | {i} for i in everything - held)]
    return list(dict.fromkeys(found))


def _ranking(
    data: Examples, design: Design, made: Resampled, held: Groups, level: float, seed: int, rng: np.random.Generator
) -> Ranking:
    k = len(design.features)
    names = [feature.name for feature in design.features]
    totals = total_shares(design, made, held, level, rng)
    shapley = effects_of(design, level, rng) if design.links else None
    dummies = nulls(design, level, rng)
    lines, r2 = slopes(design, level)
    over_all = [_shares(made, Share(frozenset([i])), totals.of[i], level, design.n) for i in range(k)]
    over_all = _important(over_all)
    chosen = [i for i in range(k) if i not in held]
    within: dict[int, Shares] = {}
    if held:
        parts = [_shares(made, Share(held | {i}, held, held), totals.within[i], level, design.n) for i in chosen]
        within = dict(zip(chosen, _important(parts), strict=True))
    noise = float(made.seen.noise) if design.kind != SCATTERED and made.drawn is not None else None
    factors = [
        FactorRank(
            names[i], design.features[i].unit, over_all[i], dummies[i].p, dummies[i].zero_line, lines[i],
            effects(design, i, level, noise), None if shapley is None else shapley[i], within.get(i), i in held,
            totals.interacts[i],
        )
        for i in range(k)
    ]  # fmt: skip
    by_name = dict(zip(names, factors, strict=True))
    seen = holm({factor.name: factor.p for factor in factors}, 1 - level)
    told = [f.name for f in factors if f.name in seen or f.interacts]
    order = _order(made, {n: by_name[n].over_all for n in told},
                   {n: Share(frozenset([names.index(n)])) for n in told}, level)  # fmt: skip
    inner = [n for n in told if by_name[n].within is not None]
    order_within = _order(made, {n: w for n in inner if (w := by_name[n].within)},
                          {n: Share(held | {names.index(n)}, held, held) for n in inner}, level)  # fmt: skip
    ranked = sorted(factors, key=lambda factor: -_size(factor.over_all))
    silent = tuple(f.name for f in ranked if f.name not in told)
    fixed_share = made.estimate(Share(held), level, design.n) if held else None
    noise_share = made.noise(level, design.n) if design.df_repeats else None
    fixed = tuple(name for i, name in enumerate(names) if i in held)
    ranking = Ranking(
        data.response, data.unit, level, design.n, design.n_cells, _estimator(design), totals.name, made.how,
        tuple(ranked), noise_share, order, order_within, silent, fixed, fixed_share, design.links, seed, "", (),
    )  # fmt: skip
    said = warnings.warnings(ranking, design, data.warnings, r2)
    return replace(ranking, sentence=warnings.sentence(ranking), warnings=said)


def _estimator(design: Design) -> str:
    if design.kind in _NAMES:
        return _NAMES[design.kind]
    return "binned group means of scattered settings" if design.binned else "group means of scattered settings"


def _shares(made: Resampled, share: Share, total: tuple[Estimate, float | None], level: float, n: int) -> Shares:
    corrected = float(share.corrected(made.seen)) if made.drawn is not None else None
    return Shares(made.estimate(share, level, n), corrected, *total, 0.0)


def _important(shares: Sequence[Shares]) -> list[Shares]:
    """With VI = S1 over the sum of all S1."""
    whole = sum(share.s1.value or 0.0 for share in shares)
    return [replace(share, importance=(share.s1.value or 0.0) / whole if whole else 0.0) for share in shares]


def _size(shares: Shares) -> float:
    return shares.s1_corrected if shares.s1_corrected is not None else shares.s1.value or 0.0


def _order(
    made: Resampled, shares: dict[str, Shares], which: dict[str, Share], level: float
) -> tuple[tuple[str, ...], ...]:
    values = {name: _size(share) for name, share in shares.items()}
    names = sorted(values, key=lambda name: -values[name])
    return tied(names, values, {name: made.deviations(which[name]) for name in names}, level, made.noise_df)
