"""Lines with one cell among the rows: headings, each of which is a level of all rows below it; and notes at the end."""

import re
from collections.abc import Sequence

from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.table import is_number
from iosonde.core.words import shorten_list

from .two_headers import SingleHeader

Rows = Sequence[Sequence[str]]
NumberedRows = Sequence[tuple[Sequence[str], int]]
_UNNAMED = "group"
_LEAST_COLUMNS = 3  # of two, the second may be missing
_KEYED = re.compile(r"(?P<key>[^\W\d]\w*)\s*[:=]\s*(?P<level>.+)")
_NOTE = re.compile(r"[*†‡¹²³(].*|(?:note|notes|source|legend|hinweis|anmerkung|quelle|legende)\b.*", re.IGNORECASE)


def split_sections(rows: Rows, lines: Sequence[int], n_titles: int) -> SingleHeader | None:
    """Return rows with a column for the headings among them, and without notes at the end; None if there are neither.
    The header is below ``n_titles`` rows, the last of which is a heading if rows come before all others."""
    header = [cell.strip() for cell in rows[n_titles]]
    below = list(zip(rows[n_titles + 1 :], lines[n_titles + 1 :], strict=True))
    own = [(row, line) for row, line in below if any(map(str.strip, row)) and [*map(str.strip, row)] != header]
    n_rows = next((at for at in range(len(own), 0, -1) if not _is_note(own[at - 1][0])), 0)
    sections = _list_sections(own[:n_rows], rows[n_titles - 1] if n_titles else [])
    name, levels = name_levels(list(dict.fromkeys(sections)))
    is_clear = len(header) >= _LEAST_COLUMNS and len(levels) > 1 and name not in header
    if is_clear and _has_repeated_keys(own[:n_rows], sections):
        body = [
            (row, line, levels[level]) for (row, line), level in zip(own, sections, strict=False) if not _is_single(row)
        ]
        template = "lines with one cell are headings, and the column '{name}' of the rows below them: {headings}"
        message = Message("headings-in-rows", template, name=name, headings=shorten_list(levels))
        stacked = [[name, *header], *([level, *row] for row, _, level in body)]
        return SingleHeader(stacked, [lines[n_titles], *(line for _, line, _ in body)], message)
    if n_rows in (0, len(own)) or len(header) < _LEAST_COLUMNS:
        return None
    message = Message("note-below", "the note below the table is left out: {note}", note=own[n_rows][0][0].strip()[:40])
    n_remaining = len(rows) - sum(line >= own[n_rows][1] for line in lines)
    return SingleHeader([*map(list, rows[:n_remaining])], list(lines[:n_remaining]), message)


def _list_sections(rows: NumberedRows, title: Sequence[str]) -> list[str]:
    """Return the heading of each row, of headings their own; nothing if rows have no heading, or headings no rows."""
    heading, sections = title[0].strip().rstrip(":") if title and _is_single(title) else "", list[str]()
    was_heading = False
    for row, _ in rows:
        if _is_single(row) and not is_number(row[0]):
            if was_heading or row[0].strip().rstrip(":") in sections:
                return []
            heading = row[0].strip().rstrip(":")
        was_heading = _is_single(row)
        sections.append(heading)
    return sections if all(sections) and not was_heading else []


def name_levels(headings: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the name of the factor, and its level in each heading: of ``fs: ext4`` and ``fs: xfs`` it is ``fs``."""
    keyed = {heading: match for heading in headings if (match := _KEYED.fullmatch(heading))}
    keys = {match["key"] for match in keyed.values()}
    if len(keyed) == len(headings) and len(keys) == 1:
        return keys.pop(), {heading: match["level"] for heading, match in keyed.items()}
    return _UNNAMED, dict(zip(headings, headings, strict=True))


def _is_note(row: Sequence[str]) -> bool:
    return _is_single(row) and _NOTE.fullmatch(row[0].strip()) is not None


def _is_single(row: Sequence[str]) -> bool:
    return bool(row[:1]) and bool(row[0].strip()) and not any(cell.strip() for cell in row[1:])


def _has_repeated_keys(rows: NumberedRows, sections: Sequence[str]) -> bool:
    """Return whether no heading is a key, the first cell of a row, and the keys are numbers or in several sections."""
    pairs = [(row[0].strip(), section) for (row, _), section in zip(rows, sections, strict=True) if not _is_single(row)]
    places = {key: set(several) for key, several in group_by_key(pairs).items()}
    n_repeated = sum(len(places[key]) > 1 for key, _ in pairs)
    return not set(sections).intersection(places) and (all(map(is_number, places)) or 2 * n_repeated >= len(pairs))
