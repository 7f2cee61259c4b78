"""Darshan's extended traces as text: ``darshan-dxt-parser LOG.darshan``. Reads and writes become recorded operations.

    # DXT, file_id: 16457598720760448348, file_name: /tmp/test/testFile
    # DXT, rank: 0, hostname: shane-thinkpad
    # Module    Rank  Wt/Rd  Segment          Offset          Length    Start(s)      End(s)
     X_POSIX       0  write        0               0          262144      0.0029      0.0032

``read`` and ``write`` are those of X_POSIX, ``mpiio_read`` and ``mpiio_write`` of X_MPIIO (which contain the former).
Times are printed with four digits: whole 0.1 ms.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from iosonde.core.message import Message

from .fixed_width import FixedLines, parse_decimals, parse_integers
from .parsed import CERTAIN, Claim, Parsed
from .reading import parse_integer, parse_number
from .text import Text
from .trace import Numbered, drop_cut_operation, keep_names, record_operations

NAME = "darshan-dxt"
HEADLINE = ("latency_p99", "bytes")

_FILE = re.compile(r"# DXT, file_id: (\d+), file_name: (.*)")
_RANK_OF = re.compile(r"# DXT, rank: (\d{1,9}), hostname: (.*)")
_COUNTS = re.compile(r"# DXT, write_count: (\d{1,15}), read_count: (\d{1,15})")
_PARTIAL = re.compile(r"# \*WARNING\*: The (\S+) module contains incomplete data!")
_ROW = re.compile(
    r" *X_(POSIX|MPIIO) +(\d{1,9}) +(write|read) +\d{1,12} +(\d{1,18}) +(\d{1,18}) +(\d{1,9}\.\d{4}) +(\d{1,9}\.\d{4})"
    r"(?: +\[ *-?\d+\])*(?: +(?:\d+|N/A))? *"
)
# Row as printed: module, rank, wt/rd, segment, offset, length, start, end.
_WIDTH, _RANK, _WORD, _OFFSET, _LENGTH, _START, _END = 88, (8, 16), (16, 23), (32, 48), (48, 64), (64, 76), (76, 88)
OPERATIONS = ("write", "read", "mpiio_write", "mpiio_read")
_TICK_NS = 100_000


def claims(text: Text) -> Claim | None:
    """Recognise the lines before each file's operations."""
    # Surer than darshan-parser, which prints the same preamble.
    return Claim.from_match(CERTAIN + 1, text.find("# DXT, file_id:"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed: a log covers one job."""
    run = read_job(text)
    lines = FixedLines(text.content)
    first = lines.first_bytes()
    columns = drop_cut_operation(run, text, _read_rows(run, text, lines, first))
    remarks = [(at + 1, text.lines[at]) for at in np.flatnonzero(first == ord("#")).tolist()]
    hosts = _assign_files(run, remarks, columns)
    for at, line in remarks:
        if match := _PARTIAL.match(line):
            run.lacks(
                at,
                Message(
                    "lost-records",
                    "Darshan ran out of memory for {module}: operations are missing",
                    module=match.group(1),
                ),
            )
    _check_counts(run, remarks, columns)
    columns["kind"] = list_kinds()[columns["phase"]]
    record_operations(run, OPERATIONS, columns, hosts=hosts, comparable=len(set(hosts.values())) < 2)
    run.cannot_tell(
        Message(
            "low-resolution",
            "times are in whole 0.1 ms: shorter operations have no duration, and a distribution has no modes "
            "between ticks",
        )
    )
    note_trace_limits(run, bool((columns["phase"] >= 2).any()))
    return [run]


def read_job(text: Text) -> Parsed:
    """Return the job in the header of every text of Darshan's tools: version, command, ranks, start time
    and duration."""
    run = Parsed()
    head = text.content[: 1 << 16]
    header = {name: value.strip() for name, value in re.findall(r"^# ([a-z _]+): (.*)$", head, re.MULTILINE)}
    run.version = f"log {header['darshan log version']}" if "darshan log version" in header else ""
    if ranks := parse_integer(header.get("nprocs", "")):
        run.factors["ranks"] = ranks
    run.seconds = parse_number(header.get("run time", "")) or 0.0
    if (begin := parse_integer(header.get("start_time", ""))) and begin < 2**33:
        run.started_at = datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for name, fact in (("exe", "command"), ("jobid", "job")):
        if header.get(name):
            run.facts[fact] = header[name][:2000]
    return run


def _read_rows(run: Parsed, text: Text, lines: FixedLines, first: Any) -> dict[str, Any]:
    """Return the operations, in the order of the text; other lines mark the run."""
    length = lines.end - lines.start
    others = np.flatnonzero((length > 0) & (first != ord("#")))
    # A row has two points, one per time: with more, two lines were merged.
    wide = others[(length[others] >= _WIDTH) & (lines.count_character(".")[others] == 2)]
    parts = [_read_columns(table) for table in lines.iterate_heads(wide, _WIDTH)]
    good = np.concatenate([fine for _, fine in parts])
    arrays = {name: np.concatenate([part[name] for part, _ in parts]) for name in parts[0][0]}
    columns = {name: values[good] for name, values in arrays.items()} | {"line": wide[good] + 1}
    rest = np.setdiff1d(others, wide[good], assume_unique=True)
    if lost := [at + 1 for at in rest.tolist() if text.lines[at].strip() and not _parse_row(text.lines[at])]:
        run.lacks(
            lost[0],
            Message(
                "unreadable-lines",
                "{n_lines} lines are not operations of DXT, or two in one: left out",
                n_lines=len(lost),
            ),
        )
    if slow := [(at + 1, row) for at in rest.tolist() if (row := _parse_row(text.lines[at]))]:
        more = np.array([[at, *row] for at, row in slow], np.int64)
        names = ("line", "phase", "rank", "offset", "size", "start_ns", "end_ns")
        columns = {name: np.concatenate([columns[name], more[:, place]]) for place, name in enumerate(names)}
        order = np.argsort(columns["line"], kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
    backwards = columns["end_ns"] < columns["start_ns"]
    if backwards.any():
        run.lacks(
            int(columns["line"][backwards][0]),
            Message("impossible-times", "an operation ends before it begins: left out"),
        )
        columns = {name: values[~backwards] for name, values in columns.items()}
    columns["duration_ns"] = columns.pop("end_ns") - columns["start_ns"]
    return columns


def _read_columns(table: Any) -> tuple[dict[str, Any], Any]:
    """Return the columns of printed rows, and which rows are valid."""
    module = _pack_word(table, 0, 8)
    word = _pack_word(table, *_WORD)
    posix, mpiio = module == b" X_POSIX", module == b" X_MPIIO"
    write, read = word == b"  write", word == b"   read"
    good = (posix | mpiio) & (write | read)
    columns: dict[str, Any] = {"phase": mpiio * 2 + read}
    for name, (begin, end) in (("rank", _RANK), ("offset", _OFFSET), ("size", _LENGTH)):
        columns[name], fine = parse_integers(table, begin, end)
        good &= fine
    for name, (begin, end) in (("start_ns", _START), ("end_ns", _END)):
        ticks, fine = parse_decimals(table, begin, end, 4)
        columns[name] = ticks * _TICK_NS
        good &= fine
    return columns, good


def _pack_word(table: Any, begin: int, end: int) -> Any:
    return np.ascontiguousarray(table[:, begin:end]).view(f"S{end - begin}").ravel()


def _parse_row(line: str) -> tuple[int, ...] | None:
    """Return (phase, rank, offset, size, start, end) of a row of other widths."""
    if (match := _ROW.fullmatch(line)) is None:
        return None
    module, rank, word, offset, size, start, end = match.groups()
    ticks = [int(text.replace(".", "")) * _TICK_NS for text in (start, end)]
    return (2 * (module == "MPIIO") + (word == "read"), int(rank), int(offset), int(size), *ticks)


def _assign_files(run: Parsed, remarks: Sequence[tuple[int, str]], columns: dict[str, Any]) -> dict[int, str]:
    """Add the file number of each operation as a column. Return rank → host."""
    numbers, begins, files, hosts = Numbered(), [0], [0], dict[int, str]()
    for at, line in remarks:
        if match := _FILE.match(line):
            begins.append(at)
            files.append(numbers.get_number(match.group(2) or match.group(1)))
        elif match := _RANK_OF.match(line):
            hosts[int(match.group(1))] = match.group(2).strip()
    columns["file"] = np.array(files, np.int64)[np.searchsorted(begins, columns["line"]) - 1]
    keep_names(run, "files", numbers.numbers)
    ranks = set(np.unique(columns["rank"]).tolist())
    return {rank: host for rank, host in hosts.items() if rank in ranks}


def _check_counts(run: Parsed, remarks: Sequence[tuple[int, str]], columns: dict[str, Any]) -> None:
    """Check the number of operations that every file announces: fewer mean a cut text or lost lines."""
    announced = [
        (at, int(match.group(1)) + int(match.group(2))) for at, line in remarks if (match := _COUNTS.match(line))
    ]
    begins = np.array([at for at, _ in announced], np.int64)
    counts = np.bincount(np.searchsorted(begins, columns["line"]), minlength=len(announced) + 1)[1:].tolist()
    if wrong := [(at, count, there) for (at, count), there in zip(announced, counts, strict=True) if count != there]:
        at, count, there = wrong[0]
        run.lacks(
            at,
            Message(
                "missing-rows",
                "{n_expected} operations are announced here and {n_present} are present; the same holds for "
                "{n_files} files",
                n_expected=count,
                n_present=there,
                n_files=len(wrong),
            ),
        )


def note_trace_limits(run: Parsed, with_mpiio: bool) -> None:
    """Note what a DXT trace does not contain."""
    run.cannot_tell(
        Message(
            "calls-not-traced",
            "a DXT trace lacks opens, closes, stats and syncs, and I/O through mmap or stdio",
        )
    )
    if with_mpiio:
        run.cannot_tell(
            Message("nested-calls", "mpiio_read and mpiio_write contain the reads and writes that MPI-IO made of them")
        )


def list_kinds() -> Any:
    """Return the engine's kind of each of ``OPERATIONS``."""
    from iosonde.engine._native import KINDS

    return np.array([KINDS.index(name.removeprefix("mpiio_")) for name in OPERATIONS], np.int64)
