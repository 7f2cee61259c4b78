"""Advice on what to buy: changes of a cluster by gain, by money and by watt; and the change that would gain nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.model_file import parse_setting, read_model
from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.metrics import TIMES
from iosonde.core.types import Estimate
from iosonde.explain.cluster_file import ClusterFile
from iosonde.explain.upgrade import (
    Cluster,
    ClusterTotals,
    Predict,
    UpgradeOption,
    compute_ceiling_after_changes,
    compute_power_and_space,
    evaluate_options,
    order_purchases,
)
from iosonde.explain.upgrade_tables import (
    ConfigurationStep,
    ListedCpu,
    Score,
    estimate_mean_times,
    find_best_step_from,
    list_configuration_steps,
    list_cpus_within_limits,
    list_steps_by_change,
    rank_systems_by_marks,
)
from iosonde.explain.upgrade_today import Today, compute_bound_today
from iosonde.model.bound.bound import Ceiling, UnlimitedSystemError
from iosonde.model.fit.features import encode_setting
from iosonde.model.fit.fitted import predict_setting


@dataclass(frozen=True)
class Upgrade(Answer):
    """``options`` are the changes, the allowed and best ones first. ``path`` is the order of purchases: (name, gain on
    top of those before, money so far). ``cpus``, ``steps`` between measured configurations, their ``times`` and
    ``scores`` are further tables."""

    cluster_file: ClusterFile
    options: tuple[UpgradeOption, ...]
    path: tuple[tuple[str, float, float], ...]
    cpus: tuple[ListedCpu, ...]
    steps: tuple[ConfigurationStep, ...]
    times: Mapping[str, Estimate]
    scores: tuple[Score, ...]
    level: float

    @cached_property
    def ceiling(self) -> Ceiling | None:
        """Return the bound today; None without a cluster, or if too little is known for a bound."""
        try:
            return (
                None if self.cluster_file.cluster is None else compute_ceiling_after_changes(self.cluster_file.cluster)
            )
        except UnlimitedSystemError:
            return None

    @cached_property
    def totals(self) -> ClusterTotals | None:
        """Return the needs of the cluster today; None without a cluster."""
        return None if self.cluster_file.cluster is None else compute_power_and_space(self.cluster_file.cluster)

    @cached_property
    def today(self) -> Today | None:
        """Return every term of the bound with its interval. Raises InputError without a cluster."""
        if self.cluster_file.cluster is None:
            raise InputError("missing-cluster", "no cluster to draw", "describe it under today")
        return compute_today(self.cluster_file.cluster, self.level)

    def content(self) -> dict[str, Any]:
        """As ``iosonde upgrade --json``."""
        return {
            "name": self.cluster_file.name,
            "level": self.level,
            "today": self._today_to_json(),
            "nodes": self.cluster_file.nodes.to_json(),
            "warnings": self.cluster_file.nodes.warnings(),
            "options": [_describe_option(option) for option in self.options],
            "path": [{"name": name, "gain": gain, "cost": cost} for name, gain, cost in self.path],
            "cpus": [
                {
                    "name": cpu.name,
                    "points": cpu.points,
                    "watts": cpu.watts,
                    "points_per_watt": cpu.points_per_watt,
                    "refused": cpu.refused or None,
                }
                for cpu in self.cpus
            ],
            "cpu": next((cpu.name for cpu in self.cpus if not cpu.refused), None),
            "measured": [
                {
                    "name": name,
                    **time.flat("seconds"),
                    "best_change": step.changed[0] if (step := find_best_step_from(self.steps, name)) else None,
                }
                for name, time in self.times.items()
            ],
            "steps": [
                {"from": step.before, "to": step.after, "changed": list(step.changed), **step.speedup.flat("speedup")}
                for step in self.steps
            ],
            "systems": [
                {"name": score.name, "marks": dict(score.marks), "total": score.total, "weakest": score.weakest}
                for score in self.scores
            ],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per change."""
        nested = ("limit", "refused", "first", "model_gain", "remarks", "measured")
        return [
            {key: value for key, value in _describe_option(option).items() if key not in nested}
            for option in self.options
        ]

    def _today_to_json(self) -> dict[str, Any] | None:
        if self.totals is None:
            return None
        ceiling = {"s": None} if self.ceiling is None else self.ceiling.to_json()
        return {**ceiling, **vars(self.totals), **self.cluster_file.compute_derived_quantities()}


