"""mdtest's ``--saveRankPerformanceDetails`` CSV: for each iteration a row ``all`` and one for each rank.

    rank,items,rate-Directory creation,time-Directory creation,…
    all,100,4.9257827363e+05,4.0602684021e-04,…
    0,,2.4686898175e+05,4.0507316589e-04,…

becomes ``directory_creation rate_last_done`` and ``time`` of the whole, ``rate_own`` and ``time`` of each rank.
"""

from iosonde.core.message import Message

from .parsed import Parsed, Row
from .reading import parse_integer, parse_number
from .text import Text


def parse_ranks(text: Text, head: int) -> Parsed:
    """Read the CSV whose header is line ``head``."""
    run = Parsed()
    names = text.lines[head - 1].strip().split(",")
    columns = [_parse_column(name) for name in names]
    iteration, ranks = -1, set[int]()
    for at, line in enumerate(text.lines[head:], head + 1):
        cells = line.strip().split(",")
        if cells == [""]:
            continue
        is_total = cells[0] == "all"
        rank = None if is_total else parse_integer(cells[0])
        if (rank is None and not is_total) or len(cells) > len(names):
            run.warn(at, Message("unreadable-lines", "not a row of this table: left out"))
            continue
        if is_total:
            iteration += 1
        elif rank is not None:
            ranks.add(rank)
        if is_total and (items := parse_integer(cells[1] if len(cells) > 1 else "")) is not None:
            run.factors.setdefault("items_per_rank", items)
        _add_cells(run, at, columns, cells, rank, max(iteration, 0))
    if ranks:
        run.factors["ranks"] = len(ranks)
        if ranks != set(range(len(ranks))):
            run.lacks(text.last_line, Message("missing-rows", "ranks are missing in the table"))
    elif not run.rows:
        run.lacks(head, Message("no-results", "the table has no rows"))
    return run


def _parse_column(name: str) -> tuple[str, str]:
    kind, _, operation = name.partition("-")
    return kind, operation.lower().replace(" ", "_")


def _add_cells(
    run: Parsed, at: int, columns: list[tuple[str, str]], cells: list[str], rank: int | None, iteration: int
) -> None:
    for (kind, operation), cell in zip(columns, cells, strict=False):
        if not operation or not cell:
            continue
        value = parse_number(cell)
        if value is None or value <= 0:
            if cell not in ("inf", "nan", "-nan") and parse_number(cell) != 0:
                run.warn(
                    at,
                    Message(
                        "invalid-number",
                        "'{cell}' of {operation} is not a number: left out",
                        cell=cell[:40],
                        operation=operation,
                    ),
                )
        elif kind == "rate":
            clock = "last_done" if rank is None else "own"
            run.rows.append(Row(operation, f"rate_{clock}", value, "operations/s", at, rank, iteration))
        elif kind == "time":
            run.rows.append(Row(operation, "time", value, "s", at, rank, iteration))
