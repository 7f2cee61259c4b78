"""A race of settings as an answer: the best one, or what remains and what it would take; all settings, with means."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.commands.compare.run_rows import iterate_run_rows
from iosonde.core import decision
from iosonde.core.message import Message
from iosonde.core.types import Better, Estimate, Experiment
from iosonde.data.source import Source
from iosonde.page.tables import DataTable, iterate_ends
from iosonde.selection.plan import build_race_plan
from iosonde.selection.runs import RaceRuns, RaceState
from iosonde.selection.words import describe_race, format_race_metric
from iosonde.stats.estimate.summarise import estimate_mean


@dataclass(frozen=True)
class RaceAnswer(Answer):
    """The state of a race. ``units`` are those of the factors."""

    schema: ClassVar[int] = 1
    state: RaceState
    experiment: str
    units: dict[str, str]
    warnings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The best setting, or what remains."""
        return describe_race(self.state, self.units)

    @property
    def metric_title(self) -> str:
        """The deciding metric as people read it."""
        return format_race_metric(self.state)

    @cached_property
    def order(self) -> list[int]:
        """The settings: the leader first, then by their ratio to it; those without trials last."""
        state = self.state
        ratios = {place: state.compute_ratio(place) for place in range(len(state.settings))}
        sign = 1 if state.rule.better is Better.LOWER else -1
        return sorted(ratios, key=lambda place: (ratios[place] is None, sign * (ratios[place] or 0)))

    def estimate_setting(self, place: int) -> Estimate | None:
        """Return the mean of a setting's trials; None without any."""
        own = self.state.values[:, place]
        own = own[~np.isnan(own)]
        return estimate_mean(own, self.state.plan.confidence) if own.size else None

    def describe_setting(self, place: int) -> str:
        """Return the state of a setting: best, tie, remaining or left."""
        standing = self.state.standing
        if place == standing.leader:
            return "best" if standing.is_settled else "leads"
        if not self.state.is_out(place):
            return "remains"
        return "tie" if place in self.state.ties else "left"

    def content(self) -> dict[str, Any]:
        """Return the content of ``--json``."""
        state, standing = self.state, self.state.standing
        operation, metric, unit = state.name or ("", state.plan.metric, "")
        return {
            "experiment": self.experiment,
            "sealed": state.plan.sealed(),
            "operation": operation,
            "metric": metric,
            "unit": unit,
            "better": str(state.rule.better),
            "state": "best" if standing.is_settled else "remaining",
            "best": None if standing.leader is None else state.settings[standing.leader],
            "remaining": [state.settings[place] for place in standing.remaining],
            "ties": [state.settings[place] for place in state.ties],
            "confidence": standing.confidence,
            "within": state.within,
            "blocks": state.n_blocks,
            "blocks_needed": state.blocks_needed,
            "trials": sum(state.counts),
            "settings": [self._build_setting(place) for place in self.order],
            "sentence": self.sentence,
            "warnings": list(self.warnings),
        }

    def _build_setting(self, place: int) -> dict[str, Any]:
        estimate = self.estimate_setting(place)
        return {
            "levels": self.state.settings[place],
            "trials": self.state.counts[place],
            "mean": estimate.to_json() if estimate else None,
            "last_block": self.state.find_last_block(place),
            "ratio": self.state.compute_ratio(place),
            "state": self.describe_setting(place),
        }

    def table(self) -> DataTable:
        """Return one row per setting, to download from a page."""
        state, names = self.state, list(self.state.settings[0])
        rows = tuple(
            (
                *(state.settings[place][name] for name in names),
                state.counts[place],
                state.find_last_block(place),
                *iterate_ends(self.estimate_setting(place)),
                state.name[2] if state.name else "",
                state.compute_ratio(place),
                self.describe_setting(place),
            )
            for place in self.order
        )
        columns = (*names, "trials", "last block", "mean", "low", "high", "unit", "ratio to the leader", "state")
        return DataTable("Each setting of the race, the leader first.", columns, rows)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per setting."""
        return [self._build_record(place) for place in self.order]

    def _build_record(self, place: int) -> dict[str, Any]:
        estimate = self.estimate_setting(place) or Estimate(None, None, None, self.state.plan.confidence, 0)
        row = {**estimate.flat("mean"), "ratio": self.state.compute_ratio(place), "state": self.describe_setting(place)}
        return {**build_level_columns(self.state.settings[place], row), **row}


def judge_stored_race(source: Source, experiment: Experiment) -> RaceAnswer | None:
    """Return the race of an experiment from its runs; None if it is no race."""
    plan = build_race_plan(experiment)
    if plan is None:
        return None
    race = RaceRuns(plan, experiment)
    for factors, rows in iterate_run_rows(source, experiment) if len(source.table) else ():
        race.add(factors, rows)
    units = {factor.name: factor.unit for factor in experiment.factors}
    state = race.judge()
    warnings = (*_warn_direction(state), *_list_warnings(source, experiment))
    return RaceAnswer(state, experiment.id, units, warnings)


def _warn_direction(state: RaceState) -> Iterator[str]:
    if state.name and state.rule.better is Better.UNKNOWN:
        template = "a higher {metric} is taken for better, as nothing says which is"
        yield Message("unknown-direction", template, metric=format_race_metric(state))


def _list_warnings(source: Source, experiment: Experiment) -> Iterator[str]:
    runs = [run for run in source.runs if run.experiment == experiment.id]
    first = min((run.started_at for run in runs), default=None)
    if why := decision.explain_broken_seal(experiment.settings[decision.KEY], experiment.id, first):
        yield Message("broken-seal", "{reason}: the promise does not hold", reason=why)
    yield from source.describe_concurrency({run.id for run in runs})
