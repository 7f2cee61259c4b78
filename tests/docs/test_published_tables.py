"""The tables of published against measured numbers are what is computed now (``make published``)."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from iosonde.agreement.judge import PublishedOutcome, judge_recomputed
from iosonde.importers.published_figures import read_publication_file

FILES = sorted((Path(__file__).parents[2] / "examples" / "published").glob("*.yaml"))
SCRIPT = Path(__file__).parents[2] / "docs" / "reproductions" / "verdicts.py"


@cache
def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("published_verdicts", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_number_has_a_verdict_or_a_reason():
    for answer in load_script().judge_documents():
        without = [
            cell.number
            for cell in answer.cells
            if cell.verdict.outcome is PublishedOutcome.NOT_MEASURED and not cell.number.unmeasured
        ]
        assert without == [], answer.publication.document


def test_each_claim_is_answered_by_the_trials():
    for answer in load_script().judge_documents():
        outcomes = {claim.outcome for claim in answer.claims}
        assert len(answer.claims) > 10 and PublishedOutcome.NOT_MEASURED not in outcomes, answer.publication.document


def test_what_the_documents_own_numbers_give_is_printed_or_a_slip():
    stated = [claim for answer in load_script().judge_documents() for claim in answer.claims if claim.is_stated]
    outcomes = {claim.outcome for claim in stated}
    assert outcomes == {PublishedOutcome.RECOMPUTED, PublishedOutcome.DOCUMENT_WRONG} and len(stated) > 20


def test_a_contradicted_computation_of_a_document_is_no_slip_and_none_is_left():
    figures = [figure for path in FILES for figure in read_publication_file(path).figures if figure.follows is not None]
    outcomes = {judge_recomputed(figure, figure.follows).outcome for figure in figures}
    assert outcomes == {PublishedOutcome.RECOMPUTED, PublishedOutcome.DOCUMENT_WRONG} and len(figures) > 15


def test_the_pages_have_the_tables_that_are_computed():
    script = load_script()
    texts = [page.read_text(encoding="utf-8") for page in script.PAGES]
    assert texts == [script.fill_page(text) for text in texts]
    tables = [name for text in texts for name in script.list_tables(text)]
    claims = [claim for answer in script.judge_documents() for claim in answer.claims]
    experiments = {Path(claim.file).stem for claim in claims if not claim.is_stated}
    assert sorted(tables) == sorted({script.DOCUMENTS, *experiments})


# Verdicts that a reader can work out from docs/reproductions.md.
VERDICTS = {
    ("ficus-lecture", "a replica more, time of cp"): PublishedOutcome.SAME_SIGN,
    ("kumar-2013", "write: a copy more"): PublishedOutcome.SAME_SIGN,
    ("kumar-2013", "write: a client more, all clients together"): PublishedOutcome.NOT_COMPARABLE,
    ("kunkel-2017", "read, holes of 16KiB, sieving ÷ not"): PublishedOutcome.CONTRADICTED,
    ("kunkel-2017", "write: 2 servers ÷ 1, speed"): PublishedOutcome.NOT_COMPARABLE,
    ("cheng-2004", "read: 4 clients, 1 server, speed ÷ S"): PublishedOutcome.SAME_SHARE,
    ("cheng-2004", "read: 4 clients, 4 servers, speed ÷ S"): PublishedOutcome.CONTRADICTED,
    ("dobrescu-2014", "large files written: files in memory ÷ on a disk, speed"): PublishedOutcome.SAME_SIGN,
}


@pytest.mark.parametrize(("document", "claim"), VERDICTS)
def test_verdicts(document, claim):
    (answer,) = (item for item in load_script().judge_documents() if item.publication.document == document)
    (outcome,) = (item.outcome for item in answer.claims if item.judged.claim == claim)
    assert outcome is VERDICTS[document, claim]
