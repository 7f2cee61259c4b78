"""Darshan's counters as text: ``darshan-parser LOG.darshan``, with ``--total`` and ``--perf``.

    total_POSIX_BYTES_WRITTEN: 68719476736        POSIX	-1	1645…	POSIX_BYTES_WRITTEN	4096	/file	/	ext4
    # agg_perf_by_slowest: 1062.704311 # MiB/s

become ``posix_write bytes``; so do ``operations`` of each kind and ``time_sum_of_ranks`` of reads, writes and metadata.
In the list of files the counters are summed over all files and ranks. ``--perf`` becomes ``posix
bandwidth_by_slowest``: all bytes over the time of the slowest rank in I/O calls, which is less than the job took. All
other counters of ``--total`` are facts of the run.

What the counters of POSIX say about accesses is in ``io_counters`` of the facts, per file (``core.io_counters``), and
in shares: ``posix_write sequential_share``, ``posix aligned_share``, ``posix_write operations_1K_10K``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from iosonde.core.io_counters import IO_COUNTERS, IoCounters
from iosonde.core.message import Message

from .darshan_counters import MODULES, CounterRecords, count_accesses, read_totals
from .darshan_dxt import read_job
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_number
from .text import Text, is_darshan_log
from .trace import note_end

NAME = "darshan"
HEADLINE = ("bandwidth_by_slowest", "bytes")

_VERSION = "# darshan log version:"
_TOTAL = re.compile(r"^total_([A-Z0-9-]+?)_([A-Z0-9_]+): (\S+)$", re.MULTILINE)
_TOTAL_BEGINS = re.compile(r"^total_|(?<=\S)total_[A-Z]| total_[A-Z]", re.MULTILINE)
_GLUED_TO_REMARK = re.compile(r"#[^\t]*(?:\t[^\t]*)*?\t-?\d+\t\d+\t[A-Z0-9]+_[A-Z_]+\t")
_MODULE = re.compile(r"# (\S+) module data")
_PERF = re.compile(r"# (agg_perf_by_\w+|agg_time_by_slowest|total_bytes): (\S+)(?: # .*)?")
_PARTIAL = re.compile(r"# \*WARNING\*: The (\S+) module contains incomplete data!")
_RECORD_BEGIN = re.compile(r"[A-Z0-9/_-]+\t-?\d+\t\d+\t")
_COUNTER = re.compile(r"[A-Z0-9_]+")
_NUMBER = r"-?\d{1,29}(?:\.\d+)?"  # no more digits: below reading.LARGEST, so that sums remain finite
_VALUES = re.compile(rf"(?:{_NUMBER}\t)+")
# Counter → operation, metric, unit. "" is the module itself.
_MEANS = {
    "BYTES_READ": ("read", "bytes", "bytes"),
    "BYTES_WRITTEN": ("write", "bytes", "bytes"),
    "READS": ("read", "operations", "operations"),
    "WRITES": ("write", "operations", "operations"),
    "INDEP_READS": ("read", "operations", "operations"),
    "INDEP_WRITES": ("write", "operations", "operations"),
    "COLL_READS": ("collective_read", "operations", "operations"),
    "COLL_WRITES": ("collective_write", "operations", "operations"),
    "OPENS": ("open", "operations", "operations"),
    "INDEP_OPENS": ("open", "operations", "operations"),
    "COLL_OPENS": ("collective_open", "operations", "operations"),
    "STATS": ("stat", "operations", "operations"),
    "SEEKS": ("seek", "operations", "operations"),
    "FSYNCS": ("fsync", "operations", "operations"),
    "FDSYNCS": ("fdatasync", "operations", "operations"),
    "F_READ_TIME": ("read", "time_sum_of_ranks", "s"),
    "F_WRITE_TIME": ("write", "time_sum_of_ranks", "s"),
    "F_META_TIME": ("metadata", "time_sum_of_ranks", "s"),
}
# Module, rank, file; counter and its value; file, mount point, type. Or a total, as ``--total`` prints it. Values of
# DAOS, DFS and pools of Lustre may be words, but not those of ``_MEANS``.
_LINE = re.compile(
    rf"(?:{_RECORD_BEGIN.pattern}[A-Z0-9_]+\t{_NUMBER}"
    rf"|(D[A-Z]+)\t-?\d+\t\d+\t\1_(?!(?:{'|'.join(_MEANS)})\t)[A-Z_]+\t[^\t]*"
    r"|LUSTRE\t-?\d+\t\d+\tLUSTRE_COMP\d+_POOL_NAME\t[^\t]*)(?:\t[^\t]*){3}"
    r"|total_.*"
)
_MIB = 2.0**20
_SLOWEST = "posix", "time_by_slowest"


def claims(text: Text) -> Claim | None:
    """Recognise the preamble, or a total."""
    if is_darshan_log(text.raw):
        return Claim(CERTAIN, 1, "the magic number of a log")
    total_begins = ("\ntotal_POSIX_", "\ntotal_STDIO_", "\ntotal_MPIIO_")
    return Claim.from_match(CERTAIN, text.find(_VERSION)) or Claim.from_match(
        LIKELY, text.search(_TOTAL, *total_begins)
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed: a log covers one job."""
    if is_darshan_log(text.raw):
        from .darshan_log import parse_log

        return [parse_log(text, _add_counter, add_io_counters)]
    run = read_job(text)
    lines = text.content.split("\n")
    remarks = [(number, line) for number, line in enumerate(lines, 1) if line.startswith("#")]
    records = _Records(CounterRecords(_get_ranks(run), run.seconds))
    records.read(lines if not text.cut_line else lines[:-1])
    _read_totals(run, text)
    if not any(row.metric == "operations" for row in run.rows):
        for (module, counter), (value, line) in records.sums.items():
            _add_counter(run, module, counter, repr(value), line)
        _note_unreadable_lines(run, records.unreadable)
    _read_performance(run, remarks)
    add_io_counters(run, records.counters.build() or read_totals(_get_ranks(run), run.seconds, _list_totals(text)))
    note_end(run, text)
    _note_damage(run, remarks)
    if not run.rows:
        run.lacks(
            text.last_line, Message("no-results", "no counters: import the output of darshan-parser, --total or --perf")
        )
    return [run]


