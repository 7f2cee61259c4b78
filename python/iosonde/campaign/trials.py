"""Experiment → Runs: the trials in their order, each stored before the next starts, until a rule says enough.

Stops after a whole block where it can: a block holds every cell once, so what was measured stays balanced.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from iosonde.core.errors import SystemFaultError, TargetError, TargetFaultError
from iosonde.core.message import Message, restore
from iosonde.core.types import Experiment, Run, Trial
from iosonde.measure import design
from iosonde.measure.trial import SILENT_NODES

from .pacing import Breaks

# After so many incomplete trials in a row the fault is not chance, and more of them help nobody.
PATIENCE = 3
# A target that is full, over quota, read-only or forbidden stays so: one such trial is enough.
_HOPELESS = ("No space left", "quota exceeded", "Read-only file system", "Permission denied", "not visible")


class Looks(Protocol):
    """A stopping rule that looks at every run, and may be asked as often as one likes."""

    def add(self, run: Run) -> None:
        """A run that was kept."""

    def needed(self, experiment: Experiment) -> int:
        """Repetitions of every cell in all, as far as is known now."""


@dataclass(frozen=True)
class Rules:
    """When to stop. ``ends_at`` is time.monotonic(); None is no end. ``needed`` maps nothing to the number of
    repetitions that the stopping rule wants, once the pilot is measured (None: as many as planned). ``looks`` is a rule
    that may look after every block; every cell matters to it, so that one which fails PATIENCE times in a row ends the
    campaign. ``expected_s`` is how long a trial takes as far as it is known before the first. ``breaks`` are made
    between trials; ``abort`` says why none shall be started any more (None: go on)."""

    ends_at: float | None = None
    ends_because: Message = Message("budget-exhausted", "the time is over")
    needed: Callable[[], int] | None = None
    looks: Looks | None = None
    max_repetitions: int = 100
    expected_s: float = 0.0
    breaks: Breaks | None = None
    abort: Callable[[], Message | None] = lambda: None


@dataclass(frozen=True)
class Ended:
    """How a campaign ended: in words why it ended early (empty: it did not), and what was measured.

    ``fault`` is the error that ended it where the target or its clean-up failed: what was measured is kept.
    ``capped`` is the number of repetitions that the stopping rule wanted where it was more than are ever made;
    its promise is then not kept.
    """

    early: str
    measured: int
    incomplete: int
    experiment: Experiment
    capped: int = 0
    fault: TargetError | SystemFaultError | None = None


def run(
    experiment: Experiment,
    done: set[int],
    rules: Rules,
    measure: Callable[[Trial], Run],
    keep: Callable[[Run], None],
    replan: Callable[[Experiment], None],
    on_trial: Callable[[Trial, int, int], None],
) -> Ended:
    """Measure what is not ``done`` (indices of trials). ``keep`` stores a run, ``replan`` a longer experiment.

    ``on_trial(trial, place, total)`` is told before each trial. KeyboardInterrupt goes through: what is kept
    stays kept. A TargetFaultError of ``measure`` (no run then) or ``keep`` (the run is kept) ends the campaign.
    """
    tally, plan = _Tally(rules), _Plan(rules)
    while True:
        ahead = [trial for trial in experiment.trials if trial.index not in done]
        if not ahead:
            longer = plan.longer(experiment)
            if longer is None:
                return tally.ended("", experiment, capped=plan.capped)
            experiment = longer
            replan(experiment)
            continue
        trial = ahead[0]
        if why := _explain_delay(rules, tally.longest_s):
            n_ahead, n = len(ahead), len(experiment.trials)
            early = f"{why}: {n_ahead} of {n} trials are left"
            return tally.ended(restore(why.code, early, {**why.values, "n_ahead": n_ahead, "n": n}), experiment)
        on_trial(trial, len(experiment.trials) - len(ahead), len(experiment.trials))
        started_s = time.monotonic()
        try:
            run = measure(trial)
        except TargetFaultError as error:
            return tally.ended(error.message, experiment, error)
        fault = _fault_of(keep, run)
        done.add(trial.index)
        tally.add(trial, run, started_s)
        if fault:
            return tally.ended(fault.message, experiment, fault)
        if why := tally.hopeless(run):
            return tally.ended(why, experiment)


def _fault_of(keep: Callable[[Run], None], run: Run) -> TargetFaultError | None:
    try:
        keep(run)
    except TargetFaultError as error:
        return error
    return None


class _Plan:
    """How many trials are wanted, once those of the plan are measured. A rule without looks is asked once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._is_decided, self._needed = False, 0

    def longer(self, experiment: Experiment) -> Experiment | None:
        """The experiment with more trials; None where it has enough."""
        if self._rules.looks is not None:
            return _extend_experiment(experiment, self._rules.looks.needed(experiment))
        if self._is_decided or not self._rules.needed:
            return None
        self._is_decided, self._needed = True, self._rules.needed()
        return _extend_experiment(experiment, min(self._needed, self._rules.max_repetitions))

    @property
    def capped(self) -> int:
        """The repetitions that would be needed, where they are more than are ever made; else 0."""
        return self._needed if self._needed > self._rules.max_repetitions else 0


