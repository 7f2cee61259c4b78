"""One folder a command: options, answer, text, figure, section.

``options.py`` declares the options and the function; ``answer.py`` computes and knows no layout; ``text.py``,
``figure.py`` and ``section.py`` (of the page) lay out what the answer holds and compute nothing.
"""

from __future__ import annotations

import importlib
import pkgutil

from .about import GROUPS, About


def abouts() -> dict[str, About]:
    """Return folder → what its command is about, in the order of the list of commands."""
    folders = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    every: dict[str, About] = {name: importlib.import_module(f"{__name__}.{name}").ABOUT for name in folders}
    return dict(sorted(every.items(), key=lambda item: (GROUPS.index(item[1].group), item[1].place)))


def home_of(function: str) -> str | None:
    """Return the module of ``iosonde`` that has a function of the package; None where no command has it."""
    folder = next((name for name, about in abouts().items() if function in about.functions), None)
    return None if folder is None else f"commands.{folder}.options"


def command_name(folder: str) -> str:
    """Return the command of a folder as a terminal has it."""
    return folder.strip("_").replace("_", "-")
