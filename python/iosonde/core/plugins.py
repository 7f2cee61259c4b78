"""Plug-ins: modules of other packages, found by entry points and loaded when they are first needed."""

import os
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from .errors import InputError, SystemFaultError

EXTRAS = "iosonde-extras"
_METADATA = (".dist-info", ".egg-info")


def find_entry_points(group: str) -> dict[str, str]:
    """Return name → ``module`` or ``module:object`` of the installed plug-ins of a group, sorted by name."""
    return dict(sorted(read_groups().get(group, {}).items()))


def load_plugin(group: str, name: str, subject: str = "") -> Any:
    """Return what the entry point ``name`` of a group names.

    Raises SystemFaultError for one that cannot load. Raises InputError that tells what ``subject`` needs if it is not
    installed.
    """
    place = find_entry_points(group).get(name)
    if place is None:
        raise build_missing_error(subject or f"'{name}'")
    try:
        return pkgutil.resolve_name(place)
    except Exception as error:  # a plug-in may fail in any way; the user has to know which one
        raise SystemFaultError(
            "plugin-load-failed",
            "cannot load the {kind} '{name}' of {entry_point}: {error}",
            "repair or uninstall it",
            kind=group.removeprefix("iosonde.").removesuffix("s").replace("_", " "),
            name=name,
            entry_point=place,
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


@cache
def read_groups() -> dict[str, dict[str, str]]:
    """Return group → name → place of all packages that are installed; the first on ``sys.path`` counts.

    To import ``importlib.metadata`` takes as long as all else of ``iosonde --help``.
    """
    groups: dict[str, dict[str, str]] = {}
    for directory in sys.path:
        for text in _read_entry_points(directory or os.curdir):
            for group, name, place in _parse_entry_points(text):
                groups.setdefault(group, {}).setdefault(name, place)
    return groups


def _read_entry_points(directory: str) -> Iterator[str]:
    """Return the entry points of every package in a directory of ``sys.path``."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(_METADATA))
    except OSError:  # a zip file, or a directory that is not there
        return
    for name in names:
        try:
            with open(os.path.join(directory, name, "entry_points.txt"), encoding="utf-8") as file:
                yield file.read()
        except (OSError, ValueError):  # most packages have none
            continue


def _parse_entry_points(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (group, name, place) of ours."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group.startswith("iosonde.") and "=" in line and not line.startswith("#"):
            name, _, place = line.partition("=")
            yield group, name.strip(), place.partition("[")[0].replace(" ", "")
