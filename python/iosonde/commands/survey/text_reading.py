"""Read rates of sampled files as text: cold and from memory, with the share that was cold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.layout.text import estimate_text, table, wrapped

from .reading import STATES

if TYPE_CHECKING:
    from .reading import ReadSpeed

_MOST = 12


def reading_lines(speeds: Sequence[ReadSpeed], heading: str) -> Iterator[str]:
    """Yield a row per type and a column per cache state that occurred; nothing if nothing was timed."""
    if not speeds:
        return
    states = [state for state in STATES if any(speed.state == state for speed in speeds)]
    by = {(speed.kind, speed.state): speed for speed in speeds}
    kinds = list(dict.fromkeys(speed.kind for speed in speeds))
    yield ""
    for part in (states[:2], states[2:]):  # three side by side are too wide
        rows = [
            [kind, *(cell for state in part for cell in _format_cells(by.get((kind, state))))] for kind in kinds[:_MOST]
        ]
        heads = ["read here", *(head for state in part for head in ("files", STATES[state]))]
        yield from table(heads, rows, "l" + "rr" * len(part)).splitlines() if part else ()
    if len(kinds) > _MOST:
        yield f"and {len(kinds) - _MOST} more types (--json)"
    yield from wrapped(heading)


def _format_cells(speed: ReadSpeed | None) -> list[str]:
    return ["", ""] if speed is None else [str(speed.rate.n), estimate_text(speed.rate, "bytes/s")]
