"""Summaries of trials with operations in memory: first their durations, then, with classes, their properties.

A property that most trials of a class show is a reason.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.explain import causes
from iosonde.explain.causes import s410_trials, s414_interval
from iosonde.explain.causes.target import Suspect, Target
from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import Account, scale_account_to_all_operations, sum_trial_account
from iosonde.explain.operations import Operations
from iosonde.explain.places import count_places
from iosonde.explain.readings import Pass
from iosonde.explain.slow_files import find_slow_files
from iosonde.stats.density.histogram import LogHistogram, find_clock_step, histogram_from_values

from .drawn import bin_trial_to_draw, select_rows_to_draw
from .group import OperationGroup, TrialLook, TrialOperations


def iter_histograms(
    each: Iterable[tuple[OperationGroup, TrialOperations]],
) -> Iterator[tuple[OperationGroup, LogHistogram]]:
    """Return the histogram of every group of every trial; of all operations if these were counted beyond a sample."""
    for group, trial in each:
        histogram = trial.exact or histogram_from_values(trial.operations.duration_ns)
        if histogram is not None:
            yield group, histogram


def iter_trial_looks(
    each: Iterable[tuple[OperationGroup, TrialOperations]], classes: Mapping[OperationGroup, DensityClasses]
) -> Iterator[tuple[OperationGroup, TrialLook]]:
    """Summarise every trial of the groups with classes."""
    for group, trial in each:
        if group in classes:
            yield group, _build_look(trial, group, classes[group])


def _build_look(trial: TrialOperations, group: OperationGroup, classes: DensityClasses) -> TrialLook:
    operations = trial.operations
    of = classes.classify(operations.duration_ns)
    recorded = sum_trial_account(operations, of, classes.count)
    full_account = build_full_account(recorded, classes, trial.exact, operations.stand_for)
    rows, longest = select_rows_to_draw(operations, of, classes)
    return TrialLook(
        trial.name,
        full_account,
        count_places(operations, of, recorded),
        find_suspects_of_slow_classes(operations, of, classes),
        bin_trial_to_draw(rows, classes, full_account, longest, operations.placed),
        trial.failed,
        find_clock_step(operations.duration_ns) / 1e9,
        trial.notes,
        trial.path,
        trial.servers,
        _build_pass(trial, group, classes),
        operations.local,
    )


def _build_pass(trial: TrialOperations, group: OperationGroup, classes: DensityClasses) -> Pass | None:
    if trial.path is None or trial.servers is None:
        return None
    took = trial.operations.duration_ns / 1e9
    least_s = trial.path.least_s(group.size) + trial.servers.usual_s
    sent = trial.servers.count / took.size
    longer = took - classes.typical_ns[classes.fast] / 1e9
    return Pass(
        group.kind,
        group.size,
        float(took.sum()),
        float(np.median(took)),
        float(longer[longer > 0].sum()),
        trial.operations.sequential,
        float((took < least_s).mean()),
        least_s,
        sent,
        trial.is_synchronous,
        trial.servers,
        find_slow_files(trial.operations, trial.path.least_s(group.size) + trial.servers.least_s, sent),
    )


def build_full_account(
    recorded: Account, classes: DensityClasses, exact: LogHistogram | None, stand_for: float
) -> Account:
    """Scale the account of a sample to all operations.

    The count of each class comes from the exact histogram, or from the number that each represents (``stand_for``)."""
    if exact is None:
        return (
            recorded
            if stand_for == 1
            else scale_account_to_all_operations(recorded, recorded.counts.sum(axis=0) * stand_for, ())
        )
    return scale_account_to_all_operations(
        recorded, count_by_class(exact, classes), [typical_ns / 1e9 for typical_ns in classes.typical_ns]
    )


def count_by_class(histogram: LogHistogram, classes: DensityClasses) -> np.ndarray:
    """Count the values of each class."""
    edges = [0, *(histogram.below(bound) for bound in classes.bounds_ns), histogram.counts.size]
    return np.array([histogram.recorded[begin:end].sum() for begin, end in zip(edges, edges[1:], strict=False)])


_LESS_THAN_AN_INTERVAL = ("S403", "S412")


@dataclass(frozen=True)
class Reason:
    """A suspect, and the number of matching trials out of those with enough operations of the class."""

    suspect: Suspect
    n_matching: int
    of: int

    def to_json(self) -> dict[str, Any]:
        """A Finding with the confidence, the cause in a few words, and what would confirm it (``action``)."""
        return {
            **self.suspect.finding.to_json(),
            "cause": self.suspect.cause,
            "confidence": self.suspect.agreement.confidence,
            "trials": self.n_matching,
            "of_trials": self.of,
        }


def find_suspects_of_slow_classes(
    operations: Operations, of: npt.NDArray[np.uint8], classes: DensityClasses
) -> dict[int, list[Suspect]]:
    """Find the suspects of every class slower than the fast one; none if it has all operations, as there is nothing to
    compare with."""
    slow = {place: of == place for place in range(classes.fast + 1, classes.count)}
    return {
        place: [] if mine.all() else causes.find_suspects(Target(operations, mine, place))
        for place, mine in slow.items()
    }


def select_reasons(trials: Sequence[Sequence[Suspect]], between: Sequence[Suspect] = ()) -> list[Reason]:
    """Select the suspects in at least half of the trials, each with its median agreement, and add those between
    trials."""
    by_key: dict[tuple[str, str], list[Suspect]] = {}
    for trial in trials:
        for suspect in trial:
            by_key.setdefault((suspect.code, str(suspect.key)), []).append(suspect)
    usual = [
        sorted(several, key=lambda member: member.agreement.kappa)
        for several in by_key.values()
        if 2 * len(several) >= len(trials)
    ]
    reasons = [Reason(several[len(several) // 2], len(several), len(trials)) for several in usual]
    reasons += [Reason(extra, 1, 1) for extra in between]
    return sorted(reasons, key=lambda reason: -reason.suspect.agreement.kappa)


def collect_reasons(looks: Sequence[TrialLook], place: int, is_slower: bool) -> tuple[Reason, ...]:
    """Return the reasons of a class, in its trials and between them. An interval of the run is a reason where no other
    says more than that the slow operations come together, or by chance. A class that is not slower than the fast one
    has no reasons between its trials."""
    suspects = [look.suspects.get(place, []) for look in looks]
    if not is_slower:
        return tuple(select_reasons(suspects))
    totals = [look.account.counts.sum(axis=0) for look in looks]
    slow, every = [float(total[place]) for total in totals], [float(total.sum()) for total in totals]
    names = [look.trial for look in looks]
    reasons = select_reasons(suspects, s410_trials.find_suspect_trials(place, names, slow, every))
    if any(reason.suspect.code not in _LESS_THAN_AN_INTERVAL for reason in reasons):
        return tuple(reasons)
    runs, elapsed_s = [look.places.run for look in looks], [look.account.elapsed_s for look in looks]
    interval = s414_interval.find_common_interval(place, runs, elapsed_s)
    return (Reason(interval.suspect, interval.n_matching, interval.of),) if interval else tuple(reasons)
