"""The page of a survey in a real browser: figures are drawn, also of hostile names; nothing runs or is loaded."""

from __future__ import annotations

import os

import pytest

import survey_tree
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.for_page import build_survey_page
from iosonde.commands.survey.section import render_survey

pytestmark = pytest.mark.browser

DRAWN = """() => Object.fromEntries([...document.querySelectorAll(".plot")].map(place => [place.id,
    place.querySelectorAll("svg .mark-rect path, svg .mark-line path").length]))"""


def test_figures_are_drawn_and_nothing_of_a_name_runs(browser, tmp_path):
    tree = tmp_path / "<img src=x onerror=document.title=1>"
    survey_tree.make(tree, files=200)
    evil = tree / "</script><script>document.title='run'<" / "script>"
    evil.mkdir(parents=True)
    (evil / "text").write_text("text" * 1000)
    os.utime(evil / "text", (0, 0))
    made = survey(SurveyQuery(str(tree), by="directory", what_if=("archive=16KiB",)))
    file = tmp_path / "page.html"
    file.write_text(render_survey(build_survey_page(made)), encoding="utf-8")
    page = browser.new_page()
    wrong, asked = [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    for place in page.locator(".plot").all():
        place.scroll_into_view_if_needed()
        place.locator("svg").wait_for()
    drawn = page.evaluate(DRAWN)
    assert sorted(drawn) == ["areas-1", "areas-2", "bars-1", "bars-2", "bars-3", "lines-1", "lines-2", "rates-1"]
    assert all(drawn.values()), drawn
    assert page.title() not in ("1", "run") and page.locator("img").count() == 0
    assert not wrong and asked == [file.as_uri()]
    page.close()
