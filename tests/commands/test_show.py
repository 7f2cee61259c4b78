"""What a store holds, what differs, what a file says, as data: rows, JSON, and nothing that steers a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("iosonde.engine._native")
import store_samples

from iosonde.cli.output import show_json
from iosonde.commands.explain.answer import get_page, list_first_lines
from iosonde.commands.explain_difference.answer import explain_difference
from iosonde.commands.parse.answer import Parse, Parses, parse
from iosonde.commands.show.answer import collect_run_details, list_experiments, open_chosen_runs, read_outputs
from iosonde.commands.show.as_tool import recompute_as_tool
from iosonde.commands.store.answer import check
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredPhase
from iosonde.stats.definitions.clock import explain_not_recomputable
from iosonde.store import Store
from messages import raises

FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"


@pytest.fixture
def place(tmp_path) -> str:
    store = Store.create(tmp_path / "s")
    store.save_experiment(store_samples.experiment())
    for number in range(3):
        missing = ["rank 3 did not finish"] if number == 2 else []
        store.append(store_samples.run(f"e-1-{number}", factors={"nodes": 1 + number}, missing=missing))
    return str(tmp_path / "s")


def test_a_row_a_run_with_its_factors(place):
    made = list_experiments(open_chosen_runs(place))
    assert [(row["id"], row["nodes"], row["complete"]) for row in made.records()] == [
        ("e-1-0", 1, True),
        ("e-1-1", 2, True),
        ("e-1-2", 3, False),
    ]
    assert list_experiments(open_chosen_runs(place, where=["nodes>=2"])).to_dict()["runs"][0]["id"] == "e-1-1"


def test_one_run_has_a_row_a_result_and_needs_a_name(place):
    made = collect_run_details(open_chosen_runs(place, "e-1-0"))
    assert len(made.records()) == len(made.to_dict()["results"]) > 0
    with pytest.raises(InputError):
        collect_run_details(open_chosen_runs(place))
    with pytest.raises(InputError):
        read_outputs(open_chosen_runs(place))


def test_a_store_that_lacks_a_run_says_which(place):
    made = check(place)
    assert [run.id for run in made.incomplete] == ["e-1-2"] and not made.serious


def test_tools_own_numbers_need_recorded_operations(place):
    with raises("no-recorded-operations", DataError):
        recompute_as_tool(open_chosen_runs(place, where=["run=e-1-2"]), "ior")


def test_where_nothing_says_that_every_operation_was_recorded_they_may_be_a_sample():
    assert (
        explain_not_recomputable(StoredPhase({}))
        == explain_not_recomputable(StoredPhase({"recorded_all": False}))
        != ""
    )


def test_files_that_are_understood_and_not_stand_side_by_side(tmp_path):
    (tmp_path / "x").write_text("nothing\n")
    known = next(iter(sorted((FIXTURES / "ior").glob("*"))))
    made = Parses((parse(str(known)), parse(str(tmp_path / "x"))))
    assert len(made.errors) == 1 and [one["format"] for one in made.to_dict()["files"]] == ["ior", None]
    assert made.records() == [{"file": str(known), **row} for row in Parse.records(made.files[0])]


def test_a_file_against_itself_has_nothing_to_explain():
    files = sorted((FIXTURES / "mdtest").glob("*"))
    name = str(next(path for path in files if len(parse(str(path)).understood.runs) == 1))
    for one in explain_difference(name, name).differences:
        assert one.split.ratio == 1 and all(step.factor == pytest.approx(1) for step in one.steps)


def test_every_code_has_a_page_and_others_are_refused():
    assert all(get_page(line.split()[0].strip(":#")) for line in list_first_lines() if line[:1] in "SD")
    with raises("unknown-finding"):
        get_page("S9999")


@pytest.mark.parametrize("text", ["\x9b31m", "a\u202eb", "\ud800", "\u2028"])
def test_json_on_stdout_steers_no_terminal_and_stays_itself(capsys, text):
    show_json({"name": f"é{text}"})
    out = capsys.readouterr().out
    assert text not in out and "é" in out
    assert json.loads(out) == {"name": f"é{text}"}


def test_what_is_wrong_is_looked_for_once(place, monkeypatch):
    looked = []
    monkeypatch.setattr(Store, "problems", lambda store, contents=True: looked.append(contents) or [])
    chosen = open_chosen_runs(place)
    assert list_experiments(chosen).problems == tuple(chosen.problems) == () and looked == [False]
