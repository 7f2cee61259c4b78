"""From a request (a file, a command, options) to an Experiment and its stored Runs, including all checks before the
first trial. Prints nothing: output goes to the functions of its ``Caller``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.on_demand import modules_of

if TYPE_CHECKING:
    from . import as_iozone, asked_of, caller, import_files, lab_by_lab, lab_file, plan, probe, request, run, spec, turn  # noqa: F401

__getattr__ = modules_of(__name__)
