"""Settings compared as ``compare`` does: the same trials, estimator, interval and test.

With too few instances to hold any out, each is a case of its own: a setting is chosen for it where its own comparison
is significant after Holm's correction over all cases (as ``compare --by``). Rules of such cases hold for them alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
from .instances import Instances, Mask, Rows
from .rules import Rule, RuleCondition, build_rule

_SETTING = "setting"

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

    def choose_settings(self, default: int) -> Rows | None:
        """Return the setting for each instance: its best where the default is significantly worse, else the default.

        None if the default alone does: each setting that replaces it must be significantly worse elsewhere."""
        chosen = np.array(
            [best if self.is_worse(row, default) else default for row, best in enumerate(self.best.tolist())]
        )
        replacing = set(chosen.tolist()) - {default}
        at_default = np.flatnonzero(self.best == default).tolist()
        needed = all(any(self.is_worse(row, setting) for row in at_default) for setting in replacing)
        return chosen if replacing and needed else None

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
    """Build the rules of measured cases: by the levels of one factor if these decide, else a rule for each case."""
    share = compute_shares_of_best(instances.values, instances.lower)

    def build(rows: Rows, factors: Sequence[int]) -> Rule:
        conditions = tuple(_build_condition(instances, factor, rows) for factor in factors)
        return build_rule(Node(int(chosen[rows[0]]), rows), conditions, instances, share, best)

    for factor in range(len(instances.features)):
        by_setting = [np.flatnonzero(chosen == setting) for setting in dict.fromkeys(chosen.tolist())]
        if (
            sum(np.unique(instances.x[rows, factor]).size for rows in by_setting)
            == np.unique(instances.x[:, factor]).size
        ):
            return tuple(build(rows, [factor]) for rows in by_setting)
    every = range(len(instances.features))
    return tuple(build(np.array([row]), every) for row in range(len(instances)))


def _build_condition(instances: Instances, factor: int, rows: Rows) -> RuleCondition:
    name = instances.features[factor].name
    levels = [dict.fromkeys(instances.key(int(row))[name] for row in part) for part in (rows, range(len(instances)))]
    other = tuple(level for level in levels[1] if level not in levels[0])
    return RuleCondition(name, levels=tuple(levels[0]), other=other, unit=instances.units.get(name, ""))
