"""Why was this operation slow? Classes of operations by duration, what each has in common, and its cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.answers.answer import Answer
from iosonde.commands.path_study import PathStudy, find_path_study
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.data.source import Source
from iosonde.explain.causes.s413_drift import FastDrift, estimate_fast_class_drift
from iosonde.explain.classes import DensityClasses, classify_by_density
from iosonde.explain.cost import Cost, estimate_class_shares, estimate_slow_class_cost
from iosonde.explain.counters.over_trials import CounterDiagnosis
from iosonde.explain.places import profile_class_by_place, sum_place_counts
from iosonde.explain.readings import Reading, Times, interpret_suspects, list_explanations, read_pass
from iosonde.explain.seen.drawn import DrawnOperations
from iosonde.explain.seen.group import OperationGroup, OperationTrials, TrialLook, TrialOperations
from iosonde.explain.seen.in_memory import collect_reasons, iter_histograms, iter_trial_looks
from iosonde.stats.assumptions import AssumptionCheck, fails, holds, judge
from iosonde.stats.density import kernel
from iosonde.stats.density.histogram import LogHistogram, merge_histograms
from iosonde.stats.estimate.summarise import estimate_mean

from .operation_class import OperationClass, get_class_label
from .table import TableTrials
from .trials import StoredTrials

TAIL = 0.01
_MOST = 40  # groups
LIMITS = (
    "an operation of mixed condition (partly cached, partly not) is in the class of its whole time",
    "gains are upper bounds: a slow operation that does the work of fast ones cannot become fast",
)


@dataclass(frozen=True)
class DiagnosedOperations:
    """Operations of one kind and size of an operation, at one setting, over its trials. ``drift``: of fast operations
    over a trial, None if there is none. ``tail``: share of the time that the slowest 1 % take. ``step_s``: clock tick
    of the durations, 0 if there is none. ``notes``: missing data. ``reading``: interpretation of all operations
    together, or None."""

    group: OperationGroup
    trials: int
    n: int
    failed: int
    classes: tuple[OperationClass, ...]
    density: DensityClasses
    cost: Cost
    drift: FastDrift | None
    tail: Estimate
    drawn: DrawnOperations
    step_s: float
    notes: tuple[str, ...]
    reading: Reading | None

    @property
    def slow(self) -> list[OperationClass]:
        """Return the classes slower than the fast one, the most costly first."""
        return sorted(
            self.classes[self.density.fast + 1 :],
            key=lambda operation_class: -(operation_class.shares.cost_s.value or 0.0),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the stable form, without the classes."""
        hills, test = self.density.hills, self.density.test
        return {
            **self.group.to_json(),
            "trials": self.trials,
            "n": self.n,
            "failed": self.failed,
            "bandwidth": hills.bandwidth,
            "stability": hills.stability,
            "stable_from": hills.stable_from,
            "stable_to": hills.stable_to,
            "hills": [list(point) for point in hills.counts_at],
            "one_hill_p": None if test is None else test.p,
            "mixture": {"components": len(self.density.mixture.weights), "hills": self.density.mixture.hills},
            "cost_s": self.cost.cost_s.to_json(),
            "elapsed_s": self.cost.elapsed_s.to_json(),
            "unit": self.cost.unit,
            "rate": self.cost.rate.to_json(),
            "rate_if_fast": self.cost.rate_if_fast.to_json(),
            "tail_time_share": self.tail.to_json(),
            "drift": self.drift.change.to_json() if self.drift else None,
            "mechanism": self.reading.mechanism if self.reading else None,
            "reading": self.reading.words if self.reading else None,
            "step_s": self.step_s,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class OperationCauses(Answer):
    """The diagnoses, the most costly first. ``study``: the study of paths in the store, or None; ``notes``:
    exclusions; ``counters``: diagnoses of what tools counted, instead of single operations or besides them."""

    groups: tuple[DiagnosedOperations, ...]
    study: PathStudy | None
    level: float
    notes: tuple[str, ...]
    counters: tuple[CounterDiagnosis, ...] = ()

    @property
    def limits(self) -> tuple[str, ...]:
        """Return the general limits of a diagnosis."""
        return LIMITS

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict on each group whose operations have one interpretation, and on each class that costs
        time."""
        return tuple(
            judge(claim, _check_explanations(claim)) for group in self.groups for claim in _build_claims(group)
        )

    def content(self) -> dict[str, Any]:
        """As ``iosonde diagnose --json``."""
        return {
            "level": self.level,
            "classes": [
                {**group.group.to_json(), **operation_class.to_json()}
                for group in self.groups
                for operation_class in group.classes
            ],
            "groups": [group.to_json() for group in self.groups],
            "studies": self.study.content()["studies"] if self.study else [],
            "limits": list(self.limits),
            "notes": list(self.notes),
            **({"counters": [diagnosis.to_json() for diagnosis in self.counters]} if self.counters else {}),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per class; without recorded operations one per finding in counters."""
        return [
            {**group.group.flat(), **operation_class.flat()}
            for group in self.groups
            for operation_class in group.classes
        ] or [row for diagnosis in self.counters for row in diagnosis.records()]


def diagnose(
    source: Source,
    level: float,
    names: Sequence[str] = (),
    response: Sequence[str] = (),
    bandwidth: str | float = kernel.STABLE,
) -> OperationCauses:
    """Diagnose every operation, kind and size with recorded operations; ``names``: only these operations; ``response``:
    the column of durations of a table. Raises InputError, DataError."""
    trials: OperationTrials = (
        StoredTrials(source, names) if source.knows_factors else TableTrials(source, names, response)
    )
    groups, notes = _diagnose_groups(trials, level, bandwidth, _MOST)
    return OperationCauses(groups, find_path_study(source, level, names), level, notes)


def diagnose_run(source: Source, run: StoredRun, level: float, most: int) -> OperationCauses:
    """Diagnose one run of a store, the operations that took most time. Raises DataError if none has enough."""
    groups, notes = _diagnose_groups(StoredTrials(source, (), [run]), level, kernel.STABLE, most)
    return OperationCauses(groups, None, level, notes)


def _diagnose_groups(
    trials: OperationTrials, level: float, bandwidth: str | float, most: int
) -> tuple[tuple[DiagnosedOperations, ...], tuple[str, ...]]:
    """Return (groups that took most time, the most costly first; what was left out)."""
    counted = group_by_key(trials.histograms())
    trials.check(counted)
    longest = sorted(counted, key=lambda candidate: -sum(part.total() for part in counted[candidate]))
    density_by_group = {
        group: classify_by_density(merge_histograms(counted[group]), bandwidth) for group in longest[:most]
    }
    looks_by_group = group_by_key(trials.looks(density_by_group))
    done = (
        _diagnose_group(group, density, looks_by_group[group], counted[group], level)
        for group, density in density_by_group.items()
    )
    ordered = sorted(done, key=lambda diagnosed: -(diagnosed.cost.cost_s.value or 0.0))
    truncated = Message(
        "truncated",
        "{most} of {n_kinds} kinds of operations are shown, those that took most time: {spell.metric} chooses others",
        most=most,
        n_kinds=len(longest),
    )
    return tuple(ordered), (*trials.notes, *([truncated] if len(longest) > most else []))


def diagnose_trial(group: OperationGroup, trial: TrialOperations, level: float) -> DiagnosedOperations | None:
    """Diagnose one trial alone; None if no operation took any time."""
    counted = [histogram for _, histogram in iter_histograms([(group, trial)])]
    if not counted:
        return None
    classes = classify_by_density(counted[0])
    [(_, look)] = iter_trial_looks([(group, trial)], {group: classes})
    return _diagnose_group(group, classes, [look], counted, level)


def _diagnose_group(
    group: OperationGroup,
    density: DensityClasses,
    looks: Sequence[TrialLook],
    histograms: Sequence[LogHistogram],
    level: float,
) -> DiagnosedOperations:
    accounts = [look.account for look in looks]
    classes = tuple(_iterate_classes(group, density, looks, level))
    return DiagnosedOperations(
        group,
        len(looks),
        sum(operation_class.n for operation_class in classes),
        sum(look.failed for look in looks),
        classes,
        density,
        estimate_slow_class_cost(accounts, density, level),
        estimate_fast_class_drift(accounts, density.fast, level),
        estimate_mean([histogram.slowest(TAIL) for histogram in histograms], level).within(0.0, 1.0),
        looks[-1].drawn,
        max(look.step_s for look in looks),
        tuple(dict.fromkeys(note for look in looks for note in look.notes)),
        _interpret_all_operations(looks),
    )


def _iterate_classes(
    group: OperationGroup, density: DensityClasses, looks: Sequence[TrialLook], level: float
) -> Iterator[OperationClass]:
    accounts, first = [look.account for look in looks], looks[0]
    shares = estimate_class_shares(accounts, density, level)
    where = sum_place_counts([look.places for look in looks])
    bounds = (density.ends_ns[0], *density.bounds_ns, density.ends_ns[1])
    counts = np.sum([account.counts.sum(axis=0) for account in accounts], axis=0)
    for place in range(density.count):
        reasons = collect_reasons(looks, place, place > density.fast)
        suspects = [reason.suspect for reason in reasons]
        times = Times(
            group.kind,
            group.size,
            density.typical_ns[density.fast] / 1e9,
            density.typical_ns[place] / 1e9,
            first.path,
            first.servers,
            first.all_operations.sent if first.all_operations else None,
            len(looks),
            first.local,
        )
        yield OperationClass(
            get_class_label(density, place),
            bounds[place] / 1e9,
            bounds[place + 1] / 1e9,
            density.typical_ns[place] / 1e9,
            int(counts[place]),
            shares[place],
            profile_class_by_place(where, place),
            reasons,
            interpret_suspects(suspects, times),
            list_explanations(suspects, times),
        )


def _interpret_all_operations(looks: Sequence[TrialLook]) -> Reading | None:
    """Interpret all operations together, if every trial has the same interpretation."""
    trial_readings = [read_pass(look.all_operations) if look.all_operations else None for look in looks]
    return (
        trial_readings[0]
        if len({trial_reading.mechanism if trial_reading else None for trial_reading in trial_readings}) == 1
        else None
    )


def _build_claims(group: DiagnosedOperations) -> Iterator[UncheckedClaim]:
    response = ", ".join(filter(None, (group.group.name, group.group.setting_words)))
    if group.reading:
        yield UncheckedClaim(
            "cause",
            response,
            ("all",),
            VerdictState.DIFFERENT,
            claim=group.reading.mechanism,
            estimate=group.cost.cost_s,
        )
    for operation_class in group.slow:
        if operation_class.shares.cost_s.value:
            yield UncheckedClaim(
                "cause",
                response,
                (operation_class.called,),
                operation_class.state,
                claim=" or ".join(operation_class.explanations),
                estimate=operation_class.shares.cost_s,
                p=operation_class.suspect.agreement.p if operation_class.suspect else None,
            )


def _check_explanations(claim: UncheckedClaim) -> tuple[AssumptionCheck, ...]:
    """Return whether other causes explain a class as well."""
    if claim.state is not VerdictState.NOT_SEPARABLE:
        return holds("goes-together")
    return (
        fails(
            "goes-together",
            VerdictState.NOT_SEPARABLE,
            Message("several-causes", "{causes} explain it equally well", causes=claim.claim),
        ),
    )
