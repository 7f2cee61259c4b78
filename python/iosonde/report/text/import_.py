"""What became of the files of an import, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.words import counted

from .layout import escape, table, wrapped

if TYPE_CHECKING:
    from iosonde.campaign.import_files import FileOutcome, Imported

_SHOWN = 20
_NAMED = 5  # that quote


def lines(made: Imported, store: str) -> Iterator[str]:
    """A row for each tool, what was not imported and why, and the total."""
    rows = [(one.format, one.files, one.runs, one.incomplete, one.already_there) for one in made.by_format]
    if rows:
        yield table(("tool", "files", "runs", "incomplete", "there before"), rows, "lrrrr")
    if made.n_joined:
        yield f"{counted(made.n_joined, 'file')} of these in the run of another file of the same measurement"
    yield from _quoted(made.quoted)
    failed = made.failed
    if failed:
        yield ""
        yield f"not imported: {len(failed)}"
        for outcome in failed[:_SHOWN]:
            yield escape(f"  {outcome.file}: {outcome.reason}")
        if len(failed) > _SHOWN:
            yield f"  and {len(failed) - _SHOWN} more (--json lists all)"
    yield ""
    for warning in made.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield f"{counted(len(made.outcomes), 'file')} looked at, {counted(made.n_runs, 'run')} stored in {escape(store)}"


def _quoted(found: Sequence[FileOutcome]) -> Iterator[str]:
    """The sources and documents that quote output."""
    if not found:
        return
    said = "quotes output and was not taken; give it by name to read it"
    if len(found) > 1:
        said = "quote output and were not taken; give them by name to read them"
    yield ""
    yield from wrapped(f"{counted(len(found), 'file')} {said}")
    for outcome in found[:_NAMED]:
        yield escape(f"  {outcome.file}: {outcome.format}")
    if len(found) > _NAMED:
        yield f"  and {len(found) - _NAMED} more (--json lists all)"
