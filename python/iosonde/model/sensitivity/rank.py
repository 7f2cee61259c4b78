"""Rows → Ranking: chooses the estimator by the data, and says which.

S1 = V(E(Y|X))/V(Y), the first-order share; ST = 1 - V(E(Y|X₋ᵢ))/V(Y), the total share, without the noise where repeats
tell it (Saltelli et al., Global Sensitivity Analysis, 2008, ch. 1 and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.model.features import Examples
from iosonde.stats.distributions import check_level

from . import factorial, scattered, warnings
from .blocks import enter
from .design import FACTORIAL, FRACTION, GRID, SCATTERED, Design, design_of
from .effects import effects
from .order import holm, tied
from .permutation import nulls
from .ranking import FactorRank, Ranking, Shares
from .shapley import effects_of
from .slopes import slopes
from .total import Totals, total_shares
from .variances import Groups, Resampled, Share
from .within import Within, within

SEED = 20_130
REST = "the rest"  # the block of factors that are in none
_NAMES = {
    FACTORIAL: "group means of a factorial",
    FRACTION: "group means of a balanced fraction",
    GRID: "group means of an incomplete factorial",
}


def rank(
    data: Examples, level: float, fixed: Sequence[str] = (), seed: int = SEED,
    blocks: Mapping[str, Sequence[str]] | None = None, progress: Callable[[str], None] = lambda what: None,
) -> Ranking:  # fmt: skip
    """Rank the factors of ``data``. ``fixed`` names those that one cannot choose: the others are then also ranked
    within them. ``blocks`` are factors by the name of their block, entered in order; factors in none make the last.
    ``progress`` is told what begins. Raises InputError, DataError."""
    check_level(level)
    design = design_of(data)
    names = [feature.name for feature in design.features]
    held: Groups = frozenset(_numbers(fixed, names, "--fixed"))
    if len(held) == len(names):
        raise InputError("every factor is fixed", "leave one out of --fixed: nothing is left to choose")
    entered = _blocks(blocks or {}, names)
    rng = np.random.default_rng(seed)
    progress("first-order shares and their intervals")
    room = scattered if design.kind == SCATTERED else factorial
    made = room.resample(design, _wanted(len(names), held, design.kind), rng)
    inner = within(design, made, held, level, rng) if held else None
    progress("total shares")
    left = 1.0 if inner is None else max(0.0, 1 - (inner.fixed.value or 0.0))
    totals = total_shares(design, made, held, left, level, rng)
    shapley = effects_of(design, level, rng) if design.links else None
    progress("what a dummy would reach")
    dummies = nulls(design, level, rng)
    seen = holm({name: null.p for name, null in zip(names, dummies, strict=True)}, 1 - level)
    told = {i for i, name in enumerate(names) if name in seen or totals.interacts[i]}
    progress("the effect of each level")
    lines, r2 = slopes(design, level)
    shares = [_shares(made, Share(frozenset([i])), totals.of[i], level, design.n) for i in range(len(names))]
    parts = _parts(inner, totals, level, design.n)
    noise = float(made.seen.noise) if design.kind != SCATTERED and made.drawn is not None else None
    factors = [
        FactorRank(
            name, design.features[i].unit, share, dummies[i].p, dummies[i].zero_line, lines[i],
            effects(design, i, level, noise), None if shapley is None else shapley[i], parts.get(i), i in held,
            totals.interacts[i],
        )
        for i, (name, share) in enumerate(zip(names, _important(shares), strict=True))
    ]  # fmt: skip
    ranked = sorted(factors, key=lambda factor: -_size(factor.over_all))
    ranking = Ranking(
        data.response, data.unit, level, design.n, design.n_cells, _estimator(design), totals.name, made.how,
        tuple(ranked), made.noise(level, design.n) if design.df_repeats else None,
        _order(made, {names[i]: (shares[i], Share(frozenset([i]))) for i in sorted(told)}, level),
        () if inner is None else _order(
            inner.made, {names[i]: (parts[i], inner.shares[i]) for i in sorted(told & set(parts))}, level),
        tuple(factor.name for factor in ranked if names.index(factor.name) not in told),
        tuple(names[i] for i in sorted(held)), None if inner is None else inner.fixed,
        design.links, seed, "", (), enter(design, entered, {names[i] for i in told}, level, rng) if entered else None,
    )  # fmt: skip
    said = warnings.warnings(ranking, design, data.warnings, r2)
    return replace(ranking, sentence=warnings.sentence(ranking), warnings=said)


def _numbers(chosen: Sequence[str], names: Sequence[str], option: str) -> list[int]:
    """The factors' numbers. Raises InputError."""
    for name in chosen:
        if name not in names:
            raise InputError(f"{option}: '{name}' is no factor", f"factors: {', '.join(names)}")
    return [names.index(name) for name in chosen]


def _blocks(blocks: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, list[int]]:
    """Factors by number; those in no block are the last. Raises InputError."""
    found = {name: _numbers(factors, names, "--block") for name, factors in blocks.items()}
    placed = [i for factors in found.values() for i in factors]
    for i in placed:
        if placed.count(i) > 1:
            raise InputError(f"--block: '{names[i]}' is in two blocks", "leave it in the first that may explain it")
    rest = [i for i in range(len(names)) if i not in placed]
    return {**found, REST: rest} if found and rest else found


def _wanted(k: int, held: Groups, kind: str) -> list[Groups]:
    everything: Groups = frozenset(range(k))
    found: list[Groups] = [frozenset(), *(frozenset([i]) for i in range(k))]
    if kind == FACTORIAL:
        found += [everything, *(everything - {i} for i in range(k))]
    if held and kind != SCATTERED:
        found += [held, *(held | {i} for i in everything - held)]
    return list(dict.fromkeys(found))


def _parts(inner: Within | None, totals: Totals, level: float, n: int) -> dict[int, Shares]:
    """Shares within the fixed factors."""
    if inner is None:
        return {}
    parts = [_shares(inner.made, share, totals.within[i], level, n) for i, share in inner.shares.items()]
    return dict(zip(inner.shares, _important(parts), strict=True))


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


def _order(made: Resampled, shares: Mapping[str, tuple[Shares, Share]], level: float) -> tuple[tuple[str, ...], ...]:
    values = {name: _size(seen) for name, (seen, _) in shares.items()}
    names = sorted(values, key=lambda name: -values[name])
    return tied(names, values, {name: made.deviations(shares[name][1]) for name in names}, level, made.noise_df)
