"""diskspd 2.x of Windows and its port to Linux, as text; ``-Rxml`` is read by ``diskspd_xml``.

    Read IO
    thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
         0 |       419430400 |       102400 |      20.00 |    5120.00 |    1.550 |     0.975 | d.dat (1GiB)
    total:         419430400 |       102400 |      20.00 |    5120.00 |    1.550 |     0.975

becomes ``read bandwidth``, ``rate``, ``bytes``, ``operations``, ``time``, ``latency_mean`` … and, of each thread with
one file, ``bandwidth_own`` and ``rate_own``; with ``-D`` ``rate_interval_sd``. ``Total IO`` of a mix is the operation
``all operations``; else it repeats the other section. Each timespan is a run. All are of the window after the warm-up:
no clock's name. MB/s of older versions are 2^20 bytes, too. Source: ``ResultParser.cpp``, ``result_formatter.cpp``.
"""

import re
from dataclasses import dataclass, field

from iosonde.core.derived_numbers import ALL_OPERATIONS
from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .diskspd_settings import check_end, parse_moment, share_target_settings
from .diskspd_xml import claim_xml, parse_xml
from .parsed import CERTAIN, GLUED, Claim, Parsed, Row
from .reading import parse_number, parse_size
from .text import Text

NAME = "diskspd"
HEADLINE = ("bandwidth", "rate", "latency_p99", "latency_mean")

_MIB = 2.0**20
_RESULTS = re.compile(r"\s*Results for (?:timespan|job) +(\d{1,6}):\s*$")
_GROUP = re.compile(r"\s*(timespan|job): +(\d{1,6})\s*$")
_HEADER = re.compile(r"\s*thread \| +bytes +\| +I/Os +\| +Mi?B/s +\| +I/O per s")
_PERCENTILES = re.compile(r"\s*%-ile \|")
_SECTION = re.compile(r"\s*(Total|Read|Write) IO\s*$")
_OPERATIONS = {"Read": "read", "Write": "write", "Total": ALL_OPERATIONS}
_FAILED = re.compile(r"\s*(?:ERROR:|Error (?:opening|setting|getting|in |creating)|There has been an error)")
_INTERRUPTED = "The test was interrupted before"
# Words of the header → metric, unit, factor.
_COLUMNS = {
    "bytes": ("bytes", "bytes", 1.0),
    "I/Os": ("operations", "operations", 1.0),
    "MiB/s": ("bandwidth", "bytes/s", _MIB),
    "MB/s": ("bandwidth", "bytes/s", _MIB),
    "I/O per s": ("rate", "operations/s", 1.0),
    "AvgLat": ("latency_mean", "s", 1e-3),
    "AvgLat(ms)": ("latency_mean", "s", 1e-3),
    "IopsStdDev": ("rate_interval_sd", "operations/s", 1.0),
    "LatStdDev": ("latency_sd", "s", 1e-3),
}
_STATISTIC = re.compile(r"(min|max)|(\d\d)th|([3-9])-nines")
_LAST_CELL = re.compile(r"\d+\.\d{3}")
_SIZE = r"(\d{1,15}(?:\.\d+)?(?:[KMGT]i)?B?)"
_NUMBERS = (
    (re.compile(rf"block size: {_SIZE}$"), "transfer_size"),
    (re.compile(r"number of outstanding I/O operations(?: per thread)?: (\d{1,9})\)?$"), "io_depth"),
    (re.compile(r"performing mix test \(read/write ratio: ([1-9]\d?)/\d+\)$"), "percent_read"),
    (re.compile(r"using mixed random/sequential I/O \((\d{1,3})% random\) "), "percent_random"),
    (re.compile(r"throughput rate-limited to (\d{1,9}) IOPS$"), "requested_rate"),
)
_THREADS = re.compile(r"(?:total threads: |thread pool with )(\d{1,9})(?: threads)?$")
_WORDS: dict[str, dict[str, FactorValue]] = {
    "using software cache": {"direct": 0},
    "software cache disabled": {"direct": 1},
    "using O_DIRECT": {"direct": 1},
    "using O_SYNC": {"write_through": 1},
    "hardware write cache disabled, writethrough on": {"write_through": 1},
    "hardware and software write caches disabled, writethrough on": {"write_through": 1},
    "using hardware write cache, writethrough off": {"write_through": 0},
    "using software and hardware write cache": {"direct": 0, "write_through": 0},
    "software and hardware write cache disabled": {"direct": 1, "write_through": 1},
}


