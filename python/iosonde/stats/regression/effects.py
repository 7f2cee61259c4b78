"""The effect of each factor on a response, with its test: the common inference of `summary`, `plot`, the page and
`rank`.

The share of a factor is that of ``anova`` without interactions: its sum of squares, added last (type II), over the
total, which in a balanced design is S1 of ``rank``. Its interval and its F test use the variance of the trials of each
setting (``effect_noise``); where too few settings are repeated, one variance of all or, if that has few degrees of
freedom, the residuals of the model. If trials share bring-ups, they use the error of its stratum. Confounded factors
(the same levels under two names, one nested in the other, or nearly so) are one block with one test of all its members
at once: the extra sum of squares.

The test is that of ``compare`` (``means_test``): where levels are further than a factor of 2 apart, that on logarithms
decides if its p is the smaller one. Where the spread of trials grows with their mean over the settings of several
factors, that on logarithms decides, as ``compare`` takes ratios within cells. The smaller p of both would claim too
often there: 7 to 10 % of tables without an effect.

Scattered numbers (``scattered``) are broken lines. The settings are a sample then, so that the noise includes what the
lines leave between settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from ..estimate.distributions import f_upper_p, t_critical
from ..estimate.means_test import LEAST_LOG_RATIO, do_logarithms_decide
from ..estimate.variance_share import LEAST_DF, SumOfSquares, Variation
from . import strata
from .blocks import build_orthonormal_basis, find_products, group_confounded_factors, remove_basis
from .effect_noise import EffectNoise, measure_cell_noise
from .effect_types import MINOR_SHARE, MOST_OF_INTERACTION, FactorEffect, ResponseEffects
from .interacting import select_active_units
from .interactions import Interaction, find_interactions, multiply_columns
from .lenth import estimate_saturated_noise
from .scattered import build_broken_line, find_scattered_numbers
from .spread_growth import grows_with_mean

SINGLE_TRIAL = Message("single-trial", "one trial per setting")
SINGLE_RUN = Message("single-run", "one run per setting")
FEW_REPEATS = Message("identical-repeats", "the few repeats are exactly equal")
NO_DEGREES_OF_FREEDOM = Message("no-degrees-of-freedom", "no degrees of freedom are left")
_MOST_CELLS = 100  # for a model of all settings in strata
_MOST_LEVELS = 300  # compared in pairs
_ORDERS = 2, 3  # of interactions that may be told from the noise of single trials
_MOST_IN_PAIRS = 8  # factors whose pairs are looked at
_DIFFERS = 0.01  # p of equal effects in all settings of the others, as in a comparison within cells
_SURELY_SIGNIFICANT = 1e-9  # p of an effect in any family
_NOTHING = 1e-12  # share of the variation below which noise is rounding


def estimate_effects(
    settings: Mapping[str, Sequence[object]],
    values: Sequence[Array],
    shared: Indices | None,
    level: float,
    log_base: float | None = None,
) -> ResponseEffects:
    """Estimate the effects of the factors ``settings`` (the level of each cell), not yet corrected. ``values``: the
    trials of each cell; ``shared`` numbers the bring-ups of all trials, in their order, the outermost in the first
    column; ``log_base``: of values that are logarithms."""
    names = tuple(name for name, levels in settings.items() if len(set(levels)) > 1)
    varied = {name: settings[name] for name in names}
    numbers = find_scattered_numbers(varied, sum(trials.size for trials in values))
    columns = {
        name: build_broken_line(numbers[name], len(names)) if name in numbers else _encode_dummies(settings[name])
        for name in names
    }
    products = find_products(varied)
    data = _Data.from_trials(values, columns, (numbers, products), level, log_base)
    if len(values) < 2 or not names:
        return ResponseEffects(names)
    if data.total <= 0:
        same = Estimate(0.0, None, None, level, data.y.size)
        return ResponseEffects(names, tuple(FactorEffect((name,), same, 1.0) for name in names))
    effects = _estimate(data, shared)
    if log_base is not None or effects.untested or not _are_levels_far_apart(data, values):
        return effects
    log_data = _Data.from_trials([np.log(x) for x in values], columns, (numbers, products), level, math.e)
    logarithms = _estimate(log_data, shared)
    is_multiplicative = len(names) > 1 and grows_with_mean(values)
    return _choose_scales(effects, logarithms, (data, log_data), is_multiplicative)


def _estimate(data: _Data, shared: Indices | None) -> ResponseEffects:
    return _estimate_by_trials(data) if shared is None else _estimate_by_strata(data, shared)


def _are_levels_far_apart(data: _Data, values: Sequence[Array]) -> bool:
    """Return whether logarithms may decide the test of any factor; False for values of 0 or below."""
    if any(trials.min() <= 0 for trials in values):
        return False
    means = data.center + data.means
    return math.log(float(means.max() / means.min())) > LEAST_LOG_RATIO


def _choose_scales(
    effects: ResponseEffects, logarithms: ResponseEffects, scales: tuple[_Data, _Data], is_multiplicative: bool
) -> ResponseEffects:
    """Return the effects, each with the test of the scale that decides; ``scales``: the values and their logarithms.
    ``is_multiplicative``: the spread grows with the mean, and logarithms decide whichever p is the smaller one."""
    others = {test.factors: test for test in logarithms.tests}

    def choose_scale(effect: FactorEffect) -> FactorEffect:
        effect = replace(effect, own=tuple(choose_scale(member) for member in effect.own))
        other = others.get(effect.factors)
        if other is None or effect.p is None or other.p is None:
            return effect
        by_logarithms = replace(effect, p=other.p, log_share=other.explained, ratio=other.ratio)
        if is_multiplicative:
            own = effect.explained
            is_reversed = own.low is not None and other.p >= 1 - own.level  # the interval must not contradict the test
            share = replace(own, low=0.0) if is_reversed else own
            return replace(by_logarithms, explained=share, difference=other.difference)
        return by_logarithms if other.p < effect.p and has_distant_levels(effect, other) else effect

    def has_distant_levels(effect: FactorEffect, other: FactorEffect) -> bool:
        data, basis = scales[0], scales[0].build_own_basis(effect.factors, effects.interactions)
        along, log_along = (basis.T @ (np.sqrt(scale.counts) * scale.means) for scale in scales)
        means = data.center + _locate_levels(data, effect.factors, basis) @ along
        log_ratio = math.log(float(means.max() / means.min())) if means.min() > 0 else math.inf
        return do_logarithms_decide(effect.p, other.p, log_ratio, float(along @ log_along) > 0)

    return replace(effects, effects=tuple(choose_scale(effect) for effect in effects.effects))


def _locate_levels(data: _Data, names: Sequence[str], basis: Array) -> Array:
    """Return the place of each level of these factors (rows) in the basis of their effect, about the mean of all."""
    columns = np.column_stack([data.columns[name] for name in names])
    center = data.counts @ columns / data.counts.sum()
    along = basis.T @ (np.sqrt(data.counts)[:, None] * (columns - center))
    return np.asarray((np.unique(columns, axis=0) - center) @ np.linalg.pinv(along))


@dataclass(frozen=True)
class _Data:
    """Trials ``y`` about their mean ``center``, with the number of their cell; ``columns`` of each factor, by cell;
    ``units``: the blocks. ``is_sample``: settings are scattered."""

    y: Array
    cell: Indices
    counts: Array
    means: Array
    columns: Mapping[str, Array]
    units: tuple[tuple[str, ...], ...]
    is_sample: bool
    level: float
    center: float
    log_base: float | None

    @classmethod
    def from_trials(
        cls,
        values: Sequence[Array],
        columns: Mapping[str, Array],
        confounders: tuple[Collection[str], Sequence[tuple[str, str, str]]],
        level: float,
        log_base: float | None,
    ) -> _Data:
        sizes = np.array([trials.size for trials in values])
        y = np.concatenate([*values, np.empty(0)])
        center = float(y.mean()) if y.size else 0.0
        y = y - center
        cell = np.repeat(np.arange(sizes.size), sizes)
        counts = sizes.astype(float)
        means = np.bincount(cell, y, sizes.size) / counts
        units = group_confounded_factors(columns, counts, *confounders)
        return cls(y, cell, counts, means, columns, units, bool(confounders[0]), level, center, log_base)

    @property
    def total(self) -> float:
        """Return the sum of squares of all trials."""
        return float(self.y @ self.y)

    @cached_property
    def squares(self) -> Array:
        """The sum of squares of each cell about its mean."""
        return np.asarray(np.bincount(self.cell, (self.y - self.means[self.cell]) ** 2, self.counts.size), float)

    @cached_property
    def within(self) -> SumOfSquares:
        """The variation of trials at one setting."""
        return SumOfSquares(float(self.squares.sum()), self.y.size - self.counts.size)

    def sum_squares(self, basis: Array) -> float:
        """Return the variation explained by this basis."""
        along = basis.T @ (np.sqrt(self.counts) * self.means)
        return float(along @ along)

    @cached_property
    def full_model(self) -> SumOfSquares:
        """The variation explained by the main effects of all factors."""
        return SumOfSquares(self.sum_squares(self.main_effects), self.main_effects.shape[1])

    def build_own_basis(self, names: Sequence[str], interactions: Sequence[Interaction] = ()) -> Array:
        """Build the basis of what these factors explain in addition to all others and to those ``interactions`` that
        hold none of them (type II): else these add to any factor where trials are missing. If nothing is beyond the
        interactions, in addition to the other factors alone."""
        own = build_orthonormal_basis([self.columns[name] for name in names], self.counts)
        others = [columns for name, columns in self.columns.items() if name not in names]
        products = [self.multiply_units(pair) for pair in interactions if set(names).isdisjoint(pair.factors)]
        full = remove_basis(own, build_orthonormal_basis([*others, *products], self.counts))
        alone = remove_basis(own, build_orthonormal_basis(others, self.counts)) if products else full
        return full if full.shape[1] == alone.shape[1] else alone

    def multiply_units(self, interaction: Interaction) -> Array:
        """Return the columns of an interaction."""
        first, other = (np.column_stack([self.columns[name] for name in unit]) for unit in interaction.units)
        return multiply_columns(first, other)

    @cached_property
    def main_effects(self) -> Array:
        """The basis of the main effects of all factors."""
        return build_orthonormal_basis(list(self.columns.values()), self.counts)

    def build_joint_basis(self, names: Sequence[str]) -> Array:
        """Build the basis of all differences between the joint levels of these factors, interactions included; those of
        few factors alone where interactions of more are the noise."""
        if 1 < self.order < len(names):
            return self._build_interaction_basis(names, self.order)
        return self._build_cell_basis(names)

    def _build_interaction_basis(self, names: Sequence[str], order: int) -> Array:
        """Build the basis of these factors and their interactions of at most ``order`` factors."""
        bases = [self._build_cell_basis(some) for some in combinations(names, order)]
        return build_orthonormal_basis([basis / np.sqrt(self.counts)[:, None] for basis in bases], self.counts)

    def _build_cell_basis(self, names: Sequence[str]) -> Array:
        levels = self.number_levels(names) if names else np.zeros(self.counts.size, np.intp)
        cells = np.asarray(levels[:, None] == np.arange(1, levels.max() + 1), float)
        return build_orthonormal_basis([cells], self.counts)

    def list_unit_columns(self) -> list[tuple[tuple[str, ...], Array]]:
        """List each block, with the columns of its factors."""
        return [(unit, np.column_stack([self.columns[name] for name in unit])) for unit in self.units]

    def number_levels(self, names: Sequence[str]) -> Indices:
        """Number the joint level of these factors of each cell."""
        columns = np.column_stack([self.columns[name] for name in names])
        return np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1).astype(np.intp)

    @cached_property
    def beyond(self) -> Mapping[int, SumOfSquares]:
        """The variation beyond all interactions of at most 2, and of at most 3 factors, by this number. It is noise
        where too few settings are repeated (Box, Hunter & Hunter, Statistics for Experimenters, 2nd ed. 2005, ch. 5).
        Nothing of scattered settings, of too many, or with enough repetitions."""
        n_factors = len(self.columns)
        is_small = n_factors <= _MOST_IN_PAIRS and self.counts.size <= _MOST_LEVELS
        if self.is_sample or self.within.df >= LEAST_DF or not is_small:
            return {}
        orders = [order for order in _ORDERS if order <= n_factors]
        bases = {order: self._build_interaction_basis(list(self.columns), order) for order in orders}
        beyond = {
            order: SumOfSquares(max(0.0, self.total - self.sum_squares(basis)), self.y.size - 1 - basis.shape[1])
            for order, basis in bases.items()
        }
        is_saturated = not self.is_repeated and all(noise.df < LEAST_DF for noise in beyond.values())
        noise = estimate_saturated_noise(list(self.columns.values()), self.means) if is_saturated else None
        return beyond if noise is None else {_ORDERS[0]: noise}

    @cached_property
    def order(self) -> int:
        """The most factors that interact, where interactions of more are the noise; 0 where they are not."""
        pairs, triples = (self.beyond.get(order) for order in _ORDERS)
        if pairs and triples and triples.df >= LEAST_DF and _is_larger(pairs, triples):
            return _ORDERS[1]
        return _ORDERS[0] if pairs and pairs.df >= LEAST_DF and _have_interactions(self, pairs) else 0

    @cached_property
    def noise(self) -> SumOfSquares:
        """The noise against which interactions are tested."""
        return self.beyond[self.order] if self.order else self.within

    @property
    def is_repeated(self) -> bool:
        """Return whether any setting has several trials."""
        return bool(self.counts.max() > 1)

    def untested(self, why: str) -> ResponseEffects:
        """Return effects without a test, with the reason."""
        return ResponseEffects(tuple(self.columns), (), why, self.is_repeated)


def _estimate_by_trials(data: _Data) -> ResponseEffects:
    noise = _choose_noise(data)
    if noise.df < 1:
        return data.untested(SINGLE_TRIAL)
    if _is_exact_by_luck(noise, data.total):
        return data.untested(FEW_REPEATS)
    noise = SumOfSquares(max(noise.ss, _NOTHING * data.total), noise.df)
    interactions = () if data.is_sample else _find_interactions(data, data.noise)
    interact, hides_interactions = _have_interactions(data, data.noise), _may_hide_interactions(data)
    interacting = _find_active_factors(data, noise, data.main_effects) if interact else ()
    between = (data.total - data.noise.ss - data.full_model.ss) / data.total if interact else 0.0
    pair = _find_interacting_pair(data, between * data.total) if interact else ()

    def estimate_effect(names: tuple[str, ...]) -> FactorEffect | None:
        basis = data.build_own_basis(names, interactions)
        if not basis.shape[1]:
            return None
        effect = _test_effect(data, names, basis, noise)
        is_alone = not hides_interactions if not interact else _hardly_acts(data, names, interacting, noise)
        takes_part = between >= MINOR_SHARE and bool(set(names) & set(pair or interacting))
        return effect if is_alone else replace(effect, difference=None, is_interacting=takes_part)

    def estimate_share(names: tuple[str, ...], basis: Array) -> Estimate:
        return _test_effect(data, names, basis, noise).explained

    effects = _build_effects_with_members(data, estimate_effect, estimate_share)
    joint = _estimate_joint(data, effects)
    return replace(
        effects,
        shared=_measure_shared(data, effects, interactions),
        joint=joint,
        interaction=between,
        interacting=pair or interacting,
        interactions=interactions,
    )


def _measure_shared(data: _Data, effects: ResponseEffects, interactions: Sequence[Interaction]) -> float:
    """Return the share of the variation that factors and these interactions explain, but none beyond the others."""
    products = [data.multiply_units(pair) for pair in interactions]
    every = data.sum_squares(build_orthonormal_basis([*data.columns.values(), *products], data.counts))
    own = sum(effect.share for effect in effects.effects) + sum(pair.share for pair in interactions)
    return max(0.0, every / data.total - own)


def _test_effect(data: _Data, names: tuple[str, ...], basis: Array, noise: SumOfSquares) -> FactorEffect:
    """Test the effect that the ``basis`` explains, with the variance of each cell if the settings are repeated."""
    ss, n = data.sum_squares(basis), data.y.size
    own = _measure_effect_noise(data, names, basis, noise)
    share = own.estimate_share(ss, data.total, noise, n, data.level)
    difference, ratio = _bound_difference(data, names, basis, own), _estimate_ratio(data, names, basis, own)
    return FactorEffect(names, share, own.compute_p(ss), difference=difference, ratio=ratio)


def _measure_effect_noise(data: _Data, names: Sequence[str], basis: Array, noise: SumOfSquares) -> EffectNoise:
    """Measure the noise in the effect of these factors that the ``basis`` explains; the ``noise`` is of all trials."""
    df, n = basis.shape[1], data.y.size
    own = None
    if not data.is_sample:
        least = _NOTHING * data.total / n
        own = measure_cell_noise(basis, data.counts, data.means, data.squares, data.number_levels(names), least)
    return own or EffectNoise.pooled(df, max(0.0, n - 1 - noise.df - df), noise, n)


def _find_active_factors(data: _Data, noise: SumOfSquares, base: Array) -> tuple[str, ...]:
    """Return the factors that take part in what settings explain beyond the ``base``; all if there are too many
    settings to look, none if fewer than two take part."""
    if data.is_sample or data.counts.size > _MOST_LEVELS or len(data.columns) > _MOST_IN_PAIRS:
        return tuple(data.columns)

    def compute_p(unit: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> float | None:
        rest = [name for other in others for name in other]
        without = np.column_stack([base, remove_basis(data.build_joint_basis(rest), base)])
        lost = remove_basis(data.build_joint_basis([*rest, *unit]), without)
        if not lost.size:
            return None
        # Of many degrees of freedom and few trials each, the noise of single settings claims too often.
        pooled = EffectNoise.pooled(lost.shape[1], 0.0, noise, data.y.size)
        ss, noises = data.sum_squares(lost), (_measure_effect_noise(data, unit, lost, noise), pooled)
        return max(each.compute_p(ss) for each in noises)

    active = select_active_units(data.units, compute_p, 1 - data.level)
    return tuple(name for unit in active for name in unit) if len(active) > 1 else ()


def _hardly_acts(data: _Data, names: Sequence[str], interacting: Collection[str], noise: SumOfSquares) -> bool:
    """Return whether these factors are not ``interacting``, and all that is lost without them is a small share even at
    its upper limit."""
    if set(names) & set(interacting):
        return False
    others = [name for name in data.columns if name not in names]
    lost = remove_basis(data.build_joint_basis(list(data.columns)), data.build_joint_basis(others))
    high = _test_effect(data, tuple(names), lost, noise).explained.high if lost.size else None
    return high is not None and high < MINOR_SHARE


def _estimate_ratio(data: _Data, names: Sequence[str], basis: Array, noise: EffectNoise) -> Estimate | None:
    """Return the ratio of the highest level to the lowest, the others fixed, with its interval if there are two levels.
    None for scattered settings and many levels."""
    number = data.number_levels(names)
    if data.is_sample or number.max() >= _MOST_LEVELS or not noise.error_df > 0:
        return None
    places = _locate_levels(data, names, basis)
    levels = places @ (basis.T @ (np.sqrt(data.counts) * data.means))
    distance, half = float(np.ptp(levels)), math.inf
    if basis.shape[1] == 1 and len(levels) == 2:
        half = t_critical(data.level, noise.error_df) * math.sqrt(noise.expected) * float(np.ptp(places))
    ends = np.array([distance, distance - half, distance + half])
    if data.log_base is not None:
        ratios = np.exp(np.minimum(ends * math.log(data.log_base), 700.0))
    elif (base := data.center + float(levels.min())) > 0:
        ratios = 1 + ends / base
    else:
        return None
    low, high = (float(end) for end in ratios[1:]) if math.isfinite(half) else (None, None)
    return Estimate(float(ratios[0]), low, high, data.level, data.y.size)


def _is_larger(pairs: SumOfSquares, triples: SumOfSquares) -> bool:
    """Return whether there is more beyond pairs of factors than the noise beyond triples explains. Interactions of
    three factors are rare, and so must a false claim of one be."""
    df = pairs.df - triples.df
    if df < 1 or triples.ss <= 0:
        return df >= 1 and pairs.ss > 0
    return f_upper_p((pairs.ss - triples.ss) / df / triples.mean_square, df, triples.df) < _DIFFERS / 10


def _have_interactions(data: _Data, noise: SumOfSquares) -> bool:
    """Return whether the effect of a factor differs significantly between levels of the others."""
    between = data.total - noise.ss - data.full_model.ss
    df = data.y.size - 1 - data.full_model.df - noise.df
    if df < 1 or noise.df < 1 or noise.ss <= 0:
        return df >= 1 and noise.df >= 1 and between > _NOTHING * data.total
    return f_upper_p(between / df / (noise.ss / noise.df), df, noise.df) < _DIFFERS


def _may_hide_interactions(data: _Data) -> bool:
    """Return whether too few settings are repeated to tell interactions from noise, and both together are no small
    share: a factor without an effect of its own may matter."""
    unexplained = data.total - data.full_model.ss
    return not data.is_sample and data.noise.df < LEAST_DF and unexplained >= MINOR_SHARE * data.total


def _find_interactions(data: _Data, noise: SumOfSquares) -> tuple[Interaction, ...]:
    """Return the significant interactions of two factors, or blocks; none with few degrees of freedom of ``noise``."""
    if noise.df < LEAST_DF:
        return ()
    noise = SumOfSquares(max(noise.ss, _NOTHING * data.total), noise.df)
    is_small = data.counts.size <= _MOST_LEVELS

    def measure(names: Sequence[str], added: Array, rest: Array) -> tuple[float, float]:
        ss, df = data.sum_squares(added), added.shape[1]
        pooled = EffectNoise.pooled(df, 0.0, noise, data.y.size)
        own = _measure_effect_noise(data, names, added, noise) if is_small else pooled
        return ss / data.total, own.compute_p(ss)

    return find_interactions(data.list_unit_columns(), data.counts, measure, data.level)


def _find_interacting_pair(data: _Data, between: float) -> tuple[str, ...]:
    """Return the two factors whose interaction is most of the variation ``between`` settings beyond all effects; none
    if several interactions make it, or there are too many settings to look."""
    if data.counts.size > _MOST_LEVELS or len(data.columns) > _MOST_IN_PAIRS:
        return ()
    for pair in combinations(data.columns, 2):
        added = remove_basis(data.build_joint_basis(pair), data.main_effects)
        if data.sum_squares(added) >= MOST_OF_INTERACTION * between:
            return pair
    return ()


def _bound_difference(data: _Data, names: Sequence[str], basis: Array, noise: EffectNoise) -> float | None:
    """Return the upper limit of the relative difference between any two levels, the others fixed. None for scattered
    settings, where the mean of a level is that of one setting."""
    if data.is_sample:
        return None
    number = data.number_levels(names)
    if number.max() >= _MOST_LEVELS or not noise.error_df > 0:
        return None
    levels = _locate_levels(data, names, basis)
    distance = np.sqrt(max(float(np.sum((levels - level) ** 2, axis=1).max()) for level in levels))
    bound = float(distance) * noise.bound_distance(data.sum_squares(basis), data.level)
    if data.log_base is not None:
        return math.expm1(min(700.0, bound * math.log(data.log_base)))
    means = data.center + np.bincount(number, data.counts * data.means) / np.bincount(number, data.counts)
    base = float(means.min() if means.min() > 0 else np.abs(means).max())
    return bound / base if base else None


def _estimate_joint(data: _Data, effects: ResponseEffects) -> FactorEffect | None:
    """Estimate the difference of all settings against their repeats, by the factors that take part in it. None with few
    repeats or a single factor, or if no other effect leaves room for it."""
    noise = data.noise
    if len(data.columns) < 2 or noise.df < LEAST_DF or data.counts.size < 2:
        return None
    noise = SumOfSquares(max(noise.ss, _NOTHING * data.total), noise.df)
    every = tuple(data.columns)
    joint = replace(_test_effect(data, every, data.build_joint_basis(every), noise), is_joint=True)
    is_possible = joint.p is not None and joint.p < 1 - data.level
    is_superfluous = any(effect.p is not None and effect.p < _SURELY_SIGNIFICANT for effect in effects.effects)
    if not is_possible or is_superfluous:
        return joint
    active = _find_active_factors(data, noise, data.main_effects[:, :0])
    if not active:
        return None
    own = _test_effect(data, active, data.build_joint_basis(active), noise)
    return replace(joint, factors=active, explained=own.explained)


def _choose_noise(data: _Data) -> SumOfSquares:
    """Choose the noise to test against: the trials of each setting or, if these are few, the residuals of the model;
    of scattered settings always these, or their part between settings if it is larger."""
    if data.is_sample:
        return _measure_noise_of_sample(data)
    if data.noise.df >= LEAST_DF:
        return data.noise
    return SumOfSquares(max(data.within.ss, data.total - data.full_model.ss), data.y.size - 1 - data.full_model.df)


def _measure_noise_of_sample(data: _Data) -> SumOfSquares:
    residual = SumOfSquares(max(0.0, data.total - data.full_model.ss), data.y.size - 1 - data.full_model.df)
    between = SumOfSquares(residual.ss - data.within.ss, residual.df - data.within.df)
    is_larger = between.df >= LEAST_DF and between.mean_square > residual.mean_square
    return between if is_larger else residual


def _is_exact_by_luck(noise: SumOfSquares, total: float) -> bool:
    """Return whether noise is absent in too few trials: a few counts may be equal by chance, many are exact."""
    return noise.ss <= _NOTHING * total and noise.df < LEAST_DF


def _estimate_by_strata(data: _Data, shared: Indices) -> ResponseEffects:
    """Test effects if trials share bring-ups. Factors that are set once for several trials are tested against the error
    between bring-ups, or not at all without one."""
    rows = {name: columns[data.cell] for name, columns in data.columns.items()}
    ones = np.ones(data.y.size)
    model_strata = strata.build_strata(
        data.y, np.column_stack([ones, *rows.values()]), strata.nest_units(list(shared.T)), data.level
    )
    if model_strata is None:
        return data.untested(NO_DEGREES_OF_FREEDOM if data.is_repeated else SINGLE_TRIAL)
    if _is_exact_by_luck(model_strata.within.error, data.total):
        return data.untested(FEW_REPEATS)

    def estimate_effect(names: tuple[str, ...]) -> FactorEffect | None:
        basis = data.build_own_basis(names)
        added = SumOfSquares(data.sum_squares(basis), basis.shape[1])
        if added.df < 1:
            return None
        depth = min(model_strata.depth(rows[name]) for name in names)
        others = [columns for name, columns in rows.items() if name not in names]
        test = model_strata.test(
            np.column_stack([ones, *others]), build_orthonormal_basis([rows[name] for name in names], ones), depth
        )
        if test is None:
            return FactorEffect(names, Estimate(added.ss / data.total, None, None, data.level, data.y.size), None)
        error = model_strata.strata[depth].error
        return FactorEffect(
            names,
            Variation(data.total, error, data.y.size).estimate_explained_share(added, data.level),
            test.p,
            difference=_bound_difference(data, names, basis, EffectNoise.pooled(added.df, 0.0, error, data.y.size)),
        )

    def estimate_share(names: tuple[str, ...], basis: Array) -> Estimate:
        return Estimate(data.sum_squares(basis) / data.total, None, None, data.level, data.y.size)

    effects = _build_effects_with_members(data, estimate_effect, estimate_share)
    interactions = _find_interactions_in_strata(data, shared)
    return replace(effects, joint=_estimate_joint_in_strata(data, shared), interactions=interactions)


def _estimate_joint_in_strata(data: _Data, shared: Indices) -> FactorEffect | None:
    """Estimate the joint effect as ``_estimate_joint``, by generalised least squares over the strata. Differences of
    settings between bring-ups have the error of bring-ups."""
    if len(data.columns) < 2 or not 2 < data.counts.size <= _MOST_CELLS or data.within.df < LEAST_DF:
        return None
    every = tuple(data.columns)
    settings = _build_joint_rows(data, every)
    model_strata = strata.build_strata(data.y, settings, strata.nest_units(list(shared.T)), data.level)
    if model_strata is None:
        return None

    def compute_p(unit: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> float | None:
        rest = [name for other in others for name in other]
        without, full = (_build_joint_rows(data, names) for names in (rest, [*rest, *unit]))
        test = model_strata.test(without, full[:, 1:], len(model_strata.units))
        return None if test is None else test.p

    p = compute_p(every, [])
    if p is None:
        return None
    active = select_active_units(data.units, compute_p, 1 - data.level) if p < 1 - data.level else data.units
    names = tuple(name for unit in active for name in unit)
    share = data.sum_squares(data.build_joint_basis(names)) / data.total
    joint = FactorEffect(names, Estimate(share, None, None, data.level, data.y.size), p, is_joint=True)
    return joint if len(active) > 1 else None


def _find_interactions_in_strata(data: _Data, shared: Indices) -> tuple[Interaction, ...]:
    """Find interactions as ``_find_interactions``, by generalised least squares over the strata of a model of all
    pairs."""
    columns = data.list_unit_columns()
    products = [multiply_columns(first, other) for (_, first), (_, other) in combinations(columns, 2)]
    terms = build_orthonormal_basis([*(part for _, part in columns), *products], data.counts)
    root = np.sqrt(data.counts)[:, None]
    rows = np.column_stack([np.ones(data.y.size), (terms / root)[data.cell]])
    if data.is_sample or data.counts.size > _MOST_CELLS:
        return ()
    model_strata = strata.build_strata(data.y, rows, strata.nest_units(list(shared.T)), data.level)
    if model_strata is None or model_strata.within.error.df < LEAST_DF:
        return ()

    def measure(names: Sequence[str], added: Array, rest: Array) -> tuple[float, float | None]:
        base, more = ((part / root)[data.cell] for part in (rest, added))
        test = model_strata.test(np.column_stack([rows[:, :1], base]), more, model_strata.depth(more))
        return data.sum_squares(added) / data.total, None if test is None else test.p

    return find_interactions(columns, data.counts, measure, data.level)


def _build_joint_rows(data: _Data, names: Sequence[str]) -> Array:
    """Return the columns of all joint levels of these factors, by trial: ones, and an indicator of each but the
    first."""
    number = data.number_levels(names)[data.cell] if names else np.zeros(data.y.size, np.intp)
    return np.column_stack([np.ones(data.y.size), strata.build_unit_indicators(number)[:, 1:]])


def _build_effects_with_members(
    data: _Data,
    effect: Callable[[tuple[str, ...]], FactorEffect | None],
    share: Callable[[tuple[str, ...], Array], Estimate],
) -> ResponseEffects:
    """Return the effect of each block, and of its members as far as separable; of the others the ``share`` without
    those of the block, if it is smaller."""
    effects = []
    for names in data.units:
        block_effect = effect(names)
        if block_effect is not None:
            groups = _group_aliases(data, names)
            members = (effect(group) or _estimate_part_of_block(data, group[0], names, share) for group in groups)
            own = tuple(part for part in members if part) if len(groups) > 1 else ()
            effects.append(replace(block_effect, own=own))
    shared = data.full_model.ss / data.total - sum(effect.share for effect in effects)
    return ResponseEffects(tuple(data.columns), tuple(effects), "", data.is_repeated, shared=max(0.0, shared))


def _group_aliases(data: _Data, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Group the factors that have the same levels under several names: they are one member of a block."""
    levels = {name: _number_in_order(data.number_levels([name])) for name in names}
    return [tuple(group) for group in group_by_key((levels[name], name) for name in names).values()]


