"""IOR's JSON, also with other text around it. Numbers have four decimals: short times are lost in it.

``"Results": [{"access": "write", "bwMiB": 4485.5868, "wrRdTime": 0.0071, …}]`` becomes the rows of the text form; the
n-th result of an access is iteration n (the JSON does not number them).
"""

from collections.abc import Iterator
from typing import Any

from iosonde.core.message import Message

from .damage import note_reported_failure
from .ior_settings import complete_settings, set_factor
from .ior_table import MIB, check_iterations, count_iterations, list_included_calls
from .parsed import Parsed, Row
from .reading import (
    Lines,
    build_broken_run,
    date_to_iso,
    get_json_object,
    iter_json_documents,
    list_objects,
    number_from_json,
    set_durations,
)
from .text import Text

_RESULT = {
    "bwMiB": ("bandwidth_last_done", "bytes/s", MIB),
    "iops": ("rate_last_done", "operations/s", 1.0),
    "latency": ("latency_mean", "s", 1.0),
    "openTime": ("open_time", "s", 1.0),
    "wrRdTime": ("access_time", "s", 1.0),
    "closeTime": ("close_time", "s", 1.0),
    "totalTime": ("total_time", "s", 1.0),
}
_SUMMARY = {
    "bwMaxMIB": ("bandwidth_max", "bytes/s", MIB),
    "bwMinMIB": ("bandwidth_min", "bytes/s", MIB),
    "bwMeanMIB": ("bandwidth_mean", "bytes/s", MIB),
    "bwStdMIB": ("bandwidth_sd", "bytes/s", MIB),
    "OPsMax": ("transfers_max", "operations/s", 1.0),
    "OPsMin": ("transfers_min", "operations/s", 1.0),
    "OPsMean": ("transfers_mean", "operations/s", 1.0),
    "OPsSD": ("transfers_sd", "operations/s", 1.0),
    "MeanTime": ("total_time_mean", "s", 1.0),
}
_PARAMETERS = {
    "transferSize": "transfer_size",
    "blockSize": "block_size",
    "segmentCount": "segments",
    "repetitions": "iterations",
    "tasksPerNode": "ranks_per_node",
    "nodes": "nodes",
    "api": "api",
}
# Parameter → setting, and the words of the text form for 0 and 1.
_WORDS = {
    "filePerProc": ("access", ("single-shared-file", "file-per-process")),
    "collective": ("type", ("independent", "collective")),
    "randomOffset": ("ordering", ("sequential", "random")),
}


def parse_json(text: Text) -> list[Parsed]:
    """Return one Parsed for each test in each document."""
    runs: list[Parsed] = []
    lines, outside, ends = Lines(text), 0, []
    for document in iter_json_documents(text.content):
        ends.append((outside, document.begin))
        outside = document.end
        if isinstance(document.value, dict) and ("tests" in document.value or "Version" in document.value):
            runs += _parse_session(document.value, lines, document.begin, document.end)
        elif document.value is None and '"' in text.content[document.begin : document.begin + 400]:
            runs.append(build_broken_run(text, document))
            outside = len(text.content)
            break
    for begin, end in [*ends, (outside, len(text.content))]:
        for offset, line in enumerate(text.content[begin:end].split("\n")):
            if line.startswith("ERROR") or "failed" in line or "Signal" in line:
                note_reported_failure(runs[-1] if runs else None, text.line_of(begin) + offset, line)
    return runs


def _parse_session(document: dict[str, Any], lines: Lines, begin: int, end: int) -> list[Parsed]:
    runs = []
    for test in list_objects(document, "tests"):
        line, begin = lines.locate_needle('"TestID"', begin, end)
        runs.append(_parse_test(document, test, lines, begin, end, line))
        begin += 1
    for item in list_objects(document, "summary") if runs else ():
        line, begin = lines.locate_needle('"operation"', begin + 1, end)
        _add_summary(runs, item, line)
    if not runs:
        runs = [Parsed(version=str(document.get("Version", "")))]
    set_durations(runs, date_to_iso(str(document.get("Finished", ""))))
    for run in runs:
        _check_run(run, document, lines.at(end))
    return runs


