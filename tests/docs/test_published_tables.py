"""The tables of published against measured numbers are what is computed now (``make published``)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from iosonde.agreement.judge import PublishedOutcome, judge_recomputed
from iosonde.importers.published_figures import read_publication_file

FILES = sorted((Path(__file__).parents[2] / "examples" / "published").glob("*.yaml"))
SCRIPT = Path(__file__).parents[2] / "docs" / "reproductions" / "verdicts.py"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("published_verdicts", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_number_has_a_verdict_or_a_reason():
    script = load_script()
    comparisons = script.list_comparisons()
    for path in sorted(script.PUBLISHED.glob("*.yaml")):
        verdicts = [script.find_verdict(number, comparisons) for number in script.read(path.stem).figures]
        assert str(PublishedOutcome.NOT_MEASURED) not in verdicts, path.stem


def test_a_contradicted_computation_of_a_document_is_no_slip_and_none_is_left():
    figures = [figure for path in FILES for figure in read_publication_file(path).figures if figure.follows is not None]
    outcomes = {judge_recomputed(figure, figure.follows).outcome for figure in figures}
    assert outcomes == {PublishedOutcome.RECOMPUTED, PublishedOutcome.DOCUMENT_WRONG} and len(figures) > 15


def test_the_page_has_the_tables_that_are_computed():
    script = load_script()
    page = script.PAGE.read_text(encoding="utf-8")
    written = page.partition(script.BEGIN)[2].partition(script.END)[0]
    assert written.strip() == script.build_tables().strip()
