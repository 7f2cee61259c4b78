"""JUnit XML, in which forges and test runners show results."""

from collections.abc import Callable
from xml.etree import ElementTree as Xml

from iosonde.core.test_cases import TestCase, TestSuite

from .text import escape


def format_junit(suite: TestSuite, write: Callable[[str], str]) -> bytes:
    """Return the document of a suite. ``write`` spells names of metrics as people read them, before a text is escaped,
    which hides them."""
    numbers = {"tests": len(suite.cases), "failures": suite.n_failures, "skipped": suite.n_skipped, "errors": 0}
    attributes = {name: str(number) for name, number in numbers.items()}
    root = Xml.Element("testsuites")
    title = escape(f"iosonde {suite.command} {suite.data}".strip())
    element = Xml.SubElement(root, "testsuite", {"name": title, **attributes})
    element.extend(_build_element(case, suite.command, write) for case in suite.cases)
    Xml.indent(root)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _build_element(case: TestCase, command: str, write: Callable[[str], str]) -> Xml.Element:
    element = Xml.Element("testcase", {"classname": f"iosonde.{command}", "name": escape(write(case.name))})
    text = escape(write(case.text))
    if case.failure:
        Xml.SubElement(element, "failure", {"type": case.failure, "message": text})
    elif case.is_skipped:
        Xml.SubElement(element, "skipped", {"message": text})
    elif text:
        Xml.SubElement(element, "system-out").text = text
    return element
