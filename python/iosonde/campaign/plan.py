"""Preview of a campaign: every command as it will run, the trials, their time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iosonde.core import message
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.faults import PlannedFault
from iosonde.core.programs import get_first_program
from iosonde.core.types import Experiment, FactorValue, level_to_count
from iosonde.measure import design, mpi_jobs, placeholders, restore, trial, workloads
from iosonde.measure.design import Cells, Offer
from iosonde.measure.spec import MPI, ONCE, CommandStep, Control, NativeStep, Spec, Step
from iosonde.measure.target.keeper import Keeper
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.ranks import machine, reserve

from . import bring_ups, in_lab, mpi_steps, preflight
from .amounts.trials import SpaceNeed
from .asked_of import find_misspelled_factors
from .caller import Caller
from .campaign import Campaign, build_campaign
from .forecast import Forecast, sum_seconds_by_level
from .needs import compute_space_needed, count_labs, forecast_campaign, offer_smaller_designs, read_measured_trials
from .plan_warnings import warn_if_fits_in_memory, warn_of_misplaced_roles, warn_of_skipped_phases
from .request import Request
from .resume import open_existing_store
from .spec.check import evaluate_settings

LEVEL = 0.95  # of the intervals that fewer repetitions widen
_RUN_ID = "ID"  # of the experiment, in paths of a campaign that has not begun

# Called with a cluster and its faults.
LabCheck = Callable[[in_lab.LabSetting, Sequence[PlannedFault]], None]


@dataclass(frozen=True)
class PlannedStep:
    """A step in the first trial.

    ``step`` has its names filled in, ``settings`` are those of a native workload, and ``phases`` those of its rank 0.
    ``stage`` is set_up, step or tear_down. For an MPI job ``launch`` are the words before its program, ``program`` is
    its name if known, ``problem`` why it cannot start here. ``in_reservation``: it starts on nodes that are not
    reserved yet."""

    stage: str
    step: Step
    settings: Any = None
    phases: tuple[PhasePlan, ...] = ()
    launch: tuple[str, ...] = ()
    program: str = ""
    problem: str = ""
    in_reservation: bool = False


@dataclass(frozen=True)
class CampaignPlan:
    """Contents of ``iosonde plan``.

    ``space`` is what a trial has on the target at once; ``seconds_by_level`` is by factor and level. ``controls``,
    ``unmount`` and ``mount`` are those of the first trial, with their names filled in. ``afterwards``: the final state
    of each factor with a set command, in words; ``set_once``: factors set once for all trials of a whole plot.
    ``refusal``: why ``run`` would refuse it here, where a target or a limit is too small."""

    campaign: Campaign
    experiment: Experiment
    expected: Forecast
    space: SpaceNeed
    offers: tuple[Offer, ...]
    cells: Cells
    seconds_by_level: Mapping[str, Mapping[FactorValue, float]]
    steps: tuple[PlannedStep, ...]
    controls: tuple[Control, ...]
    unmount: str
    mount: str
    metrics: tuple[str, ...]
    afterwards: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    set_once: frozenset[str] = frozenset()
    refusal: InputError | None = None

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON form."""
        spec = self.campaign.spec
        return {
            "version": 2,
            "trials": [
                {
                    "index": trial.index,
                    "repetition": trial.repetition,
                    "block": trial.block,
                    **trial.factors,
                    "seconds": None if seconds is None else round(seconds, 1),
                }
                for trial, seconds in zip(self.experiment.trials, self.expected.seconds, strict=True)
            ],
            "seconds": round(self.expected.total_s, 1),
            "unknown": self.expected.unknown,
            "seconds_by_level": [
                {"factor": name, "level": level, "seconds": round(seconds, 1)}
                for name, levels in self.seconds_by_level.items()
                for level, seconds in levels.items()
            ],
            "basis": self.expected.basis,
            "design": self.cells.to_json(),
            "smaller": [offer.to_json() for offer in self.offers],
            "bytes": self.space.n_bytes,
            "files": self.space.n_files,
            "reserve": spec.reserve or None,
            "budget_s": self.campaign.terms.budget_s,
            "refused": str(self.refusal.message) if self.refusal else None,
            "uncounted": [step.to_json() for step in self.space.uncounted],
            "seed": self.experiment.seed,
            "experiment": self.campaign.identity(),
            "steps": [_step_json(step) for step in self.steps],
            "controls": [vars(control) | {"set_once": control.factor in self.set_once} for control in spec.controls],
            "cache": vars(spec.cache),
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row per trial."""
        return list(self.to_dict()["trials"])


def plan_campaign(
    request: Request, caller: Caller | None = None, check_lab: LabCheck = lambda *_: None
) -> CampaignPlan:
    """Plan what ``run`` would do with the same request. Writes nothing, starts nothing. Raises InputError, TargetError.

    ``check_lab`` is called with each cluster that the trials need, and its faults; it raises InputError for an
    impossible one."""
    caller = caller or Caller()
    with preflight.open_keeper(request.idle_timeout, caller.waiting) as keeper:
        definition = build_campaign(request, caller, Path.absolute if request.in_lab else keeper.resolve)
        facts = None
        if not request.in_lab:  # the lab, and thus the target, does not exist yet
            preflight.check_places(definition, keeper)
            facts = preflight.collect_machine_facts(definition, keeper)
        experiment = definition.experiment()
        for setting in in_lab.list_lab_settings(experiment, definition) if request.in_lab else ():
            check_lab(setting, in_lab.list_planned_faults(experiment, setting, definition))
        measured = read_measured_trials(open_existing_store(definition), definition)
        expected = forecast_campaign(definition, experiment.trials, measured)
        if n := count_labs(definition.spec.lab, experiment.trials):
            basis = f"{expected.basis}, without bringing up {n} lab{'s' * (n > 1)}"
            values = {**expected.basis.values, "n_labs": n}
            expected = replace(expected, basis=message.restore_message(expected.basis.code, basis, values))
        refusal = None if facts is None else _find_refusal(definition, expected, facts, keeper)
    for sentence in (
        *preflight.warn_of_unchecked_limits(definition, expected),
        *find_misspelled_factors(definition),
        *(warn_of_misplaced_roles(definition, next(iter(facts.values()))) if facts else ()),
        *warn_if_fits_in_memory(definition, experiment.trials, machine.compute_usable_memory()),
        *warn_of_skipped_phases(definition, experiment.trials, facts or {}),
    ):
        caller.say(sentence)
    offers = tuple(offer_smaller_designs(definition, experiment.seed, measured, LEVEL))
    return replace(_build_plan(definition, experiment, expected, offers), refusal=refusal)


def _find_refusal(
    campaign: Campaign, expected: Forecast, facts: Mapping[str, machine.Facts], keeper: Keeper
) -> InputError | None:
    try:
        preflight.check_room(campaign, expected.total_s, facts, keeper)
    except InputError as error:
        return error
    return None


def _build_plan(
    campaign: Campaign, experiment: Experiment, expected: Forecast, offers: tuple[Offer, ...]
) -> CampaignPlan:
    spec, values = campaign.spec, get_first_values(campaign, experiment)
    return CampaignPlan(
        campaign,
        experiment,
        expected,
        compute_space_needed(campaign),
        offers,
        cells=design.build_cells(spec.factors, spec.design, experiment.seed),
        seconds_by_level=sum_seconds_by_level(experiment.trials, expected.seconds) if any(expected.seconds) else {},
        steps=tuple(_plan_steps(campaign, values)),
        controls=tuple(_fill_control(control, values) for control in spec.controls),
        unmount=placeholders.fill(spec.cache.unmount, values),
        mount=placeholders.fill(spec.cache.mount, values),
        metrics=tuple(campaign.metrics()),
        afterwards={control.factor: _describe_restore(control, spec) for control in spec.controls if control.set},
        warnings=tuple(mpi_steps.list_mpi_warnings(spec)),
        set_once=bring_ups.set_once(spec),
    )


def get_first_values(campaign: Campaign, experiment: Experiment) -> dict[str, FactorValue]:
    """Return the values of names in the first trial; names known only later stay as they are."""
    first = experiment.trials[0]
    target = campaign.spec.target_of(first.factors)
    root = target / f"iosonde-{_RUN_ID}" / trial.name_trial_directory(first.index) if target else None
    later: dict[str, FactorValue] = {name: f"${{{name}}}" for name in (*placeholders.TRIAL, *placeholders.RANK)}
    return later | placeholders.build_trial_values(first, root)


def _plan_steps(campaign: Campaign, values: dict[str, FactorValue]) -> Iterator[PlannedStep]:
    spec = campaign.spec
    for stage, steps in (("set_up", spec.set_up), ("step", spec.steps), ("tear_down", spec.tear_down)):
        for step in steps:
            yield (
                _plan_native_step(stage, step, campaign, values)
                if isinstance(step, NativeStep)
                else _plan_command_step(stage, step, campaign, values)
            )


def _plan_native_step(stage: str, step: NativeStep, campaign: Campaign, values: dict[str, FactorValue]) -> PlannedStep:
    settings = evaluate_settings(step, values)
    phases = workloads.find_producer(step.workload).plan(settings, 0, campaign.max_ranks, 0)
    return PlannedStep(stage, step, settings, tuple(phases))


def _plan_command_step(
    stage: str, step: CommandStep, campaign: Campaign, values: dict[str, FactorValue]
) -> PlannedStep:
    """Plan a command; names that differ by rank stay, unless one rank runs it."""
    alone = {name: "0" for name in placeholders.RANK if name != "HOSTNAME"} if step.on in ONCE else {}
    substitutions = values | alone | step.when
    begins = get_first_program(step.command)
    name = begins.name if begins and begins.is_tool else ""
    planned = PlannedStep(stage, replace(step, command=placeholders.fill(step.command, substitutions)), program=name)
    if step.on != MPI:
        return planned
    if campaign.spec.reserve and not reserve.is_in_job():
        return replace(planned, launch=(reserve.get_launcher_name(campaign.spec.reserve),), in_reservation=True)
    nodes, per_node = level_to_count(values["NODES"]), level_to_count(values["RANKS_PER_NODE"])
    try:
        words, _ = mpi_jobs.build_launch_words(campaign.find_launcher(), step.command, nodes, per_node, values)
    except IosondeError as error:
        return replace(planned, problem=error.message)
    return replace(planned, launch=tuple(words))


def _fill_control(control: Control, values: dict[str, FactorValue]) -> Control:
    here = values | {placeholders.LEVEL: values[control.factor]}
    return replace(control, set=placeholders.fill(control.set, here), read=placeholders.fill(control.read, here))


def _describe_restore(control: Control, spec: Spec) -> str:
    why = restore.explain_unrestored_level(control, spec)
    return f"stays as the last trial leaves it ({why})" if why else "restored at the end"


def _step_json(planned: PlannedStep) -> dict[str, Any]:
    step = planned.step
    if isinstance(step, CommandStep):
        launch = {"launch": list(planned.launch)} if step.on == MPI else {}
        return {"stage": planned.stage, **vars(step), "expect": list(step.expect), **launch}
    return {"stage": planned.stage, "workload": step.workload, "settings": planned.settings.to_json()}
