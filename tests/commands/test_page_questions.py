"""The questions of an experiment: read, answered by the analysis that they name, shown; what cannot be is said."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import here
import sample_store
from iosonde.commands.report.first_screen import describe_metrics
from iosonde.commands.report.questions import answer_questions, read_questions
from iosonde.commands.summary.answer import summary
from iosonde.core import questions
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import assert_problem

ASKED = [
    {"question": "How fast?", "summary": {"by": ["nodes"]}, "published": "81 MiB/s"},
    {"question": "Is two nodes faster?", "compare": {"group": "nodes", "levels": [1, 2]}, "metric": "read_large"},
    {"question": "Drawn?", "plot": {"x": "nodes"}},
    {"question": "Of nothing?", "regress": {"on": "colour"}},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("s") / "results"
    sample_store.main(str(path))
    return path


def test_each_is_answered_as_its_command_does_and_what_cannot_be_says_why(store):
    asked = questions.read(ASKED)
    made = answer_questions(asked, lambda where: open_data(str(store), where), ResponseQuery(), "results")
    assert [one.question for one in made] == [one["question"] for one in ASKED]
    assert made[0].published == "81 MiB/s"
    assert made[0].command.split() == [
        "iosonde",
        "summary",
        "results",
        "--by",
        "nodes",
    ]
    assert made[1].answer is None or made[1].answer.to_dict()["schema"] == 1
    assert made[2].answer.panels and made[3].answer is None and "colour" in made[3].missing
    json.dumps([one.to_json() for one in made])


def test_the_words_of_the_command_that_answers_the_same():
    asked = {"question": "?", "compare": {"group": "fs", "levels": ["a", "b"]}, "where": ["n>1", "m=2"], "metric": "cp"}
    (one,) = questions.read([asked])
    said = "iosonde compare s a b --group fs --response cp --where n>1 --where m=2"
    assert one.command("s") == said.split()


@pytest.fixture
def applications(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text(
        "nodes,steps,net,time (s)\n"
        + "".join(f"{n},10,slow,{t}\n" for n, t in [(1, 2.0), (1, 2.2), (2, 4.1), (2, 3.9)])
    )
    return str(path)


def _asked_of(path, declared=frozenset(), **one):
    (made,) = answer_questions(
        questions.read([{"question": "?", "metric": "time", **one}], declared),
        lambda where: open_data(path, where),
        ResponseQuery(),
        "times.csv",
    )
    return made


def test_of_a_question_about_a_factor_of_one_level_the_others_are_answered(applications):
    one = _asked_of(applications, regress={"on": ["nodes", "net"]})
    assert one.constant == ("net",) and one.answer is not None
    assert one.command.split()[1:] == ["regress", "times.csv", "--on", "nodes", "--response", "time"]


def test_a_figure_whose_lines_nothing_tells_apart_is_drawn_all_the_same(applications):
    one = _asked_of(applications, frozenset({"base_fs"}), plot={"x": "nodes", "color": "net", "panel": "base_fs"})
    assert one.answer is not None and one.constant == ("net", "base_fs")
    assert one.command.split()[1:] == ["plot", "times.csv", "--x", "nodes", "--response", "time"]


@pytest.mark.parametrize(
    "question",
    [
        {"plot": {"x": "nodes", "color": "nett"}},
        {"plot": {"x": "nodes", "panel": ["net", "nett"]}},
        {"compare": {"group": "nodes", "levels": ["1", "2"], "adjust": "nett"}},
        {"summary": {"by": "nodes", "columns": "nett"}},
    ],
)
def test_a_factor_that_nobody_knows_is_a_slip_and_not_one_of_one_level(applications, question):
    one = _asked_of(applications, frozenset({"base_fs"}), **question)
    assert one.answer is None and one.constant == ()
    assert_problem(one.missing, "unknown-factor", name="nett", suggestion="net", names="nodes, steps, net, time (s)")
    assert "net?" in one.missing


@pytest.mark.slow
def test_a_store_knows_what_the_file_of_its_experiment_speaks_of(tmp_path):
    """Measured on a real system, or only quickly, it has no such column; a slip is told the factors there are."""
    (tmp_path / "t").mkdir()
    (tmp_path / "e.yaml").write_text("""
