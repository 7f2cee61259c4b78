"""Tables in the markup of wikis and in quoted mails, into lines with a delimiter; each row stays in its line."""

import re
from collections.abc import Iterator, Sequence

from iosonde.core.column_units import split_unit

from .comment_blocks import BANNER
from .two_headers import SingleHeader

_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_DOUBLED = re.compile(r"\|\|.*\|\|\s*")  # ||fs||clients||, the header of a Jira table
_CAPTION = "|+"
_BANNER = re.compile(r"\s*([=*~#>+-])\1+\s+(?P<text>[^\W\d].*?)(?:\s+\1{2,})?\s*")  # === ext4 ===, as scripts print it
_SERIES = re.compile(  # of Prometheus, and the lines of InfluxDB
    r"(?P<name>[a-zA-Z_:]\w*)\{(?P<tags>[^{}]*)\}\s+(?P<value>\S+)(?:\s+\d+)?"
    r"|[\w.-]+,(?P<keys>[^\s=]+=\S+)\s+(?P<fields>[^\s=]+=\S+)(?:\s+\d+)?"
)
_PAIR = re.compile(r"\s*(?P<key>[^\W\d][\w ]*?)\s*:\s+(?P<value>\S.*?)\s*")  # fs: ext4
_KEYED = re.compile(r"\s*(?P<key>[^\W\d]\w*)\s*=\s*(?P<value>.*\S)\s*")
_LEAST_ROWS = 3


def convert_markup(text: str) -> str:
    """Return the text with the rows of a wiki's table, or of a quoted table, as lines of cells; any other as it is."""
    lines = text.splitlines()
    quoted = [line if _QUOTE.match(line) else "" for line in lines]
    header = next(filter(None, quoted), "1")
    if 2 * sum(map(bool, quoted)) > sum(bool(line.strip()) for line in lines) and not any(map(str.isdigit, header)):
        return "\n".join(_QUOTE.sub("", line) for line in quoted)
    if blocks := _join_blocks(lines):
        return "\n".join(blocks)
    if any(line.startswith("{|") for line in lines):
        return "\n".join(_iter_media_wiki(lines))
    own = [line for line in lines if line.strip() and not line.startswith("#")]
    if len(own) >= _LEAST_ROWS and all(map(_SERIES.fullmatch, own)):
        return "\n".join("" if line not in own else _write_keys(line) for line in lines)
    if any(map(_BANNER.fullmatch, lines)) and not any(line.lstrip().startswith("|") for line in lines):
        return "\n".join(
            _BANNER.sub(rf"{BANNER} \g<text>", line) if _BANNER.fullmatch(line) else line for line in lines
        )
    if _DOUBLED.fullmatch(next(filter(str.strip, lines), "")):
        return "\n".join(line.strip().replace("||", "|").strip("|") for line in lines)
    return text


def _join_blocks(lines: Sequence[str]) -> list[str]:
    """Return a line of cells for each block of lines ``key: value`` that a blank line ends, at the place of its last
    line; no lines if a block has other keys."""
    joined = [""] * len(lines)
    keys: set[tuple[str, ...]] = set()
    cells: list[str] = []
    for place, line in enumerate([*lines, ""]):
        match = _PAIR.fullmatch(line)
        if match:
            cells.append(f"{match['key'].replace(' ', '_')}={match['value']}")
        elif line.strip() or any(";" in cell for cell in cells):
            return []
        elif cells:
            joined[place - 1] = ";".join(cells)
            keys.add(tuple(cell.partition("=")[0] for cell in cells))
            cells = []
    return joined if len(keys) == 1 and sum(map(bool, joined)) >= _LEAST_ROWS else []


def _write_keys(line: str) -> str:
    """Return a line of a series as ``fs=ext4;clients=4;bw=99.7``."""
    match = _SERIES.fullmatch(line)
    if match is None or match["name"] is None:
        return "" if match is None else f"{match['keys']},{match['fields']}".replace(",", ";")
    return ";".join([*filter(None, match["tags"].replace('"', "").split(",")), f"{match['name']}={match['value']}"])


def split_keys(rows: Sequence[Sequence[str]], lines: Sequence[int]) -> SingleHeader | None:
    """Return rows with a header where each cell is ``fs=nfs``, with the same names in all rows; None for others."""
    cells = [[_KEYED.fullmatch(cell) for cell in _join_units(row)] for row in rows]
    keys = [[match["key"] if match else "" for match in row] for row in cells]
    if len(rows) < _LEAST_ROWS or any(names != keys[0] for names in keys) or not all(keys[0]) or len(keys[0]) < 2:
        return None
    values = [[match["value"] for match in row if match] for row in cells]
    return SingleHeader([keys[0], *values], [0, *lines], None)


def _join_units(row: Sequence[str]) -> list[str]:
    """Return the cells, with ``bw=99.7`` and ``MB/s`` as one."""
    joined: list[str] = []
    for cell in row:
        is_unit = bool(joined) and bool(split_unit(f"x [{cell}]")[1]) and joined[-1][-1:].isdigit() and "=" not in cell
        joined = [*joined[:-1], f"{joined[-1]} {cell}"] if is_unit else [*joined, cell]
    return joined


def _iter_media_wiki(lines: Sequence[str]) -> Iterator[str]:
    """Yield a line for each one: that at the end of a row has its cells, all others are empty."""
    cells: list[str] = []
    is_inside = False
    for line in lines:
        is_end = line.startswith(("|-", "|}"))
        yield "|".join(cells) if is_end else ""
        cells = [] if is_end else cells
        if is_inside and not is_end and line.startswith(("!", "|")) and not line.startswith(_CAPTION):
            several = re.split(r"!!|\|\|" if line.startswith("!") else r"\|\|", line[1:])
            cells += [cell.rpartition("|")[2].strip() for cell in several]  # without style="…" |
        is_inside = (is_inside or line.startswith("{|")) and not line.startswith("|}")
