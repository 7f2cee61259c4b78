"""The study of paths from a store to its text, on a machine whose read-ahead helps forward only."""

from functools import cache

import numpy as np
import pytest
from machine_cells import matrix

from iosonde.commands.diagnose import text as diagnose_text
from iosonde.commands.diagnose.answer import OperationCauses
from iosonde.core.errors import DataError
from iosonde.data.source import open_data
from iosonde.store import Store
from iosonde_extras.path_study import answer as path_study
from iosonde_extras.path_study import machines, text
from messages import assert_problem, raises, with_code


@cache
def _runs():
    return list(machines.runs("read-ahead", matrix()))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "store"
    Store.create(path).append_many(_runs())
    return open_data(path)


@pytest.fixture(scope="module")
def made(source):
    return path_study.path_study(source, 0.95)


def test_the_table_says_which_patterns_lose_and_every_row_sums_to_one(made):
    [one] = made.studies
    rows = {row.name: row for row in one.rows}
    assert {row.name for row in one.rows} == {
        f"{state}-off0-{place} R" for state in "DCU" for place in ("seq", "reverse", "rnd")
    }
    assert all(sum(row.shares.values()) == pytest.approx(1) for row in one.rows)
    assert rows["U-off0-rnd R"].shares["uncached"] > 0.7
    assert rows["U-off0-reverse R"].lost.value > 0.95
    document = made.to_dict()["studies"][0]
    assert document["conditions"][0]["condition"].startswith("discard")
    assert len(made.records()) == 9


def test_the_text_fits_a_terminal_and_names_the_worst(made):
    lines = list(text.lines(made.studies, made.level))
    assert max(map(len, lines)) < 80
    said = " ".join(line.strip() for line in lines)
    assert "U-off0-reverse R" in said.partition("Most")[2].partition(".")[0]
    fewer = with_code(made.studies[0].study.notes, "fewer-operations")
    assert_problem(fewer, "fewer-operations", size="1 MiB", usual=500)
    assert f"~ {fewer}" in said


def test_a_diagnosis_says_what_was_lost_most_and_leaves_the_tables_to_time_model(made):
    tables = {
        line for line in text.lines(made.studies, made.level) if line.startswith(("pattern ", "U-off0", "reads: "))
    }
    assert len(tables) > 6
    lines = list(diagnose_text.lines(OperationCauses((), made, 0.95, ())))
    assert not tables & set(lines) and max(map(len, lines)) < 80
    said = " ".join(" ".join(lines).split())
    assert said.count("U-off0-reverse R") == 1 and "time-model" in said


def test_what_is_drawn_are_the_cells_at_their_conditions_and_the_lines_of_these(made):
    [study] = made.studies
    [drawn] = study.drawn
    assert drawn.direction == "read" and len(drawn.cells) == len(study.study.cells)
    lines = study.study.models["read"].lines
    assert drawn.names[: len(lines)] == tuple(drawn.lines) == tuple(line.name for line in lines)
    for size, seconds, at, name in drawn.cells:
        assert at in drawn.names
        if name == "U-off0-rnd R" and size <= 65536:  # what nobody can foresee
            assert at == "uncached"
        if at in drawn.lines:
            line = next(line for line in lines if line.name == at)
            assert seconds == pytest.approx(float(line.seconds(np.array([size]))[0]), rel=0.5)


def test_a_state_that_was_not_brought_about_is_said_and_no_line_is_fitted(tmp_path):
    store = Store.create(tmp_path / "store")
    for run in _runs():
        if run.factors["state"] == "uncached":
            run.phases[0]["cache"] = {"state": "warm", "resident_bytes": 5, "bytes": 5}
        store.append(run)
        run.phases[0]["cache"] = None
    [one] = path_study.studies(open_data(tmp_path / "store"))
    assert "uncached" not in [line.name for line in one.models["read"].lines]
    assert_problem(one.notes[0], "unverified-state", n_unverified=24, n_cells=24, state="uncached")


def test_a_store_without_a_study_says_how_to_measure_one(tmp_path):
    Store.create(tmp_path / "store")
    with raises("no-path-study", DataError):
        path_study.path_study(open_data(tmp_path / "store"), 0.95)


def test_a_state_of_too_few_cells_is_said(tmp_path):
    runs = [run for run in _runs() if run.factors["state"] != "uncached" or run.factors["access_size"] == 1]
    store = Store.create(tmp_path / "store")
    store.append_many(runs)
    [one] = path_study.studies(open_data(tmp_path / "store"))
    assert_problem(one.notes[0], "too-few-cells", direction="read", state="uncached")


def test_two_machines_in_one_store_are_two_studies(tmp_path):
    store = Store.create(tmp_path / "store")
    for load, machine in (("off", "read-ahead"), ("on", "lock")):
        for run in machines.runs(machine, matrix(places=("rnd",), sizes=(1, 4096, 65536))):
            run.factors["load"], run.id = load, f"{load}-{run.id}"
            store.append(run)
    names = {study.name for study in path_study.studies(open_data(tmp_path / "store"))}
    assert names == {"load=off", "load=on"}
