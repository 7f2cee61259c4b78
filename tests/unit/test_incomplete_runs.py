"""Runs that lack something stay out of every number until --incomplete asks for them; then each answer says so."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from stats_sample import run

import iosonde
from iosonde.cli.group import cli
from iosonde.core.errors import IosondeError
from iosonde.data.asked import Asked
from iosonde.data.responses import one_response
from iosonde.data.source import by_itself, narrowed, open_data
from iosonde.store import Store

SAID = "4 of 18 runs are incomplete, and counted as asked"
RATE = "--response 'create rate_last_done'"
QUESTIONS = [
    f"rank DATA {RATE}", f"regress DATA {RATE} --on nodes", f"anova DATA {RATE} --on nodes",
    f"scale DATA --on nodes {RATE}", f"fit DATA {RATE} --on nodes --family linear -o MODEL",
    f"validate DATA {RATE} --on nodes --family linear", "compare DATA --group nodes 1 2",
    "compare DATA DATA", "check DATA --noise", "verify DATA", "bound DATA --net 1GB/s",
    f"advise DATA --choose nodes {RATE}", "diagnose DATA", "time-model DATA --copy 10GB/s", "plot DATA --json",
    "plot DATA --json --kind bars", "plot DATA --json --kind percentiles", "plot DATA --json --on nodes",
    "summary DATA --response value --by nodes,operation,metric",
]  # fmt: skip


def filled(path, incomplete):
    """Six trials of one, two and four nodes; those of ``incomplete`` (a test of repetition and nodes) lack a rank."""
    made, rng = Store.create(path), np.random.default_rng(1)
    for repetition in range(6):
        for nodes in (1, 2, 4):
            lacks = {"missing": ["rank 0 on n1: killed"]} if incomplete(repetition, nodes) else {}
            one = run(2 if nodes == 4 else nodes, repetition, rng, id=f"x-{nodes}-{repetition}", **lacks)
            one.factors |= {"nodes": nodes, "ranks": nodes}
            made.append(one)
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    own = tmp_path_factory.mktemp("incomplete")
    return {
        "DATA": filled(own / "part", lambda repetition, nodes: repetition > 3 and nodes < 4),
        "NONE": filled(own / "none", lambda *_: True),
        "MODEL": own / "model.json",
    }


def asked(line, places):
    done = CliRunner().invoke(cli, [str(places.get(word, word)) for word in shlex.split(line)])
    error = done.exception
    told = [error.message, f"hint: {error.hint}"] if isinstance(error, IosondeError) else []
    return done.exit_code, " ".join(" ".join([done.output, *told]).split())


@pytest.mark.parametrize("line", QUESTIONS, ids=[" ".join(line.split()[:4]) for line in QUESTIONS])
def test_every_answer_says_how_many_are_incomplete(line, places):
    code, said = asked(f"{line} --incomplete", places)
    assert code in (0, 1) and SAID in said
    assert SAID not in asked(line, places)[1]


@pytest.mark.parametrize("line", ["summary DATA", "check DATA"])
def test_the_finding_says_it_with_the_option_that_takes_them_in(line, places):
    assert "4 of 18 runs are incomplete and left out (--incomplete takes them in); the first" in asked(line, places)[1]
    with_them = asked(f"{line} --incomplete", places)[1]
    assert "4 of 18 runs are incomplete and counted, as asked; the first: rank 0" in with_them and SAID not in with_them


@pytest.mark.parametrize(
    "line",
    [f"rank NONE {RATE}", "rank NONE", "compare NONE --group nodes", "check NONE --noise", "scale NONE --on nodes",
     "bound NONE --net 1GB/s", f"advise NONE --choose nodes {RATE}", "time-model NONE --copy 10GB/s",
     "plot NONE --json", "plot NONE --json --on nodes", f"summary NONE {RATE}"],
)  # fmt: skip
def test_where_none_is_left_the_error_names_the_option(line, places):
    code, said = asked(line, places)
    assert code and "holds no complete trial: all of its 18 runs are incomplete" in said
    assert "hint: --incomplete takes them in" in said


def test_the_numbers_are_over_them(places):
    counts = {}
    for words in ((), ("--incomplete",)):
        rows = json.loads(CliRunner().invoke(cli, ["summary", str(places["DATA"]), "--json", *words]).stdout)["groups"]
        counts[words] = [row["n"] for row in rows if row["operation"] == "create"]
    assert counts == {(): [4, 4, 6], ("--incomplete",): [6, 6, 6]}
    frame = iosonde.summary(places["DATA"], incomplete=True).to_frame()
    assert frame[frame.operation == "create"]["n"].tolist() == [6, 6, 6]
    assert iosonde.summary(iosonde.open(places["DATA"], incomplete=True)).to_frame().equals(frame)


def test_what_was_opened_with_them_keeps_them(places):
    source = open_data(places["DATA"], incomplete=True)
    narrow = narrowed(source, ["nodes=1"])
    assert len(one_response(narrow, Asked(("create rate_last_done",))).values) == 6
    assert narrow.notes == ("2 of 6 runs are incomplete, and counted as asked",)
    assert by_itself(source)[0].incomplete and not narrowed(open_data(places["DATA"])).incomplete
    assert narrowed(open_data(places["DATA"]), incomplete=True).notes == source.notes


def test_the_page_says_it_and_is_made_again_with_them(places, tmp_path):
    page = iosonde.write_report(places["DATA"], tmp_path / "a.html", incomplete=True)
    said = json.dumps(page.to_dict())
    assert "18 trials, 4 of them incomplete and counted, as asked" in said
    assert "--incomplete" in page.to_dict()["reproduce"]["commands"][-1][1]
    assert "4 of them incomplete and left out" in json.dumps(iosonde.write_report(places["DATA"], tmp_path / "b.html")
                                                              .to_dict())  # fmt: skip


def test_of_a_table_there_is_nothing_to_take_in(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n1,3\n2,4\n2,6\n")
    line = f"summary {tmp_path / 't.csv'} --response y --by x"
    assert asked(line, {}) == asked(f"{line} --incomplete", {})


def test_verify_looks_at_them(places):
    runs = [iosonde.verify(places["DATA"], incomplete=wanted).to_dict()["n_runs"] for wanted in (False, True)]
    assert runs == [14, 18]


@pytest.mark.parametrize("line", ["show DATA --export csv", "show DATA --export json"])
def test_an_export_has_them_where_asked(line, places):
    without, with_them = (asked(f"{line}{words}", places)[1] for words in ("", " --incomplete"))
    assert "x-1-5" in with_them and "x-1-5" not in without and SAID in with_them
    assert SAID.replace("18", "6").replace("4 of", "2 of") in asked(f"{line} --incomplete --where nodes=1 --where "
                                                                   "metric=rate_last_done", places)[1]  # fmt: skip
    assert "--incomplete is about numbers" in asked("show DATA --incomplete", places)[1]
