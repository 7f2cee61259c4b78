"""What a comparison of levels leaves out: settings, and metrics at a common setting, that one side alone has."""

from collections.abc import Sequence
from typing import Any

from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_level
from iosonde.core.message import Message
from iosonde.core.table import Cell
from iosonde.core.words import join_names

from .cells import ONE_SIDED_METRIC, describe_exclusive, describe_exclusive_cells
from .parts import RESPONSE_LABELS, ComparedPart
from .samples import SidePair


def describe_lone_parts(
    group: str, levels: Sequence[Cell], lone_parts: Sequence[ComparedPart], pairs: Sequence[SidePair]
) -> tuple[Message, ...]:
    """Return a note for each side of the ``levels`` that has parts alone; parts without any of them are no matter."""
    common = [_get_setting(pair.part) for pair in pairs]
    units = {name: unit for part in lone_parts for name, unit in part.units.items()}
    cells: dict[str, list[dict[str, Any]]] = {}
    metrics: dict[str, dict[str, None]] = {}
    for part in lone_parts:
        side, setting = _name_side(group, levels, part), _get_setting(part)
        if side and (setting in common or not setting):
            metrics.setdefault(side, {})[_name_response(part)] = None
        elif side and part.setting not in cells.setdefault(side, []):
            cells[side].append(part.setting)
    return (
        *describe_exclusive_cells(cells, units, [pair.part.setting for pair in pairs]),
        *(describe_exclusive(side, join_names(list(names)), ONE_SIDED_METRIC) for side, names in metrics.items()),
    )


def _get_setting(part: ComparedPart) -> dict[str, Any]:
    return {name: level for name, level in part.cell.items() if name not in RESPONSE_LABELS}


def _name_side(group: str, levels: Sequence[Cell], part: ComparedPart) -> str:
    column = part.rows.column(group)
    texts = [format_level(level, column.level_unit) for level in column.codes()[1] if level in levels]
    return f"{group}={', '.join(texts)}" if texts else ""


def _name_response(part: ComparedPart) -> str:
    operation = part.cell.get("operation")
    return str(part.cell.get("response") or "") or (
        f"{operation} {format_metric(part.metric.name, operation)}" if operation else part.column
    )
