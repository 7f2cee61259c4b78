"""Settings that are joined in one column of names (``ext4_4k_randread_qd32``): a column for each part."""

import re
from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table

from .raw_rows import parse_values

_NAMES = frozenset(
    ("test", "name", "case", "benchmark", "bench", "label", "config", "configuration", "scenario", "key")
)
_SEPARATORS = ("_", "-", "/", ":", ".", " ")
_KEYED = re.compile(r"(?P<key>[^\W\d_]+)=?(?P<level>\d+)")  # qd32, nodes=4


def split_joined_names(table: Table, question: Sequence[str] = ()) -> Table:
    """Return the table with the parts of such a column as settings, with a warning.

    It is the only one that can be a setting and not in the texts of the ``question``; all names have equally many
    parts, and each level that varies is in several names.
    """
    texts = [column for column in table.columns.values() if not column.numeric and not column.missing.any()]
    if (
        len(texts) != 1
        or texts[0].role
        or texts[0].name in question
        or (texts[0].label or texts[0].name).lower() not in _NAMES
    ):
        return table
    others = [column for column in table.columns.values() if column is not texts[0]]
    if not any(is_speed(build_metric(column.label or column.name, column.unit)) for column in others):
        return table
    names = [str(value) for value in texts[0].values]
    parts = next((parts for mark in _SEPARATORS if (parts := _split(names, mark))), None)
    if parts is None:
        return table
    columns = {texts[0].name: replace(texts[0], role=ColumnRole.FACT)}
    for place, levels in enumerate(zip(*parts, strict=True), 1):
        keyed = [_KEYED.fullmatch(level) for level in levels]
        keys = {match["key"] if match else "" for match in keyed}
        is_keyed = len(keys) == 1 and "" not in keys
        name = keys.pop() if is_keyed else f"part{place}"
        name = name if not table.has_column(name) and name not in columns else f"part{place}"
        cells = [match["level"] for match in keyed if match] if is_keyed else list(levels)
        columns[name] = Column(name, parse_values(cells), name)
    template = "the names in column '{column}' are read as {parts}; {spell.roles:'{column}=setting'} keeps them joined"
    message = Message("joined-names", template, column=texts[0].name, parts=", ".join([*columns][1:]))
    return replace(table, columns={**columns, **table.columns, **columns}, warnings=(*table.warnings, message))


def _split(names: list[str], mark: str) -> list[list[str]] | None:
    """Return the parts of each name, if all have equally many, and two or more vary, each of whose levels is beside
    several levels of the others."""
    parts = [name.split(mark) for name in names]
    if len({len(part) for part in parts}) != 1 or len(parts[0]) < 2 or not all(map(all, parts)):
        return None
    distinct = [list(part) for part in dict.fromkeys(map(tuple, parts))]
    varying = [place for place, levels in enumerate(zip(*distinct, strict=True)) if len(set(levels)) > 1]
    are_crossed = all(
        [part[place] for part in distinct].count(level) > 1
        for place in varying
        for level in {part[place] for part in distinct}
    )
    return parts if len(varying) > 1 and are_crossed else None
