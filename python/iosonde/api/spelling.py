"""How options are written to a Python user: ``where='fs=nfs'``, ``robust=True``."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from iosonde.core.message import spelled

# Options without a value on the command line (a test compares them with its declarations).
SWITCHES = frozenset(
    [
        "all",
        "allocated",
        "alongside",
        "bars",
        "base_only",
        "curve",
        "describe",
        "direct",
        "full",
        "incomplete",
        "inverse",
        "json",
        "markdown",
        "mixture",
        "native",
        "nice",
        "noise",
        "of_time",
        "operations",
        "other_file_systems",
        "printed",
        "quantiles",
        "quick",
        "recursive",
        "remove",
        "robust",
        "rules",
        "schema",
        "shared_writes",
        "snapshots",
        "strict",
        "together",
        "unweighted",
        "verify",
        "waterfall",
        "weighted",
    ]
)


def python_spelling(name: str, value: str) -> str:
    """``where`` with ``fs=nfs`` is ``where='fs=nfs'``."""
    if not value:
        return f"{name}={'True' if name in SWITCHES else ''}"
    is_literal = re.fullmatch(r"'.*'|\".*\"|[\d.]+|[A-Z_]+", value)
    return f"{name}={value if is_literal else repr(value)}"


def for_python(attribute: Any) -> Any:
    """Return a function of this package so that its messages are spelled for Python; anything else as it is."""
    return _for_python(attribute) if isinstance(attribute, FunctionType) else attribute


@functools.cache
def _for_python(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with spelled(python_spelling, is_default=True):
            return function(*args, **options)

    return call
