"""What to buy: changes of a cluster by gain, by money and by watt; and the change that would gain nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from iosonde.core.column_units import bytes_per_s
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.metrics import TIMES
from iosonde.core.types import Estimate
from iosonde.explain import upgrade as changes
from iosonde.explain import upgrade_tables as tables
from iosonde.explain.upgrade import Cluster, ClusterTotals, Predict, UpgradeOption
from iosonde.explain.upgrade_tables import ConfigurationStep, ListedCpu, Score
from iosonde.explain.upgrade_today import Today, today
from iosonde.model.bound.bound import Ceiling, NothingKnownError
from iosonde.model.fit.features import encode
from iosonde.model.fit.fitted import ask

from .answer import Answer
from .cluster_file import ClusterFile
from .model_file import read_model, setting


@dataclass(frozen=True)
class Upgrade(Answer):
    """``options`` are the changes, those that are allowed and the best first; ``path`` is what to buy first, then next:
    (name, gain on top of those before, money so far). ``cpus``, ``steps`` between measured configurations, their
    ``times`` and ``scores`` are the tables beside them."""

    asked: ClusterFile
    options: tuple[UpgradeOption, ...]
    path: tuple[tuple[str, float, float], ...]
    cpus: tuple[ListedCpu, ...]
    steps: tuple[ConfigurationStep, ...]
    times: Mapping[str, Estimate]
    scores: tuple[Score, ...]
    level: float

    @cached_property
    def ceiling(self) -> Ceiling | None:
        """The bound today; None where there is no cluster, or too little is known for one."""
        try:
            return None if self.asked.cluster is None else changes.after(self.asked.cluster)
        except NothingKnownError:
            return None

    @cached_property
    def totals(self) -> ClusterTotals | None:
        """What the cluster needs today; None where there is none."""
        return None if self.asked.cluster is None else changes.totals(self.asked.cluster)

    @cached_property
    def today(self) -> Today | None:
        """Every term of the bound with its interval. Raises InputError where there is no cluster."""
        if self.asked.cluster is None:
            raise InputError("missing-cluster", "there is no cluster to draw", "describe it under today")
        return today_of(self.asked.cluster, self.level)

    def content(self) -> dict[str, Any]:
        """As ``iosonde upgrade --json``."""
        allowed = [one for one in self.cpus if not one.refused]
        return {
            "name": self.asked.name, "level": self.level, "today": self._today(),
            "nodes": self.asked.nodes.to_json(), "warnings": self.asked.nodes.warnings(),
            "options": [_option(one) for one in self.options],
            "path": [{"name": name, "gain": gain, "cost": cost} for name, gain, cost in self.path],
            "cpus": [{"name": one.name, "points": one.points, "watts": one.watts,
                      "points_per_watt": one.points_per_watt, "refused": one.refused or None} for one in self.cpus],
            "cpu": allowed[0].name if allowed else None,
            "measured": [self._measured(name, time) for name, time in self.times.items()],
            "steps": [{"from": one.before, "to": one.after, "changed": list(one.changed),
                       **one.speedup.flat("speedup")} for one in self.steps],
            "systems": [{"name": one.name, "marks": dict(one.marks), "total": one.total, "weakest": one.weakest}
                        for one in self.scores],
        }  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """One row a change."""
        nested = ("limit", "refused", "first", "model_gain", "remarks", "measured")
        return [{key: value for key, value in _option(one).items() if key not in nested} for one in self.options]

    def _today(self) -> dict[str, Any] | None:
        if self.totals is None:
            return None
        ceiling = {"s": None} if self.ceiling is None else self.ceiling.to_json()
        return {**ceiling, **vars(self.totals), **self.asked.derived()}

    def _measured(self, name: str, time: Estimate) -> dict[str, Any]:
        best = tables.best_from(self.steps, name)
        return {"name": name, **time.flat("seconds"), "best_change": best.changed[0] if best else None}


def upgrade(asked: ClusterFile, order: str = "gain", model: str | None = None, level: float = 0.95) -> Upgrade:
    """The changes by ``gain``, ``money`` or ``watt``; what the model in a file predicts stands beside the bound. Raises
    InputError, DataError."""
    found: list[UpgradeOption] = []
    path: list[tuple[str, float, float]] = []
    if asked.cluster is not None and asked.candidates:
        predict, in_bytes = (None, False) if model is None else _predictor(model, asked, asked.cluster, level)
        found = changes.options(asked.cluster, asked.candidates, asked.limits, level, predict, order, in_bytes)
        made = tables.steps(asked.measured, level)
        like = asked.cluster.measured
        found = [replace(one, steps=tables.by_change(asked.measured, made, like, one.candidate.measured))
                 for one in found]  # fmt: skip
        path = changes.path(asked.cluster, found, asked.limits)
    elif model is not None:
        raise InputError(
            "missing-candidates",
            "{spell.model} has no candidates to be asked about",
            "give candidates with model: {{factor: level}}",
        )
    return Upgrade(
        asked, tuple(found), tuple(path), tuple(tables.cpus(asked.cpus, asked.min_cpu_points, asked.max_cpu_watts)),
        tuple(tables.steps(asked.measured, level)), tables.times(asked.measured, level),
        tuple(tables.scorecard(asked.systems, asked.weights)), level,
    )  # fmt: skip


def today_of(cluster: Cluster, level: float) -> Today | None:
    """Every term of a cluster's bound with its interval; None where too little is known for a bound."""
    try:
        return today(cluster, level)
    except NothingKnownError:
        return None