def _number_in_order(levels: Indices) -> tuple[int, ...]:
    """Number levels in order of appearance."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(level, len(numbers)) for level in levels.tolist())


def _estimate_part_of_block(
    data: _Data, name: str, block: Sequence[str], share: Callable[[tuple[str, ...], Array], Estimate]
) -> FactorEffect | None:
    """Estimate what a factor that is not separable explains beyond those outside of its block, without a test: it is no
    more than its own R². None if that is all of the block, as of two names of the same levels."""
    outside = build_orthonormal_basis([x for other, x in data.columns.items() if other not in block], data.counts)
    own, every = (
        remove_basis(build_orthonormal_basis([data.columns[member] for member in members], data.counts), outside)
        for members in ([name], block)
    )
    if not 0 < own.shape[1] < every.shape[1]:
        return None
    levels = data.number_levels([name])
    inner = (other for other in block if other != name and _is_nested(levels, data.number_levels([other])))
    return FactorEffect((name,), share((name,), own), None, constant_within=next(inner, ""))


def _is_nested(outer: Indices, inner: Indices) -> bool:
    """Return whether each level of ``inner`` has one of ``outer``, which has fewer."""
    n_inner = len(set(inner.tolist()))
    return len({*zip(outer.tolist(), inner.tolist(), strict=True)}) == n_inner > len(set(outer.tolist()))


def _encode_dummies(levels: Sequence[object]) -> Array:
    number = {level: place for place, level in enumerate(dict.fromkeys(levels))}
    codes = np.array([number[level] for level in levels], dtype=np.intp)
    return np.asarray(codes[:, None] == np.arange(1, len(number)), float)
