"""warp's report for people: what a benchmark and ``warp analyze`` print at their end, from 0.3 to 1.x → Parsed.

    Operation: PUT. Concurrency: 20                      Report: PUT. Concurrency: 20. Ran: 57s
    * Average: 719.50 MiB/s, 7.20 obj/s                   * Average: 719.50 MiB/s, 7.20 obj/s
                                                          * Reqs: Avg: 59.0ms, 50%: 57.1ms, …, Slowest: 210.4ms
    Throughput, split into 57 x 1s:
     * Fastest: 820.8MiB/s, 8.21 obj/s

becomes ``put bandwidth``, ``rate``, ``latency_*``, ``first_byte_latency_*`` as in warp's JSON (warp.py), and, of the
intervals, ``bandwidth_interval_max``, ``_p50`` and ``_min``. Operations of one benchmark are one run: ``warp get``
prints the PUT that prepared it, too. Source: ``cli/analyze.go``, ``pkg/aggregate/live.go``.
"""

import re
from dataclasses import dataclass, field

from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.vocabulary import WARP

from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row
from .reading import BINARY, PER_SECOND, parse_number, split_command
from .text import Text

_HEAD = re.compile(
    r"(Operation|Report): ([A-Za-z_]{2,40})(?: \(\d+(?: reqs)?\)| - total: \d+)?"
    r"(?:\.|, \d+(?:\.\d+)?%,)?(|[ ,].*\b(?:Concurrency: \d|Ran\b).*)$"
)
_SKIPPED = re.compile(r"Skipping\d? ([A-Za-z_]{2,40}) too few samples\.")
_SPEED = re.compile(
    r"\s*\* (?:(Average|Throughput|Fastest|50% Median|Slowest): +)?(?:([\d.]+) ?([KMGTP]?)i?B/s, )?([\d.]+) obj/s(.*)$"
)
_TOTAL = re.compile(r"Cluster Total: +(?:([\d.]+) ?([KMGTP]?)i?B/s, )?([\d.]+) obj/s(.*)$")
_LATENCY = re.compile(r"\s*\* (Reqs: |TTFB: |First Byte: )?(Avg|Average): ([\d.]+\S*?),? (.*)$")
_LATENCY_PART = re.compile(r"(\w+%?): ([\d.hmsnuµ]+)(?=[,. ]|$)")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|us|µs|ns|s))?$")
_RAN = re.compile(r"Ran:? (?:Duration: )?([\d.hmsnuµ]+?)[.,]?(?: |$)")
_SETTINGS = (
    (re.compile(r"Concurrency: (\d{1,9})"), "concurrency"),
    (re.compile(r"Warp Instances: (\d{1,9})"), "nodes"),
    (re.compile(r"Hosts: (\d{1,9})"), "servers"),
    (re.compile(r"Size: (\d{1,18}) bytes"), "object_size"),
    (re.compile(r"Objects per (?:operation|request): (\d{1,9})"), "batch"),
)
_ERRORS = re.compile(r"\s*\*? ?(?:Total )?Errors: ?(\d{1,18})\b")
_ERRORS_INSIDE = re.compile(r", (\d{1,18}) errors")
_COMMAND = re.compile(r"(?:.{0,80}[$#%>λ] )?(?:\S*/)?warp (?=[a-z]+ )(.*--.*)$")
_DATA_FILE = re.compile(r'.{0,40}Benchmark data written to "?([^"\s]{1,300})"?')
_SECRET = re.compile(r"(--?(?:access-key|secret-key|sts-web-token|influxdb)[= ])\S+")
_BY_PART = ("Throughput by host:", "Throughput by client:", "Requests by host:")
_STATISTICS = {
    "Avg": "mean",
    "Average": "mean",
    "50%": "p50",
    "90%": "p90",
    "99%": "p99",
    "Fastest": "min",
    "Slowest": "max",
    "StdDev": "sd",
    "Best": "min",
    "25th": "p25",
    "Median": "p50",
    "75th": "p75",
    "90th": "p90",
    "99th": "p99",
    "Worst": "max",
}
_INTERVALS = {"Fastest": "interval_max", "50% Median": "interval_p50", "Slowest": "interval_min"}


def claim_report(text: Text) -> Claim | None:
    """Recognise an operation's heading; its rates, or the words that it was skipped, must be in the text."""
    hit = text.search(_HEAD, "\nOperation: ", "\nReport: ")
    if hit is not None and text.search(_SPEED, " obj/s"):
        return Claim.from_match(CERTAIN if "Concurrency: " in hit[1].group() else LIKELY, hit)
    if "too few samples. Longer benchmark run" in text.content:
        return Claim.from_match(LIKELY, text.search(_SKIPPED, "\nSkipping"))
    return None


