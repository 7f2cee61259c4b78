"""A verification as text: what was reproduced, what differs, and whether to trust the store."""

from collections.abc import Iterator

from iosonde.commands.store.text import describe_unchecked_experiments
from iosonde.core.units import format_significant
from iosonde.layout.text import escape, wrapped

from .answer import Verification

_MAX_ROWS = 10


def lines(verification: Verification) -> Iterator[str]:
    """The lines of the text."""
    verified, n_damaged = verification.verified, len(verification.damaged)
    yield from _wrap_text(
        f"{verified.n_runs} runs: {verified.n_results} results recomputed from their operations, "
        f"{verified.n_summary} numbers of the summary from those"
    )
    for item in verified.different[:_MAX_ROWS]:
        pair = ["nothing" if v is None else format_significant(v, 6) for v in (item.stored, item.recomputed)]
        yield from _wrap_text(f"differs: {item.what}: stored {pair[0]}, computed {pair[1]}")
    if len(verified.different) > _MAX_ROWS:
        yield f"and {len(verified.different) - _MAX_ROWS} more differ"
    for why, n in verified.untold.items():
        yield from _wrap_text(f"not verified: {n} {why}")
    for name, why in verified.decisions.items():
        yield from _wrap_text(f"decision of {name}: {why or 'sealed before the first trial, and unchanged'}")
    for problem in verification.damaged[:_MAX_ROWS]:
        yield from _wrap_text(escape(f"{problem.code} {problem.sentence}"))
    if n_damaged > _MAX_ROWS:
        yield f"{n_damaged - _MAX_ROWS} more files are damaged"
    if verification.n_without_digest:
        yield from _wrap_text(describe_unchecked_experiments(verification.n_without_digest))
    yield ""
    if verified.good and not n_damaged:
        yield "Every number that can be recomputed equals the stored one."
        return
    if not verified.different and not verified.n_broken and not n_damaged:
        yield "Nothing could be recomputed, so nothing is verified."
        return
    parts = [f"{len(verified.different)} numbers differ"] if verified.different else []
    parts += [f"{verified.n_broken} broken seals"] if verified.n_broken else []
    parts += [f"{n_damaged} damaged files (iosonde store check)"] if n_damaged else []
    yield from _wrap_text(f"Do not trust this store: {', '.join(parts)}.")


def _wrap_text(text: str) -> list[str]:
    return wrapped(text, "  ")
