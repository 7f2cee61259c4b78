"""Plug-ins: modules of other packages, found by entry points and loaded when they are first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .errors import InputError, SystemFaultError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

EXTRAS = "iosonde-extras"


@cache
def find_entry_points(group: str) -> dict[str, EntryPoint]:
    """Return name → entry point of the installed plug-ins of a group, sorted by name."""
    from importlib.metadata import entry_points  # takes longer than all else that a rank imports from the library

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def load_plugin(group: str, name: str, subject: str = "") -> Any:
    """Return what the entry point ``name`` of a group names.

    Raises SystemFaultError for one that cannot load. Raises InputError that tells what ``subject`` needs if it is not
    installed.
    """
    point = find_entry_points(group).get(name)
    if point is None:
        raise build_missing_error(subject or f"'{name}'")
    try:
        return point.load()
    except Exception as error:  # a plug-in may fail in any way; the user has to know which one
        raise SystemFaultError(
            "plugin-load-failed",
            "cannot load the {kind} '{name}' of {entry_point}: {error}",
            "repair or uninstall it",
            kind=group.removeprefix("iosonde.").removesuffix("s").replace("_", " "),
            name=name,
            entry_point=point.value,
            error=error,
        ) from error


def build_missing_error(subject: str) -> InputError:
    """Build the error for something that the package of extras does."""
    return InputError(
        "missing-package",
        "{subject} needs the package {package}",
        "pip install {package}",
        subject=subject,
        package=EXTRAS,
    )
