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
