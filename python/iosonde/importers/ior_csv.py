"""IOR's CSVs: ``summaryFormat=CSV`` (a row for each iteration), ``saveRankPerformanceDetailsCSV`` (for each rank).

    access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput
    write,0,2.5560855865e-02,2.5542020798e-02,4.1022726528e+07,4.1052977300e+07

becomes ``write bandwidth_own`` of rank 0 in bytes/s, once with open and close inside and once, as
``bandwidth_own_access``, without; and the two times.

    access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter
    write,277.1444,4773.7135,0.0002,256.0000,64.0000,0.0002,0.0017,0.0009,0.0018,2,1

becomes the rows of the text form. It names neither the command nor the version, and a time that is 0 in its four
decimals is left out as unknown.
"""

from iosonde.core.message import Message

from .damage import note_reported_failure
from .ior_table import IorTable, check_iterations, count_iterations
from .parsed import Parsed, Row
from .reading import parse_integer, parse_number
from .text import Note, Text

_COLUMNS = {
    "runtime-with-openclose": ("total_time", "s", "open,close"),
    "runtime": ("access_time", "s", ""),
    "throughput-withopenclose": ("bandwidth_own", "bytes/s", "open,close"),
    "throughput": ("bandwidth_own_access", "bytes/s", ""),
}


def parse_ranks(text: Text, head: int) -> Parsed:
    """Read the CSV of ranks whose header is line ``head``."""
    run = Parsed()
    names = text.lines[head - 1].strip().split(",")
    columns = [_COLUMNS.get(name) for name in names]
    iteration_by_rank: dict[tuple[str, int], int] = {}
    for at, line in enumerate(text.lines[head:], head + 1):
        cells = line.strip().split(",")
        if cells == [""]:
            continue
        rank = parse_integer(cells[1]) if len(cells) == len(names) else None
        if rank is None or rank < 0:
            run.warn(at, Message("unreadable-lines", "not a row of this table: left out"))
            continue
        iteration = iteration_by_rank[cells[0], rank] = iteration_by_rank.get((cells[0], rank), -1) + 1
        for column, cell in zip(columns, cells, strict=True):
            value = parse_number(cell) if column else None
            if column and value is not None and value > 0:
                metric, unit, includes = column
                run.rows.append(Row(cells[0][:40], metric, value, unit, at, rank, iteration, None, includes))
            elif column:
                run.warn(at, Message("invalid-number", "'{cell}' is not a number: left out", cell=cell[:40]))
    ranks = {rank for _, rank in iteration_by_rank}
    run.factors["ranks"] = len(ranks)
    if not ranks:
        run.lacks(head, Message("no-results", "the table has no rows"))
    elif ranks != set(range(len(ranks))):
        run.lacks(text.last_line, Message("missing-rows", "ranks are missing in the table"))
    return run


_SETTINGS = {"numTasks": ("ranks", 1), "block(KiB)": ("block_size", 1024), "xfer(KiB)": ("transfer_size", 1024)}


def parse_summary(text: Text) -> list[Parsed]:
    """Return one Parsed for each test: a new one begins when sizes or tasks change, or the iterations restart."""
    runs: list[Parsed] = []
    names: list[str] = []
    keys: set[tuple[str, str]] = set()
    settings: dict[str, int] = {}
    table: IorTable | None = None
    for at, line in text.numbered():
        cells = line.strip().split(",")
        if cells[:2] == ["access", "bw(MiB/s)"]:
            names, table = cells, None
        elif names and cells[0] in ("write", "read", "remove"):
            row_settings = _read_settings(names, cells)
            key = (cells[0], cells[-1])
            if len(cells) == len(names) and (table is None or row_settings != settings or key in keys):
                runs.append(Parsed(factors=dict(row_settings)))
                runs[-1].warn(
                    at, Message("low-resolution", "IOR's CSV has four decimals: times that are 0 in them are left out")
                )
                table = IorTable(runs[-1], ["Latency(s)" if name == "Latency" else name for name in names])
                settings, keys = row_settings, set()
            if table is None:
                runs.append(Parsed())
                table = IorTable(runs[-1], names)
            keys.add(key)
            table.add(at, ["-" if _is_too_short(*pair) else pair[1] for pair in zip(names, cells, strict=False)])
            if len(cells) != len(names):
                runs[-1].lacks(at, Message("damaged-lines", "the row is cut: left out"))
        elif runs:
            note_reported_failure(runs[-1], at, line)
    for run in runs:
        _check_alternation(run, text.last_line)
    return runs or [Parsed(missing=[Note(text.last_line, Message("no-results", "the table has no rows"))])]


def _is_too_short(name: str, cell: str) -> bool:
    return (name == "Latency" or name.endswith("(s)")) and parse_number(cell) == 0


def _read_settings(names: list[str], cells: list[str]) -> dict[str, int]:
    """Return the sizes in bytes and the number of tasks of a row."""
    by_name = dict(zip(names, cells, strict=False))
    values = ((factor, parse_number(by_name.get(name, "")), unit) for name, (factor, unit) in _SETTINGS.items())
    return {factor: round(value * unit) for factor, value, unit in values if value is not None}


def _check_alternation(run: Parsed, last: int) -> None:
    """Check that writes and reads alternate: an operation with fewer iterations lost some. The CSV lacks the requested
    number."""
    counts = count_iterations(run)
    run.factors["iterations"] = most = max(counts.values(), default=0)
    check_iterations(run, last, counts, counts, most)
