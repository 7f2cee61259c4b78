"""bonnie++ 1.03 to 2.x: the CSV line that it prints last.

    1.96,1.96,host,1,1421800799,7423M,,,,72853,15,47358,5,,,156821,7,537.7,10,100,…,512ms,670ms,…

becomes ``block_write bandwidth_last_done`` (K/sec, 1024 bytes), ``rewrite``, ``block_read``, ``seek rate_last_done``,
the creates, stats and deletes of files, each with ``cpu_utilization`` and ``latency_max``. ``+++++`` means too fast to
measure: no value. Columns: bon_csv2txt(1), and the tables in bonnie++'s bon_csv2html.cpp.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import PER_SECOND, parse_integer, parse_number, parse_size
from .text import Note, Text

NAME = "bonnie++"
HEADLINE = ("bandwidth", "rate")

_NEW = re.compile(r"(1\.9[3-9]\w?|2\.\d+\w?),([12]\.\d+\w?),([^,]*),(\d+),(\d*),([\dkKMGT]*(?::\w+)?),")
_OLD = re.compile(r"([^,\s]+),(\d+(?:\.\d+)?[kMGT](?::\w+)?),(?:[\d.+]*,){20,}")
_DATA = (
    ("char_write", True),
    ("block_write", True),
    ("rewrite", True),
    ("char_read", True),
    ("block_read", True),
    ("seek", False),
)
_FILES = ("sequential_create", "sequential_stat", "sequential_delete", "random_create", "random_stat", "random_delete")
_LATENCY = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)$")


def claims(text: Text) -> Claim | None:
    """Recognise the shape of the CSV line, or the banner of the text form."""
    return (
        Claim.from_match(CERTAIN, text.search(_NEW, "\n1.9", "\n2."))
        or Claim.from_match(LIKELY, text.search(_OLD, first_lines=200))
        or Claim.from_match(LIKELY, text.find("------Sequential Output------"))
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each CSV line."""
    runs = []
    for at, line in text.numbered():
        if match := _NEW.match(line):
            runs.append(_parse_new_line(at, line.strip().split(","), match))
        elif match := _OLD.match(line):
            runs.append(_parse_old_line(at, line.strip().split(",")))
    return runs or [
        Parsed(
            missing=[
                Note(
                    text.last_line,
                    Message(
                        "ended-early",
                        "the CSV line at the end is missing, and only that is read: bonnie++ did not finish",
                    ),
                )
            ]
        )
    ]


def _parse_new_line(at: int, cells: list[str], new_match: re.Match[str]) -> Parsed:
    run = Parsed(version=new_match.group(2))
    run.facts["system"] = new_match.group(3)[:200]
    run.factors |= {
        "threads": int(new_match.group(4)[:9]),
        "file_size": parse_size(new_match.group(6).partition(":")[0]),
    }
    # From 1.98 on the number of seeks and of seekers precede the results.
    first = 9 if parse_number(new_match.group(1)) is not None and float(new_match.group(1)) >= 1.98 else 7
    files = first + 12
    needed = files + 5 + 12 + 12
    if len(cells) < needed:
        run.lacks(
            at,
            Message(
                "damaged-lines",
                "the line has {n_cells} of {n_fields} fields: it is cut, and not read",
                n_cells=len(cells),
                n_fields=needed,
            ),
        )
        return run
    _add_data(run, at, cells[first:files])
    run.factors["files_in_1024"] = parse_integer(cells[files])
    _add_files(run, at, cells[files + 5 : files + 17])
    for name, cell in zip([*(name for name, _ in _DATA), *_FILES], cells[files + 17 : files + 29], strict=False):
        if (match := _LATENCY.match(cell)) and (value := parse_number(match.group(1))) is not None:
            run.rows.append(Row(name, "latency_max", value / PER_SECOND[match.group(2)], "s", at))
    return run


def _parse_old_line(at: int, cells: list[str]) -> Parsed:
    sizes: dict[str, FactorValue] = {"file_size": parse_size(cells[1].partition(":")[0])}
    run = Parsed(version="1.03", factors=sizes, facts={"system": cells[0][:200]})
    _add_data(run, at, cells[2:14])
    run.factors["files_in_1024"] = parse_integer(cells[14])
    _add_files(run, at, cells[15:27])
    return run


def _add_data(run: Parsed, at: int, cells: list[str]) -> None:
    run.warn(at, Message("assumed-unit", "K/sec was read as 1024 bytes/s, as bonnie++ calculates"))
    for place, (name, bandwidth) in enumerate(_DATA):
        metric = ("bandwidth_last_done", "bytes/s", 1024.0) if bandwidth else ("rate_last_done", "operations/s", 1.0)
        _add_pair(run, at, name, cells[2 * place : 2 * place + 2], *metric)


def _add_files(run: Parsed, at: int, cells: list[str]) -> None:
    for place, name in enumerate(_FILES):
        _add_pair(run, at, name, cells[2 * place : 2 * place + 2], "rate_last_done", "operations/s", 1.0)


def _add_pair(run: Parsed, at: int, name: str, cells: list[str], metric: str, unit: str, factor: float) -> None:
    if len(cells) < 2 or not cells[0]:
        return
    if cells[0].startswith("++"):
        run.warn(at, Message("too-fast", "{operation} was too fast to measure (+++++): no value", operation=name))
        return
    value, cpu = parse_number(cells[0]), parse_number(cells[1])
    if value is None or value <= 0:
        run.lacks(
            at,
            Message(
                "invalid-number",
                "'{cell}' of {operation} is not a number: left out",
                cell=cells[0][:40],
                operation=name,
            ),
        )
        return
    run.rows.append(Row(name, metric, value * factor, unit, at))
    if cpu is not None:
        run.rows.append(Row(name, "cpu_utilization", cpu / 100, "", at))
