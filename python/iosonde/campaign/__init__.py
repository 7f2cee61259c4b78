"""What was asked (a file, a command, options) → Experiment → Runs that are kept: everything before the first trial,
and the way through all of them. Prints nothing: what it has to say goes to the functions of its ``Caller``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import as_iozone, asked_of, caller, import_files, lab_by_lab, lab_file, plan, probe, request, run, spec, turn  # noqa: F401

__getattr__ = modules_of(__name__)
