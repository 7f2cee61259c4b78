"""The answers to an experiment's questions on its page: what they say first, a long table behind it."""

from dataclasses import replace

from iosonde.commands.compare.answer import Sides, compare
from iosonde.commands.report.content import AnsweredQuestion
from iosonde.commands.report.html import render_page_html
from iosonde.commands.summary.answer import summary
from iosonde.core.questions import COMPARE, SUMMARY
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from page_sample import sample_page


def table(tmp_path, levels):
    rows = [f"{op},{side},{10 + side + 0.1 * i}" for op in range(levels) for side in (1, 2) for i in range(3)]
    (tmp_path / "t.csv").write_text("op,side,y\n" + "\n".join(rows) + "\n")
    return open_data(str(tmp_path / "t.csv"))


def section(*asked):
    html = render_page_html(replace(sample_page(), questions=asked))
    begin = html.index('<section id="questions"')
    return html[begin : html.index("</section>", begin)]


def test_a_long_answer_stands_behind_what_it_says(tmp_path):
    answer = compare(table(tmp_path, 70), ResponseQuery(("y",)), Sides((), "side", ("op",)))
    html = section(AnsweredQuestion("Which?", COMPARE, "iosonde compare", answer))
    assert html.index(" 70 ") < html.index("<details") < html.index("<summary>") < html.index("<pre")


def test_a_short_answer_is_open_and_a_summary_says_its_sentence_first(tmp_path):
    answer = summary(table(tmp_path, 2), ResponseQuery(("y",)), ("op", "side"))
    html = section(AnsweredQuestion("How much?", SUMMARY, "iosonde summary", answer))
    assert "<summary>" not in html and html.index("y: highest ") < html.index("<pre")
