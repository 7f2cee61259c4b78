"""Candidate changes of a cluster, ranked by the gain that the bound (and a model, if given) predicts.

The gain of a change is S(after) ÷ S(before) − 1. Inputs with an interval are drawn (log-normal, the same draw before
and after, fixed seed), and the gain's interval holds ``level`` of the draws. A change without gain because something
else limits is the trap of every purchase: it is shown with its gain after another change.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.model.bound.bound import Ceiling, compute_ceiling
from iosonde.model.bound.system import System

from .upgrade_tables import ConfigurationStep

DRAWS = 400
SEED = 1
NOTHING = 0.005  # a gain below half a percent is none
_APART = 1.25  # single timings closer than this to the bound do not contradict it

Predict = Callable[[Mapping[str, Any]], Estimate]


@dataclass(frozen=True)
class Quantity:
    """A number in base units, with ``low`` … ``high`` at the level of the others (equal: exact), or, with ``times``, a
    multiple of the old value."""

    value: float
    low: float
    high: float
    times: bool = False

    def compute_log_sigma(self, z: float) -> float:
        """Return the standard deviation of its logarithm."""
        return math.log(self.high / self.low) / (2 * z) if self.high > self.low > 0 else 0.0


@dataclass(frozen=True)
class Cluster:
    """Today's cluster: fields of ``System``, and its needs.

    ``watts_per_server`` is of one server, ``watts`` and ``rack_units`` of everything else. ``model`` are the settings
    for a model's prediction, ``measured`` the factors of matching measured configurations."""

    name: str
    system: Mapping[str, Quantity]
    words: Mapping[str, Any]  # operation, redundancy, placement
    watts_per_server: float | None = None
    watts: float = 0.0
    cost_per_server: float = 0.0
    nodes_per_rack_unit: float | None = None
    rack_units: float = 0.0
    model: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class UpgradeCandidate:
    """A change: fields of the system that it sets, its cost, and its additional needs (W, U). ``attributes`` replace
    those of the cluster (``watts_per_server``, ``nodes_per_rack_unit``); ``measured`` are the factors of measured
    configurations that it changes, with their new levels."""

    name: str
    system: Mapping[str, Quantity]
    words: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 0.0
    watts: float = 0.0
    rack_units: float = 0.0
    attributes: Mapping[str, float] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class UpgradeLimits:
    """Limits: cost of the change, and W and U of the whole; None: no limit."""

    max_cost: float | None = None
    max_watts: float | None = None
    max_rack_units: float | None = None
    min_nodes_per_rack_unit: float | None = None


@dataclass(frozen=True)
class ClusterTotals:
    """Needs of a cluster, W and U; None if unknown."""

    watts: float | None
    rack_units: float | None
    nodes_per_rack_unit: float | None


@dataclass(frozen=True)
class UpgradeOption:
    """An evaluated change.

    ``gain`` and ``model_gain`` are fractions; ``per_money`` and ``per_watt`` bytes/s gained per unit of money and per
    additional W (None if nothing is spent or it is unknown). ``refused`` are the limits that it breaks. ``first``:
    without gain by itself, the best change to make first, and the gain on top of that. ``steps`` are the pairs of
    measured configurations that differ by this change."""

    candidate: UpgradeCandidate
    ceiling: Ceiling
    gain: Estimate
    cost: float
    added_watts: float | None
    totals: ClusterTotals
    per_money: float | None
    per_watt: float | None
    refused: tuple[str, ...]
    first: tuple[str, float] | None = None
    model_gain: Estimate | None = None
    remarks: tuple[str, ...] = ()
    steps: tuple[ConfigurationStep, ...] = ()

    @property
    def beyond(self) -> tuple[ConfigurationStep, ...]:
        """The ``steps`` that contradict the bound's gain: it is outside of the step's interval or, without one, off by
        a quarter or more."""
        times = 1 + (self.gain.value or 0.0)
        return tuple(step for step in self.steps if not _is_accounted(times, step.speedup))

    @property
    def trap(self) -> bool:
        """True if it costs money without gain while something else limits. A change of power or space alone is not
        one."""
        return bool(self.candidate.system or self.candidate.words) and (self.gain.value or 0.0) < NOTHING


