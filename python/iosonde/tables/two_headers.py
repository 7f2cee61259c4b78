"""Two lines of header, as pivot tables and tables side by side have them: groups of columns into rows.

``ext4`` and ``xfs`` stand above ``run1,run2`` each, or above a whole table each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.table import is_number
from iosonde.core.words import shorten_list

Rows = Sequence[Sequence[str]]
NumberedRows = Sequence[tuple[Sequence[str], int]]
_UNNAMED = "group"
_MAX_LINES = 20  # above the second line of the header


@dataclass(frozen=True)
class SingleHeader:
    """Rows whose first one is the header, with their ``lines`` in the file, and a ``message`` about them."""

    rows: list[list[str]]
    lines: list[int]
    message: Message | None


@dataclass(frozen=True)
class _Header:
    """The second of two lines is at ``place``. ``settings``: column → name of those outside of groups; ``groups``:
    label → column → name; ``factor`` is the name of the labels."""

    place: int
    settings: Mapping[int, str]
    groups: Mapping[str, Mapping[int, str]]
    factor: str = _UNNAMED

    @property
    def is_clear(self) -> bool:
        """Return whether all columns have a name, and the labels tell those of the same name apart."""
        own = [*self.settings.values(), self.factor]
        names = [list(columns.values()) for columns in self.groups.values()]
        is_unique = len(set(own)) == len(own) and all(len(set(several)) == len(several) for several in names)
        has_pairs = any(len(several) > 1 for several in names)  # else the line below the header has the units
        return has_pairs and len(names) > 1 and all(own) and is_unique and set(own).isdisjoint(set().union(*names))


def has_two_headers(rows: Rows) -> bool:
    """Return whether ``stack_groups`` would change these rows."""
    return _find_header(rows) is not None


def stack_groups(rows: Rows, lines: Sequence[int]) -> SingleHeader | None:
    """Return rows with one line of header: groups with the same columns one below the other, with a column that names
    the group; of other groups each column with the label of its group in its name. None if there are no groups."""
    header = _find_header(rows)
    if header is None:
        return None
    body = list(zip(rows[header.place + 1 :], lines[header.place + 1 :], strict=True))
    names = [list(columns.values()) for columns in header.groups.values()]
    is_alike = all(several == names[0] for several in names)
    columns, stacked = _stack(header, body, names[0]) if is_alike else _join(header, body)
    template = "two lines of header: {columns} are columns for each {factor}, which are rows: {labels}"
    message = Message(
        "two-headers",
        template if is_alike else "two lines of header are one: {columns}",
        columns=shorten_list(names[0] if is_alike else columns),
        factor=header.factor,
        labels=shorten_list(header.groups),
    )
    return SingleHeader(
        [columns, *(row for row, _ in stacked)], [lines[header.place], *(line for _, line in stacked)], message
    )


def _stack(header: _Header, body: NumberedRows, names: Sequence[str]) -> tuple[list[str], list[tuple[list[str], int]]]:
    rows = [
        ([*(_get_cell(row, column) for column in header.settings), label, *cells], line)
        for label, columns in header.groups.items()
        for row, line in body
        if any(cells := [_get_cell(row, column) for column in columns])  # the shorter of two tables ends earlier
    ]
    return [*header.settings.values(), header.factor, *names], rows


def _join(header: _Header, body: NumberedRows) -> tuple[list[str], list[tuple[list[str], int]]]:
    labels = [(column, f"{label} {name}") for label, own in header.groups.items() for column, name in own.items()]
    names = dict(sorted([*header.settings.items(), *labels]))
    return list(names.values()), [([_get_cell(row, column) for column in names], line) for row, line in body]


def _find_header(rows: Rows) -> _Header | None:
    """Return the header whose second line has duplicates that the labels in the first one tell apart."""
    for place in range(1, min(_MAX_LINES, len(rows) - 1)):
        names = [cell.strip() for cell in rows[place]]
        present = [name for name in names if name]
        is_header = not any(map(is_number, present)) and any(
            is_number(cell) for cell in rows[place + 1] if cell.strip()
        )
        if is_header and len(set(present)) < len(present):
            header = _match_labels(rows, place, names)
            return header if header.is_clear else None
    return None


def _match_labels(rows: Rows, place: int, names: Sequence[str]) -> _Header:
    above = [_get_cell(rows[place - 1], column) for column in range(len(names))]
    labels: list[str] = []
    for cell in above:  # a label stands above the first of its columns
        labels.append(cell or (labels[-1] if labels else ""))
    used = [column for column in range(len(names)) if any(_get_cell(row, column) for row in rows[place:])]
    settings = {column: names[column] or above[column] for column in used if not (names[column] and labels[column])}
    pairs = [(labels[column], (column, names[column])) for column in used if column not in settings]
    groups = {label: dict(columns) for label, columns in group_by_key(pairs).items()}
    corner = next(iter(groups), "")
    if len(groups) > 2 and len(groups[corner]) == 1 and min(used) in groups[corner]:
        (name,) = groups[corner].values()
        if name not in names[min(used) + 1 :]:  # the names of the labels and of the column below stand in the corner
            return _Header(
                place, {min(used): name} | settings, {label: groups[label] for label in [*groups][1:]}, corner
            )
    return _Header(place, settings, groups)


def _get_cell(row: Sequence[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""
