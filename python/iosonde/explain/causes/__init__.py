"""Finders of structure: what the slow operations of a class have in common. One file each; its docstring is the page
that ``iosonde explain CODE`` prints.

A finder is a module ``s4NN_name.py`` with ``CODE`` and ``find(target) -> list[Suspect]``: it is given one class of
one trial (``target.Target``) and says by which rule its operations can be told from the others, how well, what that
suggests, and what would confirm it. S410 compares trials and has
``between`` instead. A new finder needs no other change in code; models of the path join here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType

from .target import Suspect, Target

MAX_SUSPECTS = 3  # of a class
# A finding of the left is told instead of one of the right where it explains nearly as much: the right follows from it.
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
# Even gaps follow from a clock, but a clock from even gaps only if these hold their phase over the whole run.
_NEARLY_OF = {("S402", "S411"): 0.6}


def modules() -> dict[str, str]:
    """Code → name of the module, without importing any of them."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name.split("_")[0].upper(): f"{__name__}.{name}" for name in names if name[:2] == "s4"}


def page(code: str) -> str | None:
    """The manual page of a finding, None if there is no such code."""
    name = modules().get(code.upper())
    return None if name is None else importlib.import_module(name).__doc__


def suspects(target: Target) -> list[Suspect]:
    """What every finder says of a class, what explains most first; those that are ``LAST`` where no other says
    anything."""
    finders = [importlib.import_module(name) for name in modules().values()]
    suspects = select_suspects(
        [suspect for finder in finders if not _is_last(finder) for suspect in _run_finder(finder, target)]
    )
    return suspects or [suspect for finder in finders if _is_last(finder) for suspect in _run_finder(finder, target)]


def _run_finder(finder: ModuleType, target: Target) -> list[Suspect]:
    """What asks for more than one trial has no ``find``."""
    find = getattr(finder, "find", None)
    return find(target) if find else []


def _is_last(finder: ModuleType) -> bool:
    return getattr(finder, "LAST", False)


def select_suspects(suspects: Sequence[Suspect]) -> list[Suspect]:
    """Without what only follows from another finding, at most three."""
    independent = [suspect for suspect in suspects if not any(_is_preferred(other, suspect) for other in suspects)]
    return sorted(independent, key=lambda suspect: -suspect.agreement.kappa)[:MAX_SUSPECTS]


def _is_preferred(other: Suspect, suspect: Suspect) -> bool:
    if suspect.code not in _INSTEAD.get(other.code, ()):
        return False
    return other.agreement.kappa >= _NEARLY_OF.get((other.code, suspect.code), NEARLY) * suspect.agreement.kappa