lab: {file_system: nfs, base_fs: [xfs, tmpfs], set: {performance.io-cache: [true, false]}}
nodes: 1
repetitions: 1
factors: {word: [a, b], left: [c, d]}
steps: ["echo ${word} ${left}"]
quick: {factors: {left: [c]}}
questions:
  - {question: known, plot: {x: word, color: io_cache, panel: [base_fs, left]}}
  - {question: a slip, plot: {x: word, color: wurd}}
""")
    done = here.iosonde("run", "e.yaml", "--quick", "--target", "t", "--store", "s", "--alongside", where=tmp_path)
    assert "questions[1]: color: " in done.stderr and "'wurd'" in done.stderr and "word?" in done.stderr
    assert "questions[0]" not in done.stderr and done.returncode == 0
    source = open_data(str(tmp_path / "s"))
    known, slip = answer_questions(
        read_questions(source), lambda where: open_data(str(tmp_path / "s"), where), ResponseQuery(), "s"
    )
    assert known.answer is not None and known.constant == ("io_cache", "base_fs", "left")
    assert_problem(slip.missing, "unknown-factor", option="color", name="wurd", suggestion="word")
    assert "left" in slip.missing
    planned = here.iosonde("plan", "e.yaml", "--target", "t", where=tmp_path)
    assert planned.returncode == 0 and "'wurd'" in planned.stderr


def test_what_nothing_but_constants_can_answer_says_why(applications):
    one = _asked_of(applications, regress={"on": ["net"]})
    assert one.answer is None and one.missing.code == "single-level-factor" and one.constant == ()


def test_a_summary_may_have_a_column_for_each_level(store):
    made = _of_store(store, summary={"by": ["fs", "nodes"], "columns": "nodes"})
    assert made.columns == "nodes" and made.command.endswith("--columns nodes")
    wrong = _of_store(store, summary={"by": ["fs"], "columns": "nodes"})
    assert wrong.answer is None
    assert_problem(wrong.missing, "not-a-cell-factor", column="nodes")


def _of_store(store, **one):
    (made,) = answer_questions(
        questions.read([{"question": "?", **one}]), lambda where: open_data(str(store), where), ResponseQuery()
    )
    return made


def test_a_word_that_is_yes_or_no_is_an_option_without_a_value():
    (asked,) = questions.read([{"question": "?", "compare": {"group": "fs", "base_only": True}}])
    assert asked.command("s")[-3:] == ["--group", "fs", "--base-only"]
    (asked,) = questions.read([{"question": "?", "compare": {"group": "fs", "base_only": False}}])
    assert "--base-only" not in asked.command("s")


def test_a_page_says_of_the_metrics_that_are_asked_about():
    data = pd.DataFrame(
        {
            "v": ["x", "y"] * 6,
            "write (MB/s)": [10.0, 20.0, 10.1, 20.1, 9.9, 19.9] * 2,
            "read (MB/s)": [30.0, 10.0, 30.2, 10.2, 29.8, 9.8] * 2,
        }
    )
    overview = summary(open_data(data), ResponseQuery(("write (MB/s)", "read (MB/s)")), ["v"]).overview
    assert len(overview.stories) == 2
    about_one = describe_metrics(overview, {overview.stories[1].title})
    assert overview.stories[1].title in about_one and overview.stories[0].title not in about_one
    assert about_one.endswith(overview.closing) and overview.sentence.endswith(overview.closing)
    assert describe_metrics(overview, {"another"}) == describe_metrics(overview, set()) == overview.sentence
