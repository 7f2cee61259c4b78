"""ioping 0.6 to 1.3: latency of single requests, one after the other.

    --- /data (ext4 /dev/sda3 100 GiB) ioping statistics ---
    9 requests completed in 3.01 ms, 36 KiB read, 2.99 k iops, 11.7 MiB/s
    generated 10 requests in 9.00 s, 40 KiB, 1 iops, 4.44 KiB/s
    min/avg/max/mdev = 254.2 us / 334.5 us / 396.4 us / 46.5 us

becomes ``read latency_mean``, ``_min``, ``_max``, ``_sd``, ``operations``, and ``rate_while_busy`` and
``bandwidth_while_busy``: requests over the sum of their latencies, without the pauses between them. The second line is
``time``, ``rate`` and ``bandwidth`` with the pauses. The first request is a warm-up, and counts in the second line
only. mdev is the standard deviation of the population. Numbers have three digits.
"""

import re
from collections.abc import Mapping, Sequence

from iosonde.core.message import Message

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import BINARY, DECIMAL, parse_number
from .text import Text

NAME = "ioping"
HEADLINE = ("latency_mean", "latency_max")

_NUMBER, _SIZE = r"([\d.]+)(?: ([kMGTPE]))?", r"([\d.]+) ?(?:([KMGTPE])i?)?(?:B|bytes)"
_TIME = r"([\d.]+) ?(ns|us|ms|s|min|hour|day)"
_REQUEST = re.compile(rf"\s*{_SIZE} (<<<|>>>|from|to) (.*) \((\S+)\s*([^)]*)\): request=(\d+) time=([\d.]+) ?\w+")
_TARGET = re.compile(r"\s*--- (.*) \((\S+)\s*(.*)\) ioping statistics ---\s*$")
_COMPLETED = re.compile(
    rf"\s*{_NUMBER} requests completed in {_TIME}, (?:{_SIZE}(?: (read|written))?, )?{_NUMBER} iops, {_SIZE}/s"
)
_GENERATED = re.compile(
    rf"\s*+(?:.* too \w+, )?generated {_NUMBER} requests in {_TIME}, {_SIZE}, {_NUMBER} iops, {_SIZE}/s"
)
_SPREAD = re.compile(rf"\s*min/avg/max/mdev = {_TIME} / {_TIME} / {_TIME} / {_TIME}")
_OLD_SPREAD = re.compile(r"\s*min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) (us|ms|s)")
_TOO = re.compile(rf"\s*(?:{_NUMBER} too fast, )?(?:{_NUMBER} too slow, )?generated")
_COMMAND = re.compile(r"(?:.{0,80}[$#%>] )?(?:\S*/)?(ioping (?:-.*|\S+))$")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hour": 3600.0, "day": 86400.0}
_STATISTICS = ("min", "mean", "max", "sd")


