"""``iosonde lab run FILE`` of an experiment that asks for labs: each is brought up, measured in, and taken down."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde import campaign
from iosonde import lab as labs
from iosonde.cli.caller import caller
from iosonde.cli.commands import run, summary
from iosonde.cli.options.data import DataOptions
from iosonde.cli.output import talk
from iosonde.commands.page_file import check_place_of_page, write_page_of
from iosonde.core.errors import PROBLEM_DETECTED
from iosonde.core.faults import PlannedFault
from iosonde.data.asked import LAST_DONE

if TYPE_CHECKING:
    from iosonde.campaign.in_lab import LabSetting
    from iosonde.campaign.request import Request
    from iosonde.campaign.run import LabCampaign

_NO_PAGE = ("--page", "")  # of what is measured in one lab: the page is of the whole experiment
_INTERRUPTED_S = 10.0  # for the ranks' own cleaning up; their lab goes afterwards


def asks_for_labs(words: Sequence[str]) -> bool:
    """Whether the words of ``iosonde run`` name a file with a section `lab`."""
    return _file(_options(words)).asks


def remounting(words: Sequence[str], file_systems: Sequence[str]) -> tuple[str, ...]:
    """The same words with a new mount of the clients before cold reads, where these keep data themselves; unless it is
    said what is done before reads."""
    cold = campaign.cold_reads
    if not any(labs.keeps_data(file_system) for file_system in file_systems) or not cold.needs_cache_regime(
        _build_request(_options(words))
    ):
        return tuple(words)
    talk(f"note: clients here keep data themselves: each mounts anew before cold reads ({cold.CLIENTS_ANEW})")
    return ("--before-reads", cold.CLIENTS_ANEW, *words)


def planned(request: Request) -> Request:
    """The request as it is measured in the lab that its file asks for, unless a target is given."""
    file = campaign.lab_file.lab_file(request.spec_file, request.what)
    if request.target or labs.on_host() or not file.asks:
        return request
    return replace(request, in_lab=True, target=(str(labs.target_of(file.name)),))


def checking_plan(request: Request) -> Callable[[LabSetting, Sequence[PlannedFault]], None]:
    """Who looks at the labs of a plan: that they can be, on some machine."""
    file = campaign.lab_file.lab_file(request.spec_file, request.what)

    def check(setting: LabSetting, faults: Sequence[PlannedFault]) -> None:
        labs.check_options(file.file_systems, file.options)
        description = _build_lab_description(file.name, setting)
        labs.check_description(description, setting.profiled)
        for fault in faults:
            labs.check_fault(description, fault)

    return check


def measure(words: Sequence[str]) -> None:
    """All trials that are left, lab by lab; then the summary of the experiment. Ends with the exit code of all."""
    options = _options(words)
    file, level = _file(options), options["level"]
    check_place_of_page(options["page"])
    labs.check_options(file.file_systems, file.options)
    words, name = remounting(words, file.file_systems), file.name
    request = replace(_build_request(_options(words)), target=(str(labs.target_of(name)),))

    def check(store: Path, setting: LabSetting, faults: Sequence[PlannedFault]) -> None:
        labs.check_shared(store)
        description = _build_lab_description(name, setting)
        labs.check(description, setting.profiled)
        for fault in faults:
            labs.check_fault(description, fault)

    with campaign.run.in_labs(request, check, level, caller()) as begun:
        _remove_stale_lab(name, begun)

        def measure_setting(setting: LabSetting, more: Sequence[str]) -> int:
            return _measure_in_lab(name, setting, (*words, *more))

        code = campaign.lab_by_lab.lab_by_lab(begun, measure_setting, talk)
    if code not in (0, PROBLEM_DETECTED):
        raise click.exceptions.Exit(code)
    summary.show(DataOptions(begun.store, (), (), (), (), LAST_DONE, (), begun.experiment, level, options["as_json"]))
    talk(f"stored in {begun.store}; the page: iosonde report {begun.store}")
    if options["page"]:
        write_page_of(begun.store, begun.experiment, level, options["page"])
    if code:
        raise click.exceptions.Exit(code)


def _measure_in_lab(name: str, setting: LabSetting, words: Sequence[str]) -> int:
    """Measure in one lab what belongs there; the exit code."""
    if setting.levels:
        talk(setting.describe)
    lab = labs.up(_build_lab_description(name, setting), talk, setting=setting.to_dict())
    try:
        inside = lab.clients[0]
        run_words = inside.words(*labs.run_words(lab, [*words, *_NO_PAGE]), directory=os.getcwd())
        service = labs.FaultService(lab.directory, labs.hands_of(lab))
        around = inside.environment() | campaign.turn.passed_on()
        with service, subprocess.Popen(run_words, env=around, stdout=subprocess.DEVNULL) as child:
            try:
                return child.wait()
            except KeyboardInterrupt:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(_INTERRUPTED_S)
                child.kill()
                raise
    finally:
        labs.down(lab.name)


def _build_lab_description(name: str, setting: LabSetting) -> labs.LabDescription:
    words = {"clients": setting.n_clients, **setting.words, "name": name}
    return labs.described(words, setting.options, "file_system" in setting.levels)


def _remove_stale_lab(name: str, begun: LabCampaign) -> None:
    """Take down what this very campaign had up when it was killed: nobody else can be in it."""
    if (
        name in {running_lab for running_lab, _, _ in labs.labs()}
        and labs.setting_of(name).get("experiment") == begun.experiment
    ):
        talk(f"{name}: left by this campaign when it was ended, and taken down")
        labs.down(name)


def _options(words: Sequence[str]) -> dict[str, Any]:
    return dict(run.command.make_context("iosonde lab run", list(words)).params)


def _file(options: dict[str, Any]) -> campaign.lab_file.LabFile:
    return campaign.lab_file.lab_file(options["spec_file"], options["what"])


def _build_request(options: dict[str, Any]) -> Request:
    """In a lab, with a target there: which one does not matter yet."""
    request_fields = {
        key: value for key, value in options.items() if key in campaign.request.Request.__dataclass_fields__
    }
    return campaign.request.Request(
        **request_fields | {"target": request_fields["target"] or (str(labs.target_of("lab")),), "in_lab": True}
    )
