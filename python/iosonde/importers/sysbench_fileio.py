"""sysbench fileio, 0.4 to 1.1: the text of ``sysbench fileio … run``.

    File operations:
        reads/s:                      27264.06
    Throughput:
        read, MiB/s:                  426.00
    Latency (ms):
             95th percentile:                        0.30

becomes ``read rate_last_done`` and ``bandwidth_last_done``, the same for ``write`` and ``fsync``: the work of all
threads over the whole time of the run. Fsyncs are inside (``fsync`` in ``includes`` if they are enabled). The latency
is over all events together, reads, writes and fsyncs: operation ``event``. Intermediate reports are parts of the run,
not trials. Zero rates of kinds outside the test have no row.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_integer, parse_number, parse_size
from .text import Text

NAME = "sysbench-fileio"
HEADLINE = ("bandwidth", "rate", "latency_p95")

_BEGIN = "Running the test with following options"
_BANNER = re.compile(r"sysbench (\d[\w.\-]*)")
_MODES = {
    "Doing sequential write (creation) test": "seqwr",
    "Doing sequential rewrite test": "seqrewr",
    "Doing sequential read test": "seqrd",
    "Doing random read test": "rndrd",
    "Doing random write test": "rndwr",
    "Doing random r/w test": "rndrw",
}
_ENGINES = re.compile(r"Using (\w+) I/O mode")
_FILES = re.compile(r"(\d+) files, (\S+) each")
_SETTINGS = {
    "Number of threads": "threads",
    "Read/Write ratio for combined random IO test": "read_write_ratio",
}
_REQUESTED_RATE = re.compile(r"Target transaction rate: (\d{1,12})/sec$")
_FSYNC_EACH = re.compile(r"Periodic FSYNC enabled, calling (fsync|fdatasync)\(\) each (\d+) requests")
_RATE = re.compile(r"\s+(reads|writes|fsyncs)/s:\s+(\S+)\s*$")
_BANDWIDTH = re.compile(r"\s+(read|written), (MiB|MB)/s:\s+(\S+)\s*$")
_LATENCY = re.compile(r"\s+(min|avg|max|(\d+)th percentile):\s+([\d.]+)(ms)?\s*$")
_EVENTS = re.compile(r"\s+total number of events:\s+(\d+)\s*$")
_TIME = re.compile(r"\s+total time:\s+([\d.]+)s\s*$")
_KINDS = {"reads": "read", "writes": "write", "fsyncs": "fsync", "read": "read", "written": "write"}
# sysbench 1.1: a line `IOPS=…` and `MiB/s=…` below `read:`.
_OF_KIND = re.compile(r"\s+(read|write|fsync):\s+IOPS=(\S+)(?: (\S+) MiB/s \(\S+ MB/s\))?\s*$")
_TRANSFERRED = re.compile(r"Read (\S+)\s+Written (\S+)\s+Total transferred (\S+)\s+\((\S+)/sec\)")
_REQUESTS = re.compile(r"\s*(\S+) Requests/sec executed")


def claims(text: Text) -> Claim | None:
    """Recognise the banner of sysbench and the words of its fileio test."""
    occurrence = text.find("Extra file open flags:", "total file size\nBlock size", "Operations performed:  ")
    if not occurrence or not text.find("fsyncs/s:", _BEGIN, "Requests/sec executed"):
        return None
    hit = text.search(_BANNER, "\nsysbench ", first_lines=50)
    return Claim(CERTAIN, hit[0], hit[1].group()) if hit else Claim(LIKELY, *occurrence)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each ``run`` in the file."""
    runs: list[Parsed] = []
    reader: _Reader | None = None
    for at, line in text.numbered():
        if (match := _BANNER.match(line)) or (line.startswith(_BEGIN) and (reader is None or reader.run.rows)):
            reader = _Reader(Parsed(version=match.group(1)[:40] if match else ""))
            runs.append(reader.run)
        elif reader is not None:
            reader.line(at, line)
    runs = [run for run in runs if "test_mode" in run.factors or run.rows or run.missing]
    for run in runs:
        if not run.rows:
            run.lacks(text.last_line, Message("ended-early", "no result: it ended early"))
        elif not any(row.metric == "time" for row in run.rows):
            run.lacks(text.last_line, Message("ended-early", "'General statistics' is missing: it ended early"))
        elif not any(row.metric == "latency_max" for row in run.rows):
            run.lacks(text.last_line, Message("ended-early", "its latencies are missing: it ended early"))
    return runs


