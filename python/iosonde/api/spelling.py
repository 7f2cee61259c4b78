"""How options are written to a Python user: ``where='fs=nfs'``, ``robust=True``, ``at={'size': 4096}``."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from iosonde.core.message import set_default_spelling, spelled

# Option of the command line → keyword of every function that has no keyword of the option's name.
KEYWORDS = {
    "bring_up": "bring_ups", "constraint": "constraints", "contrast": "contrasts", "family": "families",
    "for": "workload", "block": "blocks", "rank": "ranks", "station": "stations", "type": "kind",
}  # fmt: skip
# The same of single functions: DATA is the first argument of `bound`.
KEYWORDS_OF = {
    "bound": {"data": "amount"}, "survey_tree": {"for": "seconds"},
}  # fmt: skip
# Options that are no keyword: functions of their own, and methods of results.
ELSEWHERE = {
    "all": ".to_frame()", "as": "iosonde.show_as()", "coefficients": "iosonde.rank_published()",
    "describe": "iosonde.describe()", "export": "iosonde.export()", "json": ".to_dict()",
    "noise": "iosonde.noise()", "output": ".save()", "page": "iosonde.write_report()", "plot": ".plot()",
    "plot_kind": ".plot(kind=)", "printed": "iosonde.printed()", "rules": ".answer.rules",
    "slowest": "iosonde.slowest()", "sums": "a dict of sums",
    "system": ".answer.files()", "write": ".answer.files()",
}  # fmt: skip
_LITERAL = re.compile(r"\d+(\.\d+)?|[A-Z_]+")  # a number, or a placeholder as FILE


@dataclass(frozen=True)
class PythonSpelling:
    """How a function of the package spells options; without a ``function`` as any of them does."""

    function: str = ""

    def __call__(self, option: str, value: str) -> str:
        """``where`` with ``fs=nfs`` is ``where='fs=nfs'``."""
        parameters = _parameters(self.function)
        special = KEYWORDS_OF.get(self.function, {}).get(option)
        keyword = special or (option if option in parameters else KEYWORDS.get(option, option))
        if keyword not in parameters and option in ELSEWHERE:
            return ELSEWHERE[option]
        annotation = parameters[keyword] if keyword in parameters else _parameters("").get(keyword, "")
        if not value:
            return f"{keyword}=" + ("True" if re.search(r"\bbool\b", annotation) else "")
        return f"{keyword}=" + _argument(value.strip("'\""), annotation)


python_spelling = PythonSpelling()


def for_python(name: str, attribute: Any) -> Any:
    """Return a function of this package so that its messages are spelled for Python; anything else as it is."""
    return _for_python(name, attribute) if isinstance(attribute, FunctionType) else attribute


@functools.cache
def _for_python(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    spelling = PythonSpelling(name)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        set_default_spelling(python_spelling)  # of threads, and of what an answer computes later
        with spelled(spelling, is_default=True):
            return function(*args, **options)

    call.__module__, call.__qualname__ = "iosonde", name  # where pickle finds it
    return call


@functools.cache
def _parameters(function: str) -> Mapping[str, str]:
    """Keyword → its annotation as a text; without a function of all of them."""
    package = sys.modules["iosonde"]  # which imports this module
    annotations: dict[str, str] = {}
    for name in [function] if function else [name for name in package.__all__ if name[0].islower()]:
        for parameter in inspect.signature(getattr(package, name)).parameters.values():
            annotations[parameter.name] = f"{annotations.get(parameter.name, '')} {parameter.annotation}"
    return annotations


def _argument(value: str, annotation: str) -> str:
    """A value of the command line as Python writes it."""
    parts = value.split(",")
    if re.search("Mapping|Setting", annotation) and re.match("[^=,]+=", value):
        return _mapping(parts)
    if len(parts) > 1 and re.search(r"Counts|Sequence\[(int|float)\]", annotation):
        return f"[{', '.join(map(_literal, parts))}]"
    if len(parts) > 1 and re.search(r"Names|Sequence\[str\]", annotation) and all(map(str.isidentifier, parts)):
        return repr(parts)
    return _literal(value)


def _mapping(parts: list[str]) -> str:
    """``a=1``, ``2``, ``b=x`` as ``{'a': [1, 2], 'b': 'x'}``."""
    levels: dict[str, list[str]] = {}
    for part in parts:
        name, equals, level = part.rpartition("=") if "=" in part else (list(levels)[-1], "", part)
        levels.setdefault(name, []).append(_literal(level))
    lists = {name: ", ".join(several) for name, several in levels.items()}
    items = (f"{name!r}: {text if len(levels[name]) == 1 else f'[{text}]'}" for name, text in lists.items())
    return f"{{{', '.join(items)}}}"


def _literal(value: str) -> str:
    return value if _LITERAL.fullmatch(value) else repr(value)
