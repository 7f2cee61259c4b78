"""Incomplete runs: left out of every answer, and in it where they are asked for, which every answer says."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.core.errors import DataError
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import choose_response
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import raises

SIZES = (4096, 65536)


def stored(place, lacking):
    """A store of 6 runs at each of two sizes; those at these places are incomplete, and four times as fast."""
    store = Store.create(place)
    trials = [Trial(at, {"transfer_size": SIZES[at % 2]}, at // 2, at // 2, at) for at in range(12)]
    store.save_experiment(Experiment("e", "e", [Factor("transfer_size", "bytes", SIZES)], {}, trials, 1, "2026-01-01"))
    for one in trials:
        broken = one.index in lacking
        rate = (4 if broken else 1) * (100.0 + one.index) * 2**20
        seen = [Observation("write", "bandwidth_last_done", rate, "bytes/s")]
        factors = {**one.factors, "repetition": one.repetition}
        store.append(
            Run(
                f"e-{one.index:04}",
                "e",
                "phases",
                f"2026-01-01T00:{one.index:02}:00Z",
                1.0,
                factors,
                seen,
                missing=["a rank died"] if broken else [],
            )
        )
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("incomplete") / "s", lacking={1, 4})


def invoke(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_they_are_in_no_total_unless_asked_for(place):
    whole, every = (open_data(place, where) for where in ((), ("complete=any",)))
    assert [len(choose_response(one, ResponseQuery(("write",))).rows) for one in (whole, every)] == [10, 12]
    assert choose_response(whole, ResponseQuery(("write",))).warnings == ()
    (warning,) = choose_response(every, ResponseQuery(("write",))).warnings
    assert warning.startswith("2 of 12 ")
    only = choose_response(open_data(place, ("complete=no",)), ResponseQuery(("write",)))
    assert sorted(only.values) == [404 * 2**20, 416 * 2**20]


@pytest.mark.parametrize(
    "words",
    [
        ("summary",),
        ("check",),
        ("rank",),
        ("anova", "--response", "write"),
        ("fit", "--family", "mean,tree"),
        ("regress", "--response", "write", "--on", "transfer_size"),
        ("compare", "--response", "write", "--group", "transfer_size", "4k", "64k"),
        ("validate", "--family", "mean"),
    ],
)
def test_every_command_takes_them_and_says_so(place, words):
    without, given = (invoke(words[0], place, *words[1:], *more) for more in ((), ("--incomplete",)))
    assert {without.exit_code, given.exit_code} <= {0, 1 if words[0] == "check" else 0}, given.output
    notes = [re.findall(r"\b2 of 12 [^;.]*", " ".join(one.output.split())) for one in (without, given)]
    assert len(notes[1]) > len(notes[0]) or notes[0] != notes[1], given.output
    assert without.stdout != given.stdout


def test_a_page_and_a_figure_say_so(place, tmp_path):
    for words in (("report", place, "-o", tmp_path / "a.html"), ("plot", place, "-o", tmp_path / "a.png")):
        made = invoke(*words, "--incomplete", "--json")
        assert made.exit_code == 0 and "2 of 12 " in made.stdout, made.output


def test_python_has_the_word(place):
    assert sum(row["n"] for row in iosonde.summary(place).to_dict()["groups"]) == 10
    assert sum(row["n"] for row in iosonde.summary(place, incomplete=True).to_dict()["groups"]) == 12


def test_where_nothing_is_complete_the_option_is_named(tmp_path):
    place = stored(tmp_path / "s", lacking=set(range(12)))
    for ask in (lambda: iosonde.anova(place, "write"), lambda: iosonde.compare(place, "nodes", ["1", "2"])):
        with raises("no-complete-trials", DataError) as error:
            ask()
        assert "incomplete=True" in error.value.hint and " 12 " in error.value.hint
    assert "incomplete=True" in iosonde.summary(place).to_dict()["sentence"]
    assert iosonde.anova(place, "write", incomplete=True).to_dict()["terms"]


def test_a_table_has_none(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,3\n")
    with raises("not-a-store"):
        iosonde.summary(tmp_path / "a.csv", incomplete=True)
