"""Folders of commands that other packages add by entry points."""

import importlib
import os
import sys
from collections.abc import Iterator
from functools import cache

from iosonde.core.errors import SystemFaultError

from .about import About

GROUP = "iosonde.commands"
_METADATA = (".dist-info", ".egg-info")


@cache
def find_plug_ins() -> dict[str, str]:
    """Return folder → module of all packages that are installed.

    Their entry points are read here: to import ``importlib.metadata`` takes as long as all else of ``--help``.
    """
    plug_ins: dict[str, str] = {}
    for place in sys.path:
        for text in _read_entry_points(place or os.curdir):
            for folder, module in _parse_group(text):
                plug_ins.setdefault(folder, module)
    return plug_ins


def load_about(folder: str) -> About:
    """Return what the command of a plug-in is about. Raises SystemFaultError if the plug-in cannot load."""
    module = find_plug_ins()[folder]
    try:
        about: About = importlib.import_module(module).ABOUT
    except Exception as error:  # a plug-in may fail in any way; the user has to know which one
        raise SystemFaultError(
            "plugin-load-failed",
            "cannot load the command '{command}' of {entry_point}: {error}",
            "repair or uninstall it",
            command=folder,
            entry_point=module,
            error=error,
        ) from error
    return about


def _read_entry_points(place: str) -> Iterator[str]:
    """Return the entry points of every package in a directory of ``sys.path``."""
    try:
        names = sorted(os.listdir(place))
    except OSError:  # a zip file, or a directory that is not there
        return
    for name in names:
        if name.endswith(_METADATA):
            try:
                with open(os.path.join(place, name, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except (OSError, ValueError):  # most packages have none
                continue
            yield text


def _parse_group(text: str) -> Iterator[tuple[str, str]]:
    """Return the names and modules of our group."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group == GROUP and "=" in line and not line.startswith("#"):
            name, _, module = line.partition("=")
            yield name.strip(), module.strip()