class _Tally:
    """What was measured so far, and how well that went."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._measured = self._incomplete = self._in_a_row = 0
        self._failures = _Failures(by_cell=rules.looks is not None)
        self.longest_s = rules.expected_s

    def add(self, trial: Trial, run: Run, started_s: float) -> None:
        """A run that was kept; its trial started at that time.monotonic()."""
        if self._rules.looks is not None:
            self._rules.looks.add(run)
        self.longest_s = max(self.longest_s, time.monotonic() - started_s)
        if self._rules.breaks:
            self._rules.breaks.done(started_s)
        self._measured += 1
        self._incomplete += 0 if run.complete else 1
        self._in_a_row = self._failures.in_a_row(trial, run.complete)

    def hopeless(self, run: Run) -> Message | None:
        """Why more trials would be as incomplete as the last one; None where they may not."""
        if run.complete:
            return None
        if self._in_a_row >= PATIENCE:
            return Message(
                "incomplete-in-a-row",
                "{n} trials in a row were incomplete: {reason}",
                n=self._in_a_row,
                reason=run.missing[0],
            )
        if not _is_hopeless(run):
            return None
        return Message("target-unusable", "it cannot go on: {reason}", reason=run.missing[0])

    def ended(
        self, early: str, experiment: Experiment, fault: TargetError | SystemFaultError | None = None, capped: int = 0
    ) -> Ended:
        """How it ended, in words why it ended early."""
        return Ended(early, self._measured, self._incomplete, experiment, capped, fault)


def _explain_delay(rules: Rules, longest_s: float) -> Message | None:
    """Why the next trial is not started; None once it may start, after its break."""
    pause_s = rules.breaks.next_s() if rules.breaks else 0.0
    if rules.ends_at is not None and time.monotonic() + pause_s + 1.2 * longest_s > rules.ends_at:
        return rules.ends_because
    why = rules.abort()
    if rules.breaks and pause_s and not why:
        rules.breaks.wait()
        why = rules.abort()  # much may happen in a break
    return why


class _Failures:
    """Incomplete trials in a row: of all, or of the cell that just was measured, whatever came between."""

    def __init__(self, by_cell: bool) -> None:
        self._by_cell = by_cell
        self._counts: dict[str, int] = {}

    def in_a_row(self, trial: Trial, complete: bool) -> int:
        """How many there are, this one included."""
        cell = repr(trial.factors) if self._by_cell else ""
        self._counts[cell] = 0 if complete else self._counts.get(cell, 0) + 1
        return self._counts[cell]


def _is_hopeless(run: Run) -> bool:
    """Whether the next trial would fail, too: the target says so, or a node was silent when it was asked again."""
    is_silent = any(isinstance(why, Message) and why.code == SILENT_NODES for why in run.missing)
    return is_silent or any(word in run.missing[0] for word in _HOPELESS)


def _extend_experiment(experiment: Experiment, n_blocks: int) -> Experiment | None:
    """The experiment with so many blocks, or None if it has them."""
    have = 1 + max(trial.repetition for trial in experiment.trials)
    if n_blocks <= have:
        return None
    drawn = experiment.settings.get("design", design.FULL)
    more = design.trials(experiment.factors, drawn, range(have, n_blocks), len(experiment.trials), experiment.seed)
    return replace(experiment, trials=experiment.trials + more)
