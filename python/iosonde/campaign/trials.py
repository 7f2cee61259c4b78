"""Experiment → Runs: the trials in order, each stored before the next starts, until a rule ends them.

Stops after a whole block if possible: a block holds every cell once, so the data stays balanced.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from iosonde.core.errors import SystemFaultError, TargetError, TargetFaultError
from iosonde.core.message import Message, restore_message
from iosonde.core.types import Experiment, Run, Trial
from iosonde.measure import design
from iosonde.measure.trial import SILENT_NODES

from .pacing import Breaks

# After this many incomplete trials in a row the fault is not chance, and more of them are useless.
PATIENCE = 3
# A target that is full, over quota, read-only or forbidden stays so: a single trial is enough.
_HOPELESS = ("No space left", "quota exceeded", "Read-only file system", "Permission denied", "not visible")


class Looks(Protocol):
    """A stopping rule that looks at every run, and may be called any number of times."""

    def add(self, run: Run) -> None:
        """Add a stored run."""

    def needed(self, experiment: Experiment) -> int:
        """Return the total repetitions of every cell, as far as known now."""

    def needs_trial(self, trial: Trial) -> bool:
        """Return whether a trial of the next block is still needed."""

    def check_metric(self) -> None:
        """Raise InputError if the runs lack a metric that the rule names."""


@dataclass(frozen=True)
class Rules:
    """Stopping rules.

    ``ends_at`` is time.monotonic(); None means no end. ``needed`` returns the repetitions that the stopping rule
    requires after the pilot (None: as planned). ``looks`` is a rule that may look after every block; it needs every
    cell, so PATIENCE failures of one in a row end the campaign. ``expected_s`` is the expected duration of a trial
    before the first. ``breaks`` are made between trials; ``abort`` returns why no more may start (None: continue).
    ``accepts_incomplete``: incomplete trials end nothing."""

    ends_at: float | None = None
    ends_because: Message = Message("budget-exhausted", "the time limit is reached")
    needed: Callable[[], int] | None = None
    looks: Looks | None = None
    max_repetitions: int = 100
    expected_s: float = 0.0
    breaks: Breaks | None = None
    abort: Callable[[], Message | None] = lambda: None
    accepts_incomplete: bool = False


@dataclass(frozen=True)
class Ended:
    """Result of a campaign: why it ended early (empty: it did not), and what was measured.

    ``fault`` is the error of the target or its clean-up that ended it: measured trials are kept. ``capped`` is the
    number of repetitions that the stopping rule required beyond the maximum; its promise is then not kept.
    """

    early: str
    measured: int
    incomplete: int
    experiment: Experiment
    capped: int = 0
    fault: TargetError | SystemFaultError | None = None


def measure_planned_trials(
    experiment: Experiment,
    done: set[int],
    rules: Rules,
    measure: Callable[[Trial], Run],
    keep: Callable[[Run], None],
    replan: Callable[[Experiment], None],
    on_trial: Callable[[Trial, int, int], None],
) -> Ended:
    """Measure the trials that are not ``done`` (indices of trials). ``keep`` stores a run, ``replan`` a longer
    experiment.

    ``on_trial(trial, place, total)`` is called before each trial. KeyboardInterrupt propagates: stored runs stay. A
    TargetFaultError of ``measure`` (no run then) or ``keep`` (the run is stored) ends the campaign.
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
            early = f"{why}: {n_ahead} of {n} trials remain"
            return tally.ended(restore_message(why.code, early, {**why.values, "n_ahead": n_ahead, "n": n}), experiment)
        on_trial(trial, len(experiment.trials) - len(ahead), len(experiment.trials))
        started_s = time.monotonic()
        try:
            run = measure(trial)
        except TargetFaultError as error:
            return tally.ended(error.message, experiment, error)
        fault = _keep_or_get_fault(keep, run)
        done.add(trial.index)
        tally.add(trial, run, started_s)
        if fault:
            return tally.ended(fault.message, experiment, fault)
        if why := tally.hopeless(run):
            return tally.ended(why, experiment)


def _keep_or_get_fault(keep: Callable[[Run], None], run: Run) -> TargetFaultError | None:
    try:
        keep(run)
    except TargetFaultError as error:
        return error
    return None


