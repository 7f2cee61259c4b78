"""Finders of structure: what the slow operations of a class have in common.

Each file is a finder; its docstring is the page that ``iosonde explain CODE`` prints. A finder is a module
``s4NN_name.py`` with ``CODE`` and ``find(target) -> list[Suspect]``. It gets a class of one trial (``target.Target``)
and returns the rules that distinguish its operations from the others. A Suspect has the rule, its agreement, its
interpretation, and an experiment that would confirm it. S410 compares trials and has ``between`` instead. A new finder
needs no other change in code; models of the path join here.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType

from .target import Suspect, Target

MAX_SUSPECTS = 3  # per class
# A finding on the left replaces those on the right if it explains nearly as much: the right follows from it.
_INSTEAD = {
    "S401": ("S402", "S403", "S406", "S405", "S411"),
    "S406": ("S402", "S403", "S405", "S411"),
    "S402": ("S403", "S411"),
    "S404": ("S403", "S402", "S409"),
    "S405": ("S403", "S402", "S404"),
    "S407": ("S403", "S406"),
    "S408": ("S403", "S404", "S409"),
    "S409": ("S403",),
}
NEARLY = 0.85  # of the agreement of another finding
# Even gaps follow from a clock, but a clock from even gaps only if these keep their phase over the whole run.
_NEARLY_OF = {("S402", "S411"): 0.6}


@cache
def map_codes_to_modules() -> Mapping[str, str]:
    """Code → name of the module, without importing any of them."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name.split("_")[0].upper(): f"{__name__}.{name}" for name in names if name[:2] == "s4"}


def read_manual_page(code: str) -> str | None:
    """Return the manual page of a finding, None for an unknown code."""
    name = map_codes_to_modules().get(code.upper())
    return None if name is None else importlib.import_module(name).__doc__


def find_suspects(target: Target) -> list[Suspect]:
    """Run every finder on a class, the best explanation first. Finders with ``LAST`` run only if no other has a
    result."""
    finders = [importlib.import_module(name) for name in map_codes_to_modules().values()]
    suspects = select_suspects(
        [suspect for finder in finders if not _is_last(finder) for suspect in _run_finder(finder, target)]
    )
    return suspects or [suspect for finder in finders if _is_last(finder) for suspect in _run_finder(finder, target)]


def _run_finder(finder: ModuleType, target: Target) -> list[Suspect]:
    """Run a finder; one that compares trials has no ``find`` and returns nothing."""
    find = getattr(finder, "find", None)
    return find(target) if find else []


def _is_last(finder: ModuleType) -> bool:
    return getattr(finder, "LAST", False)


def select_suspects(suspects: Sequence[Suspect]) -> list[Suspect]:
    """Remove findings that only follow from another one; at most three."""
    independent = [suspect for suspect in suspects if not any(_is_preferred(other, suspect) for other in suspects)]
    return sorted(independent, key=lambda suspect: -suspect.agreement.kappa)[:MAX_SUSPECTS]


def _is_preferred(other: Suspect, suspect: Suspect) -> bool:
    if suspect.code not in _INSTEAD.get(other.code, ()):
        return False
    return other.agreement.kappa >= _NEARLY_OF.get((other.code, suspect.code), NEARLY) * suspect.agreement.kappa
