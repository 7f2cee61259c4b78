"""An experiment that asks for labs: each is brought up, measured in, and taken down."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from iosonde.campaign import turn
from iosonde.campaign.lab_by_lab import measure_lab_by_lab, needs_cache_regime
from iosonde.campaign.run import open_lab_campaign
from iosonde.commands.campaign_caller import build_caller
from iosonde.commands.page_file import check_page_is_writable
from iosonde.commands.run.measurement import Measurement
from iosonde.commands.run.options import RunOptions
from iosonde.core.errors import PROBLEM_DETECTED
from iosonde.core.front_end import get_front_end
from iosonde.core.option_words import replace_options
from iosonde.measure.spec import CLIENTS_ANEW
from iosonde_lab import api as labs

from .requested_labs import describe_lab, read_lab_file

if TYPE_CHECKING:
    from iosonde.campaign.in_lab import LabSetting
    from iosonde.campaign.run import LabCampaign
    from iosonde.core.faults import PlannedFault

_INTERRUPTED_S = 10.0  # for the ranks' own cleaning up; their lab goes afterwards
OptionsT = TypeVar("OptionsT", bound=RunOptions)


def mount_before_cold_reads(options: OptionsT, file_systems: Sequence[str]) -> OptionsT:
    """Return the options with a new mount of the clients before cold reads, where these keep data themselves; unless
    the user says what is done before reads."""
    placed = replace_options(options, in_lab=True, target=options.target or str(labs.target_of("lab")))
    if not any(map(labs.keeps_data, file_systems)) or not needs_cache_regime(placed):
        return options
    anew = CLIENTS_ANEW
    get_front_end().note(f"note: clients here keep data themselves: each mounts anew before cold reads ({anew})")
    return replace_options(options, before_reads=anew)


def measure_in_labs(options: RunOptions) -> Measurement | int:
    """Measure all remaining trials, lab by lab. Return the exit code if they ended early."""
    file = read_lab_file(options)
    check_page_is_writable(options.page)
    labs.check_options(file.file_systems, file.options)
    options = mount_before_cold_reads(options, file.file_systems)
    words = replace_options(options, page=None, budget=None).words()  # both are of the whole experiment
    request = replace(options, target=str(labs.target_of(file.name)))
    with open_lab_campaign(request, _build_check(file.name), options.level, build_caller()) as begun:
        _remove_stale_lab(file.name, begun)

        def measure_setting(setting: LabSetting, more: Sequence[str]) -> int:
            return _measure_in_lab(file.name, setting, (*words, *more))

        code = measure_lab_by_lab(begun, measure_setting, get_front_end().note)
    if code not in (0, PROBLEM_DETECTED):
        return code
    return Measurement(begun.outcome(), options.level, options.page, is_incomplete=code == PROBLEM_DETECTED)


def _build_check(name: str) -> Callable[[Path, LabSetting, Sequence[PlannedFault]], None]:
    def check(store: Path, setting: LabSetting, faults: Sequence[PlannedFault]) -> None:
        labs.check_shared(store)
        description = describe_lab(name, setting)
        labs.check(description, setting.profiled)
        for fault in faults:
            labs.check_fault(description, fault)

    return check


def _measure_in_lab(name: str, setting: LabSetting, words: Sequence[str]) -> int:
    """Measure in one lab what belongs there; return the exit code."""
    if setting.levels:
        get_front_end().note(setting.describe)
    lab = labs.up(describe_lab(name, setting), get_front_end().note, setting=setting.to_dict())
    try:
        inside = lab.clients[0]
        run_words = inside.words(*labs.run_words(lab, words), directory=os.getcwd())
        service = labs.FaultService(lab.directory, labs.hands_of(lab))
        environment = inside.environment() | turn.build_inherited_environment()
        with service, subprocess.Popen(run_words, env=environment, stdout=subprocess.DEVNULL) as child:
            try:
                return child.wait()
            except KeyboardInterrupt:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(_INTERRUPTED_S)
                child.kill()
                raise
    finally:
        labs.down(lab.name)


def _remove_stale_lab(name: str, begun: LabCampaign) -> None:
    """Take down what this very campaign had up when it was killed: nobody else can be in it."""
    running = {lab for lab, _, _ in labs.labs()}
    if name in running and labs.setting_of(name).get("experiment") == begun.experiment:
        get_front_end().note(f"{name}: left by this campaign when it was ended, and taken down")
        labs.down(name)