def parse_report(text: Text) -> list[Parsed]:
    """Return one Parsed for each benchmark."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_benchmark()
    return reader.runs


@dataclass
class _Operation:
    """Section of an operation: its settings and rows, whether it has its rate or was skipped."""

    name: str
    line: int
    form: str
    settings: dict[str, FactorValue] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    is_complete: bool = False
    is_ignored: bool = False  # lines of single hosts, clients or sizes
    is_glued: bool = False  # the heading of the next operation was lost in another line


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._run = Parsed()
        self._operations: list[_Operation] = []
        self._skipped: list[tuple[int, str]] = []
        self._command = ""

    def read_line(self, at: int, line: str) -> None:
        stripped = line.strip()
        if self._command.endswith("\\"):
            self._command = f"{self._command[:-1].rstrip()} {stripped}"
            if not self._command.endswith("\\"):
                self._set_command()
        elif match := _COMMAND.match(stripped):
            self._command = match.group(1)
            if not self._command.endswith("\\"):
                self._set_command()
        elif match := _HEAD.match(stripped):
            self._begin_operation(at, match.group(2).lower(), match.group(1), match.group(3))
        elif match := _SKIPPED.match(stripped):
            self._skip_operation(at, match.group(1).lower())
        elif match := _DATA_FILE.match(stripped):
            self._begin_benchmark()
            self._run.facts["data_file"] = match.group(1)
        elif match := _TOTAL.match(stripped):
            self._begin_operation(at, "all", "Operation", "")
            self._add_speed(at, "", *match.groups())
        elif stripped == "Mixed operations." or "<ERROR>" in stripped:
            self._read_message(at, stripped)
        elif self._operations:
            self._read_result(at, line, stripped)

    def _read_message(self, at: int, line: str) -> None:
        if "<ERROR>" in line:
            self._run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        else:
            self._begin_benchmark()

    def _read_result(self, at: int, line: str, stripped: str) -> None:
        operation = self._operations[-1]
        if "Operation: " in stripped or "Report: " in stripped:
            self._run.lacks(at, GLUED)
            operation.is_ignored = operation.is_glued = True
        elif stripped.startswith(_BY_PART):
            operation.is_ignored = True
        elif stripped.startswith("Throughput"):
            operation.is_ignored = operation.is_glued
        elif stripped.startswith("Request size "):
            operation.is_ignored = True
            self._run.warn(
                at,
                Message(
                    "latencies-left-out", "latencies of single sizes of {operation}: left out", operation=operation.name
                ),
            )
        elif stripped.startswith("* Objects per request:"):
            _read_settings(operation, stripped)
        elif operation.is_ignored:
            return
        elif stripped.find("* ", 2) > 0:
            self._run.lacks(at, GLUED)
        elif match := _ERRORS.match(line):
            self._add_errors(at, int(match.group(1)))
        elif match := _SPEED.match(line):
            self._add_speed(at, *match.groups())
        elif match := _LATENCY.match(line):
            self._add_latencies(at, "latency" if match.group(1) in (None, "Reqs: ") else "first_byte_latency", stripped)

    def _set_command(self) -> None:
        command, self._command = f"warp {self._command}", ""
        self._begin_benchmark()
        words = split_command(command)
        self._run.facts["command"] = _SECRET.sub(r"\1…", command)[:4000]
        self._run.factors["benchmark"] = words[1][:40]
        for name, size in WARP.read_settings(words).items():
            self._run.factors[name] = (WARP.find_value(words, name) or "")[:40] if size is None else size

    def _begin_benchmark(self) -> None:
        if self._operations or self._skipped:
            self.end_benchmark()

    def _begin_operation(self, at: int, name: str, form: str, rest: str) -> None:
        name = "all" if form == "Report" and name == "total" else name
        if any(operation.name == name for operation in self._operations):
            self.end_benchmark()
        operation = _Operation(name, at, form)
        self._operations.append(operation)
        _read_settings(operation, rest)
        seconds = parse_duration(match.group(1)) if (match := _RAN.search(rest)) else None
        if seconds is not None and form == "Report":
            self._run.facts[f"window of {name}, ms"] = round(1000 * seconds)

    def _skip_operation(self, at: int, name: str) -> None:
        if self._operations and self._operations[-1].name == name and not self._operations[-1].rows:
            self._operations.pop()
        elif any(operation.name == name for operation in self._operations):
            self.end_benchmark()
        self._skipped.append((at, name))

    def _add_errors(self, at: int, count: int) -> None:
        if not count:
            return
        name = self._operations[-1].name
        self._run.lacks(
            at,
            Message(
                "operations-failed",
                "{n_errors:.0f} of {operation} failed{reason}",
                n_errors=count,
                operation=name,
                reason="",
            ),
        )

    def _add_speed(self, at: int, which: str | None, size: str | None, unit: str | None, rate: str, rest: str) -> None:
        operation = self._operations[-1]
        statistic = _INTERVALS.get(which or "")
        if statistic is None and operation.is_complete:
            return
        bandwidth, objects = parse_number(size or "0"), parse_number(rate)
        if bandwidth is None or objects is None:
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        suffix = f"_{statistic}" if statistic else ""
        bandwidth *= BINARY[(unit or "").lower()]
        if bandwidth or (statistic and any(row.metric == "bandwidth" for row in operation.rows)):
            operation.rows.append(Row(operation.name, f"bandwidth{suffix}", bandwidth, "bytes/s", at))
        operation.rows.append(Row(operation.name, f"rate{suffix}", objects, "operations/s", at))
        operation.is_complete = operation.is_complete or statistic is None
        if match := _ERRORS_INSIDE.search(rest):
            self._add_errors(at, int(match.group(1)))

    def _add_latencies(self, at: int, prefix: str, line: str) -> None:
        operation = self._operations[-1]
        for word, cell in _LATENCY_PART.findall(line):
            seconds, statistic = parse_duration(cell), _STATISTICS.get(word)
            if statistic is None or any(row.metric == f"{prefix}_{statistic}" for row in operation.rows):
                continue
            if seconds is None:
                self._run.lacks(at, Message("invalid-number", "'{cell}' is not a duration: left out", cell=cell[:40]))
            else:
                operation.rows.append(Row(operation.name, f"{prefix}_{statistic}", seconds, "s", at))
        if operation.form == "Report":
            self._run.warn(
                at,
                Message(
                    "averaged-percentiles",
                    "mean, percentiles and standard deviation of latencies are means over windows of 10 s and clients",
                ),
            )

    def end_benchmark(self) -> None:
        """Close the benchmark: settings that all of its operations share are settings of the run."""
        run, operations = self._run, self._operations
        if not (operations or self._skipped or run.missing):
            return
        for operation in operations:
            if not operation.is_complete:
                run.lacks(
                    operation.line,
                    Message("ended-early", "the output ends before the rate of {operation}", operation=operation.name),
                )
        for at, name in self._skipped:
            message = Message("ended-early", "warp skipped {name}: too little data", name=name.upper())
            # The upload before a benchmark may be too short for warp.
            is_preparation = name == "put" and any(operation.is_complete for operation in operations)
            (run.warn if is_preparation else run.lacks)(at, message)
        _share_settings(run, operations)
        run.rows = [row for operation in operations for row in operation.rows]
        self.runs.append(run)
        self._run, self._operations, self._skipped = Parsed(), [], []


def _read_settings(operation: _Operation, words: str) -> None:
    for pattern, name in _SETTINGS:
        if (match := pattern.search(words)) and (name != "batch" or match.group(1) != "1"):
            operation.settings[name] = int(match.group(1))


def _share_settings(run: Parsed, operations: list[_Operation]) -> None:
    for name in dict.fromkeys(name for operation in operations for name in operation.settings):
        values = {operation.settings.get(name) for operation in operations if operation.name != "all"}
        values = values or {operation.settings.get(name) for operation in operations}
        if len(values) == 1:
            run.factors.setdefault(name, values.pop())
            continue
        for operation in operations:
            if name in operation.settings:
                for row in operation.rows:
                    row.factors = {**(row.factors or {}), name: operation.settings[name]}


def parse_duration(word: str) -> float | None:
    """Return the seconds of Go's ``59.0ms``, ``1.575s`` or ``1h4m57s``; None if it is none."""
    match = _DURATION.match(word) if word else None
    if match is None or any(len(part or "") > 9 for part in match.groups()[:2]):
        return None
    hours, minutes, rest, unit = match.groups()
    seconds = parse_number(rest) if rest else 0.0
    return (
        None
        if seconds is None
        else 3600.0 * int(hours or 0) + 60.0 * int(minutes or 0) + seconds / PER_SECOND[unit or "s"]
    )
