"""A verification as text: how much came out again, what differs, whether to trust the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.units import significant

from .layout import escape, wrapped
from .store import without_digest

if TYPE_CHECKING:
    from iosonde.answers.verify import Verification

_SHOWN = 10


def lines(made: Verification) -> Iterator[str]:
    """The lines of the text."""
    seen, n_damaged = made.verified, len(made.damaged)
    yield from _wrapped(f"{seen.n_runs} runs: {seen.n_results} results computed again from their operations, "
                        f"{seen.n_summary} numbers of the summary from those")  # fmt: skip
    for item in seen.different[:_SHOWN]:
        pair = ["nothing" if v is None else significant(v, 6) for v in (item.stored, item.recomputed)]
        yield from _wrapped(f"differs: {item.what}: stored {pair[0]}, computed {pair[1]}")
    if len(seen.different) > _SHOWN:
        yield f"and {len(seen.different) - _SHOWN} more differ"
    for why, n in seen.untold.items():
        yield from _wrapped(f"cannot tell: {n} {why}")
    for name, why in seen.decisions.items():
        yield from _wrapped(f"decision of {name}: {why or 'sealed before the first trial, and unchanged'}")
    for problem in made.damaged[:_SHOWN]:
        yield from _wrapped(escape(f"{problem.code} {problem.sentence}"))
    if n_damaged > _SHOWN:
        yield f"{n_damaged - _SHOWN} more files are damaged"
    if made.n_without_digest:
        yield from _wrapped(without_digest(made.n_without_digest))
    yield ""
    if seen.good and not n_damaged:
        yield "Every number that can be computed again is what was stored."
        return
    if not seen.different and not seen.n_broken and not n_damaged:
        yield "Nothing could be computed again, so nothing is verified."
        return
    parts = [f"{len(seen.different)} numbers differ"] if seen.different else []
    parts += [f"{seen.n_broken} broken seals"] if seen.n_broken else []
    parts += [f"{n_damaged} damaged files (iosonde store check)"] if n_damaged else []
    yield from _wrapped(f"Do not trust this store as it is: {', '.join(parts)}.")


def _wrapped(text: str) -> list[str]:
    return wrapped(text, "  ")