def _get_ranks(run: Parsed) -> int | None:
    ranks = run.factors.get("ranks")
    return ranks if isinstance(ranks, int) else None


def _note_damage(run: Parsed, remarks: Sequence[tuple[int, str]]) -> None:
    for number, line in remarks:
        if "\t" in line and _GLUED_TO_REMARK.match(line):
            run.lacks(
                number,
                Message(
                    "glued-lines", "two lines were merged: the rest may belong to something else, and a counter is lost"
                ),
            )
            break
    for number, line in remarks:
        if match := _PARTIAL.match(line):
            run.lacks(
                number,
                Message(
                    "lost-records", "Darshan ran out of memory for {module}: files are missing", module=match.group(1)
                ),
            )


def _list_totals(text: Text) -> Iterator[re.Match[str]]:
    """Yield the totals: module, counter, value."""
    return _TOTAL.finditer(text.content) if "total_" in text.content else iter(())


def _read_totals(run: Parsed, text: Text) -> None:
    counters: dict[str, str] = {}
    at, line, n_totals = 0, 1, 0
    for match in _list_totals(text):
        line += text.content.count("\n", at, match.start())
        at = match.start()
        n_totals += 1
        module, counter, value = match.groups()
        if counter in _MEANS:
            _add_counter(run, module, counter, value, line)
        else:
            counters[f"{module}_{counter}"] = value[:40]
    run.facts |= {"counters": counters} if counters else {}
    if "total_" in text.content and (lost := len(_TOTAL_BEGINS.findall(text.content)) - n_totals) > 0:
        run.lacks(
            0,
            Message(
                "unreadable-lines", "{n_lines} totals have no number, or contain two lines: left out", n_lines=lost
            ),
        )


@dataclass
class _Records:
    """The list of files that is printed without an option: lines of one file and rank follow each other.

    ``sums``: (module, counter) of ``_MEANS`` → its sum over files and ranks, the line of the first one.
    ``unreadable``: numbers of lines that are no counters, or whose values are no numbers.
    """

    counters: CounterRecords
    sums: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)
    _valid_names: set[str] = field(default_factory=set)
    _places: dict[tuple[str, ...], list[tuple[int, str, str]]] = field(default_factory=dict)

    def read(self, lines: Sequence[str]) -> None:
        """Read all lines; others than those of files are unreadable, except remarks."""
        begin, first = "", 0
        for place, line in enumerate(lines):
            if begin and line.startswith(begin):
                continue
            self._read_record(begin, lines[first:place], first + 1)
            match = _RECORD_BEGIN.match(line)
            begin, first = match.group() if match else "", place
            if not match and _is_unreadable(line):
                self.unreadable.append(place + 1)
        self._read_record(begin, lines[first:], first + 1)

    def _read_record(self, begin: str, lines: Sequence[str], number: int) -> None:
        """Read the lines of one record, which begin with ``begin``; the first one is line ``number``."""
        if not begin:
            return
        cells = "\n".join(lines).split("\t")
        names, values, numbers = cells[3::7], cells[4::7], list(range(number, number + len(lines)))
        if not self._is_regular(cells, names, values, len(lines)):
            readable = [(at, line.split("\t")) for at, line in enumerate(lines, number) if _LINE.fullmatch(line)]
            numbers = [at for at, _ in readable]
            self.unreadable += sorted(set(range(number, number + len(lines))).difference(numbers))
            if not readable:
                return
            cells = readable[0][1]
            names, values = ([row[column] for _, row in readable] for column in (3, 4))
        layout = tuple(names)
        if layout not in self._places:
            self._places[layout] = _find_counters(names)
        for place, module, counter in self._places[layout]:
            if not values[place].startswith("-"):  # -1: unknown to Darshan
                total, at = self.sums.get((module, counter), (0.0, numbers[place]))
                self.sums[module, counter] = (total + float(values[place]), at)
        if begin.startswith(MODULES):
            module, rank, identity = begin.split("\t")[:3]
            self.counters.add_printed(module, rank, identity, layout, values, cells[5], cells[7].partition("\n")[0])

    def _is_regular(self, cells: Sequence[str], names: Sequence[str], values: Sequence[str], n_lines: int) -> bool:
        """Return whether each of the lines has a counter with a number. ``cells``: those of all lines, so that the last
        cell of a line contains the first one of the next."""
        borders = set(cells[7:-1:7])
        if len(cells) != 7 * n_lines + 1 or len(borders) > 1 or any(border.count("\n") != 1 for border in borders):
            return False
        new = set(names) - self._valid_names
        self._valid_names |= {name for name in new if _COUNTER.fullmatch(name)}
        return new <= self._valid_names and bool(_VALUES.fullmatch("\t".join([*values, ""])))


