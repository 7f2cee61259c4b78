"""IOR's CSVs: ``summaryFormat=CSV`` (a row for each iteration), ``saveRankPerformanceDetailsCSV`` (for each rank) and
``savePerOpDataCSV`` (for each operation).

    access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput
    write,0,2.5560855865e-02,2.5542020798e-02,4.1022726528e+07,4.1052977300e+07

becomes ``write bandwidth_own`` of rank 0 in bytes/s, once with open and close inside and once, as
``bandwidth_own_access``, without; and the two times. ``time,runtime,tp`` becomes recorded operations. The
iterations are those of the table that IOR prints, with the number of its ranks and without its other settings.
"""

from __future__ import annotations

from .ior_table import IorTable
from .operation_log import read_log
from .parsed import Parsed, Row
from .reading import number, whole_number
from .text import Text

_COLUMNS = {
    "runtime-with-openclose": ("total_time", "s", "open,close"),
    "runtime": ("access_time", "s", ""),
    "throughput-withopenclose": ("bandwidth_own", "bytes/s", "open,close"),
    "throughput": ("bandwidth_own_access", "bytes/s", ""),
}


def parse_ranks(text: Text, head: int) -> Parsed:
    """The CSV of ranks whose header is line ``head``."""
    run = Parsed()
    names = text.lines[head - 1].strip().split(",")
    columns = [_COLUMNS.get(name) for name in names]
    seen: dict[tuple[str, int], int] = {}
    for at, line in enumerate(text.lines[head:], head + 1):
        cells = line.strip().split(",")
        if cells == [""]:
            continue
        rank = whole_number(cells[1]) if len(cells) == len(names) else None
        if rank is None or rank < 0:
            run.warn(at, "not a row of this table: left out")
            continue
        iteration = seen[cells[0], rank] = seen.get((cells[0], rank), -1) + 1
        for column, cell in zip(columns, cells, strict=True):
            value = number(cell) if column else None
            if column and value is not None and value > 0:
                metric, unit, includes = column
                run.rows.append(Row(cells[0][:40], metric, value, unit, at, rank, iteration, None, includes))
            elif column:
                run.warn(at, f"'{cell[:40]}' is not a number: left out")
    ranks = {rank for _, rank in seen}
    run.factors["ranks"] = len(ranks)
    if not ranks:
        run.lacks(head, "the table has no rows")
    elif ranks != set(range(len(ranks))):
        run.lacks(text.last_line, "ranks are missing in the table")
    return run


def parse_iterations(text: Text, head: int) -> list[Parsed]:
    """The CSV of iterations whose header is line ``head``: a Parsed for each block size, transfer size and number of
    ranks, in the order of the file."""
    names = text.lines[head - 1].strip().replace(",Latency,", ",Latency(s),").split(",")
    found: dict[tuple[int, ...], tuple[Parsed, IorTable]] = {}
    lost = Parsed()
    for at, line in enumerate(text.lines[head:], head + 1):
        cells = line.strip().split(",")
        if cells == [""] or cells[0] == names[0]:
            continue
        settings = _settings(names, cells)
        if settings is None:
            lost.lacks(at, f"not a row of this table: '{line.strip()[:60]}'")
            continue
        key = tuple(settings.values())
        if key not in found:
            run = Parsed(factors=dict(settings))
            found[key] = run, IorTable(run, names)
        found[key][1].add(at, cells)
    made = [run for run, _ in found.values()] or [lost]
    for run in made:
        run.factors["iterations"] = len({row.iteration for row in run.rows})
        if not run.rows:
            run.lacks(head, "the table has no rows")
        if any(row.unit == "s" and row.value == 0 for row in run.rows):
            run.warn(head, "times shorter than 0.00005 s are 0 in IOR's CSV")
    if made[-1] is not lost:
        made[-1].missing += lost.missing  # a row that was cut is the last one
    return made


def _settings(names: list[str], cells: list[str]) -> dict[str, int] | None:
    """Of a row, in bytes; None for what is no row."""
    if len(cells) != len(names) or not cells[0].isalpha():
        return None
    said = dict(zip(names, cells, strict=True))
    block, transfer = (number(said.get(name, "")) for name in ("block(KiB)", "xfer(KiB)"))
    ranks = whole_number(said.get("numTasks", ""))
    if block is None or transfer is None or ranks is None:
        return None
    return {"block_size": round(block * 1024), "transfer_size": round(transfer * 1024), "ranks": ranks}


def parse_operations(text: Text) -> Parsed:
    """``time,runtime,tp``: when an operation began (s), how long it took (s), bytes/s; what it was is not said."""
    return read_log(text, first_line=2, columns=3, operation="access")