def evaluate_options(
    cluster: Cluster,
    candidates: Sequence[UpgradeCandidate],
    limits: UpgradeLimits,
    level: float,
    predict: Predict | None = None,
    order: str = "gain",
    in_bytes: bool = True,
) -> list[UpgradeOption]:
    """Evaluate every change by itself: allowed ones first, then by ``order`` (``gain``, ``money`` or ``watt``).
    ``in_bytes``: ``predict`` returns bytes/s, which the bound also limits; otherwise only its ratios count."""
    judged = [
        _evaluate_candidate(cluster, candidate, candidates, limits, level, predict, in_bytes)
        for candidate in candidates
    ]
    keys: dict[str, Callable[[UpgradeOption], float]] = {
        "gain": lambda o: o.gain.value or 0.0,
        "money": lambda o: _get_ratio_or_infinity(o.per_money, o),
        "watt": lambda o: _get_ratio_or_infinity(o.per_watt, o),
    }
    return sorted(judged, key=lambda o: (bool(o.refused), -keys[order](o), o.cost))


def order_purchases(
    cluster: Cluster, options: Sequence[UpgradeOption], limits: UpgradeLimits
) -> list[tuple[str, float, float]]:
    """Return the order of purchases: (name, gain on top of those before, total money).

    Each step is the change with the largest gain; the path ends if none gains or the limits are reached."""
    taken: list[UpgradeCandidate] = []
    remaining = [option.candidate for option in options if not option.refused]
    steps: list[tuple[str, float, float]] = []
    while remaining:
        before = compute_ceiling_after_changes(cluster, taken).s
        gains = [
            (
                compute_ceiling_after_changes(cluster, [*taken, candidate]).s / before - 1,
                -_compute_cost(cluster, [*taken, candidate]),
                candidate.name,
                candidate,
            )
            for candidate in remaining
            if can_combine_changes(cluster, [*taken, candidate])
            and not _list_broken_limits(cluster, [*taken, candidate], limits)
        ]
        if not gains or max(gains, key=lambda g: g[:2])[0] < NOTHING:
            return steps
        gain, cost, name, best = max(gains, key=lambda g: g[:2])
        taken, remaining = [*taken, best], [candidate for candidate in remaining if candidate is not best]
        steps.append((name, gain, -cost))
    return steps


def compute_ceiling_after_changes(cluster: Cluster, changes: Sequence[UpgradeCandidate] = ()) -> Ceiling:
    """Return the ceiling of the cluster with some changes. Raises InputError for an impossible system."""
    return compute_ceiling(_build_system(cluster, changes))


def can_combine_changes(cluster: Cluster, changes: Sequence[UpgradeCandidate]) -> bool:
    """Return whether these changes can be combined: each may be possible alone, but both need more servers than
    disks."""
    try:
        compute_ceiling_after_changes(cluster, changes)
    except InputError:
        return False
    return True


def compute_power_and_space(cluster: Cluster, changes: Sequence[UpgradeCandidate] = ()) -> ClusterTotals:
    """Return power and space of the cluster with some changes."""
    servers = _build_system(cluster, changes).servers
    attributes = {k: v for change in changes for k, v in change.attributes.items()}
    each = attributes.get("watts_per_server", cluster.watts_per_server)
    dense = attributes.get("nodes_per_rack_unit", cluster.nodes_per_rack_unit)
    watts = None if each is None else servers * each + cluster.watts + sum(change.watts for change in changes)
    added = cluster.rack_units + sum(change.rack_units for change in changes)
    return ClusterTotals(watts, None if dense is None else servers / dense + added, dense)


