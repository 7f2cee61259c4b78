"""Folders of commands that other packages add by entry points."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from iosonde.core.errors import SystemFaultError

from .about import About

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "iosonde.commands"


@cache
def find_plug_ins() -> dict[str, EntryPoint]:
    """Return folder → entry point, of all packages that are installed."""
    import importlib.metadata

    return {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}


def load_about(folder: str) -> About:
    """Return what the command of a plug-in is about. Raises SystemFaultError if the plug-in cannot load."""
    point = find_plug_ins()[folder]
    try:
        about: About = point.load().ABOUT
    except Exception as error:  # a plug-in may fail in any way; the user has to know which one
        raise SystemFaultError(
            "plugin-load-failed",
            "cannot load the command '{command}' of {entry_point}: {error}",
            "repair or uninstall it",
            command=point.name,
            entry_point=point.value,
            error=error,
        ) from error
    return about