def claims(text: Text) -> Claim | None:
    """Recognise the header of a table, the words above a timespan's results, or the XML."""
    hit = text.search(_HEADER, "I/O per s")
    if hit is None and "Input parameters:" in text.content:
        hit = text.search(_RESULTS, "Results for ") or text.search(_GROUP, "timespan: ")
    return Claim.from_match(CERTAIN, hit) or claim_xml(text)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each timespan."""
    if claim_xml(text):
        return parse_xml(text)
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_output(text.last_line)
    return reader.runs


@dataclass
class _Group:
    """Settings of a timespan, and of each of its targets."""

    line: int
    settings: dict[str, FactorValue] = field(default_factory=dict)
    targets: list[dict[str, FactorValue]] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    measures_latency: bool = False


@dataclass
class _Section:
    """Rows of ``Read IO``, ``Write IO`` or ``Total IO``; ``has_total``: it is whole."""

    operation: str
    columns: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    threads: list[Row] = field(default_factory=list)
    has_total: bool = False

    def count(self) -> float:
        return next((row.value for row in self.rows if row.metric == "operations"), 0.0)


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._facts: dict[str, str] = {}
        self._started_at = ""
        self._failure: tuple[int, str] | None = None
        self._groups: dict[str, _Group] = {}
        self._group: _Group | None = None
        self._begin_results(None)

    def _begin_results(self, run: Parsed | None) -> None:
        self._run = run
        self._time: tuple[int, float] | None = None
        self._sections: dict[str, _Section] = {}
        self._section: _Section | None = None
        self._latencies: dict[str, list[Row]] = {}
        self._is_in_latencies = False
        self._previous = ""

    def read_line(self, at: int, line: str) -> None:
        stripped = line.strip()
        if stripped.startswith("Command Line:"):
            self.end_output(at)
            self._facts["command"] = stripped.removeprefix("Command Line:").strip()[:4000]
        elif match := _RESULTS.match(line):
            self._end_results(at)
            self._begin_timespan(match.group(1))
        elif self._run is None and (match := _GROUP.match(line)):
            self._group = self._groups.setdefault(match.group(2), _Group(at))
            if match.group(1) == "job":
                self._group.settings |= {"direct": 0, "write_through": 0}
        elif match := _GROUP.match(line):  # Linux: after the results of the job before
            self._end_results(at)
            self._group = self._groups.setdefault(match.group(2), _Group(at, {"direct": 0, "write_through": 0}))
        elif _FAILED.match(line):
            self._note_failure(at, stripped)
        elif self._repeats(stripped):  # the head of the next results is not in the text
            self._end_results(at)
            self._begin_timespan("")
            self.read_line(at, line)
        elif self._run is not None:
            self._read_result(self._run, at, stripped)
        else:
            self._read_setting(stripped)
        self._previous = stripped

    def _repeats(self, line: str) -> bool:
        """Return whether the line begins results, and there are none, or they have this line already."""
        if line.startswith(("actual test time:", "test time:")):
            return self._run is None or self._time is not None
        return line == "Total IO" and (self._run is None or ALL_OPERATIONS in self._sections)

    def _note_failure(self, at: int, line: str) -> None:
        if self._run is not None:
            self._run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        else:
            self._failure = self._failure or (at, line[:160])

    def _read_setting(self, line: str) -> None:
        name, _, value = line.partition(": ")
        if name == "computer name":
            self._facts["computer"] = value.strip()[:200]
        elif name == "start time":
            self._started_at = parse_moment(value)
        elif self._group is not None:
            _read_group_setting(self._group, name, value, line)

    def _begin_timespan(self, number: str) -> None:
        run = Parsed(form="text")
        if number:
            run.started_at = self._started_at
            run.facts |= self._facts
        self.runs.append(run)
        self._begin_results(run)
        self._group = self._groups.pop(number, None)
        if self._group is not None:
            run.facts |= self._group.facts
            run.factors |= self._group.settings
            share_target_settings(run, self._group.targets)

    def _read_result(self, run: Parsed, at: int, line: str) -> None:
        if match := _SECTION.match(line):
            operation = _OPERATIONS[match.group(1)]
            self._section, self._is_in_latencies = _Section(operation), False
            self._sections[operation] = self._section
        elif _HEADER.match(line):
            if self._section is None or self._section.columns:
                run.lacks(at, GLUED)
                self._section = None
            else:
                self._section.columns = [cell.strip() for cell in line.split("|")]
        elif _HEADER.search(line):
            run.lacks(at, GLUED)
            self._section = None
        elif _PERCENTILES.match(line):
            self._section = None
            self._is_in_latencies = self._previous.lower().startswith("total")
        elif self._section is not None and "|" in line:
            self._read_row(run, self._section, at, line)
        elif self._is_in_latencies and "|" in line:
            self._read_statistic(run, self._latencies, at, line)
        elif line.startswith(_INTERRUPTED):
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        else:
            self._read_summary(run, at, line)

    def _read_summary(self, run: Parsed, at: int, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.strip()
        if name in ("actual test time", "test time") and value.endswith("s"):
            if (seconds := parse_number(value[:-1])) is not None:
                self._time = at, seconds
        elif name in ("thread count", "request count") and value.isdigit():
            run.factors["threads" if name == "thread count" else "io_depth"] = int(value[:9])
        else:
            note_reported_failure(run, at, line)

    def _read_row(self, run: Parsed, section: _Section, at: int, line: str) -> None:
        is_total, columns = line.startswith("total:"), section.columns[1:-1]
        head, cells = ("", line[6:].split("|")) if is_total else _split_thread(line, len(section.columns))
        rows = [_build_row(section.operation, column, cell, at) for column, cell in zip(columns, cells, strict=False)]
        if section.has_total or len(cells) != len(columns) or (not is_total and not head) or None in rows:
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        numbers = [row for row in rows if row and row.metric]
        if is_total:
            section.rows, section.has_total = numbers, True
            return
        for row in numbers:
            if row.metric in ("bandwidth", "rate"):
                row.rank, row.metric = int(head), f"{row.metric}_own"
                section.threads.append(row)

    def _read_statistic(self, run: Parsed, latencies: dict[str, list[Row]], at: int, line: str) -> None:
        cells = [cell.strip() for cell in line.split("|")]
        match = _STATISTIC.fullmatch(cells[0])
        numbers = [0.0 if cell == "N/A" else parse_number(cell) for cell in cells[1:]]
        if match is None or len(numbers) != 3 or None in numbers:
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        word, percent, nines = match.groups()
        self._is_in_latencies = word != "max"
        run.has_complete_last_line = word == "max" and bool(_LAST_CELL.fullmatch(cells[-1]))
        statistic = word or f"p{percent or '99.' + '9' * (int(nines) - 2)}"
        for operation, cell, value in zip(_OPERATIONS.values(), cells[1:], numbers, strict=True):
            if cell != "N/A":
                row = Row(operation, f"latency_{statistic}", (value or 0.0) / 1e3, "s", at)
                latencies.setdefault(operation, []).append(row)

    def _end_results(self, at: int) -> None:
        run = self._run
        if run is None:
            return
        is_complete = all(name in self._sections and self._sections[name].has_total for name in _OPERATIONS.values())
        counts = {name: section.count() for name, section in self._sections.items() if section.has_total}
        is_mix = is_complete and bool(counts["read"] and counts["write"])
        for name, section in self._sections.items():
            if counts.get(name) and (name != ALL_OPERATIONS or is_mix):
                self._add_section(run, section, self._latencies.get(name, []))
        check_end(run, at, is_complete, self._time, sum(counts.values()))
        has_latency = self._group is not None and self._group.measures_latency
        if is_complete and has_latency and not any(row.metric == "latency_max" for row in run.rows) and not run.missing:
            run.lacks(at, Message("ended-early", "the output ends before the percentiles of the latency"))
        self._begin_results(None)

    def _add_section(self, run: Parsed, section: _Section, latencies: list[Row]) -> None:
        run.rows += section.rows
        if self._time is not None:
            run.rows.append(Row(section.operation, "time", self._time[1], "s", self._time[0]))
        run.rows += latencies
        ranks = [row.rank for row in section.threads if row.metric == "rate_own"]
        if len(ranks) == len(set(ranks)) > 1 and section.operation != ALL_OPERATIONS:
            run.rows += section.threads

    def end_output(self, at: int) -> None:
        """Close the output; a timespan without its results is incomplete."""
        self._end_results(at)
        for group in self._groups.values():
            run = Parsed(started_at=self._started_at, form="text")
            run.facts |= self._facts
            run.factors |= group.settings
            share_target_settings(run, group.targets)
            if self._failure:
                run.lacks(self._failure[0], Message("tool-failed", "it failed: {quote}", quote=self._failure[1]))
            else:
                run.lacks(max(at, group.line), Message("ended-early", "the output ends before the results"))
            self.runs.append(run)
        self._groups, self._group, self._facts, self._started_at, self._failure = {}, None, {}, "", None


def _read_group_setting(group: _Group, name: str, value: str, line: str) -> None:
    if name == "path":
        group.targets.append({"target": value.strip("'")[:200]})
    elif name in ("duration", "warm up time") and value.endswith("s") and value[:-1].isdigit():
        if name == "duration":
            group.settings["runtime"] = int(value[:9].rstrip("s"))
        else:
            group.facts["warm_up"] = value[:20]
    elif line == "measuring latency":
        group.measures_latency = True
    elif match := _THREADS.match(line):
        group.settings["threads"] = int(match.group(1))
    else:
        settings = group.targets[-1] if group.targets else group.settings
        settings |= _WORDS.get(line, {})
        if line.startswith(("using random I/O", "using sequential I/O", "using interlocked sequential I/O")):
            settings["random"] = int(line.startswith("using random"))
        for pattern, setting in _NUMBERS:
            if match := pattern.match(line):
                settings[setting] = parse_size(match.group(1))


def _split_thread(line: str, n_columns: int) -> tuple[str, list[str]]:
    """Return the number of the thread and its numbers, none if the row is cut before its file."""
    cells = [cell.strip() for cell in line.split("|", n_columns - 1)]
    is_complete = len(cells) == n_columns and cells[0].isdigit() and cells[-1].endswith(")")
    return (cells[0][:9], cells[1:-1]) if is_complete else ("", [])


def _build_row(operation: str, column: str, cell: str, at: int) -> Row | None:
    """Return the row of a cell, without a metric if it says ``N/A``; None if it is damaged."""
    if cell.strip() == "N/A":
        return Row(operation, "", 0.0, "", at)
    value = parse_number(cell.strip())
    if value is None or column not in _COLUMNS:
        return None
    metric, unit, factor = _COLUMNS[column]
    return Row(operation, metric, value / 1e3 if factor == 1e-3 else value * factor, unit, at)