def _evaluate_candidate(
    cluster: Cluster,
    candidate: UpgradeCandidate,
    others: Sequence[UpgradeCandidate],
    limits: UpgradeLimits,
    level: float,
    predict: Predict | None,
    in_bytes: bool,
) -> UpgradeOption:
    ceiling = compute_ceiling_after_changes(cluster, [candidate])
    gain = _estimate_gain(cluster, [candidate], level)
    cost, had, needs = (
        _compute_cost(cluster, [candidate]),
        compute_power_and_space(cluster),
        compute_power_and_space(cluster, [candidate]),
    )
    added = None if had.watts is None or needs.watts is None else needs.watts - had.watts
    more = ceiling.s - compute_ceiling_after_changes(cluster).s
    model_gain, remarks = _predict_by_model(cluster, candidate, gain, ceiling, predict, in_bytes)
    trapped = (gain.value or 0.0) < NOTHING
    return UpgradeOption(
        candidate,
        ceiling,
        gain,
        cost,
        added,
        needs,
        more / cost if cost > 0 else None,
        more / added if added is not None and added > 0 else None,
        tuple(_list_broken_limits(cluster, [candidate], limits)),
        _find_best_predecessor(cluster, candidate, others) if trapped else None,
        model_gain,
        remarks,
    )


def _find_best_predecessor(
    cluster: Cluster, candidate: UpgradeCandidate, others: Sequence[UpgradeCandidate]
) -> tuple[str, float] | None:
    """Return the change after which this one gains most; None if it never gains."""
    gains = [
        (
            compute_ceiling_after_changes(cluster, [first, candidate]).s
            / compute_ceiling_after_changes(cluster, [first]).s
            - 1,
            first.name,
        )
        for first in others
        if first is not candidate and can_combine_changes(cluster, [first, candidate])
    ]
    best = max(gains, default=(0.0, ""))
    return (best[1], best[0]) if best[0] >= NOTHING else None


def _predict_by_model(
    cluster: Cluster,
    candidate: UpgradeCandidate,
    gain: Estimate,
    ceiling: Ceiling,
    predict: Predict | None,
    in_bytes: bool,
) -> tuple[Estimate | None, tuple[str, ...]]:
    """Predict the same change by a model, with remarks on disagreements with the bound."""
    if predict is None or not candidate.model:
        return None, ()
    old, new = predict(cluster.model), predict({**cluster.model, **candidate.model})
    if old.value is None or new.value is None or old.value <= 0 or new.value <= 0:
        return None, tuple(
            dict.fromkeys(
                (Message("model-inconclusive", "the model has no usable prediction"), *old.warnings, *new.warnings)
            )
        )
    low = high = None
    if old.low is not None and old.low > 0 and old.high is not None and new.low is not None and new.high is not None:
        # Opposite ends of the two intervals: a conservative interval.
        low, high = new.low / old.high - 1, new.high / old.low - 1
    model_gain = Estimate(new.value / old.value - 1, low, high, gain.level, min(old.n, new.n), new.warnings)
    remarks = []
    if in_bytes and new.value > ceiling.s:
        remarks.append(Message("model-above-bound", "the model predicts more than the bound allows"))
    disagree = gain.value is not None and (gain.value < NOTHING) != ((model_gain.value or 0.0) < NOTHING)
    apart = low is not None and high is not None and gain.value is not None and not low <= gain.value <= high
    if apart or (low is None and disagree):
        remarks.append(
            Message(
                "bound-model-disagree",
                "bound and model disagree: the bound knows only capacities, the model only measurements",
            )
        )
    return model_gain, (*remarks, *new.warnings)


