"""`iosonde run user:NAME`: a name is an experiment, its settings are factors, a name that is none is refused."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from iosonde.campaign import benchmarks
from iosonde.core.errors import InputError
from iosonde.store import Store
from messages import assert_problem
from terminal import command_of

plan = command_of("plan")
run = command_of("run")


def invoke(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


@pytest.mark.long
@pytest.mark.parametrize("kind", [benchmarks.USER, benchmarks.INTERFERENCE])
@pytest.mark.parametrize("name", benchmarks.NAMES)
def test_every_benchmark_is_an_experiment_that_can_be_planned(kind, name, tmp_path):
    done = invoke(plan, f"{kind}:{name}", "--target", tmp_path, "--nodes", 2, "--set", "cache=warm,cold", "--json")
    assert done.exception is None, done.exception
    levels = 4 if kind == benchmarks.INTERFERENCE else 2
    assert len(json.loads(done.stdout)["trials"]) == 6 * levels


def test_a_name_that_nobody_knows(tmp_path):
    error = invoke(plan, "user:dd", "--target", tmp_path).exception
    assert isinstance(error, InputError)
    assert_problem(error, "unknown-benchmark", benchmark="user:dd")


def test_a_setting_that_the_benchmark_does_not_have(tmp_path):
    error = invoke(plan, "user:cp", "--target", tmp_path, "--set", "fils=3").exception
    assert isinstance(error, InputError)
    assert_problem(error, "unknown-factor", factor="fils", suggestion="files")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A function that runs a benchmark of 4 files once; it gives the exception, the run's document, its results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").mkdir()

    def measure(name, *words):
        done = invoke(run, name, "--target", "t", "--set", "files=4", "--repetitions", 1, "--store", "s", *words)
        assert not list((tmp_path / "t").iterdir())
        store = Store.open(tmp_path / "s")
        (document,) = store.runs()
        return done.exception, document, store.results().to_pylist()

    return measure


def test_a_benchmark_has_real_user_and_system_time(measured):
    error, document, rows = measured("user:cp")
    assert error is None, error
    assert document["complete"], document["missing"]
    assert document["factors"]["cache"] == "warm"
    whole = {(row["operation"], row["metric"]): row["value"] for row in rows if row["rank"] is None}
    for operation in ("cp", "cp_flush"):
        assert whole[operation, "seconds"] > 0
        assert whole[operation, "user_seconds"] + whole[operation, "system_seconds"] >= 0


def test_a_tool_that_cheats_leaves_the_trial_incomplete(measured, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "grep").write_text("#!/bin/sh\ntrue\n")
    (tmp_path / "bin" / "grep").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    _, document, rows = measured("user:findgrep")
    assert not document["complete"]
    assert "0 found" in document["missing"][0]
    assert rows == []
