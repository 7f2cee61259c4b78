"""What no output may hold, whatever the data: a traceback, NaN, an interval without its value, a p value of 0."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import IosondeError

_NO_NUMBER = re.compile(r"(?<![\w\-/.])[-+]?(nan|inf|NaN|Infinity|None)(?![\w\-/=]| of )")
_P_OF_0 = re.compile(r"\bp ?[=<] ?(0|0\.0+|0e[-+]?\d+|-[\d.e-]+)(?![.\d])")
_SAID = "is outside what the"  # trials of this setting say: a model's value is not theirs, and that is a warning
_HALF_OPEN = ("laws",)  # of a law of scaling one end may not be bounded by the data


def wrong_with(words: list[str]) -> list[str]:
    """What is wrong with what a command says as text and as JSON; an error of ours in a sentence with a hint is not."""
    return [found for form in ([], ["--json"]) for found in _wrong(words, form)]


def wrong_in(document: Any) -> list[str]:
    """The same of what would be written as JSON."""
    return list(_in_json(document, ""))


def _wrong(words: list[str], form: list[str]) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        done = CliRunner().invoke(cli, [*words, *form])
    if isinstance(done.exception, IosondeError):
        said = f"{done.exception.message} / {done.exception.hint}"
        if not (done.exception.message and done.exception.hint and 1 <= done.exception.exit_code <= 3):
            yield f"an error without a hint: {said}"
        yield from _in_text(said)
    elif done.exception is not None and not (isinstance(done.exception, SystemExit) and done.exit_code in (0, 1, 2)):
        yield f"{type(done.exception).__name__}: {done.exception}"
    elif not form:
        yield from _in_text(done.stdout)
    elif done.stdout.strip():
        try:
            yield from _in_json(json.loads(done.stdout, parse_constant=_refuse), "")
        except ValueError as error:
            yield f"JSON: {error}"


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _in_text(text: str) -> Iterator[str]:
    yield from (line for line in text.splitlines() if _NO_NUMBER.search(line) or _P_OF_0.search(line))


def _in_json(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        if {"value", "low", "high"} <= value.keys() and _SAID not in " ".join(value.get("warnings", ())):
            yield from _interval(value["value"], value["low"], value["high"], path)
        for name, one in value.items():
            if f"{name}_low" in value and f"{name}_high" in value:
                yield from _interval(one, value[f"{name}_low"], value[f"{name}_high"], f"{path}.{name}")
            if (name == "p" or name.endswith("_p")) and isinstance(one, (int, float)) and not 0 < one <= 1:
                yield f"{path}.{name}: p = {one}"
            if name.startswith("df") and isinstance(one, (int, float)) and not 0 <= one < 1e5:
                yield f"{path}.{name}: {one} degrees of freedom"
            yield from _in_json(one, f"{path}.{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _in_json(one, f"{path}[{place}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path}: {value}"
    elif isinstance(value, str):
        yield from (f"{path}: {line}" for line in _in_text(value))


def _interval(value: Any, low: Any, high: Any, path: str) -> Iterator[str]:
    if low is None or high is None:
        if (low is None) != (high is None) and not any(word in path for word in _HALF_OPEN):
            yield f"{path}: half an interval, {low} to {high}"
        return
    room = 1e-9 * max(abs(low), abs(high))
    if not low <= high or (value is not None and not low - room <= value <= high + room):
        yield f"{path}: {value} ({low} to {high})"
    if not all(math.isfinite(end) for end in (low, high)):
        yield f"{path}: {low} to {high}"
