"""IOR's CSVs: ``saveRankPerformanceDetailsCSV`` (a row for each rank) and ``savePerOpDataCSV`` (for each operation).

    access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput
    write,0,2.5560855865e-02,2.5542020798e-02,4.1022726528e+07,4.1052977300e+07

becomes ``write bandwidth_own`` of rank 0 in bytes/s, once with open and close inside and once, as
``bandwidth_own_access``, without; and the two times. ``time,runtime,tp`` becomes recorded operations.
"""

from __future__ import annotations

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


def parse_operations(text: Text) -> Parsed:
    """``time,runtime,tp``: when an operation began (s), how long it took (s), bytes/s; what it was is not said."""
    return read_log(text, first_line=2, columns=3, operation="access")
