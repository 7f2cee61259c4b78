"""Rows → Ranking: chooses the estimator by the data, and names it.

S1 = V(E(Y|X))/V(Y), the first-order share; ST = 1 - V(E(Y|X₋ᵢ))/V(Y), the total share, without the noise if repeats
show it (Saltelli et al., Global Sensitivity Analysis, 2008, ch. 1 and 4).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.message import spell
from iosonde.model.fit.features import Examples
from iosonde.stats.regression.effect_types import (
    FactorEffect,
    ResponseEffects,
    correct_effects,
    is_too_different,
)
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION, GRID, SCATTERED

from . import factorial, scattered, warnings
from .adjusted import Adjusted, compute_adjusted_shares, needs_adjusted_shares
from .adjusted_means import adjust_level_means
from .aliases import find_aliases
from .blocks import estimate_blocks_in_order
from .design import Design, build_design
from .effects import estimate_level_effects
from .order import group_tied_names, insert_blocks
from .permutation import Null, estimate_dummy_effects
from .ranking import BY_ADJUSTED, BY_S1, FactorRank, Ranking
from .shapley import Shapley, estimate_shapley_effects
from .slopes import estimate_effects_by_level, estimate_effects_by_shuffled_bins, estimate_slopes
from .total import Total, TotalShares, estimate_total_shares
from .variances import Array, Groups, Resampled, Shares, VariancePart, VarianceShare
from .within import Within, compute_shares_within_fixed

SEED = 20_130
REST = "the rest"  # the block of factors in no other
_NAMES = {
    FACTORIAL: "group means of a factorial",
    FRACTION: "group means of a balanced fraction",
    GRID: "group means of an incomplete factorial",
}
_NOISES = {
    factorial.BY_REPEATS: "repeats",
    factorial.BY_INTERACTION: "highest_interaction",
    factorial.BY_MODEL: "lack_of_fit",
    scattered.HOW: "lack_of_fit",
}


@dataclass(frozen=True)
class _Estimates:
    """All estimates: variances, shares within the fixed factors, total shares, Shapley effects, shares ``beyond`` all
    other factors. ``levels``: the tested effects of all factors by their levels, corrected over the
    family of tests."""

    design: Design
    level: float
    resampled: Resampled
    inner: Within | None
    totals: TotalShares
    shapley: Shapley | None
    beyond: Adjusted | None
    levels: ResponseEffects
    rng: np.random.Generator

    @cached_property
    def dummies(self) -> list[Null]:
        """A dummy in the place of each factor, by many shuffles."""
        return estimate_dummy_effects(self.design, self.level, self.rng, self.beyond)

    def list_dummies(self) -> dict[str, tuple[float | None, float | None]]:
        """Map each factor to the p and the zero line of its dummy."""
        return {name: (null.p, null.zero_line) for name, null in zip(self.names, self.dummies, strict=True)}

    @cached_property
    def names(self) -> list[str]:
        """The names of the factors."""
        return [feature.name for feature in self.design.features]

    @cached_property
    def effects(self) -> ResponseEffects:
        """The decisive tests; by bins only for numbers with too many levels in too few settings for any other."""
        if not self.uses_bins:
            return self.levels
        parts = self.shares if self.adjusted is None else self.adjusted.parts
        return estimate_effects_by_shuffled_bins(
            self.design, self.dummies, [part.s1 if isinstance(part, Shares) else part.share for part in parts]
        )

    @property
    def uses_bins(self) -> bool:
        """Return whether only bins of numbers can be tested."""
        return bool(self.design.binned) and bool(self.levels.untested) and not is_too_different(self.levels)

    @cached_property
    def blocks(self) -> list[FactorEffect]:
        """Significant blocks of factors that change together, the strongest first."""
        return [effect for effect in self.effects.significant if effect.is_block]

    @cached_property
    def significant_factors(self) -> list[int]:
        """The factors with a significant effect or a significant interaction."""
        if is_too_different(self.levels):
            return []
        alone = {effect.name for effect in self.effects.significant if not effect.is_block}
        together = {name for effect in self.effects.effects if effect.is_block for name in effect.factors}
        return [
            i
            for i, name in enumerate(self.names)
            if name in alone or (self.totals.interacts[i] and name not in together)
        ]

    @property
    def adjusted(self) -> Adjusted | None:
        """The adjusted shares if S1 would confound the factors, else None."""
        return self.beyond if needs_adjusted_shares(self.design) else None

    @cached_property
    def shares(self) -> list[Shares]:
        """The shares of each factor over all."""
        every = range(len(self.names))
        return _add_importance(
            [self._shares(self.resampled, VarianceShare(frozenset([i])), self.totals.of[i]) for i in every],
            self._weights(self.adjusted.parts) if self.adjusted else None,
        )

    def _weights(self, parts: Sequence[VariancePart]) -> Sequence[VariancePart] | None:
        """Return the weights of VI: the adjusted shares, but None (S1) if some factors always change together, as these
        explain nothing beyond each other."""
        return None if self.effects.has_factors_in_same_block(self.names) else parts

    @cached_property
    def parts(self) -> dict[int, Shares]:
        """The shares of the factors within the fixed ones."""
        if self.inner is None:
            return {}
        shares = self.inner.shares
        return dict(
            zip(
                shares,
                _add_importance(
                    [self._shares(self.inner.resampled, share, self.totals.within[i]) for i, share in shares.items()],
                    None if self.adjusted is None else self._weights([self.adjusted.within[i] for i in shares]),
                ),
                strict=True,
            )
        )

    def order(self) -> tuple[tuple[str, ...], ...]:
        """The significant factors, in groups whose order is inconclusive; factors that change together are in one."""
        if self.adjusted is not None:
            order = self._adjusted_order(dict(enumerate(self.adjusted.parts)), self.adjusted.moves)
        else:
            order = _compute_order(
                self.resampled,
                {self.names[i]: (self.shares[i], VarianceShare(frozenset([i]))) for i in self.significant_factors},
                self.level,
            )
        return insert_blocks(order, self.blocks, self.effects)

    def order_within(self) -> tuple[tuple[str, ...], ...]:
        """The order within the fixed factors."""
        if self.inner is None:
            return ()
        if self.adjusted is not None:
            return self._adjusted_order(self.adjusted.within, self.adjusted.moves_within)
        both = {
            self.names[i]: (self.parts[i], self.inner.shares[i]) for i in self.significant_factors if i in self.parts
        }
        return _compute_order(self.inner.resampled, both, self.level)

    def _adjusted_order(
        self, parts: Mapping[int, VariancePart], moves: Mapping[int, Array | None]
    ) -> tuple[tuple[str, ...], ...]:
        assert self.adjusted is not None
        significant = sorted((i for i in self.significant_factors if i in parts), key=lambda i: -_get_value(parts[i]))
        values = {self.names[i]: _get_value(parts[i]) for i in significant}
        return group_tied_names(
            list(values),
            values,
            {self.names[i]: moves[i] for i in significant},
            self.level,
            self.adjusted.scale.noise.df,
        )

    def _shares(self, resampled: Resampled, share: VarianceShare, total: Total) -> Shares:
        return Shares(
            resampled.estimate(share, self.level, self.design.n),
            float(share.corrected(resampled.observed)) if resampled.drawn is not None else None,
            *total,
            0.0,
        )


def rank_factors(
    data: Examples,
    level: float,
    fixed: Sequence[str] = (),
    blocks: Mapping[str, Sequence[str]] | None = None,
    progress: Callable[[str], None] = lambda what: None,
    effects: ResponseEffects | None = None,
    with_shapley: bool = True,
) -> Ranking:
    """Rank the factors of ``data``.

    ``fixed`` names factors that users cannot choose: the others are then also ranked within them. ``blocks`` are
    factors by the name of their block, entered in order; factors in none make the last. ``progress`` is called with the
    next step. ``effects``: tests of the same rows that are corrected over a family of responses; by default over these
    factors alone. ``with_shapley``: estimate Shapley effects of correlated factors, which takes longest. Raises
    InputError, DataError."""
    check_level(level)
    design = build_design(data)
    names = [feature.name for feature in design.features]
    fixed_factors = _find_fixed_factor_numbers(fixed, names)
    ordered = _number_factors_of_blocks(blocks or {}, names)
    rng = np.random.default_rng(SEED)
    estimates = _estimate_all(
        design,
        fixed_factors,
        level,
        rng,
        progress,
        effects or correct_effects([estimate_effects_by_level(data, level)])[0],
        with_shapley,
    )
    progress("the effect of each level")
    factors, r2 = _build_factors(estimates, fixed_factors)
    order = estimates.order()
    matter = {name for group in order for name in group}
    entered = estimate_blocks_in_order(design, ordered, matter, level, rng.spawn(1)[0]) if ordered else None
    ranking = Ranking(
        data.response,
        data.unit,
        level,
        design.n,
        design.n_cells,
        _describe_estimator(design),
        estimates.totals.name,
        estimates.resampled.how,
        factors,
        estimates.resampled.noise(level, design.n) if design.df_repeats else None,
        order,
        estimates.order_within(),
        tuple(f.name for f in factors if f.name not in matter),
        tuple(names[i] for i in sorted(fixed_factors)),
        None if estimates.inner is None else estimates.inner.fixed,
        design.links,
        SEED,
        "",
        (),
        entered,
        by=BY_S1 if estimates.adjusted is None else BY_ADJUSTED,
        noise_from=_get_noise_source(estimates),
        shapley_estimator="" if estimates.shapley is None else estimates.shapley.name,
        effects=estimates.effects,
        by_levels=not design.binned,
        estimate_dummies=estimates.list_dummies,
    )
    return replace(
        ranking,
        sentence=warnings.describe_ranking(ranking),
        warnings=warnings.collect_warnings(ranking, design, data.warnings, r2, estimates.beyond),
    )


def _find_fixed_factor_numbers(fixed: Sequence[str], names: Sequence[str]) -> Groups:
    indices = frozenset(_find_factor_numbers(fixed, names, f"{spell.fixed}"))
    if len(indices) == len(names):
        raise InputError(
            "no-free-factor", "every factor is fixed", "leave one out of {spell.fixed}: nothing is left to choose"
        )
    return indices


def _estimate_all(
    design: Design,
    fixed_factors: Groups,
    level: float,
    rng: np.random.Generator,
    progress: Callable[[str], None],
    effects: ResponseEffects,
    with_shapley: bool,
) -> _Estimates:
    progress("first-order shares and their intervals")
    room = scattered if design.kind == SCATTERED else factorial
    resampled = room.resample_variances(
        design, _list_factor_sets(len(design.features), fixed_factors, design.kind), rng
    )
    inner = compute_shares_within_fixed(design, resampled, fixed_factors, level, rng) if fixed_factors else None
    progress("total shares")
    totals = estimate_total_shares(
        design, resampled, fixed_factors, 1.0 if inner is None else max(0.0, 1 - (inner.fixed.value or 0.0)), level, rng
    )
    # By a copy: no other number depends on whether Shapley effects are estimated.
    has_shapley = with_shapley and design.links and not is_too_different(effects)
    shapley = estimate_shapley_effects(design, level, deepcopy(rng)) if has_shapley else None
    beyond = compute_adjusted_shares(design, fixed_factors, level, rng.spawn(1)[0])
    return _Estimates(design, level, resampled, inner, totals, shapley, beyond, effects, rng)


def _build_factors(estimates: _Estimates, fixed_factors: Groups) -> tuple[tuple[FactorRank, ...], float | None]:
    """Return (the factors, the most important first; R² of the line in all of them)."""
    design, level, resampled = estimates.design, estimates.level, estimates.resampled
    lines, r2 = estimate_slopes(design, level)
    noise = float(resampled.observed.noise) if design.kind != SCATTERED and resampled.drawn is not None else None
    own, alias = estimates.adjusted, find_aliases(design)
    factors = [
        FactorRank(
            name,
            design.features[i].unit,
            estimates.shares[i],
            None,
            None,
            lines[i],
            estimate_level_effects(design, i, level, noise, _adjust_means(estimates, i)),
            None if estimates.shapley is None else estimates.shapley.of[i],
            estimates.parts.get(i),
            i in fixed_factors,
            estimates.totals.interacts[i],
            None if own is None else own.parts[i],
            None if own is None else own.within.get(i),
            () if alias is None else alias[i],
            estimates.effects.effect_of(name),
        )
        for i, name in enumerate(estimates.names)
    ]
    return tuple(sorted(factors, key=_get_sort_key)), r2


def _adjust_means(estimates: _Estimates, factor: int) -> Array | None:
    """Return the means at the levels of a factor with the others held, on the scale that decides its test."""
    effect = estimates.effects.effect_of(estimates.names[factor])
    by_logarithms = effect is not None and effect.log_share is not None
    return adjust_level_means(estimates.design, factor, estimates.effects.interactions, by_logarithms)


def _get_sort_key(factor: FactorRank) -> float:
    if factor.effect is not None:
        return -factor.effect.share
    return -_get_size(factor.over_all) if factor.adjusted is None else -_get_value(factor.adjusted)


def _get_noise_source(estimates: _Estimates) -> str:
    """Return the source of the noise as a code. With few settings of a fraction the F test may have noise where S1 has
    none."""
    if estimates.resampled.how:
        return _NOISES[estimates.resampled.how]
    return "lack_of_fit" if estimates.beyond is not None and estimates.beyond.scale.noise.df else ""


def _find_factor_numbers(chosen: Sequence[str], names: Sequence[str], option: str) -> list[int]:
    for name in chosen:
        if name not in names:
            raise InputError(
                "unknown-factor",
                "{option}: '{name}' is not a factor",
                "factors: {factors}",
                option=option,
                name=name,
                factors=", ".join(names),
            )
    return [names.index(name) for name in chosen]


def _number_factors_of_blocks(blocks: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, list[int]]:
    """Return factors by number; those in no block are the last. Raises InputError."""
    indices = {name: _find_factor_numbers(factors, names, f"{spell.block}") for name, factors in blocks.items()}
    placed = [i for factors in indices.values() for i in factors]
    for i in placed:
        if placed.count(i) > 1:
            raise InputError(
                "duplicate-factor",
                "{spell.block}: '{name}' is in two blocks",
                "leave it in the first that may explain it",
                name=names[i],
            )
    rest = [i for i in range(len(names)) if i not in placed]
    return {**indices, REST: rest} if indices and rest else indices


def _list_factor_sets(k: int, fixed_factors: Groups, kind: str) -> list[Groups]:
    everything: Groups = frozenset(range(k))
    factor_sets: list[Groups] = [frozenset(), *(frozenset([i]) for i in range(k))]
    if kind == FACTORIAL:
        factor_sets += [everything, *(everything - {i} for i in range(k))]
    if fixed_factors and kind != SCATTERED:
        factor_sets += [fixed_factors, *(fixed_factors | {i} for i in everything - fixed_factors)]
    return list(dict.fromkeys(factor_sets))


def _describe_estimator(design: Design) -> str:
    scattered_name = (
        "binned group means of scattered settings" if design.binned else "group means of scattered settings"
    )
    return _NAMES.get(design.kind, scattered_name)


def _add_importance(shares: Sequence[Shares], parts: Sequence[VariancePart] | None = None) -> list[Shares]:
    """Add VI = S1 over the sum of all S1; if factors are ranked by the adjusted share, VI uses it."""
    values = [share.s1.value or 0.0 for share in shares] if parts is None else [_get_value(part) for part in parts]
    total = sum(values)
    return [
        replace(share, importance=value / total if total else 0.0) for share, value in zip(shares, values, strict=True)
    ]


def _get_value(part: VariancePart) -> float:
    return part.share.value or 0.0


def _get_size(shares: Shares) -> float:
    return shares.s1_corrected if shares.s1_corrected is not None else shares.s1.value or 0.0


def _compute_order(
    resampled: Resampled, shares: Mapping[str, tuple[Shares, VarianceShare]], level: float
) -> tuple[tuple[str, ...], ...]:
    values = {name: _get_size(share) for name, (share, _) in shares.items()}
    names = sorted(values, key=lambda name: -values[name])
    return group_tied_names(
        names,
        values,
        {name: resampled.compute_deviations(shares[name][1]) for name in names},
        level,
        resampled.noise_df,
    )
