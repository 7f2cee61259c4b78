"""hyperfine ``--export-json``: the time of commands, each executed several times.

    {"results": [{"command": "cp a b", "mean": 1.05, "stddev": 0.05, "times": [1.0, 1.1], "exit_codes": [0, 0], …}]}

becomes ``command real`` of each execution (``iteration``), ``real_mean``, ``_sd``, ``_p50``, ``_min``, ``_max``, and
``user_mean`` and ``sys_mean``. Each result is one run; its command and parameters are factors. Executions for the
warm-up are not in the file. A command that ended with a status makes its run incomplete.
"""

import re
from collections.abc import Iterator
from typing import Any

from iosonde.core.message import Message

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
    """Return one Parsed for each command."""
    runs: list[Parsed] = []
    lines = Lines(text)
    for document in iter_json_documents(text.content):
        if not isinstance(document.value, dict):
            runs.append(build_broken_run(text, document))
            continue
        begin = document.begin
        for result in list_objects(document.value, "results"):
            line, begin = lines.locate_needle('"command"', begin + 1, document.end)
            runs.append(_read_result(text, lines, document, result, (line, begin)))
    return runs


def _read_result(
    text: Text, lines: Lines, document: JsonDocument, result: dict[str, Any], place: tuple[int, int]
) -> Parsed:
    run, (line, begin) = Parsed(), place
    run.factors["command"] = str(result.get("command", ""))[:200]
    run.facts["command"] = str(result.get("command", ""))[:4000]
    parameters = result.get("parameters")
    for name, value in parameters.items() if isinstance(parameters, dict) else ():
        run.factors[str(name)[:40]] = _read_parameter(value)
    times = result.get("times")
    for iteration, (at, value) in enumerate(_locate_times(text, lines, begin, times)):
        if (seconds := number_from_json(value)) is None:
            run.lacks(at, Message("invalid-number", "{metric} is not a time", metric="real"))
        else:
            run.rows.append(Row("command", "real", seconds, "s", at, None, iteration))
    count = len(run.rows) or None
    for key, metric in _METRICS.items():
        value = result.get(key)
        if value is None:  # the deviation of a single execution
            continue
        at = lines.find_line(f'"{key}"', begin, document.end)
        if (seconds := number_from_json(value)) is None:
            run.lacks(at, Message("invalid-number", "{metric} is not a time", metric=metric))
        else:
            run.rows.append(Row("command", metric, seconds, "s", at, count=count))
    run.facts["standard_deviation"] = "sample"
    _check_status(run, lines.find_line('"exit_codes"', begin, document.end), result.get("exit_codes"))
    if not run.rows:
        run.lacks(line, Message("no-results", "no times"))
    return run


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


def _check_status(run: Parsed, at: int, codes: Any) -> None:
    failed = [code for code in codes if code != 0] if isinstance(codes, list) else []
    if failed:
        run.lacks(
            at,
            Message(
                "tool-failed",
                "{n_failed} of {n_executions} executions ended with a status other than 0, such as {status}",
                n_failed=len(failed),
                n_executions=len(codes),
                status=str(failed[0])[:20],
            ),
        )
