"""Parts of a surveyed tree under 80 columns: what each holds, and its main type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.units import format_size
from iosonde.core.words import percent_interval
from iosonde.layout.text import escape, table

if TYPE_CHECKING:
    from .strata import SurveyStratum

_MOST, _LONGEST = 20, 24


def strata_lines(strata: Sequence[SurveyStratum]) -> Iterator[str]:
    """Yield a table of the largest parts."""
    largest = sorted(strata, key=lambda stratum: (-stratum.capacity, stratum.name))
    rows = [
        (
            _format_name(stratum.name),
            f"{stratum.files:,}",
            format_size(stratum.capacity),
            f"{stratum.looked_at:,}",
            *_format_mostly(stratum),
        )
        for stratum in largest[:_MOST]
    ]
    yield from table(("part", "files", "capacity", "read", "mostly", "of capacity"), rows, "LrrrLr").splitlines()
    if len(largest) > _MOST:
        yield f"and {len(largest) - _MOST:,} more parts (--json)"


def _format_name(name: str) -> str:
    text = escape(name)
    return text if len(text) <= _LONGEST else "…" + text[1 - _LONGEST :]


def _format_mostly(stratum: SurveyStratum) -> tuple[str, str]:
    estimates = stratum.mostly
    return (estimates.name, percent_interval(estimates.inference.estimate)) if estimates else ("", "")
