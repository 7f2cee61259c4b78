"""A watched history for forges: Markdown for a summary, and JUnit XML."""

from collections.abc import Callable, Iterator

from iosonde.core.headlines import build_name_writer
from iosonde.layout.markdown import escape_markdown, format_row

from .gate import ForgeReport


def format_markdown(report: ForgeReport) -> Iterator[str]:
    """Yield the sentence, and a table with a row for each series that did not just pass."""
    watch, explained, write = report.watch, report.explained, build_name_speller(report)
    yield escape_markdown(write(f"{watch.result}: {watch.sentence}"))
    if explained:
        yield from ["", format_row(["", "series", "why"]), "|---|---|---|"]
    for item in explained:
        yield format_row([item.result, write(item.series.title), write(" ".join(item.reasons))])
    for warning in watch.warnings:
        yield from ["", escape_markdown(warning)]


def build_name_speller(report: ForgeReport) -> Callable[[str], str]:
    """Return what writes the names of metrics as people read them: before a text is escaped, which hides them."""
    return build_name_writer([series.name for series in report.watch.series]) or str
