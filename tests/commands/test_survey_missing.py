"""The text of a survey of which much gave no answer."""

from __future__ import annotations

import os

from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.text import lines


def test_a_tree_whose_bytes_gave_no_answer_saves_no_known_amount(tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.txt").write_bytes(b"a line of text\n" * 20)
    for number in range(2):
        (tmp_path / f"released{number}").touch()
        os.truncate(tmp_path / f"released{number}", 1 << 40)
    answer = survey(SurveyQuery(str(tmp_path), what_if=("compress=zstd:3",)))
    capacity = 2 * (1 << 40)
    saved = [change.saved for change in answer.what_if]
    saved += [each.inference.estimate for each in answer.of("saved", "capacity")]
    for estimate in saved:
        assert estimate.value is None and estimate.low < 0.01 * capacity and estimate.high > 0.99 * capacity
    kinds, _, codecs = "\n".join(lines(answer)).partition("\ncodec")
    assert "TiB" not in codecs.partition("\n\n")[0] and "100.0 (" in kinds, "the types of files are known"


def test_no_type_is_known_where_no_file_gave_an_answer(tmp_path):
    for number in range(3):
        (tmp_path / f"released{number}").touch()
        os.truncate(tmp_path / f"released{number}", 1 << 40)
    assert any(line.startswith("type: ~ (") for line in lines(survey(SurveyQuery(str(tmp_path)))))
