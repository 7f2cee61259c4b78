"""The labs that an experiment file asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from iosonde_lab import api as labs

if TYPE_CHECKING:
    from iosonde.campaign.in_lab import LabFile, LabSetting
    from iosonde.campaign.request import Request
    from iosonde.core.faults import PlannedFault


def read_lab_file(request: Request) -> LabFile:
    """Return what the experiment file of a request says of labs. Raises InputError."""
    from iosonde.campaign.in_lab import read_lab_file

    return read_lab_file(request.file, request.what)


def place_in_lab(request: Request, file: LabFile) -> Request:
    """Return the request as it is measured in the lab that its file asks for; on a host of a lab it stays there."""
    if labs.on_host():
        return request
    return replace(request, in_lab=True, target=str(labs.target_of(file.name)))


def build_plan_check(request: Request) -> Callable[[LabSetting, Sequence[PlannedFault]], None]:
    """Return what checks a lab of a plan: that it can be, on some machine."""
    file = read_lab_file(request)

    def check(setting: LabSetting, faults: Sequence[PlannedFault]) -> None:
        labs.check_options(file.file_systems, file.options)
        description = describe_lab(file.name, setting)
        labs.check_description(description, setting.profiled)
        for fault in faults:
            labs.check_fault(description, fault)

    return check


def describe_lab(name: str, setting: LabSetting) -> labs.LabDescription:
    """Describe the lab that a setting needs. Raises InputError."""
    words = {"clients": setting.n_clients, **setting.words, "name": name}
    return labs.described(words, setting.options, "file_system" in setting.levels)
