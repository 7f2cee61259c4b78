"""Read the columns of a large .csv without quotes, comments and blank lines: as ``cli`` does, but faster.

Anything else is left to that reader, whose errors name line and column; nothing is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

# Quotes and comments; NUL; line ends for str.splitlines() but not for pyarrow.
_SPECIAL = ('"', "#", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029")


def is_plain(text: str) -> bool:
    """Return whether every line is a row and every delimiter separates two cells."""
    return not any(character in text for character in _SPECIAL) and text.count("\r") == text.count("\r\n")


def parse_columns(
    text: str,
    names: Sequence[str],
    delimiter: str,
    missing: frozenset[str],
    slow: Callable[[tuple[str, ...]], npt.NDArray[Any]],
) -> list[npt.NDArray[Any]] | None:
    """Return the values of each column of a plain ``text``, below its header line; None if rows differ in length.

    ``slow`` reads columns whose cells are neither all plain numbers nor all text.
    """
    import pyarrow as pa
    from pyarrow import csv

    places = [str(place) for place in range(len(names))]
    try:
        table = csv.read_csv(
            pa.BufferReader(text.encode()),
            csv.ReadOptions(column_names=places, skip_rows=1),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=dict.fromkeys(places, pa.string()), null_values=[]),
        )
    except pa.ArrowInvalid:  # rows differ in length: the other reader repairs or reports them
        return None
    return [_parse_values(column, missing, slow) for column in table.columns] if len(table) else None


def _parse_values(cells: Any, missing: frozenset[str], slow: Callable[[tuple[str, ...]], npt.NDArray[Any]]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(cells)
    absent = pc.is_in(trimmed, value_set=pa.array(sorted(missing)))
    present = pc.if_else(absent, None, trimmed)
    try:
        numbers = present.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        coded = present.combine_chunks().dictionary_encode()
        levels = coded.dictionary.to_pylist()
        # float() also accepts +1 and １; words for a missing number may be levels among words.
        is_simple = any(map(_is_text, levels)) and not any(word.isalpha() for word in _list_distinct(trimmed, absent))
        return _expand_texts(coded, levels) if is_simple else slow(tuple(cells.to_pylist()))
    # Infinite numbers and columns without any number are left to the other reader.
    lacks = np.asarray(absent)
    usual = not lacks.all() and bool((np.isfinite(numbers) | lacks).all())
    return numbers if usual else slow(tuple(cells.to_pylist()))


def _list_distinct(words: Any, chosen: Any) -> list[str]:
    distinct: list[str] = words.filter(chosen).unique().to_pylist()
    return distinct


def _is_text(level: str) -> bool:
    try:
        float(level)
    except ValueError:
        return True
    return False


def _expand_texts(coded: Any, levels: list[str]) -> npt.NDArray[np.object_]:
    words = np.array([*levels, None], dtype=object)
    places: npt.NDArray[np.intp] = coded.indices.fill_null(len(levels)).to_numpy(zero_copy_only=False)
    return words[places]