def _find_counters(names: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return (place, module, counter) of the names in ``_MEANS``."""
    parts = [(place, *name.partition("_")[::2]) for place, name in enumerate(names)]
    return [(place, module, counter) for place, module, counter in parts if counter in _MEANS]


def _is_unreadable(line: str) -> bool:
    return bool(line) and not line.startswith("#") and not _LINE.fullmatch(line)


def _note_unreadable_lines(run: Parsed, lines: Sequence[int]) -> None:
    if run.rows and lines:
        run.lacks(
            lines[0],
            Message(
                "unreadable-lines",
                "{n_lines} lines are not counters of a file, have no number, or are cut: left out",
                n_lines=len(lines),
            ),
        )


def add_io_counters(run: Parsed, counters: IoCounters | None) -> None:
    """Add what is known of accesses to the facts of a run, and its shares as rows, on the line of the operations."""
    if counters is None:
        return
    printed_s = next((row.value for row in run.rows if (row.operation, row.metric) == _SLOWEST), None)
    if printed_s is not None:
        counters = replace(counters, slowest_s=printed_s)
    run.facts[IO_COUNTERS] = counters.to_json()
    lines = {row.operation: row.line for row in run.rows}
    line = next((row.line for row in run.rows if row.operation.startswith("posix")), 1)
    for operation, metric, value, unit in count_accesses(counters):
        if (operation, metric) != _SLOWEST or printed_s is None:
            run.rows.append(Row(operation, metric, value, unit, lines.get(operation, line)))


def _add_counter(run: Parsed, module: str, counter: str, text: str, line: int) -> None:
    if counter not in _MEANS:
        return
    operation, metric, unit = _MEANS[counter]
    value = parse_number(text)
    if value is None and text != "-1":
        run.lacks(
            line,
            Message(
                "invalid-number",
                "{module}_{counter}: '{cell}' is not a number: left out",
                module=module,
                counter=counter,
                cell=text[:40],
            ),
        )
    if not value:
        return  # 0: no such operation happened
    same = next(
        (row for row in run.rows if (row.operation, row.metric) == (f"{module.lower()}_{operation}", metric)), None
    )
    if same:
        same.value += value  # INDEP_ and counters without such parts
    else:
        run.rows.append(Row(f"{module.lower()}_{operation}", metric, value, unit, line))


def _read_performance(run: Parsed, remarks: Sequence[tuple[int, str]]) -> None:
    name = "all"
    for line, remark in remarks:
        if module := _MODULE.fullmatch(remark):
            name = module.group(1).lower().replace("-", "")
        elif match := _PERF.fullmatch(remark):
            _add_performance(run, name, match, line)
    if any(row.metric.startswith("bandwidth_by") for row in run.rows):
        run.warn(
            0,
            Message(
                "estimated-rates",
                "rates of Darshan are bytes over the estimated time in I/O calls, not over the time of the job",
            ),
        )


def _add_performance(run: Parsed, name: str, match: re.Match[str], line: int) -> None:
    """Add a number of ``--perf`` of the module ``name``, ``all`` if it is unknown."""
    counter, text = match.groups()
    value = parse_number(text)
    if value is None:
        run.lacks(
            line,
            Message("invalid-number", "{counter}: '{cell}' is not a number: left out", counter=counter, cell=text[:40]),
        )
    elif name == "all" and run.version.startswith("log 3"):
        run.lacks(line, Message("unknown-module", "the module of {counter} is unknown: left out", counter=counter))
    elif counter == "total_bytes":
        run.rows.append(Row(name, "bytes", value, "bytes", line))
    elif counter == "agg_time_by_slowest":
        run.rows.append(Row(name, "time_by_slowest", value, "s", line))
    elif value:
        run.rows.append(Row(name, counter.replace("agg_perf", "bandwidth"), value * _MIB, "bytes/s", line))
