"""How fast drawn files were read, as text: cold and from memory apart, with the share that was cold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.words import percent

from .layout import estimate_text, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.survey.reading import ReadSpeed

_MOST = 12
# State → the head of its column, what is said of its bytes.
_HEADS = {"cold": "not in memory", "cached": "in memory", "unknown": "not told"}


def reading_lines(found: Sequence[ReadSpeed], cold: float | None) -> Iterator[str]:
    """A row for each type, a column for each state that there was; nothing where nothing was timed."""
    if not found:
        return
    states = [state for state in _HEADS if any(one.state == state for one in found)]
    by = {(one.kind, one.state): one for one in found}
    kinds = list(dict.fromkeys(one.kind for one in found))
    yield ""
    for part in (states[:2], states[2:]):  # three beside each other are too wide
        rows = [[kind, *(cell for state in part for cell in _cells(by.get((kind, state))))] for kind in kinds[:_MOST]]
        heads = ["read here", *(head for state in part for head in ("files", _HEADS[state]))]
        yield from table(heads, rows, "l" + "rr" * len(part)).splitlines() if part else ()
    if len(kinds) > _MOST:
        yield f"and {len(kinds) - _MOST} more types (--json)"
    share = "whether they were in this node's memory the file system does not tell" if cold is None else (
        f"{percent(cold)} of these bytes were not in this node's memory"
    )  # fmt: skip
    yield from wrapped(f"Typical rates (geometric means over files), {found[0].at_once} files read at a time in "
                       f"pieces of up to 1 MiB; {share}.")  # fmt: skip


def _cells(one: ReadSpeed | None) -> list[str]:
    return ["", ""] if one is None else [str(one.rate.n), estimate_text(one.rate, "bytes/s")]
