"""``rados bench`` of Ceph: write, seq and rand, as text (``--format plain``) and as JSON.

    Maintaining 16 concurrent writes of 65536 bytes to objects of size 65536 for up to 10 seconds or 0 objects
    Total time run:         2.0101
    Total writes made:      2368
    Bandwidth (MB/sec):     73.6281
    Average IOPS:           1178
    Average Latency(s):     0.0135721

becomes ``write bandwidth_last_done`` (MB is 2^20 bytes), ``rate_last_done``, ``time``, ``operations``, ``latency_mean``
…, and of its intervals of a second ``bandwidth_interval_max``, ``_min`` and ``_sd``. The clock stops with the last
operation. A read is ``read``; only the command shows whether it was ``seq`` or ``rand``, which is the factor
``random``. Without the command, reads of one file are not repetitions of each other. Source: ``obj_bencher.cc``.
"""

import re
from typing import Any

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, PART, Claim, Parsed, Row
from .reading import JsonDocument, Lines, number_from_json, parse_number, parse_size, read_json_runs, split_command
from .text import Text

NAME = "rados-bench"
HEADLINE = ("bandwidth", "rate", "latency_mean")

_MIB = 2.0**20
# --show-time
_STAMP = r"\s*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+(?:[+-]\d{4}|Z)?\s+)?"
_COMMAND = re.compile(r"(?:.{0,80}[$#%>:] ?)?(?:\S*/)?rados (?:.* )?bench\b (.*)$")
_BEGIN = re.compile(
    _STAMP + r"Maintaining (\d+) concurrent writes of (\d+) bytes(?: to objects of size (\d+))? for (?:up to|at least) "
)
_HEADER = re.compile(_STAMP + r"sec\s+Cur ops\s+started\s+finished\s+avg MB/s\s+cur MB/s\s+last lat")
_SAMPLE = re.compile(_STAMP + r"\d+ +\d+ +\d+ +\d+ +\S+ +\S+ +\S+ +\S+\s*$")
_RESULT = re.compile(_STAMP + r"([A-Z][A-Za-z]+(?: [A-Za-z]+){0,2}(?: ?\([A-Za-z/]+\))?)(?::| {2,})\s*(\S+)(?:\s|$)")
_FAILED = re.compile(r"(?:error during benchmark|Must write data before running a read|error opening pool|read got -)")
# Words of a result without unit in brackets → metric, unit, factor.
_METRICS = {
    "total time run": ("time", "s", 1.0),
    "bandwidth": ("bandwidth_last_done", "bytes/s", _MIB),
    "stddev bandwidth": ("bandwidth_interval_sd", "bytes/s", _MIB),
    "max bandwidth": ("bandwidth_interval_max", "bytes/s", _MIB),
    "min bandwidth": ("bandwidth_interval_min", "bytes/s", _MIB),
    "average iops": ("rate_last_done", "operations/s", 1.0),
    "stddev iops": ("rate_interval_sd", "operations/s", 1.0),
    "max iops": ("rate_interval_max", "operations/s", 1.0),
    "min iops": ("rate_interval_min", "operations/s", 1.0),
    "average latency": ("latency_mean", "s", 1.0),
    "stddev latency": ("latency_sd", "s", 1.0),
    "max latency": ("latency_max", "s", 1.0),
    "min latency": ("latency_min", "s", 1.0),
}
_COUNTS = {"total writes made": "write", "total reads made": "read"}
_SIZES = {"write size": "block_size", "read size": "block_size", "object size": "object_size"}
# The last line of a result.
_LAST = "min latency"
_COARSE_RATE = 1000
# What rados prints as the lowest rate and bandwidth if no interval of a second ended.
_INITIAL_LOWEST = (2147483647.0, 99999999.0 * _MIB)