def _parse_test(
    document: dict[str, Any], test: dict[str, Any], lines: Lines, begin: int, end: int, line: int
) -> Parsed:
    run = Parsed(version=str(document.get("Version", ""))[:60])
    run.started_at = date_to_iso(str(test.get("StartTime") or document.get("Began", "")))
    run.facts = {"command": str(document.get("Command line", "")), "system": str(document.get("Machine", ""))}
    _read_settings(run, get_json_object(test, "Parameters"), get_json_object(test, "Options"))
    if isinstance(identity := test.get("TestID"), int):
        run.factors["test_id"] = identity
    iteration_by_operation: dict[str, int] = {}
    for result in _flatten_results(test.get("Results")):
        if isinstance(result, dict) and isinstance(operation := result.get("access"), str):
            line, begin = lines.locate_needle('"access"', begin + 1, end)
            iteration = iteration_by_operation[operation] = iteration_by_operation.get(operation, -1) + 1
            _add_result(run, operation, result, iteration, line)
    return run


def _read_settings(run: Parsed, parameters: dict[str, Any], options: dict[str, Any]) -> None:
    """Read the settings, under the names and with the words of the text form, which prints the ``options``. The
    ``parameters`` are exact."""
    for key, value in options.items():
        set_factor(run, key, str(value))
    for key, name in _PARAMETERS.items():
        if isinstance(value := parameters.get(key), (int, str)):
            run.factors[name] = value
    for key, (name, words) in _WORDS.items():
        if isinstance(value := parameters.get(key), int) and value in (0, 1):
            run.factors[name] = words[value]
    if isinstance(seconds := parameters.get("deadlineForStonewall"), int) and seconds > 0:
        run.factors["stonewall_seconds"] = seconds
    if parameters:
        run.facts["fsync"] = bool(parameters.get("fsync"))
    complete_settings(run)


def _flatten_results(results: Any) -> Iterator[Any]:
    """Return the results one after another; some versions have a list for each iteration."""
    for result in results if isinstance(results, list) else []:
        yield from result if isinstance(result, list) else [result]


def _add_result(run: Parsed, operation: str, result: dict[str, Any], iteration: int, line: int) -> None:
    includes = list_included_calls(run, operation)
    for key, (metric, unit, factor) in _RESULT.items():
        value = number_from_json(result.get(key))
        if value is None or value < 0 or (value == 0 and unit != "s"):
            if key in result:
                run.lacks(
                    line,
                    Message(
                        "invalid-number",
                        "{operation}, iteration {iteration}: {field} is not a measurement",
                        operation=operation,
                        iteration=iteration,
                        field=key,
                    ),
                )
        else:
            inside = includes if metric == "bandwidth_last_done" else ""
            run.rows.append(Row(operation, metric, value * factor, unit, line, None, iteration, None, inside))
    if number_from_json(result.get("openTime")) == 0:
        run.warn(line, Message("low-resolution", "times shorter than 0.00005 s are 0 in IOR's JSON"))


def _add_summary(runs: list[Parsed], item: dict[str, Any], line: int) -> None:
    run = next((run for run in runs if run.factors.get("test_id") == item.get("TestID")), runs[-1])
    operation = str(item.get("operation", ""))[:40]
    for key, (metric, unit, factor) in _SUMMARY.items():
        value = number_from_json(item.get(key))
        is_single_spread = metric.endswith("_sd") and item.get("repetitions") == 1
        if value is not None and value >= 0 and operation and not is_single_spread:
            includes = list_included_calls(run, operation) if metric.startswith("bandwidth") else ""
            run.rows.append(Row(operation, metric, value * factor, unit, line, includes=includes))


def _check_run(run: Parsed, document: dict[str, Any], last: int) -> None:
    n_iterations = run.factors.get("iterations")
    counts = count_iterations(run)
    if isinstance(n_iterations, int):
        check_iterations(run, last, counts, sorted(counts), n_iterations)
    if not counts:
        run.lacks(last, Message("no-results", "no result"))
    elif "Finished" not in document:
        run.lacks(last, Message("ended-early", "'Finished' is missing: IOR did not finish"))
