"""Steps of each trial of a campaign: measure it, store its Run, then remove its files.

Before each trial the rest is predicted anew from the measured speed, and ``--abort-if`` may end the campaign: on
servers that others use, when these suffer.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from iosonde.core.errors import InputError, TargetFaultError
from iosonde.core.message import Message
from iosonde.core.stored import CONCURRENT_PROCESSES, StoredRun
from iosonde.core.types import Experiment, Run, Trial
from iosonde.core.units import format_seconds
from iosonde.measure import trial
from iosonde.measure.bench import Bench
from iosonde.measure.rank import command
from iosonde.ranks import temporary
from iosonde.stats.overview import hardware

from . import targets, turn
from .begun import BegunCampaign
from .bring_ups import BringUps
from .caller import TrialProgress
from .forecast import FinishedTrial, Forecast
from .needs import compute_lab_wait_s, forecast_campaign, read_measured_trials
from .pacing import Breaks
from .probe import attach_probe
from .resume import find_free_run_id


class EachTrial:
    """The trials of one campaign, on ``benches`` by the names of its targets; those in ``done`` are skipped."""

    def __init__(
        self, begun: BegunCampaign, benches: Mapping[str, Bench], progress: TrialProgress, done: set[int]
    ) -> None:
        self._begun, self._benches, self._progress, self._done = begun, benches, progress, done
        store, campaign, experiment = begun.store, begun.campaign, begun.experiment
        self._probes = hardware.select_complete_probes(map(StoredRun, store.runs()))
        self._bring_ups = BringUps(campaign.spec, [run["factors"] for run in store.runs(experiment=experiment.id)])
        self._pace = Pace(partial(forecast_campaign, campaign), read_measured_trials(store, campaign), begun.say)
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
        run_id, name = find_free_run_id(begun.store, begun.experiment.id, which.index), spec.target_name(which.factors)
        self._bring_ups.begin(which)
        others = turn.list_other_processes()
        with targets.prefix_target_errors(name):
            bench = replace(self._benches[name], controls=self._bring_ups.controls)
            run = trial.run_trial(bench, which, run_id, spec.trial_timeout_s)
            self._bring_ups.ended(run.complete)
            run.factors |= self._bring_ups.columns
            run.facts |= {"waited_s": self.breaks.waited_s} if self.breaks.waited_s else {}
            run.facts |= (
                {CONCURRENT_PROCESSES: process_ids}
                if (process_ids := sorted({*others, *turn.list_other_processes()}))
                else {}
            )
            return attach_probe(run, self._probes, begun.level)

    def keep(self, run: Run) -> None:
        """Store the run before removing its files."""
        store = self._begun.store
        try:
            store.append(run)
        finally:
            trial.discard_files(run)
        try:
            self._clear_files(run)
        except TargetFaultError as error:
            store.notes.change(run.id, note=error.message.prefixed("after the trial"))
            raise
        self._pace.add_finished(run, time.monotonic() - self._started_s)

    def _clear_files(self, run: Run) -> None:
        name = self._begun.campaign.spec.target_name(run.factors)
        with targets.prefix_target_errors(name):
            trial.remove_trial_files(self._benches[name], run)

    def abort(self) -> Message | None:
        """Return why no more trials may start; the last stored run records it too."""
        store = self._begun.store
        why = find_abort_reason(self._begun.campaign.terms.abort_if)
        if why and (run_ids := store.run_ids(self._begun.experiment.id)):
            store.notes.change(
                run_ids[-1], note=Message("aborted", "the campaign was ended after this trial: {reason}", reason=why)
            )
        return why


# The rest must take at least this long to be worth a line.
WORTH_SAYING_S = 30.0


@dataclass
class Pace:
    """``predict``: trials and finished ones → their durations. ``finished`` begins with those of earlier campaigns."""

    predict: Callable[[Sequence[Trial], Sequence[FinishedTrial]], Forecast]
    finished: list[FinishedTrial]
    say: Callable[[str], None]
    _block: int | None = None
    _is_announced: bool = False
    _began: float = field(default_factory=time.monotonic)

    def add_finished(self, run: Run, seconds: float) -> None:
        """Add a finished trial with its duration from start to the end of its clean-up."""
        if run.complete:
            self.finished.append(FinishedTrial(run.factors, seconds, compute_lab_wait_s(run.facts)))

    def rest_s(self, trial: Trial, ahead: Sequence[Trial]) -> float:
        """Predict the time of all trials ``ahead``, the next one first; report it after the first block."""
        prediction = self.predict(ahead, self.finished)
        self._block = trial.block if self._block is None else self._block
        if trial.block != self._block and not self._is_announced:
            self._is_announced = True
            if prediction.total_s >= WORTH_SAYING_S:
                gone = format_seconds(time.monotonic() - self._began)
                self.say(
                    Message(
                        "remaining-time",
                        "the first block took {elapsed}; the remaining {n_ahead} trials take about "
                        "{remaining} ({basis})",
                        elapsed=gone,
                        n_ahead=len(ahead),
                        remaining=format_seconds(prediction.total_s),
                        basis=prediction.basis,
                    )
                )
        return prediction.total_s


# A slower check means that the servers suffer.
ABORT_CHECK_S = 60.0
# Exit codes of /bin/sh if it could not run the command.
_NOT_RUN_CODES = (126, 127)
_ABORT_OUTPUT_CHARACTERS = 200


def find_abort_reason(command_text: str) -> Message | None:
    """Return why the campaign ends: the user's command exits with 0 or does not respond; None to continue.

    Raises InputError if the shell cannot run it.
    """
    if not command_text:
        return None
    with temporary.hold_directory("abort") as folder:
        output = folder / "output"
        ended = command.run(command.ShellCommand(command_text, timeout_s=ABORT_CHECK_S, output_bytes=2**20), output)
        lines = output.read_text(errors="replace").strip().splitlines() if output.exists() else []
    reason_text = lines[-1][:_ABORT_OUTPUT_CHARACTERS] if lines else ""
    if ended.exit_code in _NOT_RUN_CODES or ended.fault:
        raise InputError(
            "command-not-runnable",
            "{spell.abort_if:'{command}'} cannot be run: {reason}",
            "try it by hand",
            command=command_text,
            reason=reason_text or ended.fault,
        )
    if ended.ended_by:
        return Message(
            "abort-no-response",
            "{spell.abort_if:'{command}'} did not finish within {limit_s:.0f} s",
            command=command_text,
            limit_s=ABORT_CHECK_S,
        )
    if ended.exit_code != 0:
        return None
    return Message(
        "abort-requested",
        "{spell.abort_if:'{command}'} requested the end ({output})"
        if reason_text
        else "{spell.abort_if:'{command}'} requested the end",
        command=command_text,
        output=reason_text,
    )
