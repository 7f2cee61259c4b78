"""Packages whose modules are loaded on first use: most answers load numpy, which ``--help`` must not.

``from iosonde import answers`` costs nothing; ``answers.rank.rank(…)`` loads ``commands/rank/answer.py``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return a package's ``__getattr__`` (PEP 562), which loads each module when it is named."""

    def load_module(name: str) -> ModuleType:
        try:
            return importlib.import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":  # a library that the module imports is missing
                raise
            raise AttributeError(f"module '{package}' has no attribute '{name}'") from None

    return load_module
