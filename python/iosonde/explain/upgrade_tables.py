"""Additional tables of an upgrade: CPUs by points per watt, steps between measured configurations, a scorecard.

None of them uses the bound: they hold benchmark results, measured times, and ratings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.ratio import compute_moments, estimate_ratio_of_means
from iosonde.stats.estimate.summarise import estimate_mean

# The seven criteria of a file system's choice (Kumar, Modeling Storage Performance in a HPC System, 2013, §3.1).
CRITERIA = {
    "usage": "scenarios that it serves",
    "installation": "requirements of its installation",
    "management": "without special training",
    "configuration": "tuned easily, and online",
    "monitoring": "shows its use and its load",
    "features": "redundancy, striping",
    "failure_points": "few single points of failure and bottlenecks",
}


@dataclass(frozen=True)
class ListedCpu:
    """A CPU: benchmark points and W; ``refused`` names the limit that it breaks, empty if none."""

    name: str
    points: float
    watts: float
    refused: str = ""

    @property
    def points_per_watt(self) -> float:
        """Points per W."""
        return self.points / self.watts


def list_cpus_within_limits(
    cpus: Sequence[ListedCpu], min_points: float | None, max_watts: float | None
) -> list[ListedCpu]:
    """Check against the limits and sort: allowed ones first, most points per watt first."""
    judged = []
    for cpu in cpus:
        refused = ""
        if min_points is not None and cpu.points < min_points:
            refused = Message(
                "too-slow", "{points:g} points, the minimum is {min_points:g}", points=cpu.points, min_points=min_points
            )
        elif max_watts is not None and cpu.watts > max_watts:
            refused = Message(
                "too-much-power", "{watts:g} W, the limit is {max_watts:g} W", watts=cpu.watts, max_watts=max_watts
            )
        judged.append(ListedCpu(cpu.name, cpu.points, cpu.watts, refused))
    return sorted(judged, key=lambda entry: (bool(entry.refused), -entry.points_per_watt))


@dataclass(frozen=True)
class Configuration:
    """A measured configuration: its factors, and the times of the same job, s (one value for each trial)."""

    name: str
    factors: Mapping[str, Any]
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class ConfigurationStep:
    """Two configurations: ``speedup`` of the second over the first. ``changed`` are the factors that differ: a single
    one is the cause, several are confounded."""

    before: str
    after: str
    changed: tuple[str, ...]
    speedup: Estimate


def list_configuration_steps(configurations: Sequence[Configuration], level: float) -> list[ConfigurationStep]:
    """Return every pair, slower first, largest speed-up first."""
    steps = []
    for place, a in enumerate(configurations):
        for b in configurations[place + 1 :]:
            slow, fast = (a, b) if _compute_mean(a) >= _compute_mean(b) else (b, a)
            names = [name for name in slow.factors if slow.factors.get(name) != fast.factors.get(name)]
            names += [name for name in fast.factors if name not in slow.factors]
            speedup = estimate_ratio_of_means(compute_moments(slow.seconds), compute_moments(fast.seconds), level)
            steps.append(ConfigurationStep(slow.name, fast.name, tuple(names), speedup))
    return sorted(steps, key=lambda step: -(step.speedup.value or 0.0))


def find_best_step_from(steps: Sequence[ConfigurationStep], name: str) -> ConfigurationStep | None:
    """Return the largest speed-up from a configuration by a change of one factor; None if none was measured."""
    return next((step for step in steps if step.before == name and len(step.changed) == 1), None)


def list_steps_by_change(
    configurations: Sequence[Configuration],
    steps: Sequence[ConfigurationStep],
    today: Mapping[str, Any],
    change: Mapping[str, Any],
) -> tuple[ConfigurationStep, ...]:
    """Return the steps from a configuration like ``today`` (its known factors) to one that differs only in the factors
    of ``change``, at the new levels. The largest speed-up first."""
    factors = {configuration.name: configuration.factors for configuration in configurations}

    def is_match(before: Mapping[str, Any], after: Mapping[str, Any], changed: Sequence[str]) -> bool:
        same = {name: level for name, level in today.items() if name not in change}
        return (
            set(changed) == set(change)
            and _has_levels(after, change)
            and _has_levels(before, {**same, **{name: today[name] for name in change if name in today}})
        )

    return tuple(step for step in steps if change and is_match(factors[step.before], factors[step.after], step.changed))


def _has_levels(factors: Mapping[str, Any], levels: Mapping[str, Any]) -> bool:
    return all(factors.get(name) == level for name, level in levels.items())


def _compute_mean(configuration: Configuration) -> float:
    return sum(configuration.seconds) / len(configuration.seconds)


def estimate_mean_times(configurations: Sequence[Configuration], level: float) -> dict[str, Estimate]:
    """Estimate the mean time of each, s."""
    return {configuration.name: estimate_mean(configuration.seconds, level) for configuration in configurations}


@dataclass(frozen=True)
class Score:
    """A file system's marks by criterion (0 to 5), their weighted mean, and the criterion that lowers it most."""

    name: str
    marks: Mapping[str, float]
    total: float
    weakest: str


def rank_systems_by_marks(marks: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> list[Score]:
    """Rank the systems, best first. Every system has a mark for each criterion: those of :data:`CRITERIA`, or
    others."""
    criteria = list(next(iter(marks.values()), {}))
    weight = {name: weights.get(name, 1.0) for name in criteria}
    total_weight = sum(weight.values())
    scores = []
    for name, system_marks in marks.items():
        total = sum(weight[criterion] * system_marks[criterion] for criterion in criteria) / total_weight
        weakest = max(criteria, key=lambda criterion: weight[criterion] * (5 - system_marks[criterion]))
        scores.append(Score(name, dict(system_marks), total, weakest))
    return sorted(scores, key=lambda score: -score.total)
