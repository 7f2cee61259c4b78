"""A campaign in an emulated cluster: the cluster that its next trials need, and the trials for the current one.

The owner of the clusters calls ``next_setting``, brings that cluster up and runs the same campaign in it. The campaign
measures the trials that belong there and skips the others, until ``next_setting`` returns None. The lab section of a
file is read before the file is checked. A time budget is for all clusters, and for the campaign in each.
"""

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core import faults, yaml_text
from iosonde.core.errors import InputError
from iosonde.core.faults import PlannedFault
from iosonde.core.message import Message
from iosonde.core.types import Experiment, FactorValue, Trial
from iosonde.core.units import format_seconds
from iosonde.foreign.reach import check_reachable
from iosonde.measure.faults import LabOrders, plan_faults
from iosonde.measure.spec import Spec
from iosonde.ranks.machine import emulated

from .campaign import Campaign
from .document import is_file
from .spec import lab

SETTING = "setting"  # in the facts of a host: the setting of the cluster


@dataclass(frozen=True)
class LabSetting:
    """A cluster that trials need: the words and options of ``iosonde lab up``.

    ``levels`` are those of the lab's factors, ``repetition`` is None if one cluster serves all trials. ``profiled``:
    its servers record counters."""

    words: Mapping[str, Any]
    options: Mapping[str, str]
    repetition: int | None
    levels: Mapping[str, FactorValue]
    n_clients: int
    experiment: str
    profiled: bool = False

    @property
    def describe(self) -> str:
        """The setting in words."""
        levels = ", ".join(f"{factor}={level}" for factor, level in self.levels.items())
        return f"lab for {levels}, repetition {self.repetition}" if levels else "lab"

    def to_dict(self) -> dict[str, Any]:
        """Return the part that hosts receive."""
        return {"experiment": self.experiment, "repetition": self.repetition, "levels": dict(self.levels)}


def find_trials_elsewhere(experiment: Experiment, campaign: Campaign) -> set[int]:
    """Return the trials that need another cluster than the current one."""
    lab_factors = lab.collect_lab_factors(campaign.spec.lab)
    if not lab_factors:
        return set()
    setting = (emulated.read_lab() or {}).get(SETTING)
    if not setting or setting["experiment"] != experiment.id:
        raise InputError(
            "wrong-lab", "this lab was not brought up for a trial of this experiment", "iosonde lab run FILE"
        )
    here = (setting["repetition"], setting["levels"])
    return {trial.index for trial in experiment.trials if _find_needs(trial, lab_factors) != here}


def build_orders(spec: Spec) -> LabOrders | None:
    """Return the faults and settling of every trial for the current lab; None without any. Raises InputError if no lab
    process is there to inflict faults."""
    if not spec.faults and spec.settle_s is None:
        return None
    directory = Path(str((emulated.read_lab() or {}).get("directory", ""))) / faults.DIRECTORY
    if not faults.has_injector(directory):
        raise InputError(
            "lab-required",
            "the faults and server checks of the experiment need a lab",
            "run iosonde lab run FILE on the machine itself",
        )
    return LabOrders(spec.faults, spec.settle_s, directory)


def list_planned_faults(experiment: Experiment, setting: LabSetting, campaign: Campaign) -> list[PlannedFault]:
    """Return the faults of all trials in this cluster, each once. Raises InputError."""
    if not campaign.spec.faults:
        return []
    lab_factors, here = lab.collect_lab_factors(campaign.spec.lab), (setting.repetition, setting.levels)
    trials = [trial for trial in experiment.trials if _find_needs(trial, lab_factors) == here]
    return list(dict.fromkeys(fault for trial in trials for fault in plan_faults(campaign.spec.faults, trial.factors)))


def choose_next_setting(
    experiment: Experiment, done: set[int], campaign: Campaign, lab_settings: list[LabSetting]
) -> LabSetting | None:
    """Return the cluster that the next trial not yet ``done`` needs, in the drawn order. None if all trials are done,
    or their clusters are among ``lab_settings``, which were already tried."""
    remaining = [trial for trial in experiment.trials if trial.index not in done]
    return next(
        (setting for setting in _list_settings(experiment.id, remaining, campaign) if setting not in lab_settings), None
    )


def list_lab_settings(experiment: Experiment, campaign: Campaign) -> list[LabSetting]:
    """Return all clusters that the trials need, in the drawn order."""
    return _list_settings(experiment.id, experiment.trials, campaign)


def _list_settings(experiment: str, trials: Iterable[Trial], campaign: Campaign) -> list[LabSetting]:
    section = campaign.spec.lab
    lab_factors, n_clients, profiled = (
        lab.collect_lab_factors(section),
        max(campaign.nodes),
        bool(section.get(lab.PROFILE)),
    )
    needs = {  # a design may have thousands of trials, and few clusters
        (repetition, *levels.values()): (repetition, levels)
        for repetition, levels in (_find_needs(trial, lab_factors) for trial in trials)
    }
    return [
        LabSetting(*lab.resolve_at_levels(section, levels), repetition, levels, n_clients, experiment, profiled)
        for repetition, levels in needs.values()
    ]


def _find_needs(trial: Trial, lab_factors: Mapping[str, Any]) -> tuple[int | None, dict[str, FactorValue]]:
    return (None, {}) if not lab_factors else (trial.repetition, {name: trial.factors[name] for name in lab_factors})


@dataclass
class LabBudget:
    """Remaining time for all labs together; ``longest_s`` is the longest time of a lab so far."""

    total_s: float | None
    began: float = field(default_factory=time.monotonic)
    longest_s: float = 0.0

    def remaining_s(self) -> float:
        """The remaining seconds; infinite without a budget."""
        return math.inf if self.total_s is None else self.total_s - (time.monotonic() - self.began)

    def has_room(self) -> bool:
        """Return whether there is time for another lab as long as the longest one."""
        return self.remaining_s() > self.longest_s

    @property
    def ended(self) -> str:
        """The message if no other lab is brought up."""
        return Message(
            "budget-exhausted",
            "ended early: the budget of {budget} is too short for another lab; the same command resumes",
            budget=format_seconds(self.total_s or 0.0),
        )

    def words(self) -> tuple[str, ...]:
        """Return the options of ``iosonde run`` in a lab: the remaining budget instead of the whole."""
        return () if self.total_s is None else ("--budget", f"{max(self.remaining_s(), 1.0):.0f}s")

    @contextmanager
    def time_lab(self) -> Iterator[None]:
        """Measure the time of one lab."""
        began = time.monotonic()
        yield
        self.longest_s = max(self.longest_s, time.monotonic() - began)


@dataclass(frozen=True)
class LabFile:
    """``name``: that of its labs, one after another: the file's own key, else the file's name. ``options`` names those
    of the file systems; ``asks``: whether it has a section lab."""

    name: str
    asks: bool = False
    file_systems: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_lab_file(spec_file: str | None, what: str | None) -> LabFile:
    """Read it from the file that the options name, if it exists."""
    source = spec_file or what
    file = Path(source) if source and (spec_file or is_file(source)) else None
    if file is not None:
        check_reachable(file)
    if file is None or not file.is_file():
        return LabFile("lab")
    data = yaml_text.load(file).data
    section = lab.read_lab_section(data)
    stem = re.sub(r"[^a-z0-9-]+", "-", file.stem.lower()).strip("-")[:31]
    return LabFile(
        str(section.get("name") or stem or "lab"),
        lab.KEY in data,
        tuple(lab.list_file_systems(data)),
        tuple(section.get(lab.SET) or ()),
    )
