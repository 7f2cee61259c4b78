"""Steps of each trial of a campaign: measure it, store its Run, then remove its files."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from iosonde.core.errors import TargetFaultError
from iosonde.core.message import Message
from iosonde.core.stored import CONCURRENT_PROCESSES, StoredRun
from iosonde.core.types import Experiment, Run, Trial
from iosonde.measure import trial
from iosonde.measure.bench import Bench
from iosonde.stats.overview import hardware

from . import abort, targets, turn
from .begun import BegunCampaign
from .bring_ups import BringUps
from .caller import TrialProgress
from .needs import forecast, measured_trials
from .pace import Pace
from .pacing import Breaks
from .probe import attached
from .resume import free_id


class EachTrial:
    """The trials of one campaign, on ``benches`` by the names of its targets; those in ``done`` are skipped."""

    def __init__(
        self, begun: BegunCampaign, benches: Mapping[str, Bench], progress: TrialProgress, done: set[int]
    ) -> None:
        self._begun, self._benches, self._progress, self._done = begun, benches, progress, done
        store, campaign, experiment = begun.store, begun.campaign, begun.experiment
        self._probes = hardware.stored(map(StoredRun, store.runs()))
        self._bring_ups = BringUps(campaign.spec, [run["factors"] for run in store.runs(experiment=experiment.id)])
        self._pace = Pace(partial(forecast, campaign), measured_trials(store, campaign), begun.say)
        self.breaks = Breaks(campaign.pacing, begun.hands.stop.check, begun.say)
        self._longest = experiment
        self._started_s = time.monotonic()

    def replan(self, longer: Experiment) -> None:
        """Switch to an experiment with more trials."""
        self._longest = longer
        self._begun.store.save_experiment(longer)

    def begin(self, which: Trial, place: int, total: int) -> None:
        """Start a trial and update the expected time of the rest."""
        self._started_s = time.monotonic()
        ahead = [planned for planned in self._longest.trials if planned.index not in self._done]
        self._progress.expect(self._pace.rest_s(which, ahead))
        self._progress.trial(which, place, total)

    def measure(self, which: Trial) -> Run:
        """Measure a trial; its Run includes the current facts of the campaign."""
        begun, spec = self._begun, self._begun.campaign.spec
        begun.hands.stop.check()
        run_id, name = free_id(begun.store, begun.experiment.id, which.index), spec.target_name(which.factors)
        self._bring_ups.begin(which)
        others = turn.list_other_processes()
        with targets.prefix_target_errors(name):
            bench = replace(self._benches[name], controls=self._bring_ups.controls)
            run = trial.run(bench, which, run_id, spec.trial_timeout_s)
            self._bring_ups.ended(run.complete)
            run.factors |= self._bring_ups.columns
            run.facts |= {"waited_s": self.breaks.waited_s} if self.breaks.waited_s else {}
            run.facts |= (
                {CONCURRENT_PROCESSES: process_ids}
                if (process_ids := sorted({*others, *turn.list_other_processes()}))
                else {}
            )
            return attached(run, self._probes, begun.level)

    def keep(self, run: Run) -> None:
        """Store the run before removing its files."""
        store = self._begun.store
        try:
            store.append(run)
        finally:
            trial.discard(run)
        try:
            self._clear_files(run)
        except TargetFaultError as error:
            store.notes.change(run.id, note=error.message.prefixed("after the trial"))
            raise
        self._pace.add_finished(run, time.monotonic() - self._started_s)

    def _clear_files(self, run: Run) -> None:
        name = self._begun.campaign.spec.target_name(run.factors)
        with targets.prefix_target_errors(name):
            trial.clear(self._benches[name], run)

    def abort(self) -> Message | None:
        """Return why no more trials may start; the last stored run records it too."""
        store = self._begun.store
        why = abort.why(self._begun.campaign.terms.abort_if)
        if why and (run_ids := store.run_ids(self._begun.experiment.id)):
            store.notes.change(
                run_ids[-1], note=Message("aborted", "the campaign was ended after this trial: {reason}", reason=why)
            )
        return why
