"""The effect of each factor on a response, with the test of its absence: the one inference of `summary`, `plot`, the
page and `rank`.

The share of a factor is that of ``anova`` without interactions: its sum of squares, added last (type II), over the
total, which in a balanced design is S1 of ``rank``. Its interval and its F test are against what trials of one setting
differ by, or where that has few degrees of freedom against what the model leaves over; where trials share bring-ups,
against the error of its stratum. Factors that go together (the same levels under two names, one inside the other, or
nearly so) are one block with one test, of all its members at once: the extra sum of squares. ``correct`` holds all
tests of a family together (Holm).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate
from iosonde.core.units import percent

from ..estimate.distributions import f_upper_p
from ..estimate.multiple import holm
from ..estimate.variance_share import LEAST_DF, SumOfSquares, Variation
from . import strata
from .blocks import blocks_of, orthonormal

Array = npt.NDArray[np.float64]
Units = npt.NDArray[np.intp]

ONE_TRIAL = "one trial a setting"
ONE_RUN = "one run a setting"
FEW_REPEATS = "the few repeats are exactly equal"
NOTHING_LEFT = "no degrees of freedom are left"
_NOTHING = 1e-12  # of the variation: a noise that is rounding
NEGLIGIBLE_SHARE = 0.01  # of the variation
_TIMES_CHANCE = 5.0  # as far up the interval of an ordinary F reaches


@dataclass(frozen=True)
class FactorEffect:
    """One factor, or several that go together (a block): the share of the variation that it explains beyond all others,
    and the p value of there being none. None where no error is there to test it against: it is set once for several
    trials. ``own``: of a block what single members explain beyond all other factors, where that can be separated.
    ``adjusted``: p corrected over the ``family`` of tests, None before ``correct``. ``by_chance``: the share that noise
    alone explains on average."""

    factors: tuple[str, ...]
    explained: Estimate
    p: float | None
    own: tuple[FactorEffect, ...] = ()
    adjusted: float | None = None
    family: int = 1
    by_chance: float = 1.0

    @property
    def name(self) -> str:
        """``device+pool``."""
        return "+".join(self.factors)

    @property
    def is_block(self) -> bool:
        """Whether it is several factors that go together."""
        return len(self.factors) > 1

    @property
    def share(self) -> float:
        """The fraction."""
        return self.explained.value or 0.0

    @property
    def is_significant(self) -> bool:
        """By the corrected test, and by the share's interval, which stands beside it and would else hold 0 (it has half
        of alpha below it)."""
        alpha = 1 - self.explained.level
        return self.adjusted is not None and self.adjusted < alpha and self.explained.low != 0

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval of the share is below 1 %, and would be so of any share that is 0: one test in 40
        has an F so small that its interval is [0, 0], however few trials there are."""
        high = self.explained.high
        return high is not None and max(high, _TIMES_CHANCE * self.by_chance) < NEGLIGIBLE_SHARE

    @property
    def text(self) -> str:
        """``85 % (71–92 %)``, ``2.5 % (1.9–3.3 %)``."""
        low, high = self.explained.low, self.explained.high
        places = 1 if self.share < 0.1 else 0
        fine = 1 if low is not None and 0 < low < 0.01 else places  # what is not 0 is not shown as 0
        between = "" if low is None or high is None else f" ({100 * low:.{fine}f}–{100 * high:.{places}f} %)"
        return f"{percent(self.share)}{between}"


