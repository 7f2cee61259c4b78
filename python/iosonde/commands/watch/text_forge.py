"""A watched history for forges: Markdown for a summary, and JUnit XML."""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

from iosonde.core.headlines import build_name_writer
from iosonde.core.whole_file import replace_file
from iosonde.layout.markdown import escape_markdown, format_row
from iosonde.layout.text import escape

from .gate import ForgeReport, SeriesResult


def format_markdown(report: ForgeReport) -> Iterator[str]:
    """Yield the sentence, and a table with a row for each series that did not just pass."""
    watch, explained, write = report.watch, report.explained, _build_writer(report)
    yield escape_markdown(write(f"{watch.result}: {watch.sentence}"))
    if explained:
        yield from ["", format_row(["", "series", "why"]), "|---|---|---|"]
    for item in explained:
        yield format_row([item.result, write(item.series.title), write(" ".join(item.reasons))])
    for warning in watch.warnings:
        yield from ["", escape_markdown(warning)]


def write_junit(path: Path, report: ForgeReport) -> None:
    """Write JUnit XML with a test case for each series: a regression is a failure, an inconclusive one is skipped, or
    a failure of that type if the watch is strict. Raises InputError, SystemFaultError."""
    counts = {"tests": report.results, "failures": report.failed, "skipped": report.skipped}
    numbers = {name: str(len(results)) for name, results in counts.items()}
    suite = Xml.Element("testsuite", {"name": escape(f"iosonde watch {report.watch.name}"), "errors": "0", **numbers})
    suite.extend([_build_case(report, item, _build_writer(report)) for item in report.results])
    root = Xml.Element("testsuites")
    root.append(suite)
    Xml.indent(root)
    replace_file(path, bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n")


def _build_writer(report: ForgeReport) -> Callable[[str], str]:
    """Return what writes the names of metrics as people read them: before a text is escaped, which hides them."""
    return build_name_writer([series.name for series in report.watch.series]) or str


def _build_case(report: ForgeReport, item: SeriesResult, write: Callable[[str], str]) -> Xml.Element:
    case = Xml.Element("testcase", {"classname": "iosonde.watch", "name": escape(write(item.series.title))})
    text = escape(write(" ".join(item.reasons)))
    if item in report.failed:
        Xml.SubElement(case, "failure", {"type": item.result, "message": text})
    elif item in report.skipped:
        Xml.SubElement(case, "skipped", {"message": text})
    elif text:
        Xml.SubElement(case, "system-out").text = text
    return case