def upgrade(cluster_file: ClusterFile, order: str = "gain", model: str | None = None, level: float = 0.95) -> Upgrade:
    """Rank the changes by ``gain``, ``money`` or ``watt``, with the predictions of a ``model`` file next to the bound.
    Raises InputError, DataError."""
    steps = list_configuration_steps(cluster_file.measured, level)
    options: list[UpgradeOption] = []
    path: list[tuple[str, float, float]] = []
    if cluster_file.cluster is not None and cluster_file.candidates:
        predict, in_bytes = (
            (None, False) if model is None else _create_predictor(model, cluster_file, cluster_file.cluster, level)
        )
        options = evaluate_options(
            cluster_file.cluster, cluster_file.candidates, cluster_file.limits, level, predict, order, in_bytes
        )
        options = [
            replace(
                option,
                steps=list_steps_by_change(
                    cluster_file.measured, steps, cluster_file.cluster.measured, option.candidate.measured
                ),
            )
            for option in options
        ]
        path = order_purchases(cluster_file.cluster, options, cluster_file.limits)
    elif model is not None:
        raise InputError(
            "missing-candidates",
            "{spell.model} has no candidates to predict",
            "give candidates with model: {{factor: level}}",
        )
    return Upgrade(
        cluster_file,
        tuple(options),
        tuple(path),
        tuple(list_cpus_within_limits(cluster_file.cpus, cluster_file.min_cpu_points, cluster_file.max_cpu_watts)),
        tuple(steps),
        estimate_mean_times(cluster_file.measured, level),
        tuple(rank_systems_by_marks(cluster_file.systems, cluster_file.weights)),
        level,
    )


def compute_today(cluster: Cluster, level: float) -> Today | None:
    """Return every term of a cluster's bound with its interval; None if too little is known for a bound."""
    try:
        return compute_bound_today(cluster, level)
    except UnlimitedSystemError:
        return None


def _create_predictor(path: str, cluster_file: ClusterFile, cluster: Cluster, level: float) -> tuple[Predict, bool]:
    """Return a predictor from a fitted model, and whether it is in bytes/s. Raises InputError if no setting of the
    model is given."""
    if not cluster.model:
        raise InputError(
            "missing-key",
            "{spell.model}: today has no setting of the model",
            "give today: model: {{factor: level, …}}",
        )
    model = read_model(path)
    if not any(candidate.model for candidate in cluster_file.candidates):
        raise InputError(
            "missing-model-setting",
            "{spell.model}: no candidate has a setting of the model",
            "give a candidate model: {{factor: level}}",
        )
    # A wrong name, an unseen level, or a factor missing from today is an error in the file.
    for change in cluster_file.candidates:
        encode_setting(model.features, parse_setting(model.features, {**cluster.model, **change.model}))

    def predict(at: Mapping[str, Any]) -> Estimate:
        try:
            return _convert_to_rate(predict_setting(model, parse_setting(model.features, at), level).value, model.unit)
        except IosondeError as error:
            # Far outside the measured range: skip this change, but predict the others.
            return Estimate(None, None, None, level, 0, (error.message,))

    return predict, bool(unit_to_bytes_per_s(model.unit))


def _convert_to_rate(predicted: Estimate, unit: str) -> Estimate:
    """Convert to bytes/s if the unit allows it; invert a time, so that a gain is faster."""
    ends = predicted.value, predicted.low, predicted.high
    if unit in TIMES:
        value, high, low = (None if end is None or end <= 0 else 1 / end for end in ends)
    else:
        scale = (unit_to_bytes_per_s(unit) or (1.0,))[0]
        value, low, high = (None if end is None else end * scale for end in ends)
    return replace(predicted, value=value, low=low, high=high)


def _describe_option(option: UpgradeOption) -> dict[str, Any]:
    return {
        "name": option.candidate.name,
        **option.gain.flat("gain"),
        "s": option.ceiling.s,
        "limit": list(option.ceiling.limit),
        "cost": option.cost,
        "added_watts": option.added_watts,
        **vars(option.totals),
        "per_money": option.per_money,
        "per_watt": option.per_watt,
        "refused": list(option.refused),
        "trap": option.trap,
        "first": None if option.first is None else {"name": option.first[0], "gain": option.first[1]},
        "model_gain": None if option.model_gain is None else option.model_gain.to_json(),
        "remarks": list(option.remarks),
        "measured": [
            {"from": step.before, "to": step.after, **step.speedup.flat("speedup"), "beyond": step in option.beyond}
            for step in option.steps
        ],
    }