@dataclass(frozen=True)
class ResponseEffects:
    """The effects on one response, of all ``factors``. ``untested``: why there is no test at all, '' where there is
    one. ``repeated``: whether any setting has several trials."""

    factors: tuple[str, ...]
    effects: tuple[FactorEffect, ...] = ()
    untested: str = ""
    repeated: bool = True

    @property
    def tests(self) -> list[FactorEffect]:
        """Each effect, and after a block those of its members."""
        return [test for effect in self.effects for test in (effect, *effect.own)]

    @property
    def significant(self) -> list[FactorEffect]:
        """The strongest first."""
        return sorted((effect for effect in self.effects if effect.is_significant), key=lambda effect: -effect.share)

    def mixes(self, names: Sequence[str]) -> bool:
        """Whether any two of these factors go together."""
        return any(len(set(effect.factors) & set(names)) > 1 for effect in self.effects)

    def effect_of(self, factor: str) -> FactorEffect | None:
        """The effect of the factor, or of the block that it is in."""
        return next((effect for effect in self.effects if factor in effect.factors), None)


def correct(family: Sequence[ResponseEffects]) -> list[ResponseEffects]:
    """With p values that hold for all tests together."""
    tests = [test.p for response in family for test in response.tests]
    adjusted, count = iter(holm(tests)), sum(p is not None for p in tests)

    def corrected(effect: FactorEffect) -> FactorEffect:
        return replace(effect, adjusted=next(adjusted), family=count, own=tuple(corrected(own) for own in effect.own))

    return [replace(response, effects=tuple(corrected(effect) for effect in response.effects)) for response in family]


def effects_of(
    settings: Mapping[str, Sequence[object]], values: Sequence[Array], shared: Units | None, level: float
) -> ResponseEffects:
    """The effects of the factors ``settings`` (the level of each cell), not yet corrected. ``values``: the trials of
    each cell; ``shared`` numbers the bring-ups of all trials, in their order, the outermost in the first column."""
    names = tuple(name for name, levels in settings.items() if len(set(levels)) > 1)
    data = _Data.of(values, {name: _dummies(settings[name]) for name in names}, level)
    if len(values) < 2 or not names:
        return ResponseEffects(names)
    if data.total <= 0:
        same = Estimate(0.0, None, None, level, data.y.size)
        return ResponseEffects(names, tuple(FactorEffect((name,), same, 1.0) for name in names))
    return _by_trials(data) if shared is None else _by_strata(data, shared)


@dataclass(frozen=True)
class _Data:
    """Trials ``y`` with the number of each one's cell; ``columns`` of each factor, by cell; ``units``: the blocks."""

    y: Array
    cell: npt.NDArray[np.intp]
    counts: Array
    means: Array
    columns: Mapping[str, Array]
    units: tuple[tuple[str, ...], ...]
    level: float

    @classmethod
    def of(cls, values: Sequence[Array], columns: Mapping[str, Array], level: float) -> _Data:
        sizes = np.array([trials.size for trials in values])
        y = np.concatenate([*values, np.empty(0)])
        y = y - y.mean() if y.size else y
        cell = np.repeat(np.arange(sizes.size), sizes)
        counts = sizes.astype(float)
        means = np.bincount(cell, y, sizes.size) / counts
        return cls(y, cell, counts, means, columns, blocks_of(columns, counts), level)

    @property
    def total(self) -> float:
        """The sum of squares of all trials."""
        return float(self.y @ self.y)

    @property
    def within(self) -> SumOfSquares:
        """What trials of one setting differ by."""
        return SumOfSquares(float(np.sum((self.y - self.means[self.cell]) ** 2)), self.y.size - self.counts.size)

    def explained(self, names: Sequence[str]) -> SumOfSquares:
        """What the main effects of these factors explain."""
        basis = orthonormal([self.columns[name] for name in names], self.counts)
        along = basis.T @ (np.sqrt(self.counts) * self.means)
        return SumOfSquares(float(along @ along), basis.shape[1])

    @cached_property
    def whole(self) -> SumOfSquares:
        """What the main effects of all factors explain."""
        return self.explained(list(self.columns))

    def added(self, names: Sequence[str]) -> SumOfSquares:
        """What these factors add to all others."""
        without = self.explained([name for name in self.columns if name not in names])
        return SumOfSquares(max(0.0, self.whole.ss - without.ss), self.whole.df - without.df)

    @property
    def is_repeated(self) -> bool:
        """Whether any setting has several trials."""
        return bool(self.counts.max() > 1)

    def untested(self, why: str) -> ResponseEffects:
        """No test, and why."""
        return ResponseEffects(tuple(self.columns), (), why, self.is_repeated)


