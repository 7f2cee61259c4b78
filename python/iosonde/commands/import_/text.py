"""Outcome of an import, by file, as text."""

from collections.abc import Iterator, Sequence

from iosonde.campaign.import_files import FileOutcome, Imported
from iosonde.core.message import spell
from iosonde.core.words import format_count
from iosonde.layout.text import escape, table, warning_lines, wrapped

_MAX_ROWS = 20
_MAX_SOURCES = 5  # files that quote output


def lines(imported: Imported, store: str) -> Iterator[str]:
    """Yield a row per tool, the files that were not imported and why, and the total."""
    rows = [(row.format, row.files, row.runs, row.incomplete, row.already_there) for row in imported.by_format]
    if rows:
        yield table(("tool", "files", "runs", "incomplete", "already stored"), rows, "lrrrr")
    if imported.n_joined:
        yield (
            f"{format_count(imported.n_joined, 'file')} of these joined the run of another file of the same measurement"
        )
    yield from _format_quoted(imported.quoted)
    failed = imported.failed
    if failed:
        yield ""
        yield f"not imported: {len(failed)}"
        yield from (escape(f"  {outcome.file}: {outcome.reason}") for outcome in failed[:_MAX_ROWS])
        if len(failed) > _MAX_ROWS:
            yield f"  and {len(failed) - _MAX_ROWS} more ({spell.json} lists all)"
    yield ""
    yield from warning_lines(imported.warnings)
    yield (
        f"{format_count(len(imported.outcomes), 'file')} examined, {format_count(imported.n_runs, 'run')} stored in "
        f"{escape(store)}"
    )


def _format_quoted(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    if not outcomes:
        return
    hint = "quotes output and was skipped; name it to import it"
    if len(outcomes) > 1:
        hint = "quote output and were skipped; name them to import them"
    yield ""
    yield from wrapped(f"{format_count(len(outcomes), 'file')} {hint}")
    yield from (escape(f"  {outcome.file}: {outcome.format}") for outcome in outcomes[:_MAX_SOURCES])
    if len(outcomes) > _MAX_SOURCES:
        yield f"  and {len(outcomes) - _MAX_SOURCES} more ({spell.json} lists all)"
