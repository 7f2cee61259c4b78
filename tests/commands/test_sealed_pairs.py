"""Summary and page of an experiment that compares two sides: they lead with the verdict of ``compare``."""

from __future__ import annotations

import pytest

import iosonde
from iosonde.commands.compare.against import PairVerdicts
from iosonde.commands.report.section import render
from iosonde.core.verdict import VerdictState
from messages import codes
from unit.test_campaign_against import Bench


def measure(tmp_path, **bench) -> str:
    pairs = Bench(tmp_path, **bench)
    pairs.run()
    return str(pairs.path)


@pytest.mark.parametrize("ratio", [1.3, 1.0])
def test_page_and_summary_lead_with_the_sentence_of_compare(tmp_path, ratio):
    store = measure(tmp_path, ratio=ratio)
    compared = iosonde.compare(store)
    (sentence,) = compared.answer.sentences
    page = iosonde.write_report(store, tmp_path / "page.html").page
    assert page.headline == sentence and page.answers.sentence.startswith(sentence)
    assert render(page).index("<h1>") < render(page).index(sentence.partition(" (")[0])
    summary = iosonde.summary(store)
    assert summary.to_dict()["sentence"].startswith(sentence)
    claims = [verdict.state for verdict in summary.answer.verdicts if verdict.question == "difference"]
    assert claims == [verdict.state for verdict in compared.answer.verdicts]
    assert not [verdict for verdict in (*summary.answer.verdicts, *page.verdicts) if verdict.subject == ("variant",)]


def test_the_question_of_the_pairs_stands_before_those_of_the_file(tmp_path):
    page = iosonde.write_report(measure(tmp_path, ratio=1.3), tmp_path / "page.html").page
    first = page.questions[0]
    assert isinstance(first.answer, PairVerdicts) and first.command.split()[:2] == ["iosonde", "compare"]
    assert first.answer.verdicts[0].state is VerdictState.DIFFERENT
    assert page.to_json()["questions"][0]["answer"] == iosonde.compare(first.command.split()[2]).to_dict()


def test_other_factors_keep_their_effects_and_each_cell_has_its_verdict(tmp_path):
    store = measure(tmp_path, ratio=1.3, nodes=(1, 2), repetitions=6)
    compared, summary = iosonde.compare(store), iosonde.summary(store)
    assert len(compared.answer.sentences) == 2
    assert {verdict.subject for verdict in summary.answer.verdicts if verdict.question == "effect"} <= {("nodes",)}
    assert all(sentence in summary.to_dict()["sentence"] for sentence in compared.answer.sentences)


def test_many_cells_are_counted_in_the_headline(tmp_path):
    store = measure(tmp_path, ratio=1.3, nodes=(1, 2, 4), repetitions=6)
    page = iosonde.write_report(store, tmp_path / "page.html").page
    assert codes([page.headline]) == ["sealed-verdicts"]
