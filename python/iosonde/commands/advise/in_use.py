"""The setting of a system before a campaign changed anything, as read by its experiment (``read:`` of a factor)."""

from collections.abc import Sequence

from iosonde.core.level_text import is_same_level
from iosonde.core.message import Message
from iosonde.core.stored import strip_factor_prefix
from iosonde.core.table import Table
from iosonde.data.source import Source


def find_initial_levels(source: Source, rows: Table, names: Sequence[str]) -> tuple[dict[str, str] | None, str]:
    """Return (column → initial level for these columns, message). The mapping is None if any is unknown or was not
    measured; the message is '' if nothing is known."""
    initial_levels = [
        run.initial_levels
        for experiment in source.experiments
        for run in source.all_runs
        if run.experiment == experiment.id and run.initial_levels
    ]
    columns = [rows.column(name) for name in names]
    read = {tuple(mapping.get(strip_factor_prefix(column.name)) for column in columns) for mapping in initial_levels}
    if len(read) != 1 or None in (states := read.pop()):
        return None, ""
    setting = ",".join(f"{column.name}={state}" for column, state in zip(columns, states, strict=True))
    own = [column.name for column in columns]
    for levels, _ in rows.groups(own):
        if all(is_same_level(level, str(state)) for level, state in zip(levels, states, strict=True)):
            note = Message(
                "settings-in-use",
                "the initial setting is {settings}, as read before the first trial: {spell.current} differs",
                settings=setting,
            )
            return dict(zip(own, map(str, levels), strict=True)), note
    return None, Message(
        "unmeasured-settings",
        "the initial setting {settings} was not measured, so the gain is not relative to it",
        settings=setting,
    )
