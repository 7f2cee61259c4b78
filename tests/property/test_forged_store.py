"""Whatever types somebody writes into a store, with hashes that fit: no command ends in a traceback, and what is no run
is left out, said, and counted as damaged."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import forged_store
import pytest
from click.testing import CliRunner

import sample_store
from iosonde.cli.group import cli
from iosonde.commands.store.answer import check
from iosonde.core.errors import IosondeError
from messages import assert_problem

RUN = "envelope-7f3a-0002"
COMMANDS = (
    ["store", "check", "{}"],
    ["show", "{}"],
    ["show", "{}", RUN],
    ["show", "{}", "--json"],
    ["verify", "{}"],
    ["summary", "{}"],
    ["check", "{}"],
    ["watch", "{}"],
    ["store", "export", "{}"],
    ["report", "{}", "-o", "{}.html"],
)


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("forged") / "results"
    sample_store.main(str(path))
    return path


@pytest.fixture
def store(original, tmp_path) -> Path:
    return shutil.copytree(original, tmp_path / "results")


def ask_all(store: Path) -> None:
    for words in COMMANDS:
        done = CliRunner().invoke(cli, [word.format(store) for word in words])
        assert done.exception is None or isinstance(done.exception, (SystemExit, IosondeError)), (words, done.exc_info)


@pytest.mark.parametrize(
    ("path", "value", "damage", "values"),
    [
        (("factors", "nodes"), {"a": 1}, "wrong-type", {"field": "factors.nodes", "actual": "an object"}),
        (("phases",), "x", "wrong-type", {"field": "phases", "actual": "text", "expected": "a list"}),
        (
            ("findings",),
            [{"code": "S1", "severity": "nope", "sentence": ""}],
            "unknown-value",
            {"field": "findings.0.severity"},
        ),
        (("facts", "own"), forged_store.nested(900), "nested-too-deep", {"limit": 64}),
        (("started_at",), None, "missing-key", {"field": "started_at"}),
        (("facts", "hosts"), [1], "wrong-type", {"field": "facts.hosts.0", "actual": "a whole number"}),
        (("facts", "nodes"), [1.5], "wrong-type", {"field": "facts.nodes.0", "expected": "a whole number"}),
        (("seconds",), {"$float": "many"}, "invalid-number", {}),
    ],
)
def test_a_run_of_other_types_is_a_damaged_one(store, path, value, damage, values):
    forged_store.forge(store / "runs" / RUN / "run.json", path, value)
    (problem,) = check(str(store)).serious
    assert problem.code == "D101"
    assert_problem(problem.sentence, "damaged-run", run_id=RUN, damage=damage, **values)
    ask_all(store)


@pytest.mark.parametrize(
    ("path", "value"),
    [(("factors",), "x"), (("trials", 0, "factors"), []), (("factors", 0, "role"), "king"), (("id",), "another")],
)
def test_an_experiment_of_other_types_is_a_damaged_one(store, path, value):
    (file,) = (store / "experiments").glob("*.json")
    forged_store.forge(file, path, value)
    assert "D105" in {problem.code for problem in check(str(store)).serious}
    ask_all(store)


@pytest.mark.parametrize("seed", range(12))
def test_no_command_ends_in_a_traceback(store, seed):
    draw = random.Random(seed)
    for file, path, value in forged_store.forgeries(store, draw, 3):
        before = file.read_bytes()
        forged_store.forge(file, path, value)
        try:
            ask_all(store)
        except AssertionError as error:
            raise AssertionError(f"{file.name} {forged_store.kind_of(path)} = {json.dumps(value)[:60]}") from error
        file.write_bytes(before)
