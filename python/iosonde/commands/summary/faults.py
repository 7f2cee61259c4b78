"""Effects of faults: rate and durations before, during and after each, over trials; and the trial to draw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.answers.operations import Operations, visit_runs
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_setting
from iosonde.core.schema import BRING_UP
from iosonde.core.stored import StoredRun
from iosonde.core.table import Cell as Level
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate
from iosonde.core.words import format_count
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.stats.estimate.summarise import estimate_geometric_mean, estimate_mean
from iosonde.stats.overview.fault_effect import AFTER, BEFORE, DURING, HEALING, PhaseEffect, measure_fault_effects

_NOTHING = Estimate(None, None, None, 0.95, 0)
_STALLED = 3.0  # times the longest pause before the fault


@dataclass(frozen=True)
class FaultPart:
    """A part of a phase over the trials that have it: its length (s), rate, and percentiles of durations (s)."""

    name: str
    seconds: Estimate
    rate: Estimate
    p50: Estimate | None
    p99: Estimate | None

    def to_json(self) -> dict[str, Any]:
        """Return a flat form: one key per number."""
        estimates = {"seconds": self.seconds, "rate": self.rate, "p50_s": self.p50, "p99_s": self.p99}
        return {"part": self.name, "n": self.rate.n, **_flatten_estimates(estimates)}


@dataclass(frozen=True)
class FaultEffect:
    """Effect of a fault on one phase at one setting (``by``), in ``n`` trials. ``bring_ups``: their number if trials
    share them; means are then over bring-ups. ``rate`` of each part is in ``unit``, of ``kind``; durations are of
    ``slow``. ``stall`` is the longest pause during the fault or after it, ``usual`` the longest before (s). ``heal``:
    time from undoing the fault until the file system was well. ``n_unhealed``: trials in which it was not well in the
    time allowed."""

    fault: str
    operation: str
    by: Mapping[str, Level]
    n: int
    bring_ups: int | None
    unit: str
    kind: str
    slow: str
    parts: tuple[FaultPart, ...]
    stall: Estimate
    usual: Estimate | None
    heal: Estimate | None
    n_unhealed: int
    units: Mapping[str, str]

    @property
    def setting(self) -> str:
        """Return the setting in words; '' if there is only one."""
        return format_setting(dict(self.by), self.units)

    @property
    def sentence(self) -> str:
        """Describe the effect and its uncertainty."""
        at = f" ({self.setting})" if self.setting else ""
        of = {part.name: part.rate.value for part in self.parts}
        words = {BEFORE: "", DURING: "with it ", HEALING: "while it healed ", AFTER: "after that "}
        rate_texts = [
            f"{words[name]}{format_rate(value, self.unit)}" for name, value in of.items() if value is not None
        ]
        text = f"{self.fault} during {self.operation}{at}: {', '.join(rate_texts)}."
        stall, usual = self.stall.value or 0.0, self.usual.value if self.usual else None
        if usual is not None and stall > _STALLED * usual:
            text += f" For {format_rate(stall, 's')} no operation ended (before it {format_rate(usual, 's')} at most)."
        if self.heal and self.heal.value is not None:
            text += f" Well {format_rate(self.heal.value, 's')} after it was undone."
        if self.n_unhealed:
            text += f" In {format_count(self.n_unhealed, 'trial')} it was not well in the time that was given."
        if self.n == 1:
            return f"{text} One trial: no interval."
        over = f"{format_count(self.bring_ups, 'bring-up')} of {self.n}" if self.bring_ups else f"{self.n}"
        return f"{text} Means over {over} trials."

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "fault": self.fault,
            "operation": self.operation,
            "by": dict(self.by),
            "n": self.n,
            "bring_ups": self.bring_ups,
            "unit": self.unit,
            "of": self.kind,
            "durations_of": self.slow,
            "parts": [part.to_json() for part in self.parts],
            **_flatten_estimates({"stall_s": self.stall, "stall_before_s": self.usual, "heal_s": self.heal}),
            "not_well": self.n_unhealed,
            "sentence": self.sentence,
        }


def _flatten_estimates(estimates: Mapping[str, Estimate | None]) -> dict[str, float | None]:
    """Flatten estimates, one key per number; null for a missing estimate."""
    return {
        key: value for name, estimate in estimates.items() for key, value in (estimate or _NOTHING).flat(name).items()
    }


class FaultEffects:
    """A visitor: the effects of faults in every complete trial."""

    def __init__(self, level: float) -> None:
        self._level = level
        self._effects: list[tuple[StoredRun, PhaseEffect]] = []

    def wants(self, run: StoredRun) -> bool:
        """Return whether a trial has faults and is complete."""
        return bool(run.faults) and run.counts and bool(run.n_operations)

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Cut the run's phases at the moments of its faults."""
        self._effects += [
            (run, effect) for effect in measure_fault_effects(run, operations, _native.KINDS, self._level)
        ]

    def estimate_effects(self, by: Sequence[str], units: Mapping[str, str]) -> tuple[FaultEffect, ...]:
        """Return the effects by fault, phase and setting."""
        groups = group_by_key(
            (repr((effect.operation, effect.fault, [run.level(name) for name in by])), (run, effect))
            for run, effect in self._effects
        )
        return tuple(self._estimate_effect(several, by, units) for several in groups.values())

    def _estimate_effect(
        self, several: list[tuple[StoredRun, PhaseEffect]], by: Sequence[str], units: Mapping[str, str]
    ) -> FaultEffect:
        (run, first), phase_effects = several[0], [effect for _, effect in several]
        units_of = _number_by_bring_up([trial_run for trial_run, _ in several])
        over = [*zip(units_of, phase_effects, strict=True)]
        names = [
            name
            for name in (BEFORE, DURING, HEALING, AFTER)
            if any(name == p.name for x in phase_effects for p in x.parts)
        ]
        heals = [(at, effect.heal_s) for at, effect in over if effect.heal_s is not None]
        usual = [(at, effect.usual_s) for at, effect in over if effect.usual_s is not None]
        count = len(set(units_of))
        return FaultEffect(
            first.fault,
            first.operation,
            {name: run.level(name) for name in by},
            len(phase_effects),
            count if count < len(phase_effects) else None,
            first.unit,
            first.kind,
            first.slow,
            tuple(self._estimate_part(name, over) for name in names),
            self._estimate_mean([(at, effect.stall_s) for at, effect in over]),
            self._estimate_mean(usual) if usual else None,
            self._estimate_mean(heals) if heals else None,
            len(phase_effects) - len(heals),
            units,
        )

    def _estimate_part(self, name: str, over: Sequence[tuple[int, PhaseEffect]]) -> FaultPart:
        of = [(at, part) for at, effect in over for part in effect.parts if part.name == name]
        estimates: list[Estimate | None] = []
        for quantiles in ([(at, part.p50) for at, part in of], [(at, part.p99) for at, part in of]):
            available = [(at, value) for at, value in quantiles if value is not None]
            estimates.append(
                self._estimate_over_units(estimate_geometric_mean, available) if len(available) == len(of) else None
            )
        return FaultPart(
            name,
            self._estimate_mean([(at, part.seconds) for at, part in of]),
            self._estimate_mean([(at, part.rate) for at, part in of]),
            *estimates,
        )

    def _estimate_mean(self, values: Sequence[tuple[int, float]]) -> Estimate:
        return self._estimate_over_units(estimate_mean, values).within(low=0.0)

    def _estimate_over_units(
        self, estimate: Callable[[Sequence[float], float], Estimate], values: Sequence[tuple[int, float]]
    ) -> Estimate:
        """Average the values of each unit (by a mean of the same kind), then estimate over units."""
        units = group_by_key(values).values()
        return estimate([_average_values(estimate, several) for several in units], self._level)


def _average_values(estimate: Callable[[Sequence[float], float], Estimate], values: Sequence[float]) -> float:
    if len(values) == 1:
        return values[0]
    average = estimate(values, _NOTHING.level).value
    return float(np.mean(values)) if average is None else average


def _number_by_bring_up(runs: Sequence[StoredRun]) -> list[int]:
    """Number the runs by bring-up, which is known for an experiment's own trials."""
    keys = [(run.experiment, run.factors[BRING_UP]) if BRING_UP in run.factors else (run.id, 0) for run in runs]
    first = {key: place for place, key in reversed([*enumerate(keys)])}
    return [first[key] for key in keys]


def compute_fault_effects(source: Source, by: Sequence[str], level: float) -> tuple[FaultEffect, ...]:
    """Return the effects of faults in a store; empty if it has none."""
    if not any(run.faults for run in source.runs):
        return ()
    collector = FaultEffects(level)
    visit_runs(source, [collector])
    return collector.estimate_effects(by, source.units())
