"""The page of a survey: areas fill their box, lines end at all, hostile names stay text, and are there if asked for."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import survey_tree
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.figure import areas_figure, cumulative_figure, estimates_figure, squarify_areas
from iosonde.commands.survey.for_page import build_survey_page
from iosonde.commands.survey.reading import ReadSpeed
from iosonde.commands.survey.section import render_survey
from iosonde.core.types import Estimate

HOSTILE = ("<script>alert(1)<", "new\nline", "esc\x1b[31m", "<b>bold", "{{7*7}}", "=cmd|'x'!A0")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    for name in HOSTILE:
        (root / name).mkdir()
        (root / name / f"file {name}").write_text("text" * 500)
        (root / name / "large").write_bytes(os.urandom(9000))
    (root / os.fsdecode(b"\xff\xfe")).mkdir()
    (root / os.fsdecode(b"\xff\xfe") / "a").write_text("a")
    return root


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=30))
def test_areas_fill_the_box_in_proportion(values):
    order = sorted(values, reverse=True)
    boxes = squarify_areas(order, (0.0, 0.0, 680.0, 300.0))
    for value, (x, y, width, height) in zip(order, boxes, strict=True):
        assert width * height == pytest.approx(value / sum(values) * 680 * 300, rel=1e-6)
        assert x >= -1e-6 and y >= -1e-6 and x + width <= 680.001 and y + height <= 300.001


def test_areas_do_not_lie_upon_each_other():
    boxes = squarify_areas([6, 6, 4, 3, 2, 2, 1], (0.0, 0.0, 6.0, 4.0))
    for at in ((x / 4 + 0.1, y / 4 + 0.1) for x in range(24) for y in range(16)):
        assert sum(x <= at[0] < x + w and y <= at[1] < y + h for x, y, w, h in boxes) == 1
    assert boxes[0] == pytest.approx((0, 0, 3, 2)), "the example of the paper"


def test_the_heavy_tail_is_two_lines_apart(tmp_path):
    survey_tree.make(tmp_path, files=300)
    page = build_survey_page(survey(SurveyQuery(str(tmp_path))))
    sizes = page.distributions[0]
    assert sizes.rows[-1][1:] == (1.0, 1.0) and all(files >= capacity for _, files, capacity in sizes.rows)
    before = sizes.rows[-2]
    assert before[1] > 0.99 and before[2] < 0.5, "one file holds most of it"
    drawn = json.dumps(cumulative_figure(sizes).spec)
    assert "files" in drawn and "capacity" in drawn
    assert [one.title.split()[-1] for one in page.bars] == ["capacity", "files", "compression"]


def test_hostile_names_stay_text(hostile):
    text = render_survey(build_survey_page(survey(SurveyQuery(str(hostile), by="directory"))))
    assert "<script>alert" not in text and "<b>bold" not in text and "\x1b" not in text and "{{7*7}}" in text
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)
    assert "default-src &#39;none&#39;" in text


def test_no_name_is_on_the_page_unless_parts_were_asked_for(hostile):
    text = render_survey(build_survey_page(survey(SurveyQuery(str(hostile)))))
    assert "7*7" not in text and "bold" not in text.split("</style>")[1].split('id="theme"')[0]
    by = build_survey_page(survey(SurveyQuery(str(hostile), by="directory")))
    assert "file " not in json.dumps([areas_figure(one).spec for one in by.squares])


def test_a_tree_without_a_file_has_a_page(tmp_path):
    (tmp_path / "empty").mkdir()
    text = render_survey(build_survey_page(survey(SurveyQuery(str(tmp_path)))))
    assert "0 files" in text and 'data-figure="' not in text


def test_how_fast_files_were_read_is_on_the_page_by_type_and_state(tmp_path):
    survey_tree.make(tmp_path, files=60)
    made = survey(SurveyQuery(str(tmp_path)))
    told = tuple(
        ReadSpeed(kind, state, Estimate(rate, 0.8 * rate, 1.2 * rate, 0.95, 9), size)
        for kind, state, rate, size in (
            ("text", "cold", 2e8, 300),
            ("NetCDF", "cold", 1e8, 200),
            ("text", "cached", 9e9, 100),
        )
    )
    page = build_survey_page(replace(made, reading=told))
    assert [("not" in one.title.split(), [name for name, _ in one.bars]) for one in page.rates] == [
        (True, ["text", "NetCDF"]),
        (False, ["text"]),
    ]
    text = render_survey(page)
    assert 'id="rates"' in text and 'href="#rates"' in text and "83.3 %" in text
    drawn = json.dumps([estimates_figure(one).spec for one in page.rates])
    assert "MiB/s" in drawn and "GiB/s" in drawn and "text: 191 (153\\u2013229) MiB/s" in drawn
    (table,) = [one for one in page.tables if one.caption.startswith("How fast")]
    assert (table.rows[0][0], *table.rows[0][2:]) == ("text", 300, 2e8, 1.6e8, 2.4e8, 9)
    assert 'id="rates"' not in render_survey(build_survey_page(replace(made, reading=())))
