"""hyperfine ``--export-json``: the time of commands, each executed several times.

    {"results": [{"command": "cp a b", "mean": 1.05, "stddev": 0.05, "times": [1.0, 1.1], "exit_codes": [0, 0], …}]}

becomes ``command real`` of each execution (``iteration``), ``real_mean``, ``_sd``, ``_p50``, ``_min``, ``_max``, and
``user_mean`` and ``sys_mean``. Each execution is one run, as with ``time``; the first has hyperfine's own statistics
over all. The command (``program``) and its parameters are factors. Executions for the warm-up are not in the file. One
that ended with a status is incomplete.
"""

import re
from collections.abc import Iterator
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import LIKELY, Claim, Parsed, Row
from .reading import JsonDocument, Lines, build_broken_run, iter_json_documents, list_objects, number_from_json
from .text import Text

NAME = "hyperfine"
HEADLINE = ("real",)

_KEYS = ('"results"', '"command"', '"mean"', '"stddev"', '"system"', '"user"')
_METRICS = {
    "mean": "real_mean",
    "stddev": "real_sd",
    "median": "real_p50",
    "min": "real_min",
    "max": "real_max",
    "user": "user_mean",
    "system": "sys_mean",
}
_NUMBER = re.compile(r"[-+.\deE]+|null")


def claims(text: Text) -> Claim | None:
    """Recognise the keys of a result together."""
    if text.first_line[:1] != "{" or not all(key in text.content for key in _KEYS):
        return None
    return Claim.from_match(LIKELY, text.find('"stddev"'))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution of each command."""
    runs: list[Parsed] = []
    lines = Lines(text)
    for document in iter_json_documents(text.content):
        if not isinstance(document.value, dict):
            runs.append(build_broken_run(text, document))
            continue
        begin = document.begin
        for result in list_objects(document.value, "results"):
            line, begin = lines.locate_needle('"command"', begin + 1, document.end)
            runs += _read_result(text, lines, document, result, (line, begin))
    return runs


def _read_result(
    text: Text, lines: Lines, document: JsonDocument, result: dict[str, Any], place: tuple[int, int]
) -> list[Parsed]:
    line, begin = place
    settings = _read_settings(result)
    codes = result.get("exit_codes")
    runs: list[Parsed] = []
    for iteration, (at, value) in enumerate(_locate_times(text, lines, begin, result.get("times"))):
        run = _build_run(result, settings)
        runs.append(run)
        if (seconds := number_from_json(value)) is None:
            run.lacks(at, Message("invalid-number", "{metric} is not a time", metric="real"))
        else:
            run.rows.append(Row("command", "real", seconds, "s", at, None, iteration))
        code = codes[iteration] if isinstance(codes, list) and iteration < len(codes) else 0
        if code != 0:
            status = str(code)[:20]
            run.lacks(at, Message("tool-failed", "the command ended with status {status}", status=status))
    count = len(runs) or None
    runs = runs or [_build_run(result, settings)]
    _add_statistics(runs[0], lines, (begin, document.end), result, count)
    if not runs[0].rows:
        runs[0].lacks(line, Message("no-results", "no times"))
    return runs


def _read_settings(result: dict[str, Any]) -> dict[str, FactorValue]:
    settings: dict[str, FactorValue] = {"program": str(result.get("command", ""))[:200]}
    parameters = result.get("parameters")
    for name, value in parameters.items() if isinstance(parameters, dict) else ():
        settings[str(name)[:40]] = _read_parameter(value)
    return settings


def _build_run(result: dict[str, Any], settings: dict[str, FactorValue]) -> Parsed:
    run = Parsed(factors=dict(settings))
    run.facts["command"] = str(result.get("command", ""))[:4000]
    return run


def _add_statistics(
    run: Parsed, lines: Lines, span: tuple[int, int], result: dict[str, Any], count: int | None
) -> None:
    """Add hyperfine's statistics over all executions."""
    for key, metric in _METRICS.items():
        value = result.get(key)
        if value is None:  # the deviation of a single execution
            continue
        at = lines.find_line(f'"{key}"', *span)
        if (seconds := number_from_json(value)) is None:
            run.lacks(at, Message("invalid-number", "{metric} is not a time", metric=metric))
        else:
            run.rows.append(Row("command", metric, seconds, "s", at, count=count))
    run.facts["standard_deviation"] = "sample"


def _read_parameter(value: Any) -> str | int | float:
    """Return a parameter as a number if it is one: hyperfine writes all as text."""
    number = number_from_json(value)
    if number is None:
        return str(value)[:200]
    return int(number) if number.is_integer() else number


def _locate_times(text: Text, lines: Lines, begin: int, times: Any) -> Iterator[tuple[int, Any]]:
    """Yield the line and value of each execution."""
    if not isinstance(times, list):
        return
    at = text.content.find("[", text.content.find('"times"', begin))
    for value, match in zip(times, _NUMBER.finditer(text.content, at), strict=False):
        yield lines.at(match.start()), value
