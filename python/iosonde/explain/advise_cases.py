"""Settings compared as ``compare`` does: the same trials, estimator, interval and test.

With too few instances to hold any out, each is a case of its own: a setting is chosen for it where its own comparison
is significant after Holm's correction over all cases (as ``compare --by``). Rules of such cases hold for them alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import DIFFERENT, MARGIN, NEGLIGIBLE, Comparison
from iosonde.stats.estimate.within_cells import compare_within_cells
from iosonde.stats.regression.effects import estimate_effects

from .advise_defaults import compute_shares_of_best
from .advise_tree import Node
from .instances import Array, Instances, Mask, Rows
from .rules import Rule, RuleCondition, build_rule

_SETTING = "setting"

_Conditions = dict[int, Array]  # by factor: the codes of its levels
Pair = tuple[int, int, int]  # instance, setting, other setting


@dataclass(frozen=True)
class Case:
    """An instance by itself: its best ``setting``, which is ``ratio`` times as fast as the next one, ``other``.
    ``is_sure``: it is significantly faster than each other setting."""

    instance: dict[str, Cell]
    setting: str
    other: str
    ratio: Estimate
    is_sure: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "instance": self.instance,
            "setting": self.setting,
            "other": self.other,
            "ratio": self.ratio.to_json(),
            "significant": self.is_sure,
        }


def compare_speeds(instances: Instances, pairs: Sequence[Pair], level: float) -> Comparison | None:
    """Compare the speed of the first setting of each pair with that of the second, in all pairs together; None without
    trials of both, or for single trials of one pair."""
    sides = [(instances.samples(row, first), instances.samples(row, second)) for row, first, second in pairs]
    cells = [(first, second) if instances.lower else (second, first) for first, second in sides]
    cells = [cell for cell in cells if min(x.size for x in cell)]
    if not cells:
        return None
    if len(cells) > 1:
        return compare_within_cells(("", ""), cells, level, MARGIN, None)
    a, b = cells[0]
    if min(a.size, b.size) < 2:
        return None
    return estimates.compare_groups(estimates.build_group("", a), estimates.build_group("", b), level, MARGIN)


def is_significant(comparison: Comparison | None) -> bool:
    """Return whether two settings differ, by chance of no more than the level of the whole family."""
    return comparison is not None and comparison.verdict in (DIFFERENT, NEGLIGIBLE) and not comparison.by_chance


@dataclass(frozen=True)
class Cases:
    """The comparisons of the ``best`` setting of each instance with each other setting, as one family."""

    instances: Instances
    best: Rows
    comparisons: dict[tuple[int, int], Comparison]  # by instance and other setting

    @property
    def ties(self) -> Mask:
        """Mark the settings that are not significantly worse than the best of their instance."""
        return np.array(
            [
                [setting == best or not self.is_worse(row, setting) for setting in range(len(self.instances.settings))]
                for row, best in enumerate(self.best)
            ]
        )

    def is_worse(self, row: int, setting: int) -> bool:
        """Return whether a setting is significantly worse than the best of this instance."""
        return is_significant(self.comparisons.get((row, setting)))

    def choose_settings(self, default: int, depth: int) -> Rows | None:
        """Return the setting for each instance: its best where the default is significantly worse, else the default;
        by fewer factors, at most ``depth``, if that does as well.

        None if the default alone does: each setting that replaces it must be significantly worse elsewhere."""
        chosen = np.array(
            [best if self.is_worse(row, default) else default for row, best in enumerate(self.best.tolist())]
        )
        replacing = set(chosen.tolist()) - {default}
        at_default = np.flatnonzero(self.best == default).tolist()
        needed = all(any(self.is_worse(row, setting) for row in at_default) for setting in replacing)
        shorter = self._choose_by_fewer_factors(chosen, default, depth) if replacing and needed else chosen
        return shorter if (shorter != default).any() else None

    def _choose_by_fewer_factors(self, chosen: Rows, default: int, depth: int) -> Rows:
        """Return the settings by the fewest factors that reach the mean share of the ``chosen`` ones, none of them
        significantly worse than the best of its instance; without any the best by ``depth`` factors, if these are
        fewer than all."""
        share, rows = compute_shares_of_best(self.instances.values, self.instances.lower), np.arange(chosen.size)
        n_factors, least = self.instances.x.shape[1], share[rows, chosen].mean()
        best, reached = chosen, -1.0
        for size in range(min(depth + 1, n_factors)):
            for factors in combinations(range(n_factors), size):
                settings = self._choose_by_factors(factors, share, chosen, default)
                if (mean := float(share[rows, settings].mean())) > reached:
                    best, reached = settings, mean
            if reached >= least and not any(map(self.is_worse, rows.tolist(), best.tolist())):
                return best
        return chosen if depth >= n_factors else best

    def _choose_by_factors(self, factors: Sequence[int], share: Array, chosen: Rows, default: int) -> Rows:
        """Return the setting for each combination of levels of some factors: the default, or another that was
        ``chosen`` there with a higher mean share."""
        settings = np.full(chosen.size, default)
        _, groups = np.unique(self.instances.x[:, list(factors)], axis=0, return_inverse=True)
        for group in np.unique(groups):
            mask = groups.ravel() == group
            candidates = [default, *np.unique(chosen[mask]).tolist()]
            settings[mask] = max(candidates, key=lambda setting: share[mask, setting].mean())
        return settings

    def list_cases(self) -> tuple[Case, ...]:
        """Return each instance with its best setting against the next one."""
        instances, values = self.instances, self.instances.values * (-1 if self.instances.lower else 1)
        cases = []
        for row, best in enumerate(self.best.tolist()):
            others = [setting for setting in range(values.shape[1]) if setting != best]
            other = max(others, key=lambda setting: values[row, setting])
            comparison = self.comparisons.get((row, other))
            if comparison is not None and comparison.ratio is not None:
                is_sure = all(self.is_worse(row, setting) for setting in others)
                names = instances.names[best], instances.names[other]
                cases.append(Case(instances.key(row), *names, comparison.ratio, is_sure))
        return tuple(cases)


def compare_cases(instances: Instances, best: Rows, level: float) -> Cases:
    """Compare the best setting of each instance with every other one."""
    keys = [(row, other) for row, top in enumerate(best) for other in range(len(instances.settings)) if other != top]
    comparisons = {
        (row, other): comparison
        for row, other in keys
        if (comparison := compare_speeds(instances, [(row, int(best[row]), other)], level)) is not None
    }
    corrected = estimates.apply_holm_correction(list(comparisons.values()))
    return Cases(instances, best, dict(zip(comparisons, corrected, strict=True)))


def select_equal_settings(instances: Instances, best: int, level: float) -> tuple[str, ...]:
    """Select the settings not significantly slower than the best default, over all instances (Bonferroni)."""
    others = [at for at in range(len(instances.settings)) if at != best]
    rows = range(len(instances))
    wide = 1 - (1 - level) / len(others)
    comparisons = {at: compare_speeds(instances, [(row, best, at) for row in rows], wide) for at in others}
    return tuple(
        instances.names[at] for at, each in comparisons.items() if each is not None and not is_significant(each)
    )


def has_setting_effect(instances: Instances, level: float) -> bool:
    """Return whether the settings differ at all, by the test of the effect of a factor with the noise of each cell. The
    best of several has more power so than in a comparison with each other one."""
    cells = [
        (str(setting), str(row), samples)
        for row in range(len(instances))
        for setting in range(len(instances.settings))
        if (samples := instances.samples(row, setting)).size
    ]
    settings, rows, values = zip(*cells, strict=True)
    effects = estimate_effects({_SETTING: settings, "instance": rows}, values, None, level).effects
    return any(_SETTING in effect.factors and effect.p is not None and effect.p <= 1 - level for effect in effects)


def build_case_rules(instances: Instances, chosen: Rows, best: Rows) -> tuple[Rule, ...]:
    """Build the rules of measured cases: each case fulfils exactly one, and levels with the same settings share one."""
    share = compute_shares_of_best(instances.values, instances.lower)
    return tuple(
        build_rule(
            Node(int(chosen[rows[0]]), rows),
            tuple(_build_condition(instances, factor, levels) for factor, levels in sorted(conditions.items())),
            instances,
            share,
            best,
        )
        for rows, conditions in _iter_boxes(instances.x, chosen, np.arange(len(instances)), {})
    )


def _iter_boxes(x: Array, chosen: Rows, rows: Rows, conditions: _Conditions) -> Iterator[tuple[Rows, _Conditions]]:
    """Yield rows of one setting, with the codes of each factor that select them: split by the factor that leaves the
    fewest mixed rows, then by the one with the fewest parts."""
    if np.unique(chosen[rows]).size == 1:
        yield rows, conditions
        return
    splits = {factor: parts for factor in range(x.shape[1]) if len(parts := _group_levels(x, chosen, rows, factor)) > 1}
    factor = min(splits, key=lambda at: (sum(_count_if_mixed(chosen[part]) for part in splits[at]), len(splits[at])))
    for part in splits[factor]:
        yield from _iter_boxes(x, chosen, part, {**conditions, factor: np.unique(x[part, factor])})


def _group_levels(x: Array, chosen: Rows, rows: Rows, factor: int) -> list[Rows]:
    """Group the rows by the levels of a factor; levels with the same settings for the same other factors are one
    group."""
    groups: dict[str, list[Rows]] = {}
    for level in dict.fromkeys(x[rows, factor].tolist()):
        part = rows[x[rows, factor] == level]
        settings = set(chosen[part].tolist())
        others = np.delete(x[part], factor, axis=1).tolist()
        rest = sorted(zip(others, chosen[part].tolist(), strict=True)) if len(settings) > 1 else settings.pop()
        groups.setdefault(str(rest), []).append(part)
    return [np.sort(np.concatenate(parts)) for parts in groups.values()]


def _count_if_mixed(settings: Rows) -> int:
    return settings.size if np.unique(settings).size > 1 else 0


def _build_condition(instances: Instances, factor: int, codes: Array) -> RuleCondition:
    name = instances.features[factor].name
    is_inside = np.isin(instances.x[:, factor], codes)
    inside, outside = (
        tuple(dict.fromkeys(instances.key(int(row))[name] for row in np.flatnonzero(mask)))
        for mask in (is_inside, ~is_inside)
    )
    return RuleCondition(name, levels=inside, other=outside, unit=instances.units.get(name, ""))