class _Reader:
    def __init__(self, run: Parsed) -> None:
        self.run = run
        self._section = ""

    def line(self, at: int, line: str) -> None:
        """Read one line."""
        if line.endswith(":") and line[:1].strip():
            self._section = line
        elif not line[:1].strip() and line.strip():
            self._read_result(at, line)
        elif line.strip():
            self._read_setting(at, line.strip())

    def _read_setting(self, at: int, line: str) -> None:
        factors = self.run.factors
        name, _, value = line.partition(": ")
        if name in _SETTINGS and (amount := parse_number(value.strip())) is not None:
            factors[_SETTINGS[name]] = int(amount) if amount == int(amount) else amount
        elif line in _MODES:
            factors["test_mode"] = _MODES[line]
        elif match := _ENGINES.match(line):
            factors["io_mode"] = {"synchronous": "sync", "asynchronous": "async"}.get(match.group(1), match.group(1))
        elif match := _FILES.match(line):
            factors |= {"files": parse_integer(match.group(1)), "file_size": parse_size(match.group(2))}
        elif line.startswith("Block size "):
            factors["block_size"] = parse_size(line.removeprefix("Block size "))
        elif line.startswith("Extra file open flags: "):
            flags = line.removeprefix("Extra file open flags: ").strip("() ")
            factors["open_flags"] = "none" if flags in ("none", "0") else flags[:60]
        elif match := _REQUESTED_RATE.match(line):
            factors["requested_rate"] = int(match.group(1))
        elif match := _FSYNC_EACH.match(line):
            factors |= {"fsync_mode": match.group(1), "fsync_each": parse_integer(match.group(2))}
        elif line.startswith("Calling fsync() at the end of test, Enabled"):
            factors["fsync_at_end"] = True
        elif line.startswith("FATAL"):
            self.run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        elif match := _TRANSFERRED.match(line):
            self._read_old_result(at, match)
        elif not note_reported_failure(self.run, at, line) and line.startswith(("WARNING", "ALERT", "error")):
            self.run.warn(at, Message("tool-warning", "sysbench reports: {quote}", quote=line[:160]))

    def _read_result(self, at: int, line: str) -> None:
        inside = "fsync" if self.run.factors.get("fsync_at_end") or "fsync_each" in self.run.factors else ""
        if (match := _RATE.match(line)) and self._section.startswith("File operations"):
            self._add_row(at, match.group(2), _KINDS[match.group(1)], "rate_last_done", "operations/s", 1.0, inside)
        elif (match := _BANDWIDTH.match(line)) and self._section.startswith("Throughput"):
            factor = 2.0**20 if match.group(2) == "MiB" else 1e6
            self._add_row(at, match.group(3), _KINDS[match.group(1)], "bandwidth_last_done", "bytes/s", factor, inside)
        elif match := _OF_KIND.match(line):
            self._add_row(at, match.group(2), match.group(1), "rate_last_done", "operations/s", 1.0, inside)
            if match.group(3):
                self._add_row(at, match.group(3), match.group(1), "bandwidth_last_done", "bytes/s", 2.0**20, inside)
        elif match := _TIME.match(line):
            self._add_row(at, match.group(1), "event", "time", "s", 1.0, "")
        elif match := _EVENTS.match(line):
            self._add_row(at, match.group(1), "event", "operations", "operations", 1.0, "")
        elif (match := _LATENCY.match(line)) and (self._section.startswith("Latency") or match.group(4)):
            statistic = f"p{match.group(2)}" if match.group(2) else {"avg": "mean"}.get(match.group(1), match.group(1))
            self._add_row(at, match.group(3), "event", f"latency_{statistic}", "s", 1e-3, "")
        elif match := _REQUESTS.match(line):
            self._add_row(at, match.group(1), "event", "rate_last_done", "operations/s", 1.0, inside)

    def _read_old_result(self, at: int, match: re.Match[str]) -> None:
        """Read the result of 0.4 and 0.5, which print the bytes of each kind, and one rate for all."""
        for text, operation in ((match.group(1), "read"), (match.group(2), "write")):
            if size := parse_size(text):
                self.run.rows.append(Row(operation, "bytes", size, "bytes", at))
        rate = parse_size(match.group(4))
        if rate is None:
            self.run.lacks(
                at, Message("invalid-number", "'{cell}/sec' is not a rate: left out", cell=match.group(4)[:40])
            )
        elif rate:
            self.run.rows.append(Row("event", "bandwidth_last_done", rate, "bytes/s", at))

    def _add_row(self, at: int, text: str, operation: str, metric: str, unit: str, factor: float, inside: str) -> None:
        if (value := parse_number(text)) is None:
            self.run.lacks(at, Message("invalid-number", "'{cell}' is not a number: left out", cell=text[:40]))
        elif value > 0:  # 0.00 ms was rounded; a rate of 0 is a kind outside the test
            base = value / 1000 if factor == 1e-3 else value * factor
            self.run.rows.append(Row(operation, metric, base, unit, at, includes=inside))
