"""A campaign in an emulated cluster: which one its next trials need, and which trials the one that we are in is for.

Whoever brings clusters up asks ``next_setting``, brings that one up and has the same campaign measured in it, which
takes the trials that belong there and leaves the others: until there is no next setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core import faults
from iosonde.core.errors import InputError
from iosonde.core.faults import PlannedFault
from iosonde.core.types import Experiment, FactorValue, Trial
from iosonde.measure.faults import LabOrders, planned
from iosonde.measure.spec import Spec
from iosonde.ranks.machine import emulated

from .campaign import Campaign
from .spec import lab

SETTING = "setting"  # in the facts of a host: what the cluster was brought up for


@dataclass(frozen=True)
class LabSetting:
    """A cluster that trials need: the words and options of ``iosonde lab up``. ``levels`` are those of the lab's
    factors, ``repetition`` is None where one cluster serves all trials. ``profiled``: its servers are to count."""

    words: Mapping[str, Any]
    options: Mapping[str, str]
    repetition: int | None
    levels: Mapping[str, FactorValue]
    n_clients: int
    experiment: str
    profiled: bool = False

    @property
    def describe(self) -> str:
        """Which one, for people."""
        levels = ", ".join(f"{factor}={level}" for factor, level in self.levels.items())
        return f"lab for {levels}, repetition {self.repetition}" if levels else "lab"

    def to_dict(self) -> dict[str, Any]:
        """What hosts are told of it."""
        return {"experiment": self.experiment, "repetition": self.repetition, "levels": dict(self.levels)}


def not_here(experiment: Experiment, campaign: Campaign) -> set[int]:
    """The trials that need another cluster than the one we are in."""
    lab_factors = lab.factors(campaign.spec.lab)
    if not lab_factors:
        return set()
    setting = (emulated.lab() or {}).get(SETTING)
    if not setting or setting["experiment"] != experiment.id:
        raise InputError(
            "wrong-lab", "this lab was not brought up for a trial of this experiment", "iosonde lab run FILE"
        )
    here = (setting["repetition"], setting["levels"])
    return {trial.index for trial in experiment.trials if _find_needs(trial, lab_factors) != here}


def orders(spec: Spec) -> LabOrders | None:
    """What every trial asks of the lab that we are in; None where it asks nothing. Raises InputError where nobody
    inflicts faults."""
    if not spec.faults and spec.settle_s is None:
        return None
    directory = Path(str((emulated.lab() or {}).get("directory", ""))) / faults.DIRECTORY
    if not faults.attended(directory):
        raise InputError(
            "lab-required",
            "nobody here inflicts the faults of the experiment, nor looks at the servers",
            "iosonde lab run FILE, on the machine itself, brings up a lab and does",
        )
    return LabOrders(spec.faults, spec.settle_s, directory)


def planned_faults(experiment: Experiment, setting: LabSetting, campaign: Campaign) -> list[PlannedFault]:
    """Those of all trials that are measured in this cluster, each once. Raises InputError."""
    lab_factors, here = lab.factors(campaign.spec.lab), (setting.repetition, setting.levels)
    trials = [trial for trial in experiment.trials if _find_needs(trial, lab_factors) == here]
    return list(dict.fromkeys(fault for trial in trials for fault in planned(campaign.spec.faults, trial.factors)))


def next_setting(
    experiment: Experiment, done: set[int], campaign: Campaign, lab_settings: list[LabSetting]
) -> LabSetting | None:
    """Return the cluster that the next trial not yet ``done`` needs, in the order that was drawn; None where all trials
    are done, or have their cluster among ``lab_settings``, which had their turn."""
    lab_factors = lab.factors(campaign.spec.lab)
    for trial in experiment.trials:
        if trial.index in done:
            continue
        repetition, levels = _find_needs(trial, lab_factors)
        words, options = lab.at(campaign.spec.lab, levels)
        setting = LabSetting(
            words,
            options,
            repetition,
            levels,
            max(campaign.nodes),
            experiment.id,
            bool(campaign.spec.lab.get(lab.PROFILE)),
        )
        if setting not in lab_settings:
            return setting
    return None


def settings(experiment: Experiment, campaign: Campaign) -> list[LabSetting]:
    """All clusters that the trials need, in the order that was drawn."""
    lab_settings: list[LabSetting] = []
    while setting := next_setting(experiment, set(), campaign, lab_settings):
        lab_settings.append(setting)
    return lab_settings


def _find_needs(trial: Trial, lab_factors: Mapping[str, Any]) -> tuple[int | None, dict[str, FactorValue]]:
    if not lab_factors:
        return None, {}
    return trial.repetition, {name: trial.factors[name] for name in lab_factors}
