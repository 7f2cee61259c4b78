"""Jobs of a fio that iosonde runs are factors of its rows: operations keep plain names, n counts trials."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
import steps_bench
from iosonde.core.derived_numbers import ALL_OPERATIONS
from iosonde.core.types import Run
from iosonde.data.source import open_data
from iosonde.measure.spec import CommandStep
from iosonde.store import Store
from terminal import command_of

SIZES = {"small": 4096, "large": 65536}
TRIALS = 3


def document(factor: float) -> str:
    """Return the JSON of two jobs that ran one after the other."""
    jobs = [
        {
            "jobname": name,
            "groupid": group,
            "error": 0,
            "job options": {"rw": "randread", "bs": str(size)},
            "read": {
                "io_bytes": 2000 * size,
                "bw_bytes": 1000 * size * factor,
                "iops": 1000 * factor * (1 + group),
                "runtime": 2000,
                "total_ios": 2000,
            },
        }
        for group, (name, size) in enumerate(SIZES.items())
    ]
    return json.dumps({"fio version": "fio-3.33", "global options": {"ioengine": "psync"}, "jobs": jobs}, indent=1)


def measure(folder: Path, factor: float) -> Run:
    """Return one trial of a fio that prints the jobs."""
    (folder / "target").mkdir(exist_ok=True, parents=True)
    (folder / "fio.py").write_text(f"print({document(factor)!r})")
    return steps_bench.run(folder / "target", [CommandStep(f"{sys.executable} {folder}/fio.py", parse="fio", on="all")])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a store of trials, each of both jobs."""
    folder = tmp_path_factory.mktemp("jobs")
    store = Store.create(folder / "store")
    for trial in range(TRIALS):
        run = measure(folder / str(trial), 1 + trial / 100)
        run.id, run.factors["repetition"] = f"run-{trial}", trial
        store.append(run)
    return str(folder / "store")


def test_a_run_says_what_the_keys_of_its_rows_mean(store):
    run = Store.open(store).run("run-0")
    settings = [row["factors"] for row in run.row_settings.values()]
    assert {row["operation"] for row in run.row_settings.values()} == {"read"}
    assert sorted(settings, key=lambda row: row["block_size"]) == [
        {"block_size": size, "job": name} for name, size in SIZES.items()
    ]
    assert run.headlines["read"] == ["bandwidth", "rate"]
    assert run.factors["engine"] == "psync"
    assert "job" not in run.factors


def test_jobs_are_cells_of_one_operation_and_trials_stay_trials(store):
    rows = iosonde.summary(store, metric=("rate",)).to_dict()["groups"]
    assert [(row["operation"], row["by"]["job"], row["n"]) for row in rows] == [
        ("read", "small", TRIALS),
        ("read", "large", TRIALS),
    ]
    assert rows[1]["mean"] == pytest.approx(2 * rows[0]["mean"])


@pytest.mark.parametrize("condition", ["job=large", "block_size>5000", "block_size=65536"])
def test_a_condition_selects_the_rows_of_a_job(store, condition):
    source = open_data(store, where=[condition])
    assert set(source.trial_rows.columns["job"].values) == {"large"}
    assert len(source.runs) == TRIALS
    assert set(source.trial_rows.columns["operation"].values) >= {"read"}


def test_a_condition_on_the_operation_finds_all_jobs(store):
    assert set(open_data(store, where=["operation=read"]).trial_rows.columns["job"].values) == set(SIZES)


@pytest.mark.parametrize("group", ["job", "block_size"])
def test_jobs_are_compared(store, group):
    comparisons = iosonde.compare(store, group=group, metric=("rate",)).to_dict()["comparisons"]
    assert [(one["a"]["n"], one["b"]["n"]) for one in comparisons] == [(TRIALS, TRIALS)]
    assert comparisons[0]["ratio"]["value"] in (pytest.approx(2), pytest.approx(0.5))


def test_an_import_of_the_same_jobs_has_the_same_settings(store, tmp_path):
    for trial in range(TRIALS):
        (tmp_path / f"out-{trial}.json").write_text(document(1 + trial / 100))
    iosonde.import_files([tmp_path / f"out-{trial}.json" for trial in range(TRIALS)], tmp_path / "imported")
    imported, measured = (open_data(str(place)).trial_rows for place in (tmp_path / "imported", store))
    for name in ("job", "block_size"):
        levels = {level for level in measured.columns[name].values if level is not None and level == level}
        assert levels == set(imported.columns[name].values)


def test_the_bytes_of_all_jobs_are_no_headline(store):
    run = Store.open(store).run("run-0")
    (total,) = [row for row in run.observations if row.operation == ALL_OPERATIONS]
    assert total.includes == "command"
    assert run.headlines[ALL_OPERATIONS] == []
    assert not [row for row in run.observations if row.operation == "step-01" and row.unit == "bytes/s"]


def test_an_export_has_the_settings_of_rows_as_columns(store):
    text = CliRunner().invoke(command_of("show"), [store, "--export", "csv"], catch_exceptions=False).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["operation"] for row in rows} == {"read", "step-01", ALL_OPERATIONS}
    reads = [row for row in rows if (row["operation"], row["metric"]) == ("read", "rate_last_done")]
    assert {(row["job"], row["block_size"]) for row in reads} == {(name, str(size)) for name, size in SIZES.items()}
    assert {row["job"] for row in rows if row["operation"] == "step-01"} == {""}