def claims(text: Text) -> Claim | None:
    """Recognise the heading of the statistics, or a request."""
    if hit := text.search(_TARGET, " ioping statistics ---"):
        return Claim.from_match(CERTAIN, hit)
    return Claim.from_match(LIKELY, text.search(_REQUEST, ": request="))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_execution(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._run: Parsed | None = None
        self._operation = "read"
        self._is_ended = False

    def read_line(self, at: int, line: str) -> None:
        if match := _COMMAND.match(line.strip()):
            self.end_execution(at)
            self._begin().facts["command"] = match.group(1)[:4000]
        elif match := _REQUEST.match(line):
            self._add_request(at, match)
        elif match := _TARGET.match(line):
            if self._is_ended or (self._run is not None and self._run.rows):
                self.end_execution(at)
            _set_target(self._begin(), *match.groups())
        elif line.lstrip().startswith("ioping: "):
            self._begin().lacks(at, Message("tool-failed", "it failed: {quote}", quote=line.strip()[:160]))
        elif self._run is not None:
            self._read_result(at, line)

    def _begin(self) -> Parsed:
        if self._run is None:
            self._run, self._operation, self._is_ended = Parsed(), "read", False
        return self._run

    def _add_request(self, at: int, match: re.Match[str]) -> None:
        size, unit, arrow, target, file_system, device, number = match.group(1, 2, 3, 4, 5, 6, 7)
        if number == "1" and self._run is not None and ("target" in self._run.factors or self._is_ended):
            self.end_execution(at)
        run = self._begin()
        if value := _scale((size, unit), BINARY):
            run.factors["block_size"] = int(value)
        operation = "write" if arrow in (">>>", "to") else "read"
        self._operation = operation if number == "1" or operation == self._operation else "readwrite"
        _set_target(run, target, file_system, device)

    def _read_result(self, at: int, line: str) -> None:
        run = self._begin()
        if match := _COMPLETED.match(line):
            self._add_completed(run, at, match)
        elif "generated " in line and (match := _GENERATED.match(line)):
            self._add_generated(run, at, match)
        elif match := _SPREAD.match(line):
            words = match.groups()
            self._add_spread(run, at, [_scale(words[place : place + 2], _SECONDS) for place in range(0, 8, 2)])
        elif match := _OLD_SPREAD.match(line):
            self._add_spread(run, at, [_scale((word, match.group(5)), _SECONDS) for word in match.groups()[:4]])

    def _add_completed(self, run: Parsed, at: int, match: re.Match[str]) -> None:
        words = match.groups()
        if words[6]:
            self._operation = "read" if words[6] == "read" else "write"
        elif words[4]:
            self._operation = "readwrite"  # a size, and no word for its direction
        count = _scale(words[0:2], DECIMAL)
        self._add(run, at, "operations", count, "operations")
        self._add(run, at, "rate_while_busy", _scale(words[7:9], DECIMAL), "operations/s")
        self._add(run, at, "bandwidth_while_busy", _scale(words[9:11], BINARY), "bytes/s")
        if not count:
            run.lacks(at, Message("no-results", "no request was completed"))

    def _add_generated(self, run: Parsed, at: int, match: re.Match[str]) -> None:
        words = match.groups()
        self._add(run, at, "time", _scale(words[2:4], _SECONDS), "s")
        self._add(run, at, "rate", _scale(words[6:8], DECIMAL), "operations/s")
        self._add(run, at, "bandwidth", _scale(words[8:10], BINARY), "bytes/s")
        if (skipped := _TOO.match(line := match.group(0))) and "too " in line:
            counts = [_scale(skipped.groups()[place : place + 2], DECIMAL) for place in (0, 2)]
            run.warn(
                at,
                Message(
                    "left-out-by-the-tool",
                    "ioping left out {n_requests:.0f} requests as too fast or too slow",
                    n_requests=sum(count or 0 for count in counts),
                ),
            )

    def _add_spread(self, run: Parsed, at: int, values: list[float | None]) -> None:
        for statistic, value in zip(_STATISTICS, values, strict=True):
            self._add(run, at, f"latency_{statistic}", value, "s")
        if not any(row.metric == "operations" for row in run.rows) and not run.missing:
            run.lacks(at, Message("no-results", "the line of completed requests, with their direction, is not there"))
        run.facts["standard_deviation"] = "population"
        self._is_ended = True

    def _add(self, run: Parsed, at: int, metric: str, value: float | None, unit: str) -> None:
        if value is None:
            run.lacks(at, Message("invalid-number", "{metric} is not a number", metric=metric))
        else:
            run.rows.append(Row(self._operation, metric, value, unit, at))

    def end_execution(self, at: int) -> None:
        """Close the execution; one without its statistics is incomplete."""
        run = self._run
        if run is not None and (run.factors or run.rows or run.missing):
            if not self._is_ended and not run.missing:
                run.lacks(at, Message("ended-early", "the output ends without the statistics"))
            self.runs.append(run)
        self._run, self._is_ended = None, False


def _set_target(run: Parsed, target: str, file_system: str, device: str) -> None:
    run.factors["target"] = target[:200]
    if file_system not in ("block", "device", "character"):
        run.factors["file_system"] = file_system[:40]
        run.facts["device"] = device.partition(" ")[0][:200]


def _scale(cell: Sequence[str | None], units: Mapping[str, float]) -> float | None:
    """Return a number and its unit in base units; None if it is none."""
    word, unit = cell[0], cell[1] or ""
    value = parse_number(word or "")
    return None if value is None else value * units[unit if unit in units else unit.lower()]
