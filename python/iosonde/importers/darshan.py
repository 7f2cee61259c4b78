"""Darshan's counters as text: ``darshan-parser LOG.darshan``, with ``--total`` and ``--perf``.

    total_POSIX_BYTES_WRITTEN: 68719476736        POSIX	-1	1645…	POSIX_BYTES_WRITTEN	4096	/file	/	ext4
    # agg_perf_by_slowest: 1062.704311 # MiB/s

become ``posix_write bytes``; so do ``operations`` of each kind and ``time_sum_of_ranks`` of reads, writes and metadata.
In the list of files the counters are summed over all files and ranks. ``--perf`` becomes ``posix
bandwidth_by_slowest``: all bytes over the time of the slowest rank in I/O calls, which is less than the job took. All
other counters of ``--total`` are facts of the run.
"""

import re

from iosonde.core.message import Message

from .darshan_dxt import read_job
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_number
from .text import Text, is_darshan_log
from .trace import note_end

NAME = "darshan"
HEADLINE = ("bandwidth", "bytes")

_VERSION = "# darshan log version:"
_TOTAL = re.compile(r"^total_([A-Z0-9-]+?)_([A-Z0-9_]+): (\S+)$", re.MULTILINE)
_RECORD = re.compile(
    r"^[A-Z0-9-]+\t-?\d+\t\d+\t([A-Z0-9]+)_((?:F_)?[A-Z]+(?:_[A-Z]+)?)\t(-?\d+(?:\.\d+)?)\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*$",
    re.MULTILINE,
)
_TOTAL_BEGINS = re.compile(r"^total_|(?<=\S)total_[A-Z]| total_[A-Z]", re.MULTILINE)
_GLUED_TO_REMARK = re.compile(r"^#[^\t\n]*(?:\t[^\t\n]*)*?\t-?\d+\t\d+\t[A-Z0-9]+_[A-Z_]+\t", re.MULTILINE)
_MODULE = re.compile(r"^# (\S+) module data$", re.MULTILINE)
_PERF = re.compile(r"^# (agg_perf_by_\w+|agg_time_by_slowest|total_bytes): (\S+)(?: # .*)?$", re.MULTILINE)
_PARTIAL = re.compile(r"^# \*WARNING\*: The (\S+) module contains incomplete data!", re.MULTILINE)
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
_MIB = 2.0**20


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

        return [parse_log(text, _add_counter)]
    run = read_job(text)
    _read_totals(run, text)
    if not any(row.metric == "operations" for row in run.rows):
        _read_records(run, text)
    _read_performance(run, text)
    note_end(run, text)
    if glued := _GLUED_TO_REMARK.search(text.content):
        run.lacks(
            text.line_of(glued.start()),
            Message(
                "glued-lines", "two lines were merged: the rest may belong to something else, and a counter is lost"
            ),
        )
    for match in _PARTIAL.finditer(text.content):
        run.lacks(
            text.line_of(match.start()),
            Message("lost-records", "Darshan ran out of memory for {module}: files are missing", module=match.group(1)),
        )
    if not run.rows:
        run.lacks(
            text.last_line, Message("no-results", "no counters: import the output of darshan-parser, --total or --perf")
        )
    return [run]


def _read_totals(run: Parsed, text: Text) -> None:
    counters: dict[str, str] = {}
    at, line = 0, 1
    for match in _TOTAL.finditer(text.content):
        line += text.content.count("\n", at, match.start())
        at = match.start()
        module, counter, value = match.groups()
        if counter in _MEANS:
            _add_counter(run, module, counter, value, line)
        else:
            counters[f"{module}_{counter}"] = value[:40]
    run.facts |= {"counters": counters} if counters else {}
    if (lost := len(_TOTAL_BEGINS.findall(text.content)) - sum(1 for _ in _TOTAL.finditer(text.content))) > 0:
        run.lacks(
            0,
            Message(
                "unreadable-lines", "{n_lines} totals have no number, or contain two lines: left out", n_lines=lost
            ),
        )


def _read_records(run: Parsed, text: Text) -> None:
    """Add sums over files and ranks from the list that is printed without an option."""
    end = len(text.content) if not text.cut_line else text.content.rfind("\n") + 1
    sums: dict[tuple[str, str], float] = {}
    first: dict[tuple[str, str], int] = {}
    records = 0
    for match in _RECORD.finditer(text.content, 0, end):
        module, counter, value = match.groups()
        records += 1
        if counter in _MEANS and not value.startswith("-"):  # -1: unknown to Darshan
            key = module, counter
            sums[key] = sums.get(key, 0.0) + float(value)
            first.setdefault(key, match.start())
    for (module, counter), value in sums.items():
        _add_counter(run, module, counter, repr(value), text.line_of(first[module, counter]))
    lines = sum(1 for _ in re.finditer(r"^[^#\n]", text.content, re.MULTILINE))
    if records and lines > records and (other := lines - sum(1 for _ in _LINE.finditer(text.content))):
        run.lacks(
            0,
            Message(
                "unreadable-lines",
                "{n_lines} lines are not counters of a file, or are cut: left out",
                n_lines=other,
            ),
        )


# Counters of DAOS and DFS can be words.
_LINE = re.compile(
    r"^(?:[A-Z0-9/_-]+\t-?\d+\t\d+\t(?:[A-Z0-9_]+\t-?\d+(?:\.\d+)?|D[A-Z]+_[A-Z_]+\t[^\t\n]*)(?:\t[^\t\n]*){3}|total_.*)$",
    re.MULTILINE,
)


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


def _read_performance(run: Parsed, text: Text) -> None:
    modules = [(match.start(), match.group(1).lower().replace("-", "")) for match in _MODULE.finditer(text.content)]
    for match in _PERF.finditer(text.content):
        name = next((name for begin, name in reversed(modules) if begin < match.start()), "all")
        value, line = parse_number(match.group(2)), text.line_of(match.start())
        if value is None:
            run.lacks(
                line,
                Message(
                    "invalid-number",
                    "{counter}: '{cell}' is not a number: left out",
                    counter=match.group(1),
                    cell=match.group(2)[:40],
                ),
            )
        elif name == "all" and run.version.startswith("log 3"):
            run.lacks(
                line,
                Message("unknown-module", "the module of {counter} is unknown: left out", counter=match.group(1)),
            )
        elif match.group(1) == "total_bytes":
            run.rows.append(Row(name, "bytes", value, "bytes", line))
        elif match.group(1) == "agg_time_by_slowest":
            run.rows.append(Row(name, "time_by_slowest", value, "s", line))
        elif value:
            metric = match.group(1).replace("agg_perf", "bandwidth")
            run.rows.append(Row(name, metric, value * _MIB, "bytes/s", line))
    if any(row.metric.startswith("bandwidth_by") for row in run.rows):
        run.warn(
            0,
            Message(
                "estimated-rates",
                "rates of Darshan are bytes over the estimated time in I/O calls, not over the time of the job",
            ),
        )
