"""Findings from counters of a job's accesses, without its single operations: one file per finding.

Its docstring is the page that ``iosonde explain CODE`` prints. A finding is a module ``s5NN_name.py`` with
``find(counters) -> list[CounterFinding]``. Each names the pattern, the time that it can have cost at most, the
published threshold that it passes, and what to do. A new finding needs no other change in code.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from iosonde.core.io_counters import IoCounters

from .cost import CounterFinding


@cache
def map_codes_to_modules() -> Mapping[str, str]:
    """Code → name of the module, without importing any of them."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name.split("_")[0].upper(): f"{__name__}.{name}" for name in names if name[:2] == "s5"}


def read_manual_page(code: str) -> str | None:
    """Return the manual page of a finding, None for an unknown code."""
    name = map_codes_to_modules().get(code.upper())
    return None if name is None else importlib.import_module(name).__doc__


def find_patterns(counters: IoCounters) -> list[CounterFinding]:
    """Return the findings about one job, in the order of their codes."""
    return [
        finding for name in map_codes_to_modules().values() for finding in importlib.import_module(name).find(counters)
    ]
