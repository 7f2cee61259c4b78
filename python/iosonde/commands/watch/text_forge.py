"""A watched history for forges: Markdown for a summary, and JUnit XML."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

from iosonde.core.whole_file import replace_file
from iosonde.layout.markdown import escape_markdown, format_row
from iosonde.layout.text import escape

from .answer import INCONCLUSIVE, PASSED, REGRESSION, Watch
from .gate import SeriesResult, judge_series

_SIGNS = {REGRESSION: "regression", INCONCLUSIVE: "inconclusive", PASSED: "passed"}


def format_markdown(watch: Watch) -> Iterator[str]:
    """Yield the sentence, and a table with a row for each series that did not just pass."""
    yield escape_markdown(f"{watch.result}: {watch.sentence}")
    results = judge_series(watch)
    shown = [item for item in results if item.reasons]
    if shown:
        yield from ["", format_row(["", "series", "why"]), "|---|---|---|"]
    for item in shown:
        yield format_row([_SIGNS[item.result], item.series.title, " ".join(item.reasons)])
    if quiet := len(results) - len(shown):
        yield from ["", escape_markdown(f"{quiet} of {len(results)} series without a change for the worse.")]
    for warning in watch.warnings:
        yield from ["", escape_markdown(warning)]


def format_junit(watch: Watch) -> bytes:
    """Return JUnit XML with a test case for each series: a regression is a failure, an inconclusive one is skipped, or
    a failure of that type if the watch is strict."""
    results = judge_series(watch)
    cases = [_build_case(watch, item) for item in results]
    counts = {name: sum(case.find(name) is not None for case in cases) for name in ("failure", "skipped")}
    suite = Xml.Element(
        "testsuite",
        {
            "name": escape(f"iosonde watch {watch.name}"),
            "tests": str(len(cases)),
            "failures": str(counts["failure"]),
            "errors": "0",
            "skipped": str(counts["skipped"]),
        },
    )
    suite.extend(cases)
    root = Xml.Element("testsuites")
    root.append(suite)
    Xml.indent(root)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def write_junit(path: Path, watch: Watch) -> None:
    """Write JUnit XML to a file. Raises InputError, SystemFaultError."""
    replace_file(path, format_junit(watch))


def _build_case(watch: Watch, item: SeriesResult) -> Xml.Element:
    case = Xml.Element("testcase", {"classname": "iosonde.watch", "name": escape(item.series.title)})
    text = escape(" ".join(item.reasons))
    if item.result == REGRESSION or (item.result == INCONCLUSIVE and watch.strict):
        Xml.SubElement(case, "failure", {"type": item.result, "message": text})
    elif item.result == INCONCLUSIVE:
        Xml.SubElement(case, "skipped", {"message": text})
    elif text:
        Xml.SubElement(case, "system-out").text = text
    return case