def claims(text: Text) -> Claim | None:
    """Recognise the line with which a write begins, the head of the samples, the counts, or the keys of the JSON."""
    if hit := text.search(_BEGIN, "Maintaining ") or text.search(_HEADER, "Cur ops"):
        return Claim.from_match(CERTAIN, hit)
    if "Bandwidth (MB/sec):" in text.content and (count := text.find("Total writes made:", "Total reads made:")):
        return Claim(CERTAIN, *count)
    if '"total_time_run"' in text.content and "average_iops" in text.content:
        return Claim.from_match(CERTAIN, text.find('"total_writes_made"', '"total_reads_made"'))
    return None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each benchmark."""
    if '"total_time_run"' in text.content and text.find('"total_writes_made"', '"total_reads_made"'):
        return read_json_runs(text, _read_document)
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_benchmark(text.last_line)
    _separate_unknown_reads(reader.runs)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._run: Parsed | None = None
        self._mode = ""
        self._command = ""
        self._operation = ""
        self._names: set[str] = set()
        self._begun = False  # it printed more than its command

    def read_line(self, at: int, line: str) -> None:
        if match := _COMMAND.match(line.strip()):
            self.end_benchmark(at)
            self._set_command(match.group(0), match.group(1))
        elif match := _BEGIN.match(line):
            self._begin_write(at, match)
        elif _HEADER.match(line):
            if self._names:
                self.end_benchmark(at)
            self._begin()
        elif "rados: " in line[:40] or _FAILED.search(line):
            self._begin().lacks(at, Message("tool-failed", "it failed: {quote}", quote=line.strip()[:160]))
        elif line.rstrip().endswith(" is not correct!"):
            self._begin().lacks(at, Message("verification-failed", "wrong data: {quote}", quote=line.strip()[:160]))
        elif not _SAMPLE.match(line) and (match := _RESULT.match(line)):
            self._read_result(at, match.group(1).partition("(")[0].strip().lower(), match.group(2))
        elif self._run is not None and self._begun:
            note_reported_failure(self._run, at, line)

    def _begin(self) -> Parsed:
        if self._run is None:
            self._run = Parsed()
        self._begun = True
        return self._run

    def _set_command(self, command_line: str, words: str) -> None:
        run = self._begin()
        self._begun = False
        run.facts["command"] = command_line[max(0, command_line.rfind("rados ")) :][:4000]
        arguments = split_command(words)
        self._mode = next((word for word in arguments if word in ("write", "seq", "rand")), "")
        if self._mode in ("seq", "rand"):
            run.factors["random"] = int(self._mode == "rand")
        command = split_command(command_line)
        for short, long, factor in (("-t", "--concurrent-ios", "io_depth"), ("-b", "--block-size", "block_size")):
            word = _find_option(command, short, long)
            value = parse_size(word) if word else None
            if value is not None:
                run.factors[factor] = value
        if pool := _find_option(command, "-p", "--pool"):
            run.factors["pool"] = pool[:120]

    def _begin_write(self, at: int, match: re.Match[str]) -> None:
        if self._begun:
            self.end_benchmark(at)
        run = self._begin()
        self._operation = "write"
        run.factors |= {"block_size": int(match.group(2)[:18]), "io_depth": int(match.group(1)[:9])}
        if match.group(3):
            run.factors["object_size"] = int(match.group(3)[:18])

    def _read_result(self, at: int, name: str, word: str) -> None:
        if name not in _METRICS and name not in _COUNTS and name not in _SIZES:
            return
        if name in self._names or (name == "total time run" and self._names):
            self.end_benchmark(at)
        run, value = self._begin(), parse_number(word)
        self._names.add(name)
        if name in _COUNTS:
            self._operation = _COUNTS[name]
        if value is None:
            run.lacks(
                at, Message("invalid-number", "'{cell}' of {metric} is not a number", cell=word[:40], metric=name)
            )
        else:
            _add_value(run, at, self._operation, name, value)

    def end_benchmark(self, at: int) -> None:
        """Close the benchmark; one without its totals is incomplete."""
        run = self._run
        if run is not None and self._begun:
            operation = self._operation or ("write" if self._mode == "write" else "read")
            _finish_benchmark(run, operation)
            if _LAST not in self._names and not run.missing:
                run.lacks(
                    at, Message("ended-early", "the output ends before the totals of {operation}", operation=operation)
                )
            self.runs.append(run)
        self._run, self._mode, self._operation, self._begun = None, "", "", False
        self._names = set()


def _add_value(run: Parsed, at: int, operation: str, name: str, value: float) -> None:
    if name in _SIZES:
        run.factors[_SIZES[name]] = int(value)
    elif name in _COUNTS:
        run.rows.append(Row(operation, "operations", value, "operations", at, count=int(value)))
    else:
        metric, unit, factor = _METRICS[name]
        run.rows.append(Row(operation, metric, value * factor, unit, at))
        if name == "bandwidth":
            run.warn(at, Message("assumed-unit", "MB/sec was read as 2^20 bytes/s, as rados calculates"))
        elif name == "average iops" and value < _COARSE_RATE:
            run.warn(at, Message("low-resolution", "Average IOPS is cut to whole operations/s"))


def _finish_benchmark(run: Parsed, operation: str) -> None:
    """Give the rows before the count their operation. Without operations there are no rates."""
    for row in run.rows:
        row.operation = operation
    if any(row.metric.endswith("_interval_min") and row.value in _INITIAL_LOWEST for row in run.rows):
        run.rows = [row for row in run.rows if "_interval_" not in row.metric]
    operations = next((row for row in run.rows if row.metric == "operations"), None)
    if operations is not None and operations.value == 0:
        run.rows = [row for row in run.rows if row.metric in ("operations", "time")]
        run.lacks(operations.line, Message("no-results", "no operation was completed"))


def _find_option(words: list[str], short: str, long: str) -> str | None:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word in (short, long):
            return following
        if word.startswith(f"{long}="):
            return word.partition("=")[2]
    return None


def _read_document(run: Parsed, document: JsonDocument, lines: Lines) -> None:
    values: dict[str, Any] = {key.rstrip(":"): value for key, value in document.value.items()}
    line = lines.at(document.begin)
    operation = "write" if "total_writes_made" in values else "read"
    for key, factor in (("concurrent_ios", "io_depth"),):
        if value := number_from_json(values.get(key)):
            run.factors[factor] = int(value)
    for key, item in values.items():
        name = key.replace("_", " ")
        if name not in _METRICS and name not in _COUNTS and name not in _SIZES:
            continue
        at = lines.find_line(f'"{key}', document.begin, document.end)
        if (value := number_from_json(item)) is None:
            run.lacks(
                at, Message("invalid-number", "'{cell}' of {metric} is not a number", cell=str(item)[:40], metric=key)
            )
        else:
            _add_value(run, at, operation, name, value)
    _finish_benchmark(run, operation)
    if not any(row.metric == "bandwidth_last_done" for row in run.rows) and not run.missing:
        run.lacks(line, Message("ended-early", "the output ends before the totals of {operation}", operation=operation))


def _separate_unknown_reads(runs: list[Parsed]) -> None:
    """Reads without their command may be ``seq`` and ``rand``: they are no repetitions of each other."""
    unknown = [run for run in runs if "random" not in run.factors and any(row.operation == "read" for row in run.rows)]
    if len(unknown) < 2:
        return
    for place, run in enumerate(unknown, 1):
        run.factors[PART] = f"read {place} of the file"
        run.warn(
            run.rows[0].line,
            Message("unknown-order", "the output does not show whether this read was seq or rand: kept apart"),
        )
