"""One folder a command: options, answer, text, figure, section.

``options.py`` declares the options and the function; ``answer.py`` computes and knows no layout; ``text.py``,
``figure.py`` and ``section.py`` (of the page) lay out what the answer holds and compute nothing.

A package adds a folder with an entry point in the group ``iosonde.commands``: ``lab = "iosonde_lab.command"``.
"""

import importlib
import pkgutil
from functools import cache

from iosonde.core.plugins import find_entry_points, load_plugin

from .about import GROUPS, About
from .labs import COMMAND, build_missing_package_error

GROUP = "iosonde.commands"


def load_abouts() -> dict[str, About]:
    """Return folder → what its command is about, in the order of the list of commands."""
    every = {folder: _import_own_about(folder) for folder in _list_own_folders()}
    every |= {folder: _load_plugin_about(folder) for folder in find_entry_points(GROUP) if folder not in every}
    return dict(sorted(every.items(), key=lambda item: (GROUPS.index(item[1].group), item[1].place)))


def find_folder(command: str) -> str | None:
    """Return the folder of a command, as a terminal has it; None if there is none. Plug-ins are read only for what
    is no command of ours. Raises InputError for a command whose package is not installed."""
    for folders in (_list_own_folders(), find_entry_points(GROUP)):
        for folder in folders:
            if folder_to_command(folder) == command:
                return folder
    if command == COMMAND:
        raise build_missing_package_error()
    return None


def get_about(folder: str) -> About:
    """Return what the command of a folder is about."""
    return _import_own_about(folder) if folder in _list_own_folders() else _load_plugin_about(folder)


def get_package_name(folder: str) -> str:
    """Return the dotted name of a folder."""
    return f"{__name__}.{folder}" if folder in _list_own_folders() else find_entry_points(GROUP)[folder]


def find_home_module(function: str) -> str | None:
    """Return the module that has a function of the package ``iosonde``; None where no command has it."""
    for folder in _list_own_folders():
        if function in _import_own_about(folder).functions:
            return f"{__name__}.{folder}.options"
    for folder, module in find_entry_points(GROUP).items():
        if function in _load_plugin_about(folder).functions:
            return f"{module}.options"
    return None


def folder_to_command(folder: str) -> str:
    """Return the command of a folder as a terminal has it."""
    return folder.strip("_").replace("_", "-")


@cache
def _list_own_folders() -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def _load_plugin_about(folder: str) -> About:
    about: About = load_plugin(GROUP, folder).ABOUT
    return about


def _import_own_about(folder: str) -> About:
    about: About = importlib.import_module(f"{__name__}.{folder}").ABOUT
    return about