def _predictor(path: str, asked: ClusterFile, cluster: Cluster, level: float) -> tuple[Predict, bool]:
    """What a fitted model says of a setting, and whether that is in bytes/s. Raises InputError where nobody gives it
    a setting."""
    if not cluster.model:
        raise InputError(
            "missing-key",
            "{spell.model}: today says no setting of the model",
            "give today: model: {{factor: level, …}}",
        )
    model = read_model(path)
    if not any(one.model for one in asked.candidates):
        raise InputError(
            "missing-model-setting",
            "{spell.model}: no candidate says a setting of the model",
            "give a candidate model: {{factor: level}}",
        )
    # A name that is wrong, a level never seen, or a factor that today does not say, is a mistake of the file.
    for change in asked.candidates:
        encode(model.features, setting(model.features, {**cluster.model, **change.model}))

    def predict(at: Mapping[str, Any]) -> Estimate:
        try:
            return _as_rate(ask(model, setting(model.features, at), level).value, model.unit)
        except IosondeError as error:
            # Far outside of what was measured: one change that it cannot tell of is no reason to tell of none.
            return Estimate(None, None, None, level, 0, (error.message,))

    return predict, bool(bytes_per_s(model.unit))


def _as_rate(predicted: Estimate, unit: str) -> Estimate:
    """In bytes/s where the unit says how; of a time its inverse: what gains is faster."""
    value, low, high = predicted.value, predicted.low, predicted.high
    if unit in TIMES:
        found = [None if x is None or x <= 0 else 1 / x for x in (value, high, low)]
    else:
        scale = (bytes_per_s(unit) or (1.0,))[0]
        found = [None if x is None else x * scale for x in (value, low, high)]
    return replace(predicted, value=found[0], low=found[1], high=found[2])


def _option(one: UpgradeOption) -> dict[str, Any]:
    return {
        "name": one.candidate.name, **one.gain.flat("gain"), "s": one.ceiling.s, "limit": list(one.ceiling.limit),
        "cost": one.cost, "added_watts": one.added_watts, **vars(one.totals), "per_money": one.per_money,
        "per_watt": one.per_watt, "refused": list(one.refused), "trap": one.trap,
        "first": None if one.first is None else {"name": one.first[0], "gain": one.first[1]},
        "model_gain": None if one.model_gain is None else one.model_gain.to_json(), "remarks": list(one.remarks),
        "measured": [{"from": step.before, "to": step.after, **step.speedup.flat("speedup"),
                      "beyond": step in one.beyond} for step in one.steps],
    }  # fmt: skip
