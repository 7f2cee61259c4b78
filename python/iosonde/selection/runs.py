"""The runs of an experiment as a race: settings, blocks, the number that decides, and where the race stands.

The state of a race follows from the stored runs alone. So a race can be resumed, and an old one judged again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.deciding import Name, choose_deciding_name, list_missing_terms
from iosonde.core.metrics import build_metric
from iosonde.core.types import Better, Experiment, FactorValue

from .plan import RacePlan
from .standing import RaceRule, Standing, estimate_blocks_needed, find_reached_margin, find_ties, judge_race

Row = tuple[str, str, str, float]  # operation, metric, unit, value
Setting = dict[str, FactorValue]


@dataclass
class RaceRuns:
    """The complete runs of a race. ``settings`` are the levels of the factors that vary, in the order of the levels."""

    plan: RacePlan
    experiment: Experiment
    _runs: list[tuple[int, int, dict[Name, float]]] = field(default_factory=list)  # block, setting, values
    _common_names: list[Name] = field(default_factory=list)

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings that started."""
        varied = [factor for factor in self.experiment.factors if len(factor.levels) > 1]
        first = [trial.factors for trial in self.experiment.trials if trial.repetition == 0]
        distinct = {tuple(cell[factor.name] for factor in varied): None for cell in first}
        ordered = sorted(distinct, key=lambda cell: [f.levels.index(v) for f, v in zip(varied, cell, strict=True)])
        return [{f.name: level for f, level in zip(varied, cell, strict=True)} for cell in ordered]

    def find_setting(self, factors: Mapping[str, FactorValue]) -> int:
        """Return the number of the setting of a trial or a run."""
        return self.settings.index({name: factors[name] for name in self.settings[0]})

    def add(self, factors: Mapping[str, FactorValue], rows: Iterable[Row]) -> None:
        """Add a complete run; a tool's own iterations are averaged."""
        values: dict[Name, list[float]] = {}
        for operation, metric, unit, value in rows:
            values.setdefault((operation, metric, unit), []).append(value)
        means = {name: sum(several) / len(several) for name, several in values.items()}
        self._common_names = [name for name in self._common_names if name in means] if self._runs else list(means)
        self._runs.append((int(factors["repetition"] or 0), self.find_setting(factors), means))

    def list_common_names(self) -> list[Name]:
        """Return the metrics that all runs have."""
        return self._common_names

    def list_missing_terms(self) -> list[str]:
        """Return the terms of the planned metric that no run has; empty before the first run."""
        return list_missing_terms(self.list_common_names(), self.plan.metric) if self._runs else []

    def judge(self) -> "RaceState":
        """Return the state of the race."""
        name = choose_deciding_name(self.list_common_names(), self.plan.metric)
        n_blocks = 1 + max((block for block, _, _ in self._runs), default=-1)
        values = np.full((n_blocks, len(self.settings)), np.nan)
        if name is not None:
            for block, setting, run_values in self._runs:
                values[block, setting] = run_values[name]
        better = build_metric(name[1], name[2]).better if name else Better.HIGHER
        rule = self.plan.build_rule(better)
        return RaceState(self.plan, name, self.settings, values, rule, judge_race(values, rule))


@dataclass(frozen=True)
class RaceState:
    """Where a race stands. ``values`` are blocks by settings, NaN where a setting had left."""

    plan: RacePlan
    name: Name | None
    settings: list[Setting]
    values: Array
    rule: RaceRule
    standing: Standing

    @property
    def n_blocks(self) -> int:
        """The blocks so far."""
        return len(self.values)

    @cached_property
    def counts(self) -> list[int]:
        """The trials of each setting."""
        return [int(n) for n in np.sum(~np.isnan(self.values), axis=0)]

    @property
    def is_over(self) -> bool:
        """True if the race is settled, or has its last block."""
        return self.standing.is_settled or self.n_blocks >= self.plan.most

    @cached_property
    def ties(self) -> tuple[int, ...]:
        """The settings that are as good as the leader within the margin."""
        return () if self.standing.leader is None else find_ties(self.values, self.standing.leader, self.rule)

    @cached_property
    def within(self) -> float | None:
        """The fraction within which the leader is of the best; None if unknown."""
        leader = self.standing.leader
        return None if leader is None else find_reached_margin(self.values, leader, self.rule)

    @cached_property
    def blocks_needed(self) -> int | None:
        """The blocks at which the race would be settled if the means stay; None if unknown, or if it is settled."""
        leader = self.standing.leader
        if leader is None or self.standing.is_settled:
            return None
        return estimate_blocks_needed(self.values, leader, self.rule)

    def is_out(self, setting: int) -> bool:
        """Return whether a setting is no longer in the race."""
        return setting not in self.standing.remaining

    def find_last_block(self, setting: int) -> int:
        """Return the number, from 1, of the last block with a trial of a setting; 0 without any."""
        return int(np.max(np.flatnonzero(~np.isnan(self.values[:, setting])), initial=-1)) + 1

    def compute_ratio(self, setting: int) -> float | None:
        """Return a setting ÷ the leader, both from the blocks that they share; None without one."""
        if self.standing.leader is None:
            return None
        own, lead = self.values[:, setting], self.values[:, self.standing.leader]
        both = ~np.isnan(own) & ~np.isnan(lead)
        return float(own[both].sum() / lead[both].sum()) if both.any() else None