def _estimate_gain(cluster: Cluster, changes: Sequence[UpgradeCandidate], level: float) -> Estimate:
    """Estimate S(after) ÷ S(before) − 1, with an interval if inputs have one."""
    import numpy as np

    value = compute_ceiling_after_changes(cluster, changes).s / compute_ceiling_after_changes(cluster).s - 1
    quantities = [q for part in (cluster.system, *(change.system for change in changes)) for q in part.values()]
    z = compute_z_of_level(level)
    if not any(q.compute_log_sigma(z) for q in quantities):
        why = Message("inputs-without-interval", "the inputs have no interval: write them as [low, high]")
        return Estimate(value, None, None, level, 0, (why,))
    rng, gains = np.random.default_rng(SEED), []
    for _ in range(DRAWS):
        drawn = replace(cluster, system=draw_system(cluster.system, rng, z))
        moved = [replace(change, system=draw_system(change.system, rng, z)) for change in changes]
        gains.append(compute_ceiling_after_changes(drawn, moved).s / compute_ceiling_after_changes(drawn).s - 1)
    low, high = np.quantile(gains, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high), level, 0)


def draw_system(system: Mapping[str, Quantity], rng: Any, z: float) -> dict[str, Quantity]:
    """Draw every quantity with an interval (log-normal), ``z`` standard deviations to a side."""
    factors = {name: math.exp(q.compute_log_sigma(z) * rng.standard_normal()) for name, q in system.items()}
    return {name: replace(q, value=q.value * factors[name]) for name, q in system.items()}


def compute_z_of_level(level: float) -> float:
    """Return how many standard deviations an interval of this level extends to each side."""
    from iosonde.stats.estimate.distributions import normal_quantile

    return normal_quantile(0.5 + level / 2)


def _build_system(cluster: Cluster, changes: Sequence[UpgradeCandidate]) -> System:
    fields: dict[str, Any] = dict(cluster.words)
    values = {name: q.value for name, q in cluster.system.items()}
    for change in changes:
        fields |= change.words
        for name, q in change.system.items():
            values[name] = values[name] * q.value if q.times else q.value
    fields |= {name: _convert_to_field(name, value) for name, value in values.items()}
    return System(**fields)


def _convert_to_field(name: str, value: float) -> float | int:
    integer_fields = ("replicas", "data_chunks", "parity_chunks", "stripe_count", "files")
    return int(value) if name in integer_fields else value


def _compute_cost(cluster: Cluster, changes: Sequence[UpgradeCandidate]) -> float:
    more = _build_system(cluster, changes).servers - _build_system(cluster, []).servers
    return sum(change.cost for change in changes) + max(0.0, more) * cluster.cost_per_server


def _list_broken_limits(cluster: Cluster, changes: Sequence[UpgradeCandidate], limits: UpgradeLimits) -> list[str]:
    """Describe the limits that a cluster with these changes breaks."""
    need, cost = compute_power_and_space(cluster, changes), _compute_cost(cluster, changes)
    messages: list[str] = [
        Message("over-limit", template, amount=have, limit=most)
        for have, most, template in (
            (cost, limits.max_cost, "costs {amount:g}, the limit is {limit:g}"),
            (need.watts, limits.max_watts, "needs {amount:g} W, the limit is {limit:g} W"),
            (need.rack_units, limits.max_rack_units, "needs {amount:g} U, the limit is {limit:g} U"),
        )
        if have is not None and most is not None and have > most
    ]
    dense, least = need.nodes_per_rack_unit, limits.min_nodes_per_rack_unit
    if dense is not None and least is not None and dense < least:
        messages.append(
            Message(
                "under-limit",
                "has {amount:g} " + ("node" if dense == 1 else "nodes") + " per rack unit, the minimum is {limit:g}",
                amount=dense,
                limit=least,
            )
        )
    return messages


def _is_accounted(times: float, measured: Estimate) -> bool:
    if measured.low is not None and measured.high is not None:
        return measured.low <= times <= measured.high
    return measured.value is None or 1 / _APART < measured.value / times < _APART


def _get_ratio_or_infinity(per: float | None, option: UpgradeOption) -> float:
    """Return ``per``, or infinity for a gain without cost."""
    return per if per is not None else math.inf if not option.trap else 0.0
