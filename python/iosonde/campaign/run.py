"""A campaign from request to stored runs: checked, nodes reserved, resumed or begun, measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from iosonde.core.errors import IncompleteError, InputError
from iosonde.core.faults import PlannedFault
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.pair_rule import PairRule, build_pair_rule
from iosonde.core.types import Experiment
from iosonde.measure.target.keeper import Keeper
from iosonde.ranks import reserve
from iosonde.selection.plan import RacePlan, build_race_plan
from iosonde.stats.estimate import stopping
from iosonde.store import Store
from iosonde.store.lock import lock_experiment

from . import in_lab, preflight, turn
from .begun import BegunCampaign, Hands
from .caller import Caller
from .campaign import Campaign, build_campaign
from .experiment_plugins import PATH_STUDY
from .in_lab import LabBudget
from .measure import measure_trials
from .needs import read_measured_trials
from .request import Request
from .resume import count_repetitions, find_finished_trials, open_existing_store, resume_or_begin
from .trials import Ended

_DETECTION_PROBABILITY = 0.95  # probability of detecting a rare mode

LabCheck = Callable[[Path, in_lab.LabSetting, Sequence[PlannedFault]], None]


@dataclass(frozen=True)
class CampaignOutcome:
    """Result of a campaign, and the place of its runs.

    ``job`` is the number of the batch job that will run it: then nothing is measured yet, and ``experiment`` and
    ``ended`` are None. ``others``: number of other experiments in the store. ``shows_incomplete``: incomplete trials
    are part of its summary."""

    store: str
    experiment: Experiment | None = None
    ended: Ended | None = None
    job: str = ""
    others: int = 0
    shows_incomplete: bool = False

    @property
    def pairs(self) -> PairRule | None:
        """The sealed rule of a pairwise comparison, None without one."""
        return build_pair_rule(self.experiment) if self.experiment else None

    @property
    def race(self) -> RacePlan | None:
        """The sealed plan of a race, None without one."""
        return build_race_plan(self.experiment) if self.experiment else None

    @property
    def is_path_study(self) -> bool:
        """True if only the path study was measured."""
        steps = self.experiment.settings.get("steps", ()) if self.experiment else ()
        return bool(steps) and all(isinstance(step, dict) and step.get("workload") == PATH_STUDY for step in steps)

    def remarks(self) -> list[Message]:
        """The notes for the user."""
        messages = [Message("stored", "stored in {store}; the page: iosonde report {store}", store=self.store)]
        ended = self.ended
        if self.experiment and self.others:
            messages.append(
                Message(
                    "other-experiments",
                    "the summary covers only {experiment}; {store} holds {n_others} more: iosonde show {store}",
                    experiment=self.experiment.id,
                    store=self.store,
                    n_others=self.others,
                )
            )
        if ended and ended.capped:
            messages.append(
                Message(
                    "too-few-repetitions",
                    "the intervals may be wider than requested: {n_needed} repetitions are needed, {n} were measured",
                    n_needed=ended.capped,
                    n=count_repetitions(ended.experiment),
                )
            )
        if ended and not ended.early and ended.experiment.settings.get("until"):
            messages += _warn_of_rare_modes(count_repetitions(ended.experiment))
        if ended and ended.early and not ended.fault and not ended.incomplete:
            messages.append(
                Message("ended-early", "ended early: {reason}; the same command resumes", reason=ended.early)
            )
        return messages

    def check(self) -> None:
        """Raise IncompleteError if trials are incomplete, or the fault that ended the campaign."""
        ended = self.ended
        if ended and ended.fault:
            incomplete = f", {ended.incomplete} of them incomplete" if ended.incomplete else ""
            stored = Message(
                "stored-trials",
                "1 trial was stored before{incomplete}"
                if ended.measured == 1
                else "{n} trials were stored before{incomplete}",
                n=ended.measured,
                incomplete=incomplete,
            )
            ended.fault.details = (*ended.fault.details, stored)
            raise ended.fault
        if ended and ended.incomplete:
            why = ended.early or "see: iosonde show " + self.store
            treatment = "left out of the totals"
            hint = "fix the cause; the same command measures them again, or counts them with {spell.incomplete}"
            if self.shows_incomplete:
                treatment, hint = "marked", "iosonde summary {store} leaves them out"
            raise IncompleteError(
                "incomplete-trials",
                "{n_incomplete} of {n_measured} trials are incomplete and {treatment}: {reason}",
                hint,
                treatment=treatment,
                store=self.store,
                n_incomplete=ended.incomplete,
                n_measured=ended.measured,
                reason=why,
            )


def _warn_of_rare_modes(repetitions: int) -> list[Message]:
    """Warn about modes too rare for a number of trials derived from a pilot."""
    enough = stopping.compute_trials_to_see(_DETECTION_PROBABILITY)
    if repetitions >= enough:
        return []
    missed = 100 * stopping.compute_miss_probability(repetitions)
    return [
        Message(
            "rare-mode",
            "the number of trials follows from a pilot of {pilot}: {n} trials miss a slow mode of "
            "1 trial in {one_in:.0f} with probability {missed_percent:.0f} %; {n_needed} trials detect it with "
            "{seen_percent:.0f} %",
            pilot=stopping.PILOT,
            n=repetitions,
            one_in=1 / stopping.RARE_SHARE,
            missed_percent=missed,
            n_needed=enough,
            seen_percent=100 * _DETECTION_PROBABILITY,
        )
    ]


def run_campaign(request: Request, level: float = 0.95, caller: Caller | None = None) -> CampaignOutcome:
    """Measure the remaining trials of a campaign; every trial is stored before the next starts.

    ``level`` is the confidence of its intervals. Errors after the first trial are in the CampaignOutcome, whose
    ``check`` raises them; earlier ones are raised here: InputError, TargetError, SystemFaultError.
    """
    caller = caller or Caller()
    check_level(level)
    with preflight.open_keeper(request.idle_timeout, caller.waiting) as keeper:
        definition = build_campaign(request, caller, keeper.resolve)
        keeper.limit(definition.terms.idle_timeout_s)
        preflight.check_places(definition, keeper)
        words, nodes = definition.spec.reserve, max(definition.nodes)
        if words and reserve.is_batch(words):
            return CampaignOutcome(definition.store, job=_submit_job(words, nodes, caller))
        with reserve.reserve_nodes(words, nodes, on_wait=caller.say) if words else nullcontext(()) as hosts:
            reserved = replace(definition, spec=replace(definition.spec, hosts=hosts)) if hosts else definition
            outcome = _measure_campaign(reserved, level, keeper, caller)
    if outcome.ended and outcome.ended.fault and not outcome.ended.measured:
        raise outcome.ended.fault
    return outcome


@contextmanager
def open_lab_campaign(
    request: Request, check: LabCheck, level: float = 0.95, caller: Caller | None = None
) -> Iterator[LabCampaign]:
    """Open a campaign whose clusters the caller brings up in the block: stored, resumed or begun, nothing measured yet.

    Machine and campaign are locked: no other process brings clusters up for it. ``check`` is called before anything is
    stored with the store and every cluster with its faults; it raises InputError for an impossible one. Also raises
    InputError for an experiment without a lab section, or during another measurement."""
    caller = caller or Caller()
    check_level(level)
    definition = build_campaign(replace(request, in_lab=True), caller, Path.absolute)
    if not definition.spec.lab:
        raise InputError(
            "missing-lab-section", "the experiment has no section lab", "write a section lab: file_system: glusterfs"
        )
    with turn.hold_machine(definition.turn, True, caller.say):
        begun = _begin_in_labs(definition, check, level, caller)
        with lock_experiment(Path(begun.store).resolve(), f"{begun.experiment}-labs"):
            yield begun


def _begin_in_labs(campaign: Campaign, check: LabCheck, level: float, caller: Caller) -> LabCampaign:
    existing = open_existing_store(campaign)
    experiment, _ = resume_or_begin(existing, campaign, level, caller.say)
    for setting in in_lab.list_lab_settings(experiment, campaign):
        check(Path(campaign.store).resolve(), setting, in_lab.list_planned_faults(experiment, setting, campaign))
    (existing or Store.create(Path(campaign.store).resolve())).save_experiment(experiment)
    return LabCampaign(campaign, experiment.id)


@dataclass(frozen=True)
class LabCampaign:
    """A campaign measured cluster by cluster, each by its own ``run``."""

    campaign: Campaign
    experiment: str

    @property
    def store(self) -> str:
        """The path of the store."""
        return self.campaign.store

    def budget(self) -> LabBudget:
        """Return a budget for all clusters together, starting now."""
        return LabBudget(self.campaign.terms.budget_s)

    def next_setting(self, lab_settings: list[in_lab.LabSetting]) -> in_lab.LabSetting | None:
        """Return the next cluster to bring up, except ``lab_settings``, which were already tried."""
        store = Store.open(Path(self.store).resolve())
        experiment = next(candidate for candidate in store.experiments() if candidate.id == self.experiment)
        done = find_finished_trials(store, self.campaign, experiment)
        return in_lab.choose_next_setting(experiment, done, self.campaign, lab_settings)

    def outcome(self) -> CampaignOutcome:
        """Return what is measured so far."""
        experiments = Store.open(Path(self.store).resolve()).experiments()
        experiment = next(candidate for candidate in experiments if candidate.id == self.experiment)
        shows_incomplete = self.campaign.terms.incomplete
        return CampaignOutcome(self.store, experiment, others=len(experiments) - 1, shows_incomplete=shows_incomplete)

    def count_runs(self) -> int:
        """Return the number of stored runs."""
        return len(Store.open(Path(self.store).resolve()).runs(experiment=self.experiment))


def _submit_job(words: str, nodes: int, caller: Caller) -> str:
    if not caller.again:
        raise InputError(
            "no-submitted-command",
            "'{launcher}' submits a command line, but there is none",
            "use iosonde run, or salloc",
            launcher=words,
        )
    return reserve.submit_job(words, nodes, caller.again)


def _measure_campaign(campaign: Campaign, level: float, keeper: Keeper, caller: Caller) -> CampaignOutcome:
    here = turn.is_here(campaign.find_launcher().addresses(max(campaign.nodes)))
    with turn.hold_machine(campaign.turn, here, caller.say):
        return _measure_alone(campaign, level, keeper, caller)


def _measure_alone(campaign: Campaign, level: float, keeper: Keeper, caller: Caller) -> CampaignOutcome:
    existing = open_existing_store(campaign)
    experiment, done = resume_or_begin(existing, campaign, level, caller.say)
    done |= in_lab.find_trials_elsewhere(experiment, campaign)
    ahead = [trial for trial in experiment.trials if trial.index not in done]
    ready = preflight.check_ready(campaign, ahead, read_measured_trials(existing, campaign), keeper)
    for sentence in ready.unchecked:
        caller.say(sentence)
    store = existing or Store.create(Path(campaign.store).resolve())
    with lock_experiment(store.path, experiment.id), caller.stopping() as stop:
        ended = measure_trials(
            BegunCampaign(store, campaign, ready, experiment, level, Hands(keeper, stop, caller)), done
        )
    others = sum(other.id != experiment.id for other in store.experiments())
    return CampaignOutcome(campaign.store, experiment, ended, others=others, shows_incomplete=campaign.terms.incomplete)
