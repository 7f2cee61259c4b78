"""HDF5's ``h5perf`` and ``h5perf_serial``: POSIX, MPI-IO and HDF5 writing and reading the same data.

    Number of processors = 4
    Transfer Buffer Size: 262144 bytes, File size: 64.00 MB
        IO API = MPIO
            Write Open-Close (3 iteration(s)):
                Maximum Throughput: 512.50 MB/s (  0.125 s)
                Average Throughput: 480.25 MB/s

becomes, for each API at each number of processes and size of transfers (an execution of its own), ``write_open_close
bandwidth_max``, ``bandwidth_mean`` and ``bandwidth_min`` of its iterations, with ``-t`` also their times; a single
iteration is ``bandwidth_last_done``. ``write`` and ``read`` are without open and close, ``raw_write`` and ``raw_read``
the transfers alone. The clock is that of the slowest process. MB are 2^20 bytes. Source: ``pio_perf.c``,
``sio_perf.c``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import CERTAIN, GLUED, Claim, Parsed, Row
from .reading import parse_number, parse_size
from .text import Text

NAME = "h5perf"
HEADLINE = ("bandwidth",)

_MIB = 2.0**20
_RANK = r"\s*(?:rank \d+: )?"
_VERSION = re.compile(_RANK + r"HDF5 Library: Version ([\w.-]+)\s*$")
_PARAMETER = re.compile(
    _RANK
    + r"(I/O Method for MPI and HDF5|Block Pattern in Dataset|Geometry|(?:Data|HDF5 data) storage method(?: in HDF5)?"
    r"|HDF5 file driver|Block size|Number of bytes per process per dataset)=(\S.*)$"
)
_PROCESSES = re.compile(r"\s*Number of processors = (\d{1,9})\s*$")
_BUFFER = re.compile(
    r"\s*Transfer Buffer Size(?: \(bytes\))?: (\d{1,18})(?:x(\d{1,18}))?(?: bytes, (File size: .*))?\s*$"
)
_FILE_SIZE = re.compile(r"\s*File [Ss]ize(?:\(MB\))?: (\d{1,15}\.\d\d)(?: MBs?)?\s*$")
_FILES = re.compile(r"\s*# of files: (\d{1,9}), # of datasets: (\d{1,9}), dataset size: ")
_API = re.compile(r"\s*IO API = (POSIX|MPIO|PHDF5|HDF5)(?: \(.*\))?\s*$")
_GROUP = re.compile(
    r"\s*((?:Raw Data )?(?:Write|Read)|(?:Write|Read) Open-Close|(?:Write|Read) File (?:Open|Close)) "
    r"\((\d{1,9}) iteration\(s\)\):\s*$"
)
_THROUGHPUT = re.compile(r"\s*(Maximum|Average|Minimum) Throughput: +(\S+) MB/s(?: \( *(\S+) s\))?\s*$")
_ACCUMULATED = re.compile(r"\s*(Maximum|Average|Minimum) Accumulated Time using \d+ file\(s\): +(\S+) s\s*$")
_DAMAGED = re.compile(r"(?:Maximum|Average|Minimum) (?:Throughput|Accumulated)|iteration\(s\)\):|IO API = ")
_FAILED = re.compile(r"\s*(?:HDF5-DIAG: |Proc \d+: \*\*\*|MPI_Comm_split failed|number of process\(\d+\) must be)")
_STATISTICS = {"Maximum": "max", "Average": "mean", "Minimum": "min"}
# The highest throughput has the shortest time.
_TIMES = {"Maximum": "min", "Average": "mean", "Minimum": "max"}
_APIS = {"MPIO": "MPIIO", "PHDF5": "HDF5"}
_SETTINGS = {
    "I/O Method for MPI and HDF5": "type",
    "Block Pattern in Dataset": "pattern",
    "Geometry": "geometry",
    "Data storage method in HDF5": "layout",
    "HDF5 data storage method": "layout",
    "HDF5 file driver": "file_driver",
    "Block size": "block_size",
    "Number of bytes per process per dataset": "bytes_per_process",
}


def claims(text: Text) -> Claim | None:
    """Recognise the version above the parameters, or a group of throughputs below an API."""
    if "==== Parameters ====" in text.content and (hit := text.search(_VERSION, "HDF5 Library: Version")):
        return Claim.from_match(CERTAIN, hit)
    if text.search(_API, "IO API = ") is None and text.search(_PROCESSES, "Number of processors = ") is None:
        return None
    return Claim.from_match(CERTAIN, text.search(_GROUP, " iteration(s)):"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each API at each setting."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    return reader.end(text.last_line)


class _Reader:
    def __init__(self) -> None:
        self._runs: list[Parsed] = []
        self._operations: list[set[str]] = []  # of each run, those that are whole
        self._version = ""
        self._settings: dict[str, FactorValue] = {}
        self._run: Parsed | None = None
        self._group: tuple[str, int] | None = None
        self._statistics: set[str] = set()
        self._failures: list[tuple[int, str]] = []
        self._last_line = 0

    def read_line(self, at: int, line: str) -> None:
        self._last_line = at
        if match := _VERSION.match(line):
            self._version, self._settings, self._run, self._group = match.group(1)[:40], {}, None, None
        elif match := _API.match(line):
            self._begin_api(match.group(1))
        elif match := _GROUP.match(line):
            self._begin_group(match.group(1), int(match.group(2)))
        elif match := _THROUGHPUT.match(line):
            self._add_throughput(at, *match.groups())
        elif match := _ACCUMULATED.match(line):
            self._add_number(at, f"time_{_STATISTICS[match.group(1)]}", match.group(2), "s", 1.0)
            self._end_statistic(match.group(1))
        elif _DAMAGED.search(line):
            self._note_damage(at, line)
        elif _FAILED.match(line):
            self._failures.append((at, line.strip()[:160]))
        elif not self._read_setting(line):
            note_reported_failure(self._run, at, line)

    def _read_setting(self, line: str) -> bool:
        if match := _PARAMETER.match(line):
            name, value = _SETTINGS[match.group(1)], match.group(2).strip()
            size = parse_size(value) if name in ("block_size", "bytes_per_process") else None
            self._settings[name] = value[:60] if size is None else size
            if name == "type":
                self._settings[name] = value[:60].lower()
        elif match := _PROCESSES.match(line):
            self._settings["ranks"] = int(match.group(1))
            self._run = self._group = None
        elif match := _BUFFER.match(line):
            first, second, rest = match.groups()
            self._settings["transfer_size"] = int(first) * int(second or 1)
            self._run = self._group = None
            return self._read_setting(rest) if rest else True
        elif match := _FILE_SIZE.match(line):
            self._settings["file_size"] = round(float(match.group(1)) * _MIB)
        elif match := _FILES.match(line):
            self._settings |= {"files": int(match.group(1)), "datasets": int(match.group(2))}
        else:
            return False
        return True

    def _begin_api(self, api: str) -> None:
        self._run = Parsed(version=self._version, factors={**self._settings, "api": _APIS.get(api, api)})
        self._runs.append(self._run)
        self._operations.append(set())
        self._group = None

    def _begin_group(self, name: str, count: int) -> None:
        operation = name.lower().replace("raw data ", "raw_").replace(" ", "_").replace("-", "_")
        self._group, self._statistics = (operation, count), set()
        if self._run is not None:
            self._run.factors["iterations"] = count

    def _add_throughput(self, at: int, word: str, speed: str, time: str | None) -> None:
        self._add_number(at, f"bandwidth_{_STATISTICS[word]}", speed, "bytes/s", _MIB)
        if time is not None:
            self._add_number(at, f"time_{_TIMES[word]}", time, "s", 1.0)
        self._end_statistic(word)

    def _add_number(self, at: int, metric: str, cell: str, unit: str, factor: float) -> None:
        if self._run is None or self._group is None:
            return
        operation, count = self._group
        value = parse_number(cell)
        if value is None:
            text = "'{cell}' of {metric} is not a number"
            self._run.lacks(at, Message("invalid-number", text, cell=cell[:40], metric=metric))
            return
        if count == 1:  # the same number three times
            if metric.endswith(("_mean", "_min")):
                return
            kind = metric.partition("_")[0]
            metric = "bandwidth_last_done" if kind == "bandwidth" else kind
        includes = "open,close" if operation.endswith("_open_close") else ""
        self._run.rows.append(Row(operation, metric, value * factor, unit, at, count=count, includes=includes))

    def _end_statistic(self, word: str) -> None:
        self._statistics.add(word)
        if self._group is not None and self._operations and len(self._statistics) == len(_STATISTICS):
            self._operations[-1].add(self._group[0])

    def _note_damage(self, at: int, line: str) -> None:
        is_glued = len(_DAMAGED.findall(line)) > 1 or not line.strip().startswith(("Max", "Av", "Min"))
        if self._run is not None:
            damaged = Message("damaged-lines", "the row is cut or damaged: left out")
            self._run.lacks(at, GLUED if is_glued else damaged)
        if is_glued:  # which API or operation the next lines belong to is lost
            self._group = None
            self._run = None if "IO API" in line else self._run

    def end(self, last_line: int) -> list[Parsed]:
        """Return the runs; one without a part that others have is incomplete."""
        expected = {"write", "write_open_close"}.union(*self._operations)
        for run, operations in zip(self._runs, self._operations, strict=True):
            if not expected <= operations and not run.missing:
                run.lacks(last_line, Message("ended-early", "the output ends before the end of the results"))
        runs = self._runs or [Parsed(version=self._version, factors=self._settings)]
        if not self._runs:
            runs[0].lacks(last_line, Message("ended-early", "the output ends before the results"))
        for at, quote in self._failures:
            runs[-1].lacks(at, Message("tool-failed", "it failed: {quote}", quote=quote))
        return runs