def _by_trials(data: _Data) -> ResponseEffects:
    noise = _noise(data)
    if noise.df < 1:
        return data.untested(ONE_TRIAL)
    if _is_exact_by_luck(noise, data.total):
        return data.untested(FEW_REPEATS)
    noise = SumOfSquares(max(noise.ss, _NOTHING * data.total), noise.df)

    def effect(names: tuple[str, ...]) -> FactorEffect | None:
        added = data.added(names)
        if added.df < 1:
            return None
        f = added.ss / added.df / (noise.ss / noise.df)
        explained = Variation(data.total, noise, data.y.size).explained_by(added, data.level)
        return FactorEffect(names, explained, f_upper_p(f, added.df, noise.df),
                            by_chance=added.df * noise.ss / noise.df / data.total)  # fmt: skip

    return _with_members(data, effect)


def _noise(data: _Data) -> SumOfSquares:
    """What effects are held against: the trials of each setting, or where these are few what the model leaves."""
    if data.within.df >= LEAST_DF:
        return data.within
    left = max(data.within.ss, data.total - data.whole.ss)
    return SumOfSquares(left, data.y.size - 1 - data.whole.df)


def _is_exact_by_luck(noise: SumOfSquares, total: float) -> bool:
    """Whether there is no noise, and too little to say so: a few counts may be alike by chance, many are exact."""
    return noise.ss <= _NOTHING * total and noise.df < LEAST_DF


def _by_strata(data: _Data, shared: Units) -> ResponseEffects:
    """Where trials share bring-ups what is set once for several is held against the error between bring-ups, and has no
    test where there is none."""
    rows = {name: columns[data.cell] for name, columns in data.columns.items()}
    ones = np.ones(data.y.size)
    made = strata.strata(data.y, np.column_stack([ones, *rows.values()]), strata.of_units(list(shared.T)), data.level)
    if made is None:
        return data.untested(NOTHING_LEFT if data.is_repeated else ONE_TRIAL)
    if _is_exact_by_luck(made.within.error, data.total):
        return data.untested(FEW_REPEATS)

    def effect(names: tuple[str, ...]) -> FactorEffect | None:
        added = data.added(names)
        if added.df < 1:
            return None
        depth = min(made.depth(rows[name]) for name in names)
        others = [columns for name, columns in rows.items() if name not in names]
        own = orthonormal([rows[name] for name in names], ones)
        test = made.test(np.column_stack([ones, *others]), own, depth)
        if test is None:
            return FactorEffect(names, Estimate(added.ss / data.total, None, None, data.level, data.y.size), None)
        error = made.strata[depth].error
        explained = Variation(data.total, error, data.y.size).explained_by(added, data.level)
        by_chance = added.df * error.ss / error.df / data.total if error.df else 1.0
        return FactorEffect(names, explained, test.p, by_chance=by_chance)

    return _with_members(data, effect)


def _with_members(data: _Data, effect: Callable[[tuple[str, ...]], FactorEffect | None]) -> ResponseEffects:
    """The effect of each block, and of its members what can be separated."""
    found = []
    for names in data.units:
        whole = effect(names)
        if whole is not None:
            own = tuple(part for name in names if (part := effect((name,)))) if len(names) > 1 else ()
            found.append(replace(whole, own=own))
    return ResponseEffects(tuple(data.columns), tuple(found), "", data.is_repeated)


def _dummies(levels: Sequence[object]) -> Array:
    """A column of 0 and 1 for each level but the first."""
    number = {level: place for place, level in enumerate(dict.fromkeys(levels))}
    codes = np.array([number[level] for level in levels], dtype=np.intp)
    return np.asarray(codes[:, None] == np.arange(1, len(number)), float)