class _Plan:
    """Number of trials after the planned ones. A rule without looks is evaluated once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._is_decided, self._needed = False, 0

    def longer(self, experiment: Experiment) -> Experiment | None:
        """Return the experiment with more trials; None if it has enough."""
        if self._rules.looks is not None:
            looks = self._rules.looks
            return _extend_experiment(experiment, looks.needed(experiment), looks.needs_trial)
        if self._is_decided or not self._rules.needed:
            return None
        self._is_decided, self._needed = True, self._rules.needed()
        return _extend_experiment(experiment, min(self._needed, self._rules.max_repetitions))

    @property
    def capped(self) -> int:
        """The required repetitions if they exceed the maximum; else 0."""
        return self._needed if self._needed > self._rules.max_repetitions else 0


class _Tally:
    """Counts of measured and incomplete trials."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._measured = self._incomplete = self._in_a_row = 0
        self._failures: dict[str, int] = {}  # in a row: of all, or of each cell, whatever came between
        self.longest_s = rules.expected_s

    def add(self, trial: Trial, run: Run, started_s: float) -> None:
        """Add a stored run; its trial started at ``started_s`` (time.monotonic())."""
        if self._rules.looks is not None:
            self._rules.looks.add(run)
            self._rules.looks.check_metric()
        self.longest_s = max(self.longest_s, time.monotonic() - started_s)
        if self._rules.breaks:
            self._rules.breaks.done(started_s)
        self._measured += 1
        self._incomplete += 0 if run.complete else 1
        cell = repr(trial.factors) if self._rules.looks is not None else ""
        self._failures[cell] = self._in_a_row = 0 if run.complete else self._failures.get(cell, 0) + 1

    def hopeless(self, run: Run) -> Message | None:
        """Return why more trials would also be incomplete; None if they may not be."""
        if run.complete:
            return None
        if self._in_a_row >= PATIENCE and not self._rules.accepts_incomplete:
            return Message(
                "incomplete-in-a-row",
                "{n} trials in a row were incomplete: {reason}",
                n=self._in_a_row,
                reason=run.missing[0],
            )
        return (
            None
            if not _is_hopeless(run)
            else Message("target-unusable", "cannot continue: {reason}", reason=run.missing[0])
        )

    def ended(
        self, early: str, experiment: Experiment, fault: TargetError | SystemFaultError | None = None, capped: int = 0
    ) -> Ended:
        """Return how the campaign ended; ``early`` says why it ended early."""
        return Ended(early, self._measured, self._incomplete, experiment, capped, fault)


def _explain_delay(rules: Rules, longest_s: float) -> Message | None:
    """Return why the next trial does not start; None once it may start, after its break."""
    pause_s = rules.breaks.next_s() if rules.breaks else 0.0
    if rules.ends_at is not None and time.monotonic() + pause_s + 1.2 * longest_s > rules.ends_at:
        return rules.ends_because
    why = rules.abort()
    if rules.breaks and pause_s and not why:
        rules.breaks.wait()
        why = rules.abort()  # the state may change during a break
    return why


def _is_hopeless(run: Run) -> bool:
    """Return whether the next trial would also fail: the target reports it, or a node was silent again."""
    is_silent = any(isinstance(why, Message) and why.code == SILENT_NODES for why in run.missing)
    return is_silent or any(word in run.missing[0] for word in _HOPELESS)


def _extend_experiment(
    experiment: Experiment, n_blocks: int, needs_trial: Callable[[Trial], bool] = lambda _: True
) -> Experiment | None:
    """Return the experiment with ``n_blocks`` blocks of the trials that are needed, or None if it has them."""
    have = 1 + max(trial.repetition for trial in experiment.trials)
    if n_blocks <= have:
        return None
    drawn = experiment.settings.get("design", design.FULL)
    more = design.build_trials(
        experiment.factors, drawn, range(have, n_blocks), len(experiment.trials), experiment.seed
    )
    needed = [trial for trial in more if needs_trial(trial)]
    first = len(experiment.trials)
    numbered = [replace(trial, index=first + place) for place, trial in enumerate(needed)]
    return replace(experiment, trials=experiment.trials + numbered)
