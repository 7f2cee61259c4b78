"""How long an application should take, as text: under 80 columns, alone and beside what was measured."""

from __future__ import annotations

import re
from dataclasses import replace

import sample_store
from iosonde.commands.bound.application import PredictedTimes
from iosonde.commands.bound.text import application_lines
from iosonde.commands.report.content import AnsweredQuestion
from iosonde.commands.report.section_questions import format_question_text, list_question_sentences
from iosonde.commands.summary.answer import summary
from iosonde.core.types import Estimate
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.bound.application import PredictedTime
from messages import with_code

NOTHING = Estimate(None, None, None, 0.95, 0)
PREDICTED = Estimate(10.04, 8.49, 11.41, 0.95, 0)
PARTS = {"compute": 0.8, "read": 2.83, "write": 6.41}


def _beside() -> PredictedTimes:
    measured, ratio = Estimate(8.24, 8.0, 8.5, 0.95, 3), Estimate(0.82, 0.70, 1.0, 0.95, 3)
    row = PredictedTime({"servers": 2, "net": "993mbit"}, PREDICTED, PARTS, measured, ratio)
    return PredictedTimes(0.95, (row,), ("the machine was busy",))


def test_alone_it_says_what_it_should_take_and_of_what_that_is():
    text = " ".join(application_lines(PredictedTimes(0.95, (PredictedTime({}, PREDICTED, PARTS, NOTHING, NOTHING),))))
    numbers = re.findall(r"\d[\d.]*(?: m?s\b)?", text)
    assert numbers[:6] == ["10.0", "8.5", "11.4", "800 ms", "2.8 s", "6.4 s"]
    assert text.index("compute") < text.index("read") < text.index("write")


def test_beside_what_was_measured_a_row_for_each_setting():
    found = list(application_lines(_beside()))
    assert max(map(len, found)) < 80
    row = next(line for line in found if line.startswith("2 "))
    assert row.split()[2:] == ["10.0", "8.5–11.4", "3", "8.24", "8.00–8.50", "0.820", "0.700–1.000"]
    assert "busy" in " ".join(found) and "1" in found[-1].split()


def test_a_question_says_which_factors_it_could_not_be_about():
    one = AnsweredQuestion("?", "bound", "iosonde bound", _beside(), "", "", ("cache_size", "io_cache"))
    sentence = with_code(list_question_sentences(one), "constant-factors")
    assert "cache_size" in sentence.values["factors"] and "io_cache" in sentence.values["factors"]
    shown, printed = format_question_text(one), list(application_lines(_beside()))
    assert " ".join(shown).split() == " ".join(printed).split()  # the same words, in longer lines


def test_a_summary_with_columns_is_a_table_of_them(tmp_path):
    sample_store.main(str(tmp_path / "results"))
    answer = summary(open_data(str(tmp_path / "results")), ResponseQuery(), ("fs", "nodes"))
    one = AnsweredQuestion("?", "summary", "iosonde summary results", answer, columns="nodes")
    (title,) = (line for line in format_question_text(one) if "kop/s" in line)
    assert title.split()[-2:] == ["by", "nodes"]
    assert title.removesuffix(": by nodes") in format_question_text(replace(one, columns=""))
