"""``iosonde run path-study``: a small campaign from the command to its tables, on a real directory and on a machine."""

import json

import pytest
from click.testing import CliRunner
from machine_cells import matrix

from iosonde.core import truth
from iosonde.core.errors import InputError
from iosonde.data.source import open_data
from iosonde.store import Store
from iosonde_extras.path_study import machines
from iosonde_extras.path_study.answer import path_study
from iosonde_extras.path_study.figure import figure
from terminal import command_of

run = command_of("run")
time_model = command_of("time-model")


@pytest.mark.long
@pytest.mark.slow
def test_a_study_of_a_directory_leaves_nothing_there_and_looks_whether_data_is_cached(tmp_path):
    (tmp_path / "t").mkdir()
    done = CliRunner().invoke(
        run,
        [
            "path-study:4",
            "--target",
            str(tmp_path / "t"),
            "--store",
            str(tmp_path / "s"),
            "--seed",
            "1",
            "--set",
            "state=cached,uncached",
            "--set",
            "direction=read",
            "--set",
            "bytes=1MiB",
            "--set",
            "access_size=4KiB,64KiB",
            "--set",
            "place=rnd,seq",
            "--set",
            "memory=off0",
        ],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    assert list((tmp_path / "t").iterdir()) == []
    runs = Store.open(tmp_path / "s").runs()
    assert {one["factors"]["state"] for one in runs} == {"cached", "uncached"} and len(runs) == 4
    for one in runs:
        [access] = [phase for phase in one["phases"] if phase["name"] == "access"]
        held = access["cache"]["resident_bytes"] == access["cache"]["bytes"]
        assert held if one["factors"]["state"] == "cached" else access["cache"]["state"] != ""


@pytest.mark.slow
def test_a_study_of_a_machine_needs_no_target_and_keeps_the_truth(tmp_path):
    words = [
        "path-study:3",
        "--fake",
        "lock",
        "--store",
        str(tmp_path / "s"),
        "--seed",
        "1",
        "--set",
        "place=seq",
        "--set",
        "state=again",
        "--set",
        "direction=write",
        "--set",
        "memory=off0",
    ]
    done = CliRunner().invoke(run, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    store = Store.open(tmp_path / "s")
    one = store.run(store.run_ids()[0], operations=True)
    assert set(truth.classify_operations(one.raw, one.operations)) <= {"held", "granted", "contended"}
    said = CliRunner().invoke(time_model, [str(tmp_path / "s"), "--json"], catch_exceptions=False)
    [study] = json.loads(said.stdout)["studies"]
    assert [row["pattern"] for row in study["patterns"]] == ["C-off0-seq W W"]


@pytest.mark.long
def test_its_figure_has_a_panel_for_each_direction(tmp_path):
    Store.create(tmp_path / "s").append_many(list(machines.runs("read-ahead", matrix())))
    done = CliRunner().invoke(time_model, [str(tmp_path / "s"), "--plot", str(tmp_path / "f.svg")])
    assert done.exit_code == 0 and (tmp_path / "f.svg").read_text().startswith("<?xml")
    [study] = path_study(open_data(tmp_path / "s"), 0.95).studies
    [panel] = figure(study.drawn).spec["concat"]
    assert len(panel["layer"]) == len(study.drawn[0].lines) + 1
    assert len(panel["layer"][-1]["data"]["values"]) == len(study.drawn[0].cells)


def test_a_figure_of_anything_else_is_refused(tmp_path):
    done = CliRunner().invoke(time_model, ["--size", "1MiB", "--copy", "1GB/s", "--plot", str(tmp_path / "f.svg")])
    assert isinstance(done.exception, InputError) and done.exception.code
    assert not (tmp_path / "f.svg").exists()
