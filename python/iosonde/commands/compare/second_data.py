"""The second DATA of a comparison among the words that follow the first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError

if TYPE_CHECKING:
    from iosonde.data.source import Source


def find_second_data(source: Source, levels: Sequence[str], group: str | None) -> str | None:
    """Return the only level if it is a file or a store and no column. Raises InputError for several DATA, and for a
    path that does not exist."""
    paths = [text for text in levels if text not in source.table.columns and Path(text).exists()]
    if len(levels) == 1 and paths:
        return paths[0]
    if group is None and len(paths) == len(levels) > 1:
        raise InputError(
            "too-many-sources",
            "{n_sources} DATA are given",
            "compare takes two: the base and the other",
            n_sources=1 + len(paths),
        )
    is_path = not source.has_response_columns or any(
        "/" in text or text.endswith((".csv", ".parquet")) for text in levels
    )
    if group is None and len(levels) == 1 and is_path:
        raise InputError(
            "no-such-file", "{path} does not exist", "give a store, a .csv or a .parquet file", path=levels[0]
        )
    return None
